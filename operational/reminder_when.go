package operational

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/errs"
)

// morning is the hour of a day for which no time is named.
const morning = 9

// ParseWhen reads a time as people say it: "tomorrow at 9", "in 2 hours", "friday 17:30", "2026-12-24 18:00", "noon". It is
// a time of now's zone. A day without a time is its morning, a time without a day the next that comes, and a day of the
// week the next one after today. What lies behind now, or more than ten years ahead, is refused, as is what it cannot read.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	at, err := readWhen(text, now)
	if err != nil {
		return time.Time{}, err
	}
	return at, ahead(at, now)
}

// ParseReminder reads a reminder as people say it: "me tomorrow at 9 to look at the backups", "call Ann in 2 hours". Its time
// stands at its end or at its beginning, in as many words as make one; a number alone is none.
func ParseReminder(text string, now time.Time) (task string, at time.Time, err error) {
	const mostWhenWords = 8 // "next friday at 5 pm" has five
	words := strings.Fields(text)
	if len(words) > 0 && strings.EqualFold(words[0], "me") {
		words = words[1:]
	}
	for size := min(len(words), mostWhenWords); size > 0; size-- {
		end := len(words) - size
		for _, part := range [...]struct{ when, task []string }{{words[end:], words[:end]}, {words[:size], words[size:]}} {
			when := strings.TrimRight(strings.Join(part.when, " "), ".:;!")
			if at, err = readWhen(when, now); err != nil || strings.Trim(when, "0123456789") == "" {
				continue
			}
			if len(part.task) > 0 && (part.task[0] == "to" || part.task[0] == "that") {
				part.task = part.task[1:]
			}
			if len(part.task) == 0 {
				return "", time.Time{}, errs.InvalidField("task", "has no task: %s is a time alone", strconv.Quote(few(when)))
			}
			return strings.Join(part.task, " "), at, ahead(at, now)
		}
	}
	return "", time.Time{}, whenRefused("names no time")
}

// ParseRecurring is ParseReminder of one that may come again: "every day", "daily", "every weekday", "every monday"; without a time, in the morning.
// Then at is a time of the zone, and again the cron expression of all its times, in that zone; again is empty if it comes once.
func ParseRecurring(text string, now time.Time, zone *time.Location) (task string, at time.Time, again string, err error) {
	words, days := strings.Fields(text), ""
	for i := 0; i < len(words) && days == ""; i++ {
		size, stays := 1, ""
		switch next := ""; strings.ToLower(words[i]) {
		case "daily":
			days = "*"
		case "every", "each":
			if i+1 < len(words) {
				next = strings.TrimRight(strings.ToLower(words[i+1]), ".,:;")
			}
			to, ok := dayOf(next, now)
			name := strings.ToLower(to.Weekday().String())
			switch size = 2; {
			case next == "day":
				days = "*"
			case next == "weekday":
				days = "MON-FRI"
			case ok && strings.HasPrefix(name, next):
				days, stays = strings.ToUpper(name[:3]), next
			}
		}
		if days != "" {
			words = slices.Concat(words[:i], strings.Fields(stays), words[i+size:])
		}
	}
	text = strings.Join(words, " ")
	if task, at, err = ParseReminder(text, now); days == "" {
		return task, at, "", err
	}
	if err != nil {
		task, at, err = ParseReminder(text+" at "+strconv.Itoa(morning), now)
	}
	at = at.In(zone)
	for days == "MON-FRI" && (at.Weekday() == time.Saturday || at.Weekday() == time.Sunday) {
		at = at.AddDate(0, 0, 1)
	}
	return task, at, fmt.Sprintf("%d %d * * %s", at.Minute(), at.Hour(), days), err
}

func whenRefused(why string) error {
	return errs.InvalidField("at", "%s; write for instance \"tomorrow at 9\", \"in 2 hours\", \"friday 17:30\" or \"2026-12-24 18:00\"", why)
}

// readWhen is ParseWhen, also of what lies behind now or far ahead.
func readWhen(text string, now time.Time) (time.Time, error) {
	refused := func(why string) (time.Time, error) { return time.Time{}, whenRefused(why) }
	if len(text) > maxSpan {
		return refused("is too long")
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(form, strings.TrimSpace(text), now.Location()); err == nil {
			return at, nil
		}
	}
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " ")))
	if len(words) > 0 && (words[0] == "in" || strings.HasPrefix(words[0], "+")) {
		span, err := parseSpan("at", strings.TrimPrefix(strings.Join(words, " "), "in "))
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(span), nil
	}
	const (
		evening = 20 // the hour of a night for which no time is named
		dawn    = 5  // where a night ends: "tonight at 1" lies behind midnight, "tonight at 9" before it
	)
	day, dayNamed, tonight, hour, minute, timed, am := now, false, false, morning, 0, false, false
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "at" || word == "on" || word == "next" {
			continue
		}
		if to, ok := dayOf(word, now); ok && !dayNamed {
			day, dayNamed, tonight = to, true, word == "tonight"
			continue
		}
		if i+1 < len(words) && (words[i+1] == "am" || words[i+1] == "pm") {
			word += words[i+1]
			i++
		}
		h, m, ok := clockOf(word)
		if !ok || timed {
			return refused("has " + strconv.Quote(few(words[i])) + ", which is no day and no time")
		}
		hour, minute, timed, am = h, m, true, strings.HasSuffix(word, "am")
	}
	if !dayNamed && !timed {
		return refused("names no time")
	}
	switch {
	case tonight && !timed:
		hour = evening
	case tonight && !am && hour >= dawn && hour < 12:
		hour += 12
	case tonight && !am && hour == 12: // midnight, which is the coming day's
		hour = 0
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, now.Location())
	if (!dayNamed || tonight && hour < dawn) && !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}

// ahead refuses a time that does not lie ahead.
func ahead(at, now time.Time) error {
	switch {
	case !at.After(now):
		return whenRefused("lies in the past: " + at.Format(time.DateTime))
	case at.After(now.Add(MaxReminderAhead)):
		return whenRefused("lies more than ten years ahead")
	}
	return nil
}

// dayOf reads a day's name or date.
func dayOf(word string, now time.Time) (time.Time, bool) {
	switch word {
	case "today", "tonight":
		return now, true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); word == name || word == name[:3] {
			return now.AddDate(0, 0, (int(d)-int(now.Weekday())+6)%7+1), true
		}
	}
	at, err := time.ParseInLocation(time.DateOnly, word, now.Location())
	return at, err == nil
}

// clockOf reads a time of day: 9, 9am, 9:30, 17:30, noon or midnight.
func clockOf(word string) (hour, minute int, ok bool) {
	switch word {
	case "noon":
		return 12, 0, true
	case "midnight":
		return 0, 0, true
	}
	for _, form := range []string{"15:04", "15:04:05", "3:04pm", "3pm", "15"} {
		if at, err := time.Parse(form, word); err == nil {
			return at.Hour(), at.Minute(), true
		}
	}
	return 0, 0, false
}

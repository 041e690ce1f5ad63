package operational

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
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
	const mostWhenWords = 8 // "on the 24th of december at 5 pm" has eight
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

// again is how people say that something comes again, and of how often.
var (
	again = lazyregexp.New(`(?i)(?:^|\s)(?:(hourly|daily|weekly|monthly|yearly|annually)|(?:every|each) (?:(\d+|other|second|two|three|four|six) )?(minute|min|hour|day|weekday|workday|weekend|week|month|quarter|year|morning|noon|afternoon|evening|night|midnight)s?|(?:every|each|(on)) (?:the )?(` + someDays + `)|(?:every|each|(on)) (?:the )?(\d{1,2})(?:st|nd|rd|th)(?: day)?(?: of (?:the|every|each) month)?)(?:[.,:;]|\s|$)`)
	comes = lazyregexp.New(`(?i)(?:^|\s)(?:every|each) (?:(?:\d+|other|few|couple of|second|third|last|first|two|three|four|six) )?(?:second|minute|hour|day|night|week|month|quarter|year|` + aDay + `)s?\b`)
	// ofMonth is the day of the month, or a date of the year, behind "every month" and "every year".
	ofMonth = lazyregexp.New(`(?i)(?:^|\s)on (?:the )?(?:(\d{1,2})(?:st|nd|rd|th)|` + someDate + `)(?:[.,:;]|\s|$)`)
	dates   = lazyregexp.New(`(?i)^` + someDate + `(?: (\d{4}))?$`)
)

const (
	aDay     = `(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?|\b)`
	someDays = aDay + `(?:(?:, and |, |/| and | & )` + aDay + `)*`
	aMonth   = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	someDate = `(?:(?:the )?(\d{1,2})(?:st|nd|rd|th)? (?:of )?(` + aMonth + `)|(` + aMonth + `) (?:the )?(\d{1,2})(?:st|nd|rd|th)?)`
)

// hoursOf are the hours of the parts of a day for which no time is named.
var hoursOf = map[string]int{"noon": 12, "afternoon": 15, "evening": 18, "night": 20, "midnight": 0}

// ParseRecurring is ParseReminder of one that may come again: "every day", "weekly", "every monday and thursday", "on fridays", "every morning", "every
// 15 minutes", "every month on the 15th"; without a time, in the morning. Then at is the first time, and again the expression of all its times, in the
// zone; again is empty if it comes once. What comes again in a way that no expression says is refused: it is not taken for once.
func ParseRecurring(text string, now time.Time, zone *time.Location) (task string, at time.Time, expression string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	m := again.Compiled().FindStringSubmatchIndex(text)
	part := func(i int) string {
		if m == nil || m[2*i] < 0 {
			return ""
		}
		return strings.ToLower(text[m[2*i]:m[2*i+1]])
	}
	if m == nil || part(4)+part(6) != "" && !strings.Contains(part(5), "days") { // once
		if comes.MatchString(text) {
			return "", time.Time{}, "", whenRefused("comes again in a way that is not understood: say every day, monday, weekday, month, or every 15 minutes, or give cron:0 9 * * MON")
		}
		task, at, err = ParseReminder(text, now)
		return task, at, "", err
	}
	rest := text[:m[0]] + " " + text[m[1]:]
	unit, count := part(3), part(2)
	for name, of := range map[string]string{"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"} {
		if part(1) == name {
			unit = of
		}
	}
	if number := map[string]string{"": "1", "two": "2", "three": "3", "four": "4", "six": "6"}[count]; number != "" {
		count = number
	}
	if unit == "min" || unit == "minute" || unit == "hour" {
		span, err := parseSpan("at", count+unit)
		if err != nil {
			return "", time.Time{}, "", err
		}
		task, _, err = ParseReminder(rest+" at 9", now)
		return task, now.Add(span).Truncate(time.Second), "@every " + count + unit, err
	}
	if count != "1" || unit == "quarter" {
		return "", time.Time{}, "", whenRefused("comes again in a way that no reminder can: only minutes and hours are counted")
	}
	days, day, month := "*", "*", "*"
	local := now.In(zone)
	if on := ofMonth.Compiled().FindStringSubmatchIndex(rest); on != nil && (unit == "month" || unit == "year") {
		said := strings.TrimPrefix(strings.ToLower(strings.Trim(rest[on[0]:on[1]], " .,:;")), "on ")
		if date, ok := dateOf(strings.TrimPrefix(said, "the "), local); ok {
			local = date
		} else {
			day = strings.Trim(said, "the onsrd")
		}
		rest = rest[:on[0]] + " " + rest[on[1]:]
	}
	switch {
	case part(5) != "":
		days = ""
		for _, name := range lazyDays.FindAllString(part(5), -1) {
			days += "," + strings.ToUpper(name)
		}
		days = days[1:]
	case part(7) != "":
		day = part(7)
	case unit == "weekday" || unit == "workday":
		days = "MON-FRI"
	case unit == "weekend":
		days = "SAT,SUN"
	case unit == "year":
		day, month = strconv.Itoa(local.Day()), strconv.Itoa(int(local.Month()))
	case unit == "month" && day == "*":
		day = strconv.Itoa(local.Day())
	}
	hour, named := hoursOf[unit]
	if !named {
		hour = morning
	}
	task, at, err = ParseReminder(rest, now)
	if err != nil {
		task, at, err = ParseReminder(rest+" at "+strconv.Itoa(hour), now)
	}
	if err != nil {
		return "", time.Time{}, "", err
	}
	at = at.In(zone)
	if unit == "week" {
		days = strings.ToUpper(at.Weekday().String()[:3])
	}
	expression = fmt.Sprintf("%d %d %s %s %s", at.Minute(), at.Hour(), day, month, days)
	recurrence, err := ParseRecurrence("at", expression, "")
	if err != nil {
		return "", time.Time{}, "", err
	}
	recurrence.zone, recurrence.fields.Location = zone, zone
	at, _ = recurrence.Next(now)
	return task, at.In(zone), expression, nil
}

// lazyDays finds the beginnings of days' names.
var lazyDays = lazyregexp.New(`mon|tue|wed|thu|fri|sat|sun`)

// wordAfter is the word behind one; empty: there is none.
func wordAfter(words []string, i int) string {
	if i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// dateAt reads the longest date that words begin with, of so many words; 0: they begin with none.
func dateAt(words []string, now time.Time) (at time.Time, size int) {
	switch strings.Join(words[:min(len(words), 2)], " ") {
	case "next week":
		return now.AddDate(0, 0, 7), 2
	case "next month":
		return now.AddDate(0, 1, 0), 2
	}
	for size = min(len(words), 4); size > 1; size-- {
		if at, ok := dateOf(strings.Join(words[:size], " "), now); ok {
			return at, size
		}
	}
	return at, 0
}

// dateOf reads a date of a year, such as "24 december": the next that comes, where no year is named.
func dateOf(text string, now time.Time) (time.Time, bool) {
	m := dates.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	named, number := m[2]+m[3], m[1]+m[4]
	day, _ := strconv.Atoi(number)
	month := time.January
	for ; month < time.December && !strings.EqualFold(month.String()[:3], named[:3]); month++ {
	}
	year, _ := strconv.Atoi(m[5])
	at := time.Date(cmp.Or(year, now.Year()), month, day, 0, 0, 0, 0, now.Location())
	if year == 0 && at.Before(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())) {
		at = at.AddDate(1, 0, 0)
	}
	return at, at.Day() == day
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
		span, err := parseSpan("at", numbers.Replace(strings.TrimPrefix(strings.Join(words, " "), "in ")+" "))
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
		if word == "at" || word == "on" || word == "the" || word == "next" && !slices.Contains([]string{"week", "month"}, wordAfter(words, i)) {
			continue
		}
		if to, size := dateAt(words[i:], now); size > 0 && !dayNamed {
			day, dayNamed = to, true
			i += size - 1
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

// numbers has the numbers that people write out as words in digits.
var numbers = strings.NewReplacer("half an hour ", "30min ", "a couple of ", "2 ", "an ", "1 ", "a ", "1 ", "one ", "1 ", "two ", "2 ", "three ", "3 ", "four ", "4 ", "five ", "5 ",
	"six ", "6 ", "seven ", "7 ", "eight ", "8 ", "nine ", "9 ", "ten ", "10 ")

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

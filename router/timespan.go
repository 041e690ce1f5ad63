package router

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/router/classify"
)

// timespan is the stretch of time that a question speaks of: From included, To
// not. A zero end is open.
type timespan struct {
	From, To time.Time
	Phrase   string // as it was said
}

// holds tells whether the span includes t.
func (s timespan) holds(t time.Time) bool {
	return (s.From.IsZero() || !t.Before(s.From)) && (s.To.IsZero() || t.Before(s.To))
}

// findTimespan looks for an expression of time in a question's words and
// returns what it means at now, in now's time zone, with the words that are
// left. It knows the forms of English questions about the past; a word that
// may be no time at all ("may", "march") counts only beside one that makes it one.
func findTimespan(words []string, now time.Time) (span timespan, rest []string, found bool) {
	for i := range words {
		if from, to, n := between(words[i:], now); n > 0 {
			return cutOut(words, i, n, timespan{From: from, To: to})
		}
	}
	for i := range words {
		from, to, n := period(words, i, now)
		if n == 0 {
			continue
		}
		start := i
		for start > 0 && timePreposition[words[start-1]] {
			start--
		}
		s := timespan{From: from, To: to}
		switch lead := words[start:i]; {
		case slices.Contains(lead, "since"), slices.Contains(lead, "after") && i > 0 && words[i-1] == "after":
			s.To = time.Time{}
			if slices.Contains(lead, "after") {
				s.From = to
			}
		case slices.Contains(lead, "before"), slices.Contains(lead, "until"), slices.Contains(lead, "till"):
			s.From, s.To = time.Time{}, from
		}
		return cutOut(words, start, i+n-start, s)
	}
	return timespan{}, words, false
}

func cutOut(words []string, start, n int, s timespan) (timespan, []string, bool) {
	s.Phrase = strings.Join(words[start:start+n], " ")
	rest := append(slices.Clone(words[:start]), words[start+n:]...)
	return s, rest, true
}

var timePreposition = classify.WordSet("in on at during over since after before until till from the of by for within around about throughout earlier later back")

// between reads "between X and Y" and "from X to Y".
func between(words []string, now time.Time) (from, to time.Time, n int) {
	if len(words) < 4 || (words[0] != "between" && words[0] != "from") {
		return
	}
	i := 1
	if words[i] == "the" {
		i++
	}
	from, _, first := period(words, i, now)
	if first == 0 || i+first >= len(words) {
		return time.Time{}, time.Time{}, 0
	}
	i += first
	if words[i] != "and" && words[i] != "to" && words[i] != "until" && words[i] != "till" {
		return time.Time{}, time.Time{}, 0
	}
	i++
	if i < len(words) && words[i] == "the" {
		i++
	}
	_, to, second := period(words, i, now)
	if second == 0 || !from.Before(to) {
		return time.Time{}, time.Time{}, 0
	}
	return from, to, i + second
}

// period reads the expression that begins at words[i]; n is how many words it has, 0 if there is none.
func period(words []string, i int, now time.Time) (from, to time.Time, n int) {
	if i >= len(words) {
		return
	}
	for _, read := range []func([]string, int, time.Time) (time.Time, time.Time, int){
		namedDay, rollingPeriod, calendarPeriod, weekdayPeriod, calendarDate, monthPeriod, seasonPeriod,
	} {
		if from, to, n = read(words, i, now); n > 0 {
			return from, to, n
		}
	}
	return time.Time{}, time.Time{}, 0
}

func day(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

func days(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) }

func hour(t time.Time, h int) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, h, 0, 0, 0, t.Location())
}

// partOfDay gives the hours that a part of a day has; night runs into the next morning.
func partOfDay(word string, today time.Time) (from, to time.Time, ok bool) {
	switch word {
	case "morning":
		return hour(today, 4), hour(today, 12), true
	case "noon", "lunchtime":
		return hour(today, 11), hour(today, 14), true
	case "afternoon":
		return hour(today, 12), hour(today, 18), true
	case "evening":
		return hour(today, 17), hour(days(today, 1), 0), true
	case "night":
		return hour(today, 18), hour(days(today, 1), 8), true
	}
	return time.Time{}, time.Time{}, false
}

// namedDay reads today, yesterday and what is named after them.
func namedDay(words []string, i int, now time.Time) (from, to time.Time, n int) {
	today := day(now)
	switch {
	case classify.Has(words[i:min(i+3, len(words))], "day", "before", "yesterday") && words[i] == "day":
		return days(today, -2), days(today, -1), 3
	case words[i] == "yesterday":
		if i+1 < len(words) {
			if from, to, ok := partOfDay(words[i+1], days(today, -1)); ok {
				return from, to, 2
			}
		}
		return days(today, -1), today, 1
	case words[i] == "today":
		return today, days(today, 1), 1
	case words[i] == "tonight":
		return hour(today, 18), hour(days(today, 1), 8), 1
	case words[i] == "overnight":
		return hour(days(today, -1), 18), hour(today, 8), 1
	case words[i] == "this" && i+1 < len(words):
		if from, to, ok := partOfDay(words[i+1], today); ok {
			return from, to, 2
		}
	case words[i] == "last" && i+1 < len(words):
		if from, to, ok := partOfDay(words[i+1], days(today, -1)); ok {
			return from, to, 2
		}
	case words[i] == "just" && i+1 < len(words) && words[i+1] == "now":
		return now.Add(-time.Hour), time.Time{}, 2
	}
	return
}

// countWord reads a small number.
func countWord(w string) (int, bool) {
	if i := slices.Index([]string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}, w); i > 0 {
		return i, true
	}
	switch w {
	case "a", "an":
		return 1, true
	case "couple":
		return 2, true
	case "few":
		return 3, true
	case "several":
		return 5, true
	}
	n, err := strconv.Atoi(w)
	return n, err == nil && n > 0 && n <= maxPeriodCount
}

// maxPeriodCount bounds "N days ago": past it a number is no count of days, and dates overflow.
const maxPeriodCount = 9999

// back goes n units of time back.
func back(t time.Time, unit string, n int) (time.Time, bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "minute", "min":
		return t.Add(-time.Duration(n) * time.Minute), true
	case "hour", "hr":
		return t.Add(-time.Duration(n) * time.Hour), true
	case "day":
		return t.AddDate(0, 0, -n), true
	case "night":
		return t.AddDate(0, 0, -n), true
	case "week":
		return t.AddDate(0, 0, -7*n), true
	case "fortnight":
		return t.AddDate(0, 0, -14*n), true
	case "month":
		return t.AddDate(0, -n, 0), true
	case "quarter":
		return t.AddDate(0, -3*n, 0), true
	case "year":
		return t.AddDate(-n, 0, 0), true
	}
	return t, false
}

// rollingPeriod reads "3 days ago", "the last two hours", "the past week", "the last hour".
func rollingPeriod(words []string, i int, now time.Time) (from, to time.Time, n int) {
	w := words[i:]
	if n, ok := countWord(w[0]); ok { // N units ago
		j := 1
		if j < len(w) && w[0] == "couple" && w[j] == "of" {
			j++
		}
		if w[0] == "a" && j < len(w) {
			if more, ok := countWord(w[j]); ok && (w[j] == "couple" || w[j] == "few") {
				n, j = more, j+1
				if j < len(w) && w[j] == "of" {
					j++
				}
			}
		}
		if j+1 < len(w) && w[j+1] == "ago" {
			if then, ok := back(now, w[j], n); ok {
				return aroundUnit(then, w[j], j+2)
			}
		}
		return time.Time{}, time.Time{}, 0
	}
	if w[0] != "last" && w[0] != "past" && w[0] != "previous" && w[0] != "recent" || len(w) < 2 {
		return time.Time{}, time.Time{}, 0
	}
	if count, ok := countWord(w[1]); ok && len(w) > 2 {
		j := 2
		if w[j] == "of" && len(w) > 3 {
			j++
		}
		if then, ok := back(now, w[j], count); ok {
			return then, time.Time{}, j + 1
		}
		return time.Time{}, time.Time{}, 0
	}
	rolls := w[0] == "past" || strings.HasPrefix(w[1], "hour") || strings.HasPrefix(w[1], "minute") || w[1] == "day"
	if then, ok := back(now, w[1], 1); ok && rolls && w[1] != "night" {
		return then, time.Time{}, 2
	}
	if then, ok := back(now, w[1], 3); ok && strings.HasSuffix(w[1], "s") { // the last days
		return then, time.Time{}, 2
	}
	return time.Time{}, time.Time{}, 0
}

// aroundUnit is the stretch that "N units ago" means: the day then, or as much to either side as the unit blurs it.
func aroundUnit(then time.Time, unit string, n int) (time.Time, time.Time, int) {
	switch strings.TrimSuffix(unit, "s") {
	case "minute", "min":
		return then.Add(-5 * time.Minute), then.Add(5 * time.Minute), n
	case "hour", "hr":
		return then.Add(-30 * time.Minute), then.Add(30 * time.Minute), n
	case "week", "fortnight":
		return days(day(then), -3), days(day(then), 4), n
	case "month", "quarter":
		return days(day(then), -15), days(day(then), 16), n
	case "year":
		return then.AddDate(0, -6, 0), then.AddDate(0, 6, 0), n
	}
	return day(then), days(day(then), 1), n
}

// calendarPeriod reads "last week", "this month", "last quarter", "the weekend", "in 2025", "q3".
func calendarPeriod(words []string, i int, now time.Time) (from, to time.Time, n int) {
	w := words[i:]
	today := day(now)
	if w[0] == "weekend" {
		from = weekday(today, time.Saturday)
		return from, days(from, 2), 1
	}
	if len(w[0]) == 4 && i > 0 && yearPreposition[words[i-1]] {
		if y, err := strconv.Atoi(w[0]); err == nil && y >= 1970 && y <= 2100 {
			from = time.Date(y, 1, 1, 0, 0, 0, 0, now.Location())
			return from, from.AddDate(1, 0, 0), 1
		}
	}
	if len(w[0]) == 2 && w[0][0] == 'q' && w[0][1] >= '1' && w[0][1] <= '4' {
		from = time.Date(now.Year(), time.Month(3*(w[0][1]-'1')+1), 1, 0, 0, 0, 0, now.Location())
		n = 1
		if len(w) > 1 {
			if y, ok := year(w[1]); ok {
				from, n = time.Date(y, from.Month(), 1, 0, 0, 0, 0, now.Location()), 2
				return from, from.AddDate(0, 3, 0), n
			}
		}
		if from.After(now) {
			from = from.AddDate(-1, 0, 0)
		}
		return from, from.AddDate(0, 3, 0), n
	}
	which := 0
	switch w[0] {
	case "last", "previous":
		which = -1
	case "this", "current":
	default:
		return
	}
	if len(w) < 2 {
		return
	}
	switch w[1] {
	case "week":
		from = days(weekday(today, time.Monday), 7*which)
		return from, days(from, 7), 2
	case "weekend":
		from = weekday(today, time.Saturday)
		if which < 0 && now.Before(days(from, 2)) { // the present one is not the last one
			from = days(from, -7)
		}
		return from, days(from, 2), 2
	case "month":
		from = time.Date(now.Year(), now.Month()+time.Month(which), 1, 0, 0, 0, 0, now.Location())
		return from, from.AddDate(0, 1, 0), 2
	case "quarter":
		first := (int(now.Month())-1)/3*3 + 1 + 3*which
		from = time.Date(now.Year(), time.Month(first), 1, 0, 0, 0, 0, now.Location())
		return from, from.AddDate(0, 3, 0), 2
	case "year":
		from = time.Date(now.Year()+which, 1, 1, 0, 0, 0, 0, now.Location())
		return from, from.AddDate(1, 0, 0), 2
	}
	return
}

var yearPreposition = classify.WordSet("in since during before after until of year")

// weekday returns the latest day at or before t that is the weekday.
func weekday(t time.Time, want time.Weekday) time.Time {
	return days(t, -int((t.Weekday()-want+7)%7))
}

var weekdays = map[string]time.Weekday{
	"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday,
	"friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday,
}

// weekdayPeriod reads "tuesday", "last tuesday", "tuesday morning": the latest such day before today.
func weekdayPeriod(words []string, i int, now time.Time) (from, to time.Time, n int) {
	j := i
	if (words[i] == "last" || words[i] == "this" || words[i] == "previous") && i+1 < len(words) {
		j++
	}
	want, ok := weekdays[words[j]]
	if !ok {
		return
	}
	from = weekday(days(day(now), -1), want)
	if words[i] == "this" && day(now).Weekday() == want {
		from = day(now)
	}
	if j+1 < len(words) {
		if from, to, ok := partOfDay(words[j+1], from); ok {
			return from, to, j + 2 - i
		}
	}
	return from, days(from, 1), j + 1 - i
}

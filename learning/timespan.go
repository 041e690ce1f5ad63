package learning

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Timespan looks for a time in the words of a question, such as "yesterday", "last week", "since monday" or "3 days ago".
// It returns what that means at now, in now's zone, and which of the words say it; to is 0 if none do.
func Timespan(words []string, now time.Time) (span TimeRange, from, to int) {
	for i := range words {
		first, n := period(words[i:], now)
		if n == 0 {
			continue
		}
		start := i
		for start > 0 && slices.Contains(timeLeads, words[start-1]) {
			start--
		}
		lead := words[start:i]
		if n == 1 && weakTime(words[i]) && !slices.ContainsFunc(lead, func(w string) bool { return w != "the" }) {
			continue // "may" and "2024" alone are other things
		}
		end := i + n
		switch {
		case slices.Contains(lead, "since"):
			first.To = time.Time{}
		case slices.Contains(lead, "after"):
			first.From, first.To = first.To, time.Time{}
		case slices.Contains(lead, "before"), slices.Contains(lead, "until"), slices.Contains(lead, "till"):
			first.From, first.To = time.Time{}, first.From
		case slices.Contains(lead, "between"), slices.Contains(lead, "from"):
			if end < len(words) && (words[end] == "and" || words[end] == "to" || words[end] == "until") {
				if last, m := period(words[end+1:], now); m > 0 && last.To.After(first.From) {
					first.To, end = last.To, end+1+m
				}
			}
		}
		return first, start, end
	}
	return TimeRange{}, 0, 0
}

var (
	timeLeads = strings.Fields("in on at during over since after before until till from between the for within around throughout of earlier later early late")
	months    = map[string]time.Month{}
	weekdays  = map[string]time.Weekday{}
	dayParts  = map[string][2]int{ // from and to which hour
		"morning": {4, 12}, "noon": {11, 14}, "lunchtime": {11, 14}, "afternoon": {12, 18}, "evening": {17, 24}, "night": {18, 32},
	}
	smallNumbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "several": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}
)

func init() {
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		months[name], months[name[:3]] = m, m
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		weekdays[strings.ToLower(d.String())] = d
	}
}

// weakTime tells whether a word is a time only behind a word such as "in".
func weakTime(w string) bool {
	_, month := months[w]
	_, err := strconv.Atoi(w)
	return month || err == nil
}

// ago goes so many units back. The name of the unit may be short, or a plural.
func ago(t time.Time, n int, unit string) (then time.Time, blur time.Duration, ok bool) {
	const day = 24 * time.Hour
	if len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch unit {
	case "s", "sec", "second":
		return t.Add(-time.Duration(n) * time.Second), 5 * time.Second, true
	case "m", "min", "minute":
		return t.Add(-time.Duration(n) * time.Minute), 5 * time.Minute, true
	case "h", "hr", "hour":
		return t.Add(-time.Duration(n) * time.Hour), time.Hour / 2, true
	case "d", "day", "night":
		return t.AddDate(0, 0, -n), 0, true
	case "w", "wk", "week":
		return t.AddDate(0, 0, -7*n), 4 * day, true
	case "mo", "mon", "month":
		return t.AddDate(0, -n, 0), 16 * day, true
	case "y", "yr", "year":
		return t.AddDate(-n, 0, 0), 183 * day, true
	}
	return t, 0, false
}

func dayOf(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// daysFrom is a stretch of so many days.
func daysFrom(from time.Time, n int) TimeRange {
	return TimeRange{From: from, To: from.AddDate(0, 0, n)}
}

// period reads the time that the words begin with; n is how many of them say it, 0 if they begin with none.
func period(words []string, now time.Time) (span TimeRange, n int) {
	if len(words) == 0 {
		return span, 0
	}
	next := ""
	if len(words) > 1 {
		next = words[1]
	}
	today := dayOf(now)
	part := func(day time.Time, word string) bool {
		hours, ok := dayParts[word]
		if ok {
			span = TimeRange{From: day.Add(time.Duration(hours[0]) * time.Hour), To: day.Add(time.Duration(hours[1]) * time.Hour)}
		}
		return ok
	}
	yesterday := today.AddDate(0, 0, -1)
	switch w := words[0]; {
	case w == "today":
		return daysFrom(today, 1), 1
	case w == "tomorrow":
		return daysFrom(today.AddDate(0, 0, 1), 1), 1
	case w == "yesterday":
		if part(yesterday, next) {
			return span, 2
		}
		return daysFrom(yesterday, 1), 1
	case w == "tonight" && part(today, "night"), w == "overnight" && part(yesterday, "night"):
		return span, 1
	case w == "day" && next == "before" && len(words) > 2 && words[2] == "yesterday":
		return daysFrom(today.AddDate(0, 0, -2), 1), 3
	case w == "this" && part(today, next), w == "last" && part(yesterday, next):
		return span, 2
	case w == "last" || w == "past" || w == "previous" || w == "this" || w == "current":
		if span, n = rolling(words, now); n > 0 {
			return span, n
		}
	}
	if day, ok := weekdays[words[0]]; ok {
		span = daysFrom(today.AddDate(0, 0, -1-int((yesterday.Weekday()-day+7)%7)), 1)
		if part(span.From, next) {
			return span, 2
		}
		return span, 1
	}
	if span, n = countedAgo(words, now); n > 0 {
		return span, n
	}
	return calendarDate(words, now)
}

// rolling reads "last 3 days", "the past week", "last week", "this month", "last monday".
func rolling(words []string, now time.Time) (span TimeRange, n int) {
	if len(words) < 2 {
		return span, 0
	}
	lead, unit := words[0], words[1]
	if count, ok := smallNumber(unit); ok && len(words) > 2 && lead != "this" {
		at := 2
		if words[at] == "of" && len(words) > 3 {
			at++
		}
		if then, _, ok := ago(now, count, words[at]); ok {
			return TimeRange{From: then}, at + 1
		}
	}
	if day, ok := weekdays[unit]; ok {
		back := 1 + int((dayOf(now).AddDate(0, 0, -1).Weekday()-day+7)%7)
		if lead == "this" && now.Weekday() == day {
			back = 0
		}
		return daysFrom(dayOf(now).AddDate(0, 0, -back), 1), 2
	}
	if strings.HasPrefix(unit, "hour") || strings.HasPrefix(unit, "minute") || unit == "day" || unit == "days" || lead == "past" {
		if then, _, ok := ago(now, 1+2*len(unit[len(strings.TrimSuffix(unit, "s")):]), unit); ok { // the last days are three
			return TimeRange{From: then}, 2
		}
	}
	back := 1
	if lead == "this" || lead == "current" {
		back = 0
	}
	y, m, _ := now.Date()
	switch monday := dayOf(now).AddDate(0, 0, -int(now.Weekday()+6)%7); unit {
	case "week":
		return daysFrom(monday.AddDate(0, 0, -7*back), 7), 2
	case "weekend":
		return daysFrom(monday.AddDate(0, 0, 5-7*back), 2), 2
	case "month":
		from := time.Date(y, m-time.Month(back), 1, 0, 0, 0, 0, now.Location())
		return TimeRange{From: from, To: from.AddDate(0, 1, 0)}, 2
	case "year":
		from := time.Date(y-back, 1, 1, 0, 0, 0, 0, now.Location())
		return TimeRange{From: from, To: from.AddDate(1, 0, 0)}, 2
	}
	if _, ok := months[unit]; ok {
		span, n = calendarDate(words[1:], now)
		if lead == "last" && n == 1 && span.To.After(now) {
			span = TimeRange{From: span.From.AddDate(-1, 0, 0), To: span.To.AddDate(-1, 0, 0)}
		}
		return span, n + 1
	}
	return span, 0
}

// smallNumber reads a small number.
func smallNumber(w string) (int, bool) {
	if n, ok := smallNumbers[w]; ok {
		return n, true
	}
	n, err := strconv.Atoi(w)
	return n, err == nil && n > 0 && n <= maxTimeCount
}

// countedAgo reads "3 days ago", "a couple of weeks ago": the time then, as much to either side as the unit blurs it.
func countedAgo(words []string, now time.Time) (span TimeRange, n int) {
	many, ok := smallNumber(words[0])
	at := 1
	for ok && at < len(words) && (words[at] == "of" || words[at] == "couple" || words[at] == "few") {
		if c, is := smallNumbers[words[at]]; is {
			many = c
		}
		at++
	}
	if !ok || at+1 >= len(words) || words[at+1] != "ago" {
		return span, 0
	}
	then, blur, ok := ago(now, many, words[at])
	switch {
	case !ok:
		return span, 0
	case blur == 0:
		return daysFrom(dayOf(then), 1), at + 2
	}
	return TimeRange{From: then.Add(-blur), To: then.Add(blur)}, at + 2
}

// calendarDate reads "2026-09-12", "12 september", "september 12th 2025", "july 2025", "july", "2025": the latest that has begun.
func calendarDate(words []string, now time.Time) (span TimeRange, n int) {
	for layout, further := range map[string][3]int{"2006": {1, 0, 0}, "2006-01": {0, 1, 0}, time.DateOnly: {0, 0, 1}} {
		if from, err := time.ParseInLocation(layout, words[0], now.Location()); err == nil && from.Year() > 0 && (layout != "2006" || from.Year() >= 1970 && from.Year() <= 2100) {
			return TimeRange{From: from, To: from.AddDate(further[0], further[1], further[2])}, 1
		}
	}
	day, at := 0, 0
	dayAt := func() bool {
		if at >= len(words) {
			return false
		}
		d, err := strconv.Atoi(strings.TrimRight(words[at], "stndrh"))
		ok := err == nil && d >= 1 && d <= 31 && len(words[at]) <= 4
		if ok {
			day, at = d, at+1
		}
		return ok
	}
	if dayAt() && at < len(words) && words[at] == "of" {
		at++
	}
	if at >= len(words) {
		return span, 0
	}
	month, ok := months[words[at]]
	if !ok {
		return span, 0
	}
	at++
	if day == 0 {
		dayAt()
	}
	year, named := now.Year(), false
	if at < len(words) && len(words[at]) == 4 {
		if y, err := strconv.Atoi(words[at]); err == nil && y >= 1970 && y <= 2100 {
			year, named, at = y, true, at+1
		}
	}
	from := time.Date(year, month, max(day, 1), 0, 0, 0, 0, now.Location())
	if !named && from.After(now) {
		from = from.AddDate(-1, 0, 0)
	}
	switch {
	case from.Month() != month: // the month has no such day
		return span, 0
	case day == 0:
		return TimeRange{From: from, To: from.AddDate(0, 1, 0)}, at
	}
	return daysFrom(from, 1), at
}

// Length is how long "ten minutes" is; 0 if the words are no length of time.
func Length(many, unit string) time.Duration {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if n, ok := smallNumber(many); ok {
		if then, _, ok := ago(from, n, unit); ok {
			return from.Sub(then)
		}
	}
	return 0
}

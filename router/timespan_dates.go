package router

import (
	"strconv"
	"strings"
	"time"

	"skillrouter/router/classify"
)

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
	"september": 9, "october": 10, "november": 11, "december": 12,
	"jan": 1, "feb": 2, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

// plainMonths are names of months that mean something else more often.
var plainMonths = classify.WordSet("march may jan jun sep dec august")

var monthPreposition = classify.WordSet("in last since during before after until till of this previous early late mid")

// year reads a year of four digits.
func year(w string) (int, bool) {
	if len(w) != 4 {
		return 0, false
	}
	y, err := strconv.Atoi(w)
	return y, err == nil && y >= 1970 && y <= 2100
}

// dayOfMonth reads 12, 12th, 1st.
func dayOfMonth(w string) (int, bool) {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		if digits, ok := strings.CutSuffix(w, suffix); ok {
			w = digits
			break
		}
	}
	d, err := strconv.Atoi(w)
	return d, err == nil && len(w) <= 2 && d >= 1 && d <= 31
}

// calendarDate reads "12 september", "the 12th of september 2025", "september 12", "2025-09-12".
func calendarDate(words []string, i int, now time.Time) (from, to time.Time, n int) {
	w := words[i:]
	if t, err := time.ParseInLocation("2006-01-02", w[0], now.Location()); err == nil {
		return t, days(t, 1), 1
	}
	if t, err := time.ParseInLocation("2006-01", w[0], now.Location()); err == nil {
		return t, t.AddDate(0, 1, 0), 1
	}
	if d, ok := dayOfMonth(w[0]); ok {
		j := 1
		if j < len(w) && w[j] == "of" {
			j++
		}
		if j < len(w) {
			if m, ok := months[w[j]]; ok {
				return date(w, j+1, now, m, d)
			}
		}
		return
	}
	if m, ok := months[w[0]]; ok && len(w) > 1 {
		j := 1
		if w[j] == "the" && len(w) > 2 {
			j++
		}
		if d, ok := dayOfMonth(w[j]); ok {
			return date(w, j+1, now, m, d)
		}
	}
	return
}

// date is the day of the month, in the year that w[j] names or else the latest that is not ahead.
func date(w []string, j int, now time.Time, m time.Month, d int) (from, to time.Time, n int) {
	if j < len(w) {
		if y, ok := year(w[j]); ok {
			return dated(y, m, d, now.Location(), j+1)
		}
	}
	y := now.Year()
	if time.Date(y, m, d, 0, 0, 0, 0, now.Location()).After(now) {
		y--
	}
	return dated(y, m, d, now.Location(), j)
}

// dated refuses a day that its month has not.
func dated(y int, m time.Month, d int, zone *time.Location, n int) (time.Time, time.Time, int) {
	from := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if from.Month() != m {
		return time.Time{}, time.Time{}, 0
	}
	return from, days(from, 1), n
}

// monthPeriod reads "july", "last july", "july 2025": the latest one that has begun.
func monthPeriod(words []string, i int, now time.Time) (from, to time.Time, n int) {
	j, beside := i, i > 0 && monthPreposition[words[i-1]]
	if (words[i] == "last" || words[i] == "this" || words[i] == "early" || words[i] == "late" || words[i] == "mid") && i+1 < len(words) {
		j, beside = i+1, true
	}
	m, ok := months[words[j]]
	if !ok {
		return
	}
	if j+1 < len(words) {
		if y, ok := year(words[j+1]); ok {
			from = time.Date(y, m, 1, 0, 0, 0, 0, now.Location())
			return from, from.AddDate(0, 1, 0), j + 2 - i
		}
	}
	if plainMonths[words[j]] && !beside {
		return
	}
	from = time.Date(now.Year(), m, 1, 0, 0, 0, 0, now.Location())
	if from.After(now) || (words[i] == "last" && now.Month() == m) {
		from = from.AddDate(-1, 0, 0)
	}
	return from, from.AddDate(0, 1, 0), j + 1 - i
}

// seasons by the month they begin in, as on the northern half of the earth.
var seasons = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// seasonPeriod reads "last summer", "over the summer", "in spring": "spring"
// and "fall" alone are words like others.
func seasonPeriod(words []string, i int, now time.Time) (from, to time.Time, n int) {
	j := i
	switch words[i] {
	case "last", "this", "previous":
		j++
	default:
		if i == 0 || !seasonPreposition[words[i-1]] || (words[i-1] == "the" && (i < 2 || !seasonPreposition[words[i-2]])) {
			return
		}
	}
	if j >= len(words) {
		return
	}
	m, ok := seasons[words[j]]
	if !ok {
		return
	}
	from = time.Date(now.Year(), m, 1, 0, 0, 0, 0, now.Location())
	if from.After(now) || (words[i] == "last" && now.Before(from.AddDate(0, 3, 0))) {
		from = from.AddDate(-1, 0, 0)
	}
	return from, from.AddDate(0, 3, 0), j + 1 - i
}

var seasonPreposition = classify.WordSet("in over during since the through throughout")

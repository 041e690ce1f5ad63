package learning

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// TimeRange is a period of time. From belongs to it, To does not. A zero From or To means
// that the period has no such end.
type TimeRange struct{ From, To time.Time }

// Bounds of a time range's text.
const (
	maxTimeRange = 100  // bytes; the longest is two RFC 3339 times and what joins them
	maxTimeCount = 9999 // of units back: past it dates leave the calendar
)

// ParseTimeRange reads a time range; an empty text is all of time. Days, weeks,
// months and years are those of UTC, as every time that the router answers; now
// says which of them is the present one. It reads:
//
//   - "7d", "24h", "30min", "2w", "3mo", "1y", also "7 days" and "last 7 days": from that long ago on;
//   - "today", "yesterday", "monday", "3 days ago", "this week", "last week" (weeks begin on Monday), and the same of month and year;
//   - "2026-01-15", "2026-01", "2026", "12 september": that day, month or year;
//   - "A..B", "A to B" or "A/B", where A and B are such dates, or RFC 3339 times, or "now", or nothing: from
//     the beginning of A to the end of B. A date's end is that of its day, so B is included; a time is its own end.
//
// Anything else is an Invalid error that names the field.
func ParseTimeRange(field, text string, now time.Time) (TimeRange, error) {
	return parseTimeRange(field, text, now.UTC())
}

// LocalTimeRange is a time range whose days are those of now's zone, as a text that ParseTimeRange reads. What cannot be read stays as it is.
func LocalTimeRange(text string, now time.Time) string {
	r, err := parseTimeRange("", text, now)
	if _, offset := now.Zone(); err != nil || text == "" || offset == 0 {
		return text
	}
	end := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return end(r.From) + ".." + end(r.To)
}

func parseTimeRange(field, text string, now time.Time) (TimeRange, error) {
	said := strings.ToLower(strings.TrimSpace(text))
	if said == "" {
		return TimeRange{}, nil
	}
	if len(said) > maxTimeRange {
		return TimeRange{}, errs.InvalidField(field, "is longer than %d bytes", maxTimeRange)
	}
	for _, joint := range []string{"..", " to ", "/"} {
		before, after, joined := strings.Cut(said, joint)
		if !joined {
			continue
		}
		from, okFrom := timeEnd(before, now)
		to, okTo := timeEnd(after, now)
		switch {
		case !okFrom:
			return TimeRange{}, unreadTime(field, before)
		case !okTo:
			return TimeRange{}, unreadTime(field, after)
		}
		r := TimeRange{From: from.From, To: to.To}
		if !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From) {
			return TimeRange{}, errs.InvalidField(field, "ends before it begins")
		}
		return r, nil
	}
	for _, read := range []func(string, time.Time) (TimeRange, bool){rollingTime, dateTime} {
		if r, ok := read(said, now); ok {
			return r, nil
		}
	}
	return TimeRange{}, unreadTime(field, text)
}

func unreadTime(field, text string) error {
	return errs.InvalidField(field, "cannot be read at %q: give 7d, 24h, 2w, 3mo, 1y, today, yesterday, last week, 2026-01-15, or 2026-01-01..2026-02-01 with dates or RFC 3339 times of which one may be missing",
		check.Head(check.OneLine(strings.ToValidUTF8(text, "\uFFFD")), maxTimeRange))
}

// timeEnd reads one end of a range; an empty one is open.
func timeEnd(text string, now time.Time) (TimeRange, bool) {
	switch text = strings.TrimSpace(text); text {
	case "":
		return TimeRange{}, true
	case "now":
		return TimeRange{From: now, To: now}, true
	}
	return dateTime(text, now)
}

// rollingTime reads "7d" and "last 7 days".
func rollingTime(text string, now time.Time) (TimeRange, bool) {
	for _, lead := range []string{"last ", "past "} {
		text = strings.TrimPrefix(text, lead)
	}
	digits := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if digits <= 0 {
		return TimeRange{}, false
	}
	n, err := strconv.Atoi(text[:digits])
	if err != nil || n < 1 || n > maxTimeCount {
		return TimeRange{}, false
	}
	from, _, ok := ago(now, n, strings.TrimSpace(text[digits:]))
	return TimeRange{From: from}, ok && from.Year() > 0
}

// dateTime reads a time as people name it, such as "today", "last week", "monday" or "2026-01-15", or an RFC 3339 time.
func dateTime(text string, now time.Time) (TimeRange, bool) {
	words := strings.Fields(text)
	if r, n := period(words, now); n > 0 && n == len(words) {
		return r, r.From.IsZero() || r.From.Year() > 0
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	return TimeRange{t.UTC(), t.UTC()}, err == nil && t.UTC().Year() > 0
}

// DateRange returns the text of the time range that a JSON value gives: a text,
// or a pair of ends of which one may be null or empty (the persona memory's tuple). What
// is no time range is an Invalid error that names the field.
func DateRange(field string, raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var ends []*string
		if err := json.Unmarshal(raw, &ends); err != nil || len(ends) != 2 {
			return "", errs.InvalidField(field, "must be a text such as 7d, or two dates")
		}
		for i, joint := range []string{"..", ""} {
			if ends[i] != nil {
				text += *ends[i]
			}
			text += joint
		}
	}
	_, err := ParseTimeRange(field, text, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) // whether it can be read does not depend on the time
	return text, err
}

// Meet returns the period that belongs to both ranges.
func (r TimeRange) Meet(other TimeRange) TimeRange {
	if other.From.After(r.From) {
		r.From = other.From
	}
	if r.To.IsZero() || !other.To.IsZero() && other.To.Before(r.To) {
		r.To = other.To
	}
	return r
}

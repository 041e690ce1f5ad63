package operational

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// MaxReminderAhead bounds how far ahead a time may lie: ten years. What is
// later is no reminder of anybody who runs today.
const MaxReminderAhead = 10 * 365 * 24 * time.Hour

// maxSpan bounds the text of a span of time, in bytes.
const maxSpan = 128

// spanUnits are the units of a span. A month has no length, and is none.
var spanUnits = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// parseSpan reads a span of time such as "1hour", "90min", "1h30m",
// "1 day 2 hours" or "1 hour and 30 minutes", with or without a + in front. A day has 24 hours.
func parseSpan(field, text string) (time.Duration, error) {
	if len(text) > maxSpan {
		return 0, errs.InvalidField(field, "is longer than %d bytes", maxSpan)
	}
	rest := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "+"))
	var total time.Duration
	parts := 0
	for {
		rest = strings.TrimLeft(rest, " ,")
		if parts > 0 {
			if after, ok := strings.CutPrefix(rest, "and "); ok {
				rest = strings.TrimLeft(after, " ")
			}
		}
		if rest == "" {
			break
		}
		digits := leading(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil || strings.HasSuffix(digits, ".") {
			return 0, errs.InvalidField(field, "has %q where a number is expected, as in 90min, 1h30m or 1 day 2 hours", few(rest))
		}
		rest = strings.TrimLeft(rest[len(digits):], " ")
		name := leading(rest, unicode.IsLetter)
		unit, known := spanUnits[name]
		if !known {
			return 0, errs.InvalidField(field, "has %q where a unit is expected: seconds, minutes, hours, days or weeks", few(rest))
		}
		rest = rest[len(name):]
		if n*float64(unit) > float64(MaxReminderAhead) {
			return 0, errs.InvalidField(field, "is longer than ten years")
		}
		if total += time.Duration(n * float64(unit)); total > MaxReminderAhead {
			return 0, errs.InvalidField(field, "is longer than ten years")
		}
		parts++
	}
	if parts == 0 {
		return 0, errs.InvalidField(field, "is empty; write for instance +1hour, +90min or +1 day 2 hours")
	}
	return total, nil
}

// leading is the beginning of a text that is of a class.
func leading(text string, class func(rune) bool) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !class(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// few is the beginning of a text, for a message about it.
func few(text string) string {
	const most = 24
	return check.Head(strings.ToValidUTF8(text, "?"), most)
}

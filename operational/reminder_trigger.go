package operational

import (
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// Bounds of a trigger, in bytes.
const (
	// MaxTrigger bounds a trigger: a condition is the longest of them.
	MaxTrigger = 1 << 10
	// ownEvents begins the names of what reminders themselves set off. A reminder that
	// waited for these could set itself off for ever.
	ownEvents = "reminder."
)

// Trigger is what a reminder waits for, as it was read.
type Trigger struct {
	Type  TriggerType
	Value string
	At    time.Time // of TriggerTime
}

// Known tells whether there is such a type.
func (t TriggerType) Known() bool {
	return t == TriggerTime || t == TriggerEvent || t == TriggerCondition || t == TriggerCron
}

// ParseTrigger reads TYPE:VALUE, the types being TriggerType's:
//
//	time:+1hour, time:+90min, time:+1 day 2 hours, time:2026-12-24T18:00:00+01:00
//	event:NAME, where * stands for any characters and ? for one
//	condition:EXPRESSION
//	cron:MINUTE HOUR DAY MONTH WEEKDAY
//
// A time that has passed already comes at once.
func ParseTrigger(text string, now time.Time) (Trigger, error) {
	if err := check.Required("trigger", text, MaxTrigger); err != nil {
		return Trigger{}, err
	}
	// With a secret cut out it would wait for something else.
	if err := check.NoSecret("trigger", text); err != nil {
		return Trigger{}, err
	}
	kind, value, found := strings.Cut(strings.TrimSpace(text), ":")
	t := Trigger{Type: TriggerType(strings.ToLower(strings.TrimSpace(kind))), Value: strings.TrimSpace(value)}
	if !found || t.Value == "" {
		return Trigger{}, errs.InvalidField("trigger", "must be TYPE:VALUE, such as time:+1hour, time:2026-12-24T18:00:00Z, event:deployment, condition:EXPRESSION or cron:0 9 * * MON-FRI")
	}
	var err error
	switch t.Type {
	case TriggerTime:
		t.At, err = parseTime(t.Value, now)
	case TriggerEvent:
		err = checkEvent("trigger", t.Value)
	case TriggerCondition, TriggerCron: // read by what evaluates them
	default:
		err = errs.InvalidField("trigger", "has the type %q; there are time, event, condition and cron", few(kind))
	}
	return t, err
}

// parseTime reads a time from now on, or a time with its offset.
func parseTime(value string, now time.Time) (time.Time, error) {
	if strings.HasPrefix(value, "+") {
		span, err := parseSpan("trigger", value)
		return now.Add(span), err
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(value))
	if err != nil {
		return time.Time{}, errs.InvalidField("trigger", "has the time %q; write +1hour, +90min or +1 day 2 hours, or a time with its offset such as 2026-12-24T18:00:00Z", few(value))
	}
	if at.After(now.Add(MaxReminderAhead)) {
		return time.Time{}, errs.InvalidField("trigger", "lies more than ten years ahead")
	}
	if at.Before(time.Unix(0, 0)) {
		return time.Time{}, errs.InvalidField("trigger", "lies before 1970")
	}
	return at.UTC().Truncate(time.Millisecond), nil
}

// checkEvent checks the name, or the pattern of names, of something that happens.
func checkEvent(field, name string) error {
	if err := check.Required(field, name, check.MaxName); err != nil {
		return err
	}
	if strings.HasPrefix(strings.ToLower(name), ownEvents) {
		return errs.InvalidField(field, "may not begin with %q: reminders do not wait for reminders", ownEvents)
	}
	return check.Name(field, name)
}

// isPattern tells whether an event's name stands for several.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?") }

// plainly makes what path.Match has beside * and ? mean itself, as do slashes.
var plainly = strings.NewReplacer("/", "\x00", `\`, `\\`, "[", `\[`)

// fitsEvent tells whether a name fits a pattern in which * stands for any
// characters and ? for one.
func fitsEvent(pattern, name string) bool {
	fits, _ := path.Match(plainly.Replace(pattern), strings.ReplaceAll(name, "/", "\x00"))
	return fits
}

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

package operational

import (
	"path"
	"strings"
	"time"

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

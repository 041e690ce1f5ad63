package operational_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestParseTrigger(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"time:+1hour":                       time.Hour,
		"time:+90min":                       90 * time.Minute,
		"time:+1 day 2 hours":               26 * time.Hour,
		"time:+1h30m":                       90 * time.Minute,
		"time:+1.5 hours":                   90 * time.Minute,
		"time: +1 hour and 30 minutes":      90 * time.Minute,
		"TIME:+2 Weeks, 1d":                 15 * 24 * time.Hour,
		"time:+0s":                          0,
		"time:2026-11-20T13:00:00Z":         time.Hour,
		"time:2026-11-20T14:30:00+01:00":    90 * time.Minute,
		"time:2026-11-20t13:00:00z":         time.Hour,
		"time:2026-11-20T11:00:00.000Z":     -time.Hour,
		"time:2026-11-20T13:00:00.1234567Z": time.Hour + 123*time.Millisecond,
	} {
		trigger, err := operational.ParseTrigger(text, noon)
		if err != nil || trigger.Type != operational.TriggerTime || trigger.At.Sub(noon) != want {
			t.Errorf("%q: %v from now, %v", text, trigger.At.Sub(noon), err)
		}
	}
	for text, want := range map[string]operational.Trigger{
		"event:task.completed":             {Type: operational.TriggerEvent, Value: "task.completed"},
		"event: a:b ":                      {Type: operational.TriggerEvent, Value: "a:b"},
		`condition:fact("q.length") > 100`: {Type: operational.TriggerCondition, Value: `fact("q.length") > 100`},
		"cron:0 9 * * MON-FRI":             {Type: operational.TriggerCron, Value: "0 9 * * MON-FRI"},
	} {
		if trigger, err := operational.ParseTrigger(text, noon); err != nil || trigger != want {
			t.Errorf("%q: %+v, %v", text, trigger, err)
		}
	}
	for text, says := range map[string]string{
		"":                          "required",
		"soon":                      "TYPE:VALUE",
		"time:1hour":                "+1hour",
		"time:+":                    "empty",
		"time:+hour":                "number",
		"time:+1.hour":              "number",
		"time:+1..5h":               "number",
		"time:+1 fortnight":         "unit",
		"time:+1month":              "unit",
		"time:+-1h":                 "number",
		"time:+99999999999999999h":  "ten years",
		"time:+6 years":             "unit",
		"time:2026-02-30T00:00:00Z": "offset",
		"time:2099-01-01T00:00:00Z": "ten years",
		"time:1812-01-01T00:00:00Z": "1970",
		"event:reminder.due":        "reminders",
		"event:Reminder.x":          "reminders",
		"event:a\nb":                "line breaks",
		"moon:full":                 "time, event, condition and cron",
	} {
		_, err := operational.ParseTrigger(text, noon)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "trigger" || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseRecurrence(t *testing.T) {
	for _, bad := range []struct{ expression, zone, field, says string }{
		{"61 * * * *", "", "recurring", "minute"},
		{"* 24 * * *", "", "recurring", "0–23"},
		{"* * 0 * *", "", "recurring", "day of month"},
		{"* * * 13 *", "", "recurring", "JAN–DEC"},
		{"* * * * 7", "", "recurring", "day of week"},
		{"* * * * MOO", "", "recurring", "SUN–SAT"},
		{"5-1 * * * *", "", "recurring", "minute"},
		{"*/0 * * * *", "", "recurring", "minute"},
		{", * * * *", "", "recurring", "minute"},
		{"+5 * * * *", "", "recurring", "minute"},
		{"* * * *", "", "recurring", "4 fields"},
		{"0 * * * * *", "", "recurring", "6 fields"},
		{"0 0 30 2 *", "", "recurring", "never comes"},
		{"0 0 31 4,6,9,11 *", "", "recurring", "never comes"},
		{"TZ=", "", "recurring", "timezone"},
		{"CRON_TZ=Europe/Berlin", "", "recurring", "timezone"},
		{"tz=UTC 0 0 * * *", "", "recurring", "timezone"},
		{"@every 59s", "", "recurring", "once a minute"},
		{"@every 1x", "", "recurring", "unit"},
		{"@every", "", "recurring", "@daily"},
		{"@fortnightly", "", "recurring", "@daily"},
		{" ", "", "recurring", "empty"},
		{strings.Repeat("1,", 200) + "1 * * * *", "", "recurring", "longer"},
		{"@daily", "Nowhere/There", "timezone", "Europe/Berlin"},
		{"@daily", "Local", "timezone", "Europe/Berlin"},
		{"@daily", "../UTC", "timezone", "Europe/Berlin"},
		{"@daily", "a\x00b", "timezone", "Europe/Berlin"},
	} {
		_, err := operational.ParseRecurrence("recurring", bad.expression, bad.zone)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != bad.field || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%q in %q: %v", bad.expression, bad.zone, err)
		}
	}
}

func TestRecurrenceNext(t *testing.T) {
	const berlin = "Europe/Berlin" // summer time 2026: 29 March 02:00 → 03:00, 25 October 03:00 → 02:00
	for _, c := range []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"each weekday", "0 9 * * MON-FRI", "", "2026-11-20T12:00:00Z", []string{"2026-11-23T09:00:00Z", "2026-11-24T09:00:00Z"}},
		{"leap day", "0 0 29 2 *", "", "2026-11-20T12:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		{"a name", "@daily", berlin, "2026-11-20T12:00:00Z", []string{"2026-11-20T23:00:00Z"}},
		{"every", "@every 90min", "", "2026-11-20T12:00:00Z", []string{"2026-11-20T13:30:00Z"}},
		{"days or weekdays", "0 0 13 * FRI", "", "2026-11-10T00:00:00Z", []string{"2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"}},
		{"in the hour that is left out", "30 2 * * *", berlin, "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"in the hour that comes twice", "30 2 * * *", berlin, "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"twice in that hour", "0,30 2 * * *", berlin, "2026-10-24T12:00:00Z", []string{"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"}},
		{"each hour, forward", "15 * * * *", berlin, "2026-03-29T00:20:00Z", []string{"2026-03-29T01:15:00Z", "2026-03-29T02:15:00Z"}},
		{"each hour, back", "15 * * * *", berlin, "2026-10-25T00:00:00Z", []string{"2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00Z"}},
		{"half an hour's change", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
	} {
		r, err := operational.ParseRecurrence("recurring", c.expression, c.zone)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		at, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			next, ok := r.Next(at)
			if got := next.Format(time.RFC3339); !ok || got != want {
				t.Errorf("%s: %s after %s, want %s", c.name, got, at.Format(time.RFC3339), want)
				break
			}
			at = next
		}
	}
}

// FuzzTrigger holds that no text makes the reading panic or hang, and that
// what is read lies within its bounds and goes forward.
func FuzzTrigger(f *testing.F) {
	for _, seed := range []string{
		"time:+1hour", "time:+1 day 2 hours", "time:2026-12-24T18:00:00+01:00", "event:task.*", "condition:a > 1", "cron:0 9 * * MON-FRI",
		"cron:@every 1h30m", "cron:TZ=", "cron:CRON_TZ=UTC", "cron:*/9223372036854775807 * * * *", "cron:0 0 30 2 *", "time:+1e9h", "time:+٣h", "cron:,,,, * * * *",
	} {
		f.Add(seed, "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, text, zone string) {
		trigger, err := operational.ParseTrigger(text, noon)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge {
				t.Fatalf("%q: %v has the code %s", text, err, code)
			}
			return
		}
		switch trigger.Type {
		case operational.TriggerTime:
			if trigger.At.After(noon.Add(operational.MaxReminderAhead)) || trigger.At.Year() < 1970 {
				t.Fatalf("%q is %v", text, trigger.At)
			}
		case operational.TriggerCron:
			r, err := operational.ParseRecurrence("trigger", trigger.Value, zone)
			if err != nil {
				return
			}
			at := noon
			for range 3 {
				next, ok := r.Next(at)
				if !ok {
					return
				}
				if !next.After(at) {
					t.Fatalf("%q in %q: %v does not come after %v", trigger.Value, zone, next, at)
				}
				at = next
			}
		}
	})
}

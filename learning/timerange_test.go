package learning_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
)

// rangeNow is a Saturday.
var rangeNow = time.Date(2026, 11, 21, 17, 30, 0, 0, time.FixedZone("", 3600))

func TestParseTimeRange(t *testing.T) {
	for text, want := range map[string]string{
		"":                        " ",
		"7d":                      "2026-11-14T16:30:00Z ",
		"24h":                     "2026-11-20T16:30:00Z ",
		"90 min":                  "2026-11-21T15:00:00Z ",
		"2w":                      "2026-11-07T16:30:00Z ",
		"3mo":                     "2026-08-21T16:30:00Z ",
		"1y":                      "2025-11-21T16:30:00Z ",
		" Last 7 Days ":           "2026-11-14T16:30:00Z ",
		"today":                   "2026-11-21T00:00:00Z 2026-11-22T00:00:00Z",
		"yesterday":               "2026-11-20T00:00:00Z 2026-11-21T00:00:00Z",
		"this week":               "2026-11-16T00:00:00Z 2026-11-23T00:00:00Z",
		"last week":               "2026-11-09T00:00:00Z 2026-11-16T00:00:00Z",
		"last month":              "2026-10-01T00:00:00Z 2026-11-01T00:00:00Z",
		"this year":               "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z",
		"previous month":          "2026-10-01T00:00:00Z 2026-11-01T00:00:00Z",
		"monday":                  "2026-11-16T00:00:00Z 2026-11-17T00:00:00Z",
		"3 days ago":              "2026-11-18T00:00:00Z 2026-11-19T00:00:00Z",
		"monday to yesterday":     "2026-11-16T00:00:00Z 2026-11-21T00:00:00Z",
		"2026-01-15":              "2026-01-15T00:00:00Z 2026-01-16T00:00:00Z",
		"2026-02":                 "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z",
		"2025":                    "2025-01-01T00:00:00Z 2026-01-01T00:00:00Z",
		"2026-01-01..2026-02-01":  "2026-01-01T00:00:00Z 2026-02-02T00:00:00Z",
		"2026-01-01 to yesterday": "2026-01-01T00:00:00Z 2026-11-21T00:00:00Z",
		"2026-01-01/2026-01-01":   "2026-01-01T00:00:00Z 2026-01-02T00:00:00Z",
		"2026-01-01..":            "2026-01-01T00:00:00Z ",
		"..2026-02":               " 2026-03-01T00:00:00Z",
		"..":                      " ",
		"yesterday..now":          "2026-11-20T00:00:00Z 2026-11-21T16:30:00Z",
		"2026-01-01T10:00:00+02:00..2026-01-01t09:00:00z": "2026-01-01T08:00:00Z 2026-01-01T09:00:00Z",
	} {
		r, err := learning.ParseTimeRange("time_range", text, rangeNow)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := []string{"", ""}
		for i, end := range []time.Time{r.From, r.To} {
			if !end.IsZero() {
				got[i] = end.Format(time.RFC3339Nano)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q is %q, want %q", text, s, want)
		}
	}
	for _, text := range []string{
		"soon", "d", "0d", "-7d", "7", "7 parsecs", "99999d", "9999y", "2026-13-01", "2026-02-30", "0000-01-01", "next week", "last", "9999 years ago", "last 9999 years", "monday morning shift", "today week",
		"2026-02-01..2026-01-01", "a..b", "7d..", "1..2..3", "2026-01-01T10:00:00", strings.Repeat("9", 200), "7d\x00", "\xff",
	} {
		_, err := learning.ParseTimeRange("time_range", text, rangeNow)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "time_range" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDateRange(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "null": "", `"7d"`: "7d", `["2026-01-01","2026-02-01"]`: "2026-01-01..2026-02-01",
		`["2026-01-01",null]`: "2026-01-01..", `[null,"2026-02-01"]`: "..2026-02-01", `["",""]`: "..",
	} {
		if got, err := learning.DateRange("date_range", json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`7`, `{}`, `["2026-01-01"]`, `["a","b"]`, `"soon"`, `[1,2]`, `["2026-02-01","2026-01-01"]`} {
		if _, err := learning.DateRange("date_range", json.RawMessage(raw)); errs.FieldOf(err) != "date_range" {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func FuzzParseTimeRange(f *testing.F) {
	for _, seed := range []string{"7d", "last week", "2026-01-01..2026-02-01", "..now", "2026-01-01T00:00:00Z/", "9999mo", "1..\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := learning.ParseTimeRange("time_range", text, rangeNow)
		if err != nil {
			if errs.FieldOf(err) != "time_range" {
				t.Errorf("%q: %v names no field", text, err)
			}
			return
		}
		if !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From) {
			t.Errorf("%q is from %s to %s", text, r.From, r.To)
		}
		for _, end := range []time.Time{r.From, r.To} {
			if y := end.Year(); y < 1 || y > 10_000 {
				t.Errorf("%q reaches the year %d", text, y)
			}
		}
	})
}

package operational_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/operational"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 11, 25, 14, 30, 0, 0, zone) // a Wednesday
	for text, want := range map[string]string{
		"tomorrow at 9": "2026-11-26T09:00:00+02:00", "tomorrow": "2026-11-26T09:00:00+02:00", "Tomorrow, 9am": "2026-11-26T09:00:00+02:00",
		"tomorrow at 9 pm": "2026-11-26T21:00:00+02:00", "9": "2026-11-26T09:00:00+02:00", "at 17:30": "2026-11-25T17:30:00+02:00",
		"friday 17:30": "2026-11-27T17:30:00+02:00", "next wed": "2026-12-02T09:00:00+02:00", "tonight": "2026-11-25T20:00:00+02:00",
		"tonight at 22": "2026-11-25T22:00:00+02:00", "tonight at 9": "2026-11-25T21:00:00+02:00", "tonight 9:30": "2026-11-25T21:30:00+02:00", "at 9 tonight": "2026-11-25T21:00:00+02:00",
		"tonight at 12": "2026-11-26T00:00:00+02:00", "tonight at midnight": "2026-11-26T00:00:00+02:00", "tonight at 1": "2026-11-26T01:00:00+02:00", "tonight at 11pm": "2026-11-25T23:00:00+02:00", "today at 3pm": "2026-11-25T15:00:00+02:00", "noon": "2026-11-26T12:00:00+02:00",
		"24 december at 6pm": "2026-12-24T18:00:00+02:00", "december 24th": "2026-12-24T09:00:00+02:00", "on the 3rd of november at noon": "2027-11-03T12:00:00+02:00", "24 dec 2027 8:15": "2027-12-24T08:15:00+02:00",
		"next week": "2026-12-02T09:00:00+02:00", "next month at 10": "2026-12-25T10:00:00+02:00", "in two hours": "2026-11-25T16:30:00+02:00", "in an hour": "2026-11-25T15:30:00+02:00", "in half an hour": "2026-11-25T15:00:00+02:00", "in 2w": "2026-12-09T14:30:00+02:00",
		"midnight": "2026-11-26T00:00:00+02:00", "in 2 hours": "2026-11-25T16:30:00+02:00", "+90min": "2026-11-25T16:00:00+02:00",
		"2026-12-24 18:00": "2026-12-24T18:00:00+02:00", "2026-12-24T18:00": "2026-12-24T18:00:00+02:00", "2026-12-24T18:00:30": "2026-12-24T18:00:30+02:00", "2026-12-24T18:00:00Z": "2026-12-24T18:00:00Z",
	} {
		at, err := operational.ParseWhen(text, now)
		if err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%q is %s, %v; want %s", text, at.Format(time.RFC3339), err, want)
		}
	}
	for text, why := range map[string]string{
		"": "names no time", "soon": `has "soon"`, "today at 9": "lies in the past", "tonight at 9 am": "lies in the past", "tonight at 9 10": `has "10"`, "2026-11-24 9:00": "lies in the past", "2050-01-01": "ten years",
		"tomorrow at 25": `has "25"`, "9 10": `has "10"`, "tomorrow friday": `has "friday"`, "in some hours": "a number is expected", "at": "names no time",
	} {
		at, err := operational.ParseWhen(text, now)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q is %s, %v; want a refusal with %q", text, at, err, why)
		}
	}
}

func TestParseReminder(t *testing.T) {
	now := time.Date(2026, 11, 25, 14, 30, 0, 0, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"me tomorrow at 9 to verify that payments are stable": "verify that payments are stable|2026-11-26 09:00:00",
		"verify payments tomorrow at 9":                       "verify payments|2026-11-26 09:00:00",
		"me to call Ann in 2 hours":                           "call Ann|2026-11-25 16:30:00",
		"me in 10 minutes that the deploy ends":               "the deploy ends|2026-11-25 14:40:00",
		"meet at noon on friday":                              "meet|2026-11-27 12:00:00",
		"next friday at 5 pm: go home":                        "go home|2026-11-27 17:00:00",
		"call Ann today at 9":                                 "", // not tomorrow at 9
		"buy 9":                                               "", "verify payments": "", "me": "", "": "", "tomorrow": "", "me tomorrow at 9": "",
	} {
		task, at, err := operational.ParseReminder(text, now)
		if got := task + "|" + at.Format(time.DateTime); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseRecurring(t *testing.T) {
	now := time.Date(2026, 11, 25, 14, 30, 0, 0, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"look at the backups every day at 9":             "look at the backups|0 9 * * *|2026-11-26 09:00:00",
		"look at the backups daily":                      "look at the backups|0 9 * * *|2026-11-26 09:00:00",
		"every monday at 17:30 write the log":            "write the log|30 17 * * MON|2026-11-30 17:30:00",
		"stand-up every weekday at 10":                   "stand-up|0 10 * * MON-FRI|2026-11-26 10:00:00",
		"every fri: go home":                             "go home|0 9 * * FRI|2026-11-27 09:00:00",
		"read every file tomorrow at 9":                  "read every file||2026-11-26 09:00:00",
		"stand-up every tuesday and thursday at 10":      "stand-up|0 10 * * TUE,THU|2026-11-26 10:00:00",
		"on mondays at 14:30 write the log":              "write the log|30 14 * * MON|2026-11-30 14:30:00",
		"look at the queue every 15 minutes":             "look at the queue|@every 15minute|2026-11-25 14:45:00",
		"me to stretch every hour":                       "stretch|@every 1hour|2026-11-25 15:30:00",
		"drink water hourly":                             "drink water|@every 1hour|2026-11-25 15:30:00",
		"every morning look at the alerts":               "look at the alerts|0 9 * * *|2026-11-26 09:00:00",
		"close the shop every evening":                   "close the shop|0 18 * * *|2026-11-25 18:00:00",
		"pay the invoice every 1st of the month at 9":    "pay the invoice|0 9 1 * *|2026-12-01 09:00:00",
		"every month on the 15th at 8 pay the rent":      "pay the rent|0 8 15 * *|2026-12-15 08:00:00",
		"pay monthly":                                    "pay|0 9 25 * *|2026-12-25 09:00:00",
		"write the report weekly":                        "write the report|0 9 * * THU|2026-11-26 09:00:00",
		"congratulate Ann every year on 3 march at noon": "congratulate Ann|0 12 3 3 *|2027-03-03 12:00:00",
		"every weekend at 11 water the plants":           "water the plants|0 11 * * SAT,SUN|2026-11-28 11:00:00",
		"go home on friday at 17":                        "go home||2026-11-27 17:00:00",
		"buy gifts december 24 at 6pm":                   "buy gifts||2026-12-24 18:00:00",
		"look at each file on the 3rd of december at 9":  "look at each file||2026-12-03 09:00:00",
		"stretch every 2 weeks at 9":                     "stretch|@every 2week from 2026-11-26t09:00|2026-11-26 09:00:00",
		"pay Ann every 2 weeks on friday at 17":          "pay Ann|@every 2week from 2026-11-27t17:00|2026-11-27 17:00:00",
		"every 2 weeks on mondays: write the log":        "write the log|@every 2week from 2026-11-30t09:00|2026-11-30 09:00:00",
		"write the log every other monday at 10":         "write the log|@every 2week from 2026-11-30t10:00|2026-11-30 10:00:00",
		"write the log every second friday":              "write the log|@every 2week from 2026-11-27t09:00|2026-11-27 09:00:00",
		"stretch every other day":                        "stretch|@every 2day from 2026-11-26t09:00|2026-11-26 09:00:00",
		"water the plants every 3 days at 18:30":         "water the plants|@every 3day from 2026-11-25t18:30|2026-11-25 18:30:00",
		"water the plants every third day":               "water the plants|@every 3day from 2026-11-26t09:00|2026-11-26 09:00:00",
		"every quarter at 9 look at the figures":         "look at the figures|@every 3month from 2026-12-25t09:00|2026-12-25 09:00:00",
		"renew it every 6 months on the 1st":             "renew it|@every 6month from 2026-12-01t09:00|2026-12-01 09:00:00",
		"renew it every 2 years on 3 march":              "renew it|@every 2year from 2027-03-03t09:00|2027-03-03 09:00:00",
		"fortnightly send the report":                    "send the report|@every 2week from 2026-11-26t09:00|2026-11-26 09:00:00",
		"send the report once a week":                    "send the report|0 9 * * THU|2026-11-26 09:00:00",
		"pay the rent on the 1st of each month":          "pay the rent|0 9 1 * *|2026-12-01 09:00:00",
		"pay the rent on the 15th of every month at 8":   "pay the rent|0 8 15 * *|2026-12-15 08:00:00",
		"stand-up on weekdays at 10":                     "stand-up|0 10 * * MON-FRI|2026-11-26 10:00:00",
		"write the log mondays and fridays at 9":         "write the log|0 9 * * MON,FRI|2026-11-27 09:00:00",
		"stretch every 90 minutes":                       "stretch|@every 90minute|2026-11-25 16:00:00",
		"look at the queue every 8 hours":                "look at the queue|@every 8hour|2026-11-25 22:30:00",
		"lock the door nightly":                          "lock the door|0 20 * * *|2026-11-25 20:00:00",
		"look at each file every day":                    "look at each file|0 9 * * *|2026-11-26 09:00:00",
	} {
		task, at, again, err := operational.ParseRecurring(text, now, time.UTC)
		if got := task + "|" + again + "|" + at.Format(time.DateTime); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for text, why := range map[string]string{
		"look at backups every day at 25:00": "names no time", "look at backups at 25:00 every day": "names no time", "every day at 24:30: look at backups": "names no time",
		"look at the backups at 25:00 tomorrow": `"at 25:00"`, "every monday at 9:75 look": "names no time",
		"stretch twice a day": "every 12 hours", "stretch three times a day at 9": "every 12 hours", "stretch 2x daily": "every 12 hours", "stretch every few days at 9": "every 2 weeks on friday",
		"pay every last day of the month at 9": "every month on the 15th", "stand-up every first monday": "every month on the 15th", "pay on the last friday of each month": "every month on the 15th",
		"stretch every 1.5 hours at 9": "every 12 hours", "stretch every second": "every 12 hours", "stretch every 0 days": "no count", "every day every monday stretch": "says twice", "walk every 2 weekdays": "no reminder can",
		"walk every other monday and friday": "no reminder can",
	} {
		if task, at, again, err := operational.ParseRecurring(text, now, time.UTC); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q is %q at %s, %q, %v; want a refusal with %q", text, task, at, again, err, why)
		}
	}
	friday := time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC)
	_, at, again, err := operational.ParseRecurring("stand-up every weekday at 10", friday, time.FixedZone("there", 2*60*60))
	if got := again + "|" + at.Format(time.RFC3339); err != nil || got != "0 12 * * MON-FRI|2026-11-30T12:00:00+02:00" {
		t.Errorf("after a Friday it is %s, %v", got, err)
	}
}

// TestAnchored: what recurs from a first time on keeps its hour when clocks are changed, and its day in shorter months.
func TestAnchored(t *testing.T) {
	for _, test := range []struct{ expression, zone, after, want string }{
		{"@every 2week from 2026-10-12T09:00", "Europe/Berlin", "2026-10-12T07:00:00Z", "2026-10-26T08:00:00Z"},
		{"@every 2 weeks from 2026-10-12t09:00", "Europe/Berlin", "2026-10-01T00:00:00Z", "2026-10-12T07:00:00Z"},
		{"@every 1month from 2026-01-31T09:00", "", "2026-02-01T00:00:00Z", "2026-02-28T09:00:00Z"},
		{"@every 1month from 2026-01-31T09:00", "", "2026-02-28T09:00:00Z", "2026-03-31T09:00:00Z"},
		{"@every 3month from 2016-01-15T09:00", "", "2026-01-15T09:00:00Z", "2026-04-15T09:00:00Z"},
		{"@every 3day from 2020-01-01T09:00", "", "2026-11-25T12:00:00Z", "2026-11-28T09:00:00Z"},
		{"@every 1year from 2024-02-29T09:00", "", "2024-03-01T00:00:00Z", "2025-02-28T09:00:00Z"},
	} {
		recurrence, err := operational.ParseRecurrence("recurring", test.expression, test.zone)
		if err != nil {
			t.Fatal(test, err)
		}
		after, err := time.Parse(time.RFC3339, test.after)
		if err != nil {
			t.Fatal(err)
		}
		if next, ok := recurrence.Next(after); !ok || next.Format(time.RFC3339) != test.want {
			t.Errorf("%v: %s", test, next)
		}
	}
	for expression, why := range map[string]string{
		"@every 2week from tuesday": "begins at", "@every 2hour from 2026-10-12T09:00": "days, weeks, months and years", "@every 0day from 2026-10-12T09:00": "days, weeks",
		"@every week from 2026-10-12T09:00": "days, weeks", "@every 99999999999999999999day from 2026-10-12T09:00": "days, weeks",
	} {
		if _, err := operational.ParseRecurrence("recurring", expression, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

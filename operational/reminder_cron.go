package operational

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a container and Windows have no zones of their own
	"unicode"

	"github.com/robfig/cron/v3"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// maxCron bounds a cron expression, in bytes.
const maxCron = 256

// MinEvery is the shortest distance of "@every": what recurs more often is a
// loop, which the agent should run itself.
const MinEvery = time.Minute

// maxEvery is how many days, weeks, months or years may lie between two times.
const maxEvery = 1000

// Recurrence is the times that a cron expression names in a time zone.
type Recurrence struct {
	schedule cron.Schedule
	fields   *cron.SpecSchedule // nil for @every
	zone     *time.Location
}

// cronField is one of the five fields and what may stand there.
type cronField struct{ name, allowed string }

var cronFields = []cronField{
	{"minute", "0–59"},
	{"hour", "0–23"},
	{"day of month", "1–31"},
	{"month", "1–12 or JAN–DEC"},
	{"day of week", "0–6 or SUN–SAT, 0 is Sunday"},
}

// cronNames are the names that stand for an expression.
var cronNames = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// ParseRecurrence reads a cron expression: five fields (minute, hour, day of
// month, month, day of week) or a name such as @daily, or "@every 90m". The
// zone is an IANA name; empty is UTC. Errors name the field, and in the
// expression what is wrong and what is allowed.
func ParseRecurrence(field, expression, zone string) (*Recurrence, error) {
	location, err := loadZone(zone)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(expression)
	switch {
	case text == "":
		return nil, errs.InvalidField(field, "is an empty cron expression; write for instance 0 9 * * MON-FRI")
	case len(text) > maxCron:
		return nil, errs.InvalidField(field, "is longer than %d bytes", maxCron)
	case strings.HasPrefix(strings.ToUpper(text), "TZ=") || strings.HasPrefix(strings.ToUpper(text), "CRON_TZ="):
		return nil, errs.InvalidField(field, "may not name a time zone; the field timezone does")
	case strings.HasPrefix(text, "@"):
		return parseCronName(field, text, location)
	}
	parts := strings.Fields(text)
	if len(parts) != len(cronFields) {
		return nil, errs.InvalidField(field, "has %d fields, and a cron expression has 5: minute, hour, day of month, month, day of week", len(parts))
	}
	for i, part := range parts {
		// Each field is tried by itself, because the library's error does not say which it was.
		lone := []string{"*", "*", "*", "*", "*"}
		lone[i] = part
		if _, err := cron.ParseStandard(strings.Join(lone, " ")); err != nil || oddElement(part) {
			return nil, errs.InvalidField(field, "has the %s %q, which is not allowed: %s, *, lists, ranges and steps such as */5", cronFields[i].name, few(part), cronFields[i].allowed)
		}
	}
	r := standard(strings.Join(parts, " "), location)
	if r == nil {
		return nil, errs.InvalidField(field, "is no cron expression that is understood")
	}
	if r.schedule.Next(leapYear).IsZero() {
		return nil, errs.InvalidField(field, "names a day that never comes: %s", few(text))
	}
	return r, nil
}

// leapYear is a time before each possible date within the years that the library looks ahead.
var leapYear = time.Date(2023, time.January, 1, 0, 0, 0, 0, time.UTC)

// oddElement tells whether a list has an element with nothing in it, or a number with a sign: the library passes over both.
func oddElement(part string) bool {
	return strings.HasPrefix(part, ",") || strings.HasSuffix(part, ",") || strings.Contains(part, ",,") || strings.ContainsAny(part, "+")
}

func parseCronName(field, text string, location *time.Location) (*Recurrence, error) {
	name := strings.ToLower(text)
	if every, ok := strings.CutPrefix(name, "@every "); ok {
		if span, from, anchored := strings.Cut(every, " from "); anchored {
			return parseAnchored(field, span, from, location)
		}
		distance, err := parseSpan(field, every)
		if err != nil {
			return nil, err
		}
		if distance < MinEvery {
			return nil, errs.InvalidField(field, "recurs more often than once a minute")
		}
		return &Recurrence{schedule: cron.Every(distance), zone: location}, nil
	}
	r := standard(name, location)
	if r == nil {
		return nil, errs.InvalidField(field, "has the name %q; there are %s, and @every with a span of time", few(text), strings.Join(cronNames, ", "))
	}
	return r, nil
}

// standard reads five fields or a name as the library does; nil: it reads neither.
func standard(expression string, zone *time.Location) *Recurrence {
	schedule, err := cron.ParseStandard(expression)
	fields, ok := schedule.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil
	}
	fields.Location = zone
	return &Recurrence{schedule: fields, fields: fields, zone: zone}
}

// anchorForm is how the first time of one that recurs from then on is written, in its zone.
const anchorForm = "2006-01-02t15:04"

// anchored is so many months or days after a first time, and again after each.
type anchored struct {
	first        time.Time
	months, days int
}

// parseAnchored reads "2week" and the first time of "@every 2week from 2026-12-04t09:00": the times of a calendar, which keep their hour.
func parseAnchored(field, span, from string, zone *time.Location) (*Recurrence, error) {
	first, err := time.ParseInLocation(anchorForm, from, zone)
	if err != nil {
		return nil, errs.InvalidField(field, "begins at %q; write for instance @every 2week from 2026-12-04T09:00", few(from))
	}
	digits := leading(span, unicode.IsDigit)
	n, err := strconv.Atoi(digits)
	unit := strings.TrimSuffix(strings.TrimSpace(span[len(digits):]), "s")
	of, known := map[string]anchored{"day": {days: 1}, "week": {days: 7}, "month": {months: 1}, "year": {months: 12}}[unit]
	if err != nil || !known || n < 1 || n > maxEvery {
		return nil, errs.InvalidField(field, "recurs every %q; from a first time on there are days, weeks, months and years, %d at most", few(span), maxEvery)
	}
	return &Recurrence{schedule: anchored{first, n * of.months, n * of.days}, zone: zone}, nil
}

// Next implements cron.Schedule.
func (a anchored) Next(after time.Time) time.Time {
	const day = 24 * time.Hour
	n := max(0, int(after.Sub(a.first)/day)/(31*a.months+a.days)-1) // as few steps as may be
	for ; ; n++ {
		at := a.first.AddDate(0, n*a.months, n*a.days)
		if a.months > 0 && at.Day() != a.first.Day() { // a month that is shorter: its last day
			at = at.AddDate(0, 0, -at.Day())
		}
		if at.After(after) {
			return at
		}
	}
}

// everyHour tells whether the hour is a *: such an expression goes by real
// time when clocks are changed.
func (r *Recurrence) everyHour() bool { return r.fields == nil || r.fields.Hour&(1<<63) != 0 }

// Next returns the first time after a time, in UTC, or false if there is none. When clocks
// are set forward, a time in the missing hour comes at the change. When they are set back, a
// time in the repeated hour comes once. An expression whose hour is * follows real time.
func (r *Recurrence) Next(after time.Time) (time.Time, bool) {
	next := r.schedule.Next(after.In(r.zone))
	if r.everyHour() {
		return next.UTC(), !next.IsZero()
	}
	if skipped, ok := r.inGap(after, next); ok {
		return skipped.UTC(), true
	}
	for !next.IsZero() && repeats(next) {
		next = r.schedule.Next(next)
	}
	return next.UTC(), !next.IsZero()
}

// repeats tells whether the clock showed the same at an earlier time already.
func repeats(t time.Time) bool {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return false
	}
	_, before := start.Add(-1).Zone()
	_, now := t.Zone()
	return t.Before(start.Add(time.Duration(before-now) * time.Second))
}

// maxChanges bounds the changes of the clock that one step looks at: two a year for the years that the library looks ahead, and some.
const maxChanges = 16

// inGap returns the first change of the clock after a time and before next
// that leaves out a time which the expression names.
func (r *Recurrence) inGap(after, next time.Time) (time.Time, bool) {
	at := after.In(r.zone)
	for range maxChanges {
		_, change := at.ZoneBounds()
		if change.IsZero() || !next.IsZero() && !change.Before(next) {
			return time.Time{}, false
		}
		_, before := change.Add(-1).Zone()
		_, since := change.Zone()
		if since > before {
			// The clock goes from here to there; seen as UTC, both are ordinary times.
			from := change.UTC().Add(time.Duration(before) * time.Second)
			to := change.UTC().Add(time.Duration(since) * time.Second)
			plain := *r.fields
			plain.Location = time.UTC
			if named := plain.Next(from.Add(-1)); !named.IsZero() && named.Before(to) {
				return change, true
			}
		}
		at = change
	}
	return time.Time{}, false
}

// loadZone returns the zone of an IANA name, UTC for an empty one.
func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if len(name) > check.MaxName || name == "Local" {
		return nil, errs.InvalidField("timezone", "is no time zone; write a name such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, errs.InvalidField("timezone", "has %s, which is no time zone that is known; write a name such as Europe/Berlin", strconv.Quote(few(name)))
	}
	return zone, nil
}

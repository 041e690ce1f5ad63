package learning

import (
	"errors"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// What one router holds can be carried to another: read record by record
// and taken in there (the Take methods). Records keep their ids,
// their authors and their times. Taking one in twice is taking it in once: it
// is known by its id, and what is there already stays as it is. All of it
// needs ScopeCaptain, because a record says who wrote it.

// The types of the events of what was taken in where there is no other.
const (
	EventLessonImported  = "lesson.imported"
	EventPatternImported = "pattern.imported"
)

// ChangeImported is the first line of the history of a lesson that was taken in.
const ChangeImported = "imported"

// errDryRun ends a transaction that was only to show what it would do.
var errDryRun = errors.New("this was a dry run")

// Settle ends a change that may have been a dry run.
func (t Taking) Settle(wait func() error) error {
	if err := wait(); !errors.Is(err, errDryRun) {
		return err
	}
	return nil
}

// Done is what the function of a change returns when it has written all.
func (t Taking) Done() error {
	if t.DryRun {
		return errDryRun
	}
	return nil
}

// MaxFigure bounds the counts that a record may bring, such as how often it was
// used: greater ones would overflow when they are added to.
const MaxFigure = 1 << 40

// CheckFigures refuses counts below 0 or above MaxFigure; pairs are names and numbers (int64) in turn.
func CheckFigures(pairs ...any) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if n := pairs[i+1].(int64); n < 0 || n > MaxFigure {
			return errs.InvalidField(pairs[i].(string), "must lie between 0 and %d", int64(MaxFigure))
		}
	}
	return nil
}

// Moments brings the times of a record into the past and whole milliseconds:
// what lies ahead would outrank everything. One that is not said is fallback.
func Moments(now, fallback time.Time, times ...*time.Time) {
	for _, t := range times {
		if t.IsZero() {
			*t = fallback
		}
		if *t = t.UTC().Truncate(time.Millisecond); t.After(now) || t.Year() < 1970 {
			*t = now
		}
	}
}

// OptionalMoments is Moments for times that may be missing.
func OptionalMoments(now time.Time, times ...*time.Time) {
	for _, t := range times {
		if t != nil {
			Moments(now, now, t)
		}
	}
}

// CopyTime returns a copy of a time that may be missing.
func CopyTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

// CheckAuthor holds who wrote a record to what an agent's id may be; nobody may have.
func CheckAuthor(field, author string) error {
	if author == "" {
		return nil
	}
	return check.AgentID(field, author)
}

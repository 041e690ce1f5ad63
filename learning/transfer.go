package learning

import (
	"context"
	"errors"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
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

// Taker is how a kind takes in records of another router. E is what is stored of a record, Tx a transaction.
type Taker[Record, E, Tx any] struct {
	// ID is what a record is known by.
	ID func(record *Record) string
	// Check makes of a record what is stored of it; an error refuses it.
	Check func(record Record) (E, error)
	// Change is the store's.
	Change func(ctx context.Context, decide func(tx Tx) error, after func()) (wait func() error)
	// Put stores e unless it is there, in the transaction, which may run twice.
	Put func(tx Tx, i int, e *E) (there bool, err error)
	// Stored is called after the commit with what was stored.
	Stored func(stored []E)
}

// Take takes records in: those that are refused or there are named, and the others are stored together. It needs ScopeCaptain.
func (k Taker[Record, E, Tx]) Take(ctx context.Context, records []Record, t Taking) ([]Taken, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	taken, ready := make([]Taken, len(records)), make([]E, len(records))
	for i := range records {
		taken[i].ID = k.ID(&records[i])
		ready[i], taken[i].Err = k.Check(records[i])
	}
	var stored []E
	err := t.Settle(k.Change(ctx, func(tx Tx) error {
		stored = nil
		for i := range ready {
			if taken[i].Err != nil {
				continue
			}
			e := ready[i]
			there, err := k.Put(tx, i, &e)
			if err != nil {
				return err
			}
			if taken[i].Duplicate = there; !there {
				stored = append(stored, e)
			}
		}
		return t.Done()
	}, func() { k.Stored(stored) }))
	return taken, err
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

// Taking is how records are taken in.
type Taking struct {
	DryRun bool // only say what would become of them
}

// Taken is what became of one record.
type Taken struct {
	ID        string
	Ref       string // what it is known by here, where that is not ID
	Duplicate bool   // it was there already, and nothing of it was changed
	Err       error  // it was refused
}

// Import is one import, whose additions can be taken back by its id.
type Import struct {
	Number   int64      `json:"-"`
	ID       string     `json:"id"`
	Source   string     `json:"source,omitempty"` // what was read, in the caller's words
	AgentID  string     `json:"agent_id,omitempty"`
	At       time.Time  `json:"at"`
	Stored   int64      `json:"stored"` // how many memories it added
	Left     int64      `json:"left"`   // how many of them were not taken back
	UndoneAt *time.Time `json:"undone_at,omitempty"`
}

// Addition is a memory that an import added.
type Addition struct {
	Number int64
	Kind   string
	Ref    string // what it is known by among its kind
	Mark   string // a hash of how it was stored: one that was changed or used since has another
}

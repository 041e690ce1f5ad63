package learning

import (
	"context"
	"errors"
	"math"
	"time"

	"skillrouter"
)

// What one router holds can be carried to another: read record by record
// (TransferStore) and taken in there (the Take methods). Records keep their ids,
// their authors and their times. Taking one in twice is taking it in once: it
// is known by its id, and what is there already stays as it is. All of it
// needs ScopeCaptain, because a record says who wrote it.

// TransferStore reads what is carried, a page at a time, in an order that
// later writes do not change. Each page holds up to limit records and about MaxAnswer
// bytes; an empty one is the end. project, if it is not empty, selects.
type TransferStore interface {
	// KnowledgeAfter returns entries whose Number is greater than after.
	KnowledgeAfter(ctx context.Context, project string, after int64, limit int) ([]Knowledge, error)
	// EpisodesAfter returns episodes whose Number is greater than after.
	EpisodesAfter(ctx context.Context, project string, after int64, limit int) ([]EpisodeRecord, error)
	// LessonsAfter returns lessons whose Number is greater than after, retired ones too.
	LessonsAfter(ctx context.Context, project string, after int64, limit int) ([]Lesson, error)
	// PatternsAfter returns patterns whose Number is greater than after, with their evidence.
	PatternsAfter(ctx context.Context, after int64, limit int) ([]PatternRecord, error)
	// FactsAfter returns facts that live at a time, of this persona with a greater key and of personas behind it.
	FactsAfter(ctx context.Context, persona, key string, at time.Time, limit int) ([]Fact, error)
	// ProceduresAfter returns procedures whose number is greater than after, and the number of the last.
	ProceduresAfter(ctx context.Context, after int64, limit int) ([]Procedure, int64, error)
}

// EpisodeRecord is an episode as it is carried: with its outcome, if it is an experience.
type EpisodeRecord struct {
	Episode
	Experience *Experience `json:"experience,omitempty"`
}

// PatternRecord is a pattern as it is carried: its episodes by their ids,
// because their numbers are another router's.
type PatternRecord struct {
	Pattern
	Episodes []string `json:"episodes,omitempty"`
}

// Taking is how records are taken in.
type Taking struct {
	DryRun bool // only say what would become of them
}

// Taken is what became of one record.
type Taken struct {
	ID        string
	Duplicate bool  // it was there already, and nothing of it was changed
	Err       error // it was refused
}

// The types of the events of what was taken in where there is no other.
const (
	EventLessonImported  = "lesson.imported"
	EventPatternImported = "pattern.imported"
)

// ChangeImported is the first line of the history of a lesson that was taken in.
const ChangeImported = "imported"

// errDryRun ends a transaction that was only to show what it would do.
var errDryRun = errors.New("this was a dry run")

// settle ends a change that may have been a dry run.
func (t Taking) settle(wait func() error) error {
	if err := wait(); !errors.Is(err, errDryRun) {
		return err
	}
	return nil
}

// done is what the function of a change returns when it has written all.
func (t Taking) done() error {
	if t.DryRun {
		return errDryRun
	}
	return nil
}

// maxFigure bounds the counts that a record may bring, such as how often it was
// used: greater ones would overflow when they are added to.
const maxFigure = 1 << 40

func checkFigures(pairs ...any) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if n := pairs[i+1].(int64); n < 0 || n > maxFigure {
			return skillrouter.InvalidField(pairs[i].(string), "must lie between 0 and %d", int64(maxFigure))
		}
	}
	return nil
}

// moments brings the times of a record into the past and whole milliseconds:
// what lies ahead would outrank everything. One that is not said is fallback.
func moments(now, fallback time.Time, times ...*time.Time) {
	for _, t := range times {
		if t.IsZero() {
			*t = fallback
		}
		if *t = t.UTC().Truncate(time.Millisecond); t.After(now) || t.Year() < 1970 {
			*t = now
		}
	}
}

func optionalMoments(now time.Time, times ...*time.Time) {
	for _, t := range times {
		if t != nil {
			moments(now, now, t)
		}
	}
}

func copyTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

// checkBelief holds a confidence and its decay to what the formula allows.
func checkBelief(b Belief) error {
	if err := skillrouter.CheckRange("initial_confidence", b.InitialConfidence, 0, 1); err != nil {
		return err
	}
	if math.IsNaN(b.DecayConstant) || b.DecayConstant < 0 || b.DecayConstant > 1 {
		return skillrouter.InvalidField("decay_constant", "must lie between 0 and 1")
	}
	return nil
}

// checkAuthor holds who wrote a record to what an agent's id may be; nobody may have.
func checkAuthor(field, author string) error {
	if author == "" {
		return nil
	}
	return skillrouter.CheckAgentID(field, author)
}

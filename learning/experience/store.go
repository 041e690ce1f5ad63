package experience

import (
	"context"
	"math"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Tx is one transaction on experiences and on what is learned from them.
type Tx interface {
	lesson.PipelineTx
	// Operation returns what is known of an operation type, its window moved so that it
	// begins at from. Of a type without episodes everything is zero.
	Operation(operationType string, from time.Time) (Operation, error)
	// SetOperation stores it.
	SetOperation(operation Operation) error
	// SameProblem returns how many of the type's last episodes, at most last of them, were
	// looked at, and how many of these have the problem with that fingerprint.
	SameProblem(operationType string, fingerprint int64, last int) (same, seen int, err error)
	// InsertExperience stores an experience as the episode that it is, and gives both its number.
	InsertExperience(experience *Experience, episode *episode.Episode, fingerprint int64) error
	// InsertEpisode stores an episode that has no outcome, and gives it its number.
	InsertEpisode(episode *episode.Episode) error
	// WindowEpisodes returns the evidence that the latest episodes of a type since from
	// are, at most limit of them, the oldest first.
	WindowEpisodes(operationType string, from time.Time, limit int) ([]lesson.Evidence, error)
	// WindowNumbers returns the numbers of the latest episodes of a type since from, the newest first.
	WindowNumbers(operationType string, from time.Time, limit int) ([]int64, error)
	// ExperiencesOf returns the experiences with those numbers that there are, in the order of their numbers.
	ExperiencesOf(numbers []int64) ([]Experience, error)
	// DropExperiences removes those of the numbers that are experiences made before the
	// time, takes them out of what is known of their types, and removes them from the
	// evidence of patterns, except those that a lesson was learned from: there the number
	// stays. It returns the ids of the episodes that it removed.
	DropExperiences(numbers []int64, before time.Time) (ids []string, err error)
	// DropPatterns removes the patterns of those ids that were not seen since the time,
	// with their evidence, and returns those that it removed.
	DropPatterns(ids []string, before time.Time) ([]lesson.Pattern, error)
}

// Reader is what a lesson.PipelineStore reads of experiences.
type Reader interface {
	// Experiences returns the experiences that fit the filter, whose Limit is set, newest
	// first; up to MaxAnswer bytes of them.
	Experiences(ctx context.Context, filter Filter) ([]Experience, error)
	// ExperienceOf returns the experience of that number.
	ExperienceOf(ctx context.Context, number int64) (experience Experience, ok bool, err error)
	// ApplicableLessons returns the lessons in use or deprecated that hold there, the surest
	// first; and how sure all of them are at that time.
	ApplicableLessons(ctx context.Context, where Whereabouts, minConfidence float64, limit int, at time.Time) ([]lesson.Lesson, ConfidenceSummary, error)
	// Patterns returns the patterns that fit the filter by their kind as it was made,
	// those of the greatest weight first, up to MaxAnswer bytes of them, and how many fit. Of
	// an operation type it returns that of its episodes and those learned that name it. Only
	// patterns without their Made have their evidence.
	ExperiencePatterns(ctx context.Context, operationType string, filter lesson.PatternFilter) (found []lesson.Pattern, total int64, err error)
	// TotalExperiences counts the experiences of an operation type; all if it is empty.
	TotalExperiences(ctx context.Context, operationType string) (int64, error)
	// PatternNumbers returns the numbers of the patterns with the ids that exist.
	PatternNumbers(ctx context.Context, ids []string) (map[string]int64, error)
	// CountExperiences counts what there is at that time.
	CountExperiences(ctx context.Context, at time.Time) (Stats, error)
	// ExpiredExperiences returns the numbers of the oldest experiences that were made before
	// a time, before keep those whose utility is high, at most limit of them.
	ExpiredExperiences(ctx context.Context, before, keep time.Time, limit int) ([]int64, error)
	// ExpiredPatterns returns the ids of patterns that were last seen before the time, at
	// most limit of them: none that somebody confirmed or that a lesson was drawn from.
	ExpiredPatterns(ctx context.Context, before time.Time, limit int) ([]string, error)
}

// Whereabouts are where lessons must hold; see ApplicableQuery. All are in small letters.
type Whereabouts struct {
	OperationType string
	Names         []string // of the members of a context
	Texts         []string // in it
	Context       bool     // a context was given
}

// Operation is what is known of the episodes of one operation type.
type Operation struct {
	Type     string
	Episodes int64 // all that are kept
	Utility  int64 // the sum of theirs, in billionths: a sum of floats would drift
	Window   Window
}

// Window sums up the episodes of a type that were made at From or later.
type Window struct {
	From      time.Time
	Episodes  int64
	Successes int64
	At        int64 // the sum of their times, in milliseconds since WindowEpoch
}

// WindowEpoch is from when a Window counts its times: so late that the sum of
// millions of them fits.
const WindowEpoch = 1_577_836_800_000 // 2020-01-01, in Unix milliseconds

// UtilityUnit is what an Operation counts utility in.
const UtilityUnit = 1e9

func utilityUnits(utility float64) int64 { return int64(math.Round(utility * UtilityUnit)) }

// With returns the operation with one more episode.
func (o Operation) With(outcome learning.Result, utility float64, at time.Time) Operation {
	o.Episodes++
	o.Utility += utilityUnits(utility)
	if at.Before(o.Window.From) {
		return o
	}
	o.Window.Episodes++
	if outcome == learning.ResultSuccess {
		o.Window.Successes++
	}
	o.Window.At += at.UnixMilli() - WindowEpoch
	return o
}

// Without returns the operation with one episode less.
func (o Operation) Without(e Experience) Operation {
	o.Episodes--
	o.Utility -= utilityUnits(e.Utility)
	if e.At.Before(o.Window.From) {
		return o
	}
	o.Window.Episodes--
	if e.Outcome == learning.ResultSuccess {
		o.Window.Successes--
	}
	o.Window.At -= e.At.UnixMilli() - WindowEpoch
	return o
}

// meanAge is the mean age of the window's episodes at a time.
func (w Window) meanAge(at time.Time) time.Duration {
	if w.Episodes == 0 {
		return 0
	}
	mean := float64(at.UnixMilli()-WindowEpoch) - float64(w.At)/float64(w.Episodes)
	return time.Duration(mean * float64(time.Millisecond))
}

// The types of what the sweep tells of, besides the pipeline's others.
const (
	EventPatternSwept = "pattern.swept" // Data is a lesson.PatternEvent
)

// SweptEvent is the Data of episode.EventExperiencesSwept.
type SweptEvent struct {
	Count  int       `json:"count"`
	Before time.Time `json:"before"`
	IDs    []string  `json:"ids"` // of the episodes that are gone
}

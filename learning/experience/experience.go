// Package experience records how operations went. Each is stored as an episode with an outcome.
// Operations of one type form patterns, and a lesson can be learned from a pattern.
package experience

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Service is the experience server's view of the one pipeline: episodes with
// problem, solution and outcome, the patterns and lessons that come of them.
// Experiences implements it beside the database, router/client over HTTP.
type Service interface {
	// Record stores an experience with its utility, and tells of the patterns that it formed.
	Record(ctx context.Context, draft Draft) (Recorded, error)
	// Experience returns the experience of that number.
	Experience(ctx context.Context, number int64) (Experience, error)
	// Recall returns experiences, newest first.
	Recall(ctx context.Context, filter Filter) (Recall, error)
	// Patterns returns the patterns that fit the filter, those of the greatest weight first.
	Patterns(ctx context.Context, filter lesson.PatternFilter) (Patterns, error)
	// Pattern returns the pattern of that number.
	Pattern(ctx context.Context, number int64) (Pattern, error)
	// Lessons returns the lessons that fit the filter: the surest first, or a page newest first if the filter asks
	// for more than a confidence and a limit.
	Lessons(ctx context.Context, filter lesson.Filter) (Lessons, error)
	// Lesson returns the lesson of that number, also one that is retired.
	Lesson(ctx context.Context, number int64) (ApplicableLesson, error)
	// Applicable returns the lessons that hold in a context, with their confidence now.
	Applicable(ctx context.Context, query ApplicableQuery) (Applicable, error)
	// Apply records that a lesson was applied and how it went, and moves its confidence.
	Apply(ctx context.Context, number int64, draft lesson.ApplicationDraft) (lesson.Applied, error)
	// Learn makes a lesson of a pattern that its episodes show.
	Learn(ctx context.Context, draft LearnDraft) (Learned, error)
	// Stats counts what there is.
	Stats(ctx context.Context) (Stats, error)
}

// Experience is an episode with problem, solution and outcome, as its clients see it.
type Experience struct {
	Number           int64           `json:"id"`
	EpisodeID        string          `json:"episode_id"`
	Timestamp        int64           `json:"timestamp"` // Unix milliseconds
	OperationType    string          `json:"operation_type"`
	ServerName       string          `json:"server_name,omitempty"`
	Problem          json.RawMessage `json:"problem,omitempty"`
	Solution         json.RawMessage `json:"solution,omitempty"`
	Outcome          learning.Result `json:"outcome"`
	Metadata         json.RawMessage `json:"metadata,omitempty"`
	QualityScore     *float64        `json:"quality_score,omitempty"`
	DurationMS       *int64          `json:"duration_ms,omitempty"`
	Notes            string          `json:"notes,omitempty"`
	Novelty          float64         `json:"novelty_score"`
	Effectiveness    float64         `json:"effectiveness_score"`
	Generalizability float64         `json:"generalizability_score"`
	Utility          float64         `json:"utility_score"`
	AgentID          string          `json:"agent_id,omitempty"`
	Project          string          `json:"project,omitempty"`
	At               time.Time       `json:"-"`
}

// Draft is what a client may say of a new experience.
type Draft struct {
	OperationType string          `json:"operation_type"`
	ServerName    string          `json:"server_name,omitempty"`
	Problem       *Problem        `json:"problem,omitempty"`
	Solution      *Solution       `json:"solution,omitempty"`
	Outcome       learning.Result `json:"outcome"`
	Metadata      *Metadata       `json:"metadata,omitempty"`
	QualityScore  *float64        `json:"quality_score,omitempty"` // 0 to 1
	DurationMS    *int64          `json:"duration_ms,omitempty"`
	Notes         string          `json:"notes,omitempty" doc:"What else there is to say"`
	AgentID       string          `json:"agent_id,omitempty" actor:"true"`
	Project       string          `json:"project,omitempty" here:"project"`
}

// Problem is what was to be solved.
type Problem struct {
	Query       string         `json:"query,omitempty"`
	Constraints map[string]any `json:"constraints,omitzero"`
	Context     map[string]any `json:"context,omitzero"`
}

// Solution is what was done about it.
type Solution struct {
	Tool     string         `json:"tool,omitempty" doc:"The tool that it was done with"`
	Params   map[string]any `json:"params,omitzero"`
	Approach string         `json:"approach,omitempty"`
}

// Metadata is where it happened.
type Metadata struct {
	Environment  string   `json:"environment,omitempty"`
	Dependencies []string `json:"dependencies,omitzero"` // an empty list is kept as it was sent
	Triggers     []string `json:"triggers,omitzero"`
}

// Recorded says what became of an experience.
type Recorded struct {
	EpisodeID int64    `json:"episode_id"`
	Recorded  bool     `json:"recorded"`
	Utility   float64  `json:"utility_score"`
	Patterns  []string `json:"patterns_triggered"` // the texts of the patterns that it formed or joined
	Redacted  []string `json:"redacted,omitempty"`
}

// Filter selects experiences; empty fields select everything.
type Filter struct {
	OperationType string          `query:"operation_type"`
	Outcome       learning.Result `query:"outcome" doc:"success, failure or partial"`
	Limit         int             `query:"limit" doc:"1 to 200; 0: 50"`                      // 1 to MaxLimit; 0 means DefaultRecall
	Offset        int             `query:"offset" doc:"How many of the newest to pass over"` // at most lesson.MaxOffset
	Patterns      int             // how many patterns may come with them, 1 to MaxShown; 0 means MaxShown
	// ByOutcome tells that the outcome is what is asked for and the type narrows it: the
	// patterns that come with them are then those of the outcome's kind.
	ByOutcome bool
}

const (
	// DefaultRecall is the experience server's limit of recall_by_type.
	DefaultRecall = 50
	// MaxShown bounds a listing of all patterns or all lessons on the experience server's paths, which
	// know no pages: so many are read in a moment, and their total tells of more.
	MaxShown = 10_000
)

// Recall is what is remembered of an operation type or outcome.
type Recall struct {
	Episodes []Experience `json:"episodes"`
	Count    int          `json:"count"`
	Total    *int64       `json:"total,omitempty"` // of all episodes, or of those of the operation type; nil where an outcome was asked for
	// Patterns are those of the operation type that was asked for and those learned that name
	// it; where an outcome was asked for without one, or on its path, those of its kind.
	Patterns       []Pattern `json:"patterns_detected"`
	AverageUtility float64   `json:"avg_utility"` // of these episodes
}

// Patterns are patterns as the experience server's clients see them.
type Patterns struct {
	Patterns []Pattern `json:"patterns"`
	Count    int       `json:"count"`
	Total    int64     `json:"total"`                 // that fit, also those that are not in this answer
	Next     int       `json:"next_offset,omitempty"` // the offset that the next of them are asked for with; 0: there are none
}

// Pattern is a pattern as the experience server's clients see it: a pattern of
// episodes as it was made (see lesson.PatternAsMade), with what the model knows beside.
type Pattern struct {
	Number            int64                `json:"id"`
	PatternID         string               `json:"pattern_id"`
	Type              lesson.PatternType   `json:"pattern_type"`
	Description       string               `json:"description"`
	EpisodeIDs        []int64              `json:"episode_ids"`
	Frequency         int64                `json:"frequency"`
	LastSeen          int64                `json:"last_seen"`  // Unix milliseconds
	CreatedAt         int64                `json:"created_at"` // Unix milliseconds
	InitialConfidence float64              `json:"initial_confidence"`
	DecayConstant     float64              `json:"decay_constant"`
	LastValidated     int64                `json:"last_validated"` // Unix milliseconds: when it was last seen, judged or applied
	TimesApplied      int64                `json:"times_applied"`  // of the lessons learned from it
	TimesSucceeded    int64                `json:"times_succeeded"`
	Weight            float64              `json:"discrimination_weight"`
	CurrentConfidence float64              `json:"current_confidence"`
	Status            lesson.PatternStatus `json:"status"`
	OperationType     string               `json:"operation_type,omitempty"`
	KindNow           lesson.PatternType   `json:"kind_now"`        // what its evidence shows now
	DescriptionNow    string               `json:"description_now"` // that in words
}

// ApplicableQuery asks for the lessons that hold somewhere, by the experience server's rules;
// texts are compared without case. A lesson holds for an operation type if its
// statement, one of its contexts or the text of its pattern has the type in it;
// it holds in a context if one of its own has the name of a member in it (the
// member server finds all that name a server), or is in one of the texts of the
// context. A lesson that names no context holds anywhere. Where both are given
// both must hold; without either it asks for all.
type ApplicableQuery struct {
	Context       map[string]any `json:"context,omitzero"` // an empty one finds what names no context
	OperationType string         `json:"operation_type,omitempty"`
	MinConfidence float64        `json:"min_confidence,omitempty" doc:"Least confidence, 0 to 1"` // 0 to 1
	Limit         int            `json:"limit,omitempty"`                                         // 1 to MaxShown; 0 means MaxShown
}

// ApplicableLesson is a lesson as the experience server's clients see it.
type ApplicableLesson struct {
	Number            int64    `json:"id"`
	LessonID          string   `json:"lesson_id"`
	Statement         string   `json:"statement"`
	PatternID         *int64   `json:"pattern_id"`
	Contexts          []string `json:"contexts"`
	InitialConfidence float64  `json:"initial_confidence"`
	DecayConstant     float64  `json:"decay_constant"`
	LastValidated     int64    `json:"last_validated"` // Unix milliseconds: when its confidence was last moved, or it was judged
	TimesApplied      int64    `json:"times_applied"`
	TimesSucceeded    int64    `json:"times_succeeded"`
	CreatedAt         int64    `json:"created_at"`    // Unix milliseconds
	DeprecatedAt      *int64   `json:"deprecated_at"` // Unix milliseconds
	CurrentConfidence float64  `json:"current_confidence"`
}

// Applicable is the answer to an ApplicableQuery, the surest first.
type Applicable struct {
	Lessons []ApplicableLesson `json:"lessons"`
	Summary ConfidenceSummary  `json:"confidence_summary"` // of all that hold there, also those beyond the limit
}

// Lessons are lessons as the experience server's clients see them.
type Lessons struct {
	Lessons []ApplicableLesson `json:"lessons"`
	Count   int                `json:"count"`
	Summary ConfidenceSummary  `json:"confidence_summary"` // of all that fit; of a page, of those on it
	Next    string             `json:"next,omitempty"`     // cursor of the next page; empty: there is none
}

// ConfidenceSummary counts lessons by confidence: high from 0.7, medium from 0.4, low below (of the experience server).
type ConfidenceSummary struct {
	High   int `json:"high"`
	Medium int `json:"medium"`
	Low    int `json:"low"`
}

// LearnDraft asks to make a lesson of a pattern.
type LearnDraft struct {
	Description string  `json:"pattern_description" doc:"What recurs"`
	EpisodeIDs  []int64 `json:"episode_ids" doc:"At least three"` // at least MinEpisodes that are there
	Statement   string  `json:"lesson_statement" doc:"One line that says what to do"`
}

// Learned says what was made.
type Learned struct {
	LessonNumber      int64   `json:"lesson_id"`
	LessonID          string  `json:"-"`
	Created           bool    `json:"created"`
	InitialConfidence float64 `json:"initial_confidence"`
	PatternID         *int64  `json:"pattern_id,omitempty"`
}

// Stats counts what there is (GET /api/stats).
type Stats struct {
	Episodes              int64   `json:"episodes"`
	Patterns              int64   `json:"patterns"`
	Lessons               int64   `json:"lessons"` // active ones
	AverageUtility        float64 `json:"avgUtility"`
	HighConfidenceLessons int64   `json:"highConfidenceLessons"`
}

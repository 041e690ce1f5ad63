package lesson

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// PatternService is what can be done with patterns. Patterns implements it
// beside the database, router/client over HTTP. A pattern is named by its id or
// by its number in decimal.
type PatternService interface {
	// Pattern returns one pattern with its evidence.
	Pattern(ctx context.Context, ref string) (Pattern, error)
	// List returns patterns, the latest seen first.
	List(ctx context.Context, filter PatternFilter) ([]Pattern, error)
	// Add stores a pattern that somebody saw, and no lessons have shown yet.
	Add(ctx context.Context, draft PatternDraft) (Pattern, error)
	// Edit changes what a pattern says.
	Edit(ctx context.Context, ref string, patch PatternPatch) (Pattern, error)
	// Confirm says that a pattern is real and should be enforced.
	Confirm(ctx context.Context, ref string, draft ConfirmationDraft) (Pattern, error)
	// Deprecate says that a pattern holds no more; it is kept.
	Deprecate(ctx context.Context, ref string, draft ConfirmationDraft) (Pattern, error)
}

// PatternType says what recurs.
type PatternType string

// The types of MNEMOSYNE, which gather lessons, and of the experience server, which gather episodes of one operation type.
const (
	PatternRecurringFailure PatternType = "recurring_failure"
	PatternCommonSolution   PatternType = "common_solution"
	PatternBestPractice     PatternType = "best_practice"
	PatternAntiPattern      PatternType = "anti_pattern"
	PatternOptimization     PatternType = "optimization"
	PatternSuccess          PatternType = "success"
	PatternFailure          PatternType = "failure"
	PatternCorrelation      PatternType = "correlation"
)

// PatternTypes lists every type.
func PatternTypes() []PatternType {
	return []PatternType{
		PatternRecurringFailure, PatternCommonSolution, PatternBestPractice, PatternAntiPattern, PatternOptimization,
		PatternSuccess, PatternFailure, PatternCorrelation,
	}
}

// Choices are the values as texts, for whoever asks for one.
func (PatternType) Choices() []string { return safetext.Strings(PatternTypes()) }

// PatternStatus says how far a pattern is established.
type PatternStatus string

// The statuses of MNEMOSYNE.
const (
	PatternEmerging   PatternStatus = "emerging"
	PatternConfirmed  PatternStatus = "confirmed"
	PatternDeprecated PatternStatus = "deprecated"
)

// PatternStatuses lists every status.
func PatternStatuses() []PatternStatus {
	return []PatternStatus{PatternEmerging, PatternConfirmed, PatternDeprecated}
}

// Choices are the values as texts, for whoever asks for one.
func (PatternStatus) Choices() []string { return safetext.Strings(PatternStatuses()) }

// Pattern is something that recurs: the one kind of pattern that stands for those of MNEMOSYNE and the experience server.
type Pattern struct {
	ID            string        `json:"id"`
	Number        int64         `json:"number"` // the id on the experience server's paths; below 0: it has none there
	Name          string        `json:"pattern_name"`
	Type          PatternType   `json:"pattern_type"`
	Description   string        `json:"description"`
	Domain        string        `json:"domain"`
	Categories    []string      `json:"categories"`
	OperationType string        `json:"operation_type,omitempty"` // of the episodes that it gathers
	LessonIDs     []string      `json:"lesson_ids"`               // its evidence, the latest MaxEvidence
	EpisodeIDs    []int64       `json:"episode_ids"`              // numbers of episodes, the latest MaxEvidence
	Lessons       int64         `json:"lesson_count"`             // how many it gathers
	Agents        int64         `json:"agent_count"`              // how many agents told of it
	Frequency     int64         `json:"occurrence_count"`         // how often it was seen: a lesson may occur again
	FirstSeen     time.Time     `json:"first_seen"`
	LastSeen      time.Time     `json:"last_seen"`
	Status        PatternStatus `json:"status"`
	ConfirmedBy   string        `json:"confirmed_by,omitempty"`
	ConfirmedAt   *time.Time    `json:"confirmed_at,omitempty"`
	Action        string        `json:"recommended_action,omitempty"` // of the lesson with the highest confidence
	Prevention    []string      `json:"prevention_steps"`
	// Weight is the discrimination weight of the experience server; of a pattern of lessons the mean likeness of its evidence.
	Weight     float64 `json:"discrimination_weight"`
	Confidence float64 `json:"confidence"` // what is left now
	Belief
	TimesApplied   int64      `json:"times_applied"`
	TimesSucceeded int64      `json:"times_succeeded"`
	LastValidated  *time.Time `json:"last_validated,omitempty"`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
	// Representative is the id of the lesson that others are compared with before they join.
	Representative string `json:"representative,omitempty"`
	// Command is what keeps failing, of a pattern that gathers the failures of one command.
	Command string `json:"command,omitempty"`
	// ActionConfidence is the confidence of the lesson that Action is drawn from, when it was drawn.
	ActionConfidence float64 `json:"action_confidence,omitempty"`
	// Why says what brought the evidence together: shared words, tags, root cause, or the figures of the weight.
	Why []string `json:"why,omitempty"`
	// Made is what the experience server's clients see of a pattern of episodes; nil of a pattern of lessons, and
	// of one that was made before an operation type had one pattern, and for which another stands.
	Made *PatternAsMade `json:"as_made,omitempty"`
}

// PatternAsMade is a pattern of episodes by the experience server's rules. Its kind and text
// stay as they were made, whatever its episodes show since: what they show now
// are the pattern's own Type and Description.
type PatternAsMade struct {
	Type        PatternType `json:"pattern_type"` // PatternSuccess, PatternFailure or PatternCorrelation
	Description string      `json:"description"`
	EpisodeIDs  []int64     `json:"episode_ids"` // numbers, as the last change gave them, at most MaxEvidence
	Frequency   int64       `json:"frequency"`   // how many episodes they were
	// InitialConfidence is (old + weight)/2 after each episode that moved the weight, so it may pass 1.
	InitialConfidence float64 `json:"initial_confidence"`
}

// PatternFilter selects patterns; empty fields select everything.
type PatternFilter struct {
	Type     PatternType     `json:"pattern_type,omitempty" help:"Only those of this type"`
	Statuses []PatternStatus `json:"status,omitempty" doc:"Separated by commas; none: all but deprecated"`
	Domain   string          `json:"domain,omitempty" doc:"Only those of this domain"`
	Bare     bool            `json:"-"`                                                    // without LessonIDs and EpisodeIDs
	Limit    int             `json:"limit,omitempty" doc:"1 to 200; 0: 50" usual:"50,200"` // 1 to MaxLimit; 0 means DefaultListing
	Offset   int             `json:"offset,omitempty" doc:"How many to pass over"`         // how many to pass over, at most MaxOffset
}

// ConfirmationDraft says who confirms or deprecates a pattern.
type ConfirmationDraft struct {
	By    string `json:"confirmed_by" actor:"true"`
	Notes string `json:"notes,omitempty" doc:"Why"`
}

// Bounds of patterns.
const (
	// MaxEvidence bounds how many pieces of evidence an answer lists; the count tells of all.
	MaxEvidence = 100
	// MaxOffset bounds how far a listing is paged by offset: passing over rows costs as much as reading them.
	MaxOffset = 100_000
)

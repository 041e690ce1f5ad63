package lesson

import (
	"context"
	"time"
)

// PatternTx is what patterns of lessons and promotions need of a transaction.
type PatternTx interface {
	// CommandPattern returns the pattern of the failures of a command.
	CommandPattern(command string) (pattern Pattern, ok bool, err error)
	// AddPatternAgents adds to the agents that told of a pattern, and returns how many were new.
	AddPatternAgents(patternID string, agents ...string) (int, error)
	// PatternAgents returns agents that told of a pattern, at most limit, by name.
	PatternAgents(patternID string, limit int) ([]string, error)
	// LessonEvidence returns the ids of the lessons that a pattern gathers, the latest first, at most limit.
	LessonEvidence(patternID string, limit int) ([]string, error)
	// ActiveEvidence tells whether a pattern gathers a lesson that is not retired.
	ActiveEvidence(patternID string) (bool, error)
}

// PatternStore is what patterns of lessons and reviews need beside transactions.
type PatternStore interface {
	// View reads one state of the database through tx, which writes nothing.
	View(ctx context.Context, read func(tx PipelineTx) error) error
	// ScanPatterns visits every pattern that has a representative, oldest first, chunk by
	// chunk, without its evidence. visit may keep the chunk.
	ScanPatterns(ctx context.Context, visit func(chunk []Pattern) error) error
	// FadedPatterns returns ids of patterns that are not deprecated: of lessons, if they have at that
	// time less confidence left than least, or only retired lessons; of operations, if they were last seen before lapsed. At most limit.
	FadedPatterns(ctx context.Context, least float64, at, lapsed time.Time, limit int) ([]string, error)
	// StaleLessons returns lessons that were last validated, or reported and never
	// validated, before that time, and are not retired; those that wait longest first.
	StaleLessons(ctx context.Context, domain string, before time.Time, limit int) ([]Lesson, error)
	// PromotableLessons returns lessons, not retired, that may have the evidence for the
	// next level, the strongest evidence first: of patterns that gather at least cases
	// lessons the representatives, cases that name the cases they were drawn from, and
	// patterns that were applied with success at least applications times.
	PromotableLessons(ctx context.Context, domain string, cases, applications, limit int) ([]Lesson, error)
}

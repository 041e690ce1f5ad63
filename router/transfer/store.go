package transfer

import (
	"context"
	"time"

	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
)

// MemoryReader reads what is carried, a page at a time, in an order that
// later writes do not change. Each page holds up to limit records and about MaxAnswer
// bytes; an empty one is the end. project, if it is not empty, selects.
type MemoryReader interface {
	// KnowledgeAfter returns entries whose Number is greater than after.
	KnowledgeAfter(ctx context.Context, project string, after int64, limit int) ([]knowledge.Knowledge, error)
	// EpisodesAfter returns episodes whose Number is greater than after.
	EpisodesAfter(ctx context.Context, project string, after int64, limit int) ([]experience.EpisodeRecord, error)
	// LessonsAfter returns lessons whose Number is greater than after, retired ones too.
	LessonsAfter(ctx context.Context, project string, after int64, limit int) ([]lesson.Lesson, error)
	// PatternsAfter returns patterns whose Number is greater than after, with their evidence.
	PatternsAfter(ctx context.Context, after int64, limit int) ([]lesson.PatternRecord, error)
	// FactsAfter returns facts that live at a time, of this persona with a greater key and of personas behind it.
	FactsAfter(ctx context.Context, persona, key string, at time.Time, limit int) ([]fact.Fact, error)
	// ProceduresAfter returns procedures whose number is greater than after, and the number of the last.
	ProceduresAfter(ctx context.Context, after int64, limit int) ([]procedure.Procedure, int64, error)
}

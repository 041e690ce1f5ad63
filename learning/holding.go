package learning

import (
	"context"
	"time"

	"skillrouter"
)

// HoldingStore counts what learning.db holds. An empty persona stands for
// everybody's. learning/store implements it.
type HoldingStore interface {
	// FactHoldings counts facts by their persona and category; those that have expired at
	// that time are counted apart.
	FactHoldings(ctx context.Context, persona string, at time.Time) ([]skillrouter.Holding, error)
	// EpisodeHoldings counts episodes by their persona and event; those that name none by their type.
	EpisodeHoldings(ctx context.Context, persona string) ([]skillrouter.Holding, error)
	// ProcedureHoldings counts procedures by their persona and category.
	ProcedureHoldings(ctx context.Context, persona string) ([]skillrouter.Holding, error)
	// KnowledgeHoldings counts knowledge by its category. It is nobody's in particular.
	KnowledgeHoldings(ctx context.Context) ([]skillrouter.Holding, error)
	// LessonHoldings counts lessons that are not retired by their domain. They are nobody's in particular.
	LessonHoldings(ctx context.Context) ([]skillrouter.Holding, error)
}

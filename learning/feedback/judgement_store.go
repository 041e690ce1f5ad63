package feedback

import (
	"context"
	"time"

	"skillrouter/learning/knowledge"
)

// JudgementStore keeps judgements. learning/store implements it on learning.db.
type JudgementStore interface {
	// ChangeJudgement stores what decide makes of the judgement with an id, in one
	// transaction, and returns it. there is false for a new one, of which only the id is
	// set; with most judgements kept already a new one is a Conflict. decide may be called twice.
	ChangeJudgement(ctx context.Context, id string, most int, decide func(j *Judgement, there bool) error) (Judgement, error)
	// Judgement returns one.
	Judgement(ctx context.Context, id string) (j Judgement, ok bool, err error)
	// ListJudgements returns the newest of a project, or of all, that are older than a
	// number, 0 for all; and how many there are on all pages.
	ListJudgements(ctx context.Context, project string, before int64, limit int) ([]Judgement, int64, error)
	// DeleteJudgement deletes one if decide lets it. One that is not there is a NotFound error.
	DeleteJudgement(ctx context.Context, id string, decide func(j *Judgement) error) error
	// SaveJudgementRuns keeps what a measuring found, by the judgements' ids. Those that were
	// removed meanwhile are passed over.
	SaveJudgementRuns(ctx context.Context, at time.Time, ranks map[string]map[string]int) error
	// Knowledge reads entries; those that are not there are missing in the answer.
	Knowledge(ctx context.Context, ids []string) ([]knowledge.Knowledge, error)
}

package feedback

import (
	"context"

	"skillrouter/internal/principal"
	"skillrouter/learning"
)

// Missed implements MissObserver. It takes microseconds, and never waits for the disk.
func (g *Gaps) Missed(ctx context.Context, miss learning.Miss) {
	if !learning.IsAsked(ctx) {
		return
	}
	if principal.Of(ctx).Into("project", &miss.Project) != nil {
		return // it is in no project that the caller writes into
	}
	miss.Question = learning.GapQuestion(miss.Question)
	id, ok := learning.GapID(miss.Question, miss.Project)
	if !ok {
		return
	}
	if caller := principal.Of(ctx); miss.AgentID == "" || caller.ActAs(miss.AgentID) != nil {
		miss.AgentID = caller.AgentID // a reader may say for whom it asks, and is not believed
	}
	g.gathered.add(id, miss, g.now.Stamp())
}

package learning

import (
	"context"

	"skillrouter"
)

// Miss is a question that found nothing.
type Miss struct {
	Question string
	Project  string
	AgentID  string // for whom it was asked; empty, or one that the caller may not act as: the caller
	In       GapPlace
}

// MissObserver is told of questions that found nothing. It must return at once.
type MissObserver interface {
	// Missed notes a miss, asked as the context's principal, unless the context says
	// that nobody asked.
	Missed(ctx context.Context, miss Miss)
}

type notAskedKey struct{}

// NotAsked returns a context whose searches are nobody's questions but a
// service's own means, such as the parts of an answer that it yet puts together:
// what they do not find is no gap.
func NotAsked(ctx context.Context) context.Context {
	return context.WithValue(ctx, notAskedKey{}, true)
}

func isAsked(ctx context.Context) bool { return ctx.Value(notAskedKey{}) == nil }

// LearnFrom has searches heed what was learned from use. It is called before the first search is made.
func (k *KnowledgeBase) LearnFrom(a *Answered) { k.answered = a }

// whole tells whether a query asks all that is known of a project: one that is
// narrowed otherwise and finds nothing says that there is no such entry, not
// that nothing is known.
func (q *KnowledgeQuery) whole() bool {
	return q.Category == "" && len(q.Tags) == 0 && q.AgentID == "" && q.Since.IsZero() && q.Until.IsZero() && q.TimeRange == ""
}

func (q *EpisodeQuery) whole() bool {
	return q.SessionID == "" && q.AgentID == "" && (q.Persona == "" || q.Persona == EveryPersona || q.Persona == DefaultPersona) &&
		q.EventType == "" && q.Event == "" && q.Since.IsZero() && q.Until.IsZero() && q.TimeRange == ""
}

func (q *LessonQuery) whole() bool { return q.CrossDomain == nil || *q.CrossDomain || q.Domain == "" }

// Missed implements MissObserver. It takes microseconds, and never waits for the disk.
func (g *Gaps) Missed(ctx context.Context, miss Miss) {
	if g == nil || !isAsked(ctx) {
		return
	}
	miss.Question = gapQuestion(miss.Question)
	id, ok := gapID(miss.Question, miss.Project)
	if !ok {
		return
	}
	if caller := skillrouter.PrincipalOf(ctx); miss.AgentID == "" || caller.ActAs(miss.AgentID) != nil {
		miss.AgentID = caller.AgentID // a reader may say for whom it asks, and is not believed
	}
	g.gathered.add(id, miss, g.now.Stamp())
}

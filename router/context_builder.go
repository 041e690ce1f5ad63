package router

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

// Bounds of a context.
const (
	// MinContextBudget is the least budget, in tokens: below it, no item with its frame has room.
	MinContextBudget = 50
	// MaxContextBudget is the largest, in tokens: the context window of the larger models.
	MaxContextBudget = 200_000
	// MaxContextTask bounds the task's text, in bytes: that of a search.
	MaxContextTask = learning.MaxQuery
	// MaxLeftOut bounds how many of those that were left out an answer lists.
	MaxLeftOut = 100
)

// ContextBuilder is the ContextService beside the stores.
type ContextBuilder struct {
	sources ContextSources
	fencer  *skillrouter.Fencer
	now     skillrouter.Clock
	log     *slog.Logger
}

var _ ContextService = (*ContextBuilder)(nil)

// ContextOptions are the settings of a ContextBuilder. The zero value is usable.
type ContextOptions struct {
	Now    skillrouter.Clock   // time.Now if nil
	Log    *slog.Logger        // discards if nil
	Fencer *skillrouter.Fencer // one of its own if nil
}

// NewContextBuilder makes a ContextBuilder over the stores.
func NewContextBuilder(sources ContextSources, options ContextOptions) *ContextBuilder {
	b := &ContextBuilder{sources: sources, fencer: options.Fencer, now: options.Now, log: options.Log}
	if b.now == nil {
		b.now = time.Now
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.fencer == nil {
		b.fencer = skillrouter.NewFencer()
	}
	return b
}

// Build implements ContextService. What comes into the context counts as used,
// what is left out does not.
func (b *ContextBuilder) Build(ctx context.Context, request ContextRequest) (Context, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return Context{}, err
	}
	if err := checkContextRequest(&request); err != nil {
		return Context{}, err
	}
	answers, failed := b.gather(ctx, request)
	if err := ctx.Err(); err != nil {
		return Context{}, err
	}
	var candidates []candidate
	corrected := map[string]string{}
	for _, f := range answers {
		candidates = append(candidates, f.candidates...)
		maps.Copy(corrected, f.corrected)
	}
	c := choice{
		budget: request.Budget, untrusted: request.IncludeUntrusted, fencer: b.fencer,
		terms: newTaskTerms(request.Task, b.sources.Words, corrected), at: b.now().UTC().Truncate(time.Hour), project: request.Project,
	}
	answer := c.choose(candidates)
	answer.LeftOut = slices.Concat(failed, answer.LeftOut)
	answer.LeftOutCount += len(failed)
	answer.LeftOut = append([]LeftOut{}, answer.LeftOut[:min(len(answer.LeftOut), MaxLeftOut)]...)
	b.used(request.Persona, answer.Items)
	return answer, nil
}

// used counts the use of what came into a context.
func (b *ContextBuilder) used(persona string, items []ContextItem) {
	var entries, keys []string
	for _, item := range items {
		switch item.Kind {
		case KindKnowledge:
			entries = append(entries, item.ID)
		case KindFact:
			keys = append(keys, item.ID)
		}
	}
	if len(entries) > 0 {
		b.sources.Knowledge.Used(entries...)
	}
	if len(keys) > 0 {
		b.sources.Facts.Used(persona, keys...)
	}
}

func checkContextRequest(r *ContextRequest) error {
	if err := skillrouter.CheckRequired("task", r.Task, MaxContextTask); err != nil {
		return err
	}
	if r.Budget < MinContextBudget || r.Budget > MaxContextBudget {
		return skillrouter.InvalidField("budget", "must lie between %d and %d tokens", MinContextBudget, MaxContextBudget)
	}
	var err error
	if r.Persona, err = skillrouter.CheckPersona(r.Persona); err != nil {
		return err
	}
	if r.AgentID != "" {
		if err := skillrouter.CheckAgentID("agent_id", r.AgentID); err != nil {
			return err
		}
	}
	return skillrouter.CheckName("project", r.Project)
}

// gather asks all stores at once. One that fails, or does not answer in time,
// is told of and does without: a context with a gap is better than none.
func (b *ContextBuilder) gather(ctx context.Context, request ContextRequest) (answers []gathered, failed []LeftOut) {
	type answer struct {
		gathered
		err error
	}
	sources := b.sources.list(request)
	ctx, cancel := context.WithTimeout(ctx, sourceTime)
	defer cancel()
	asked := make([]chan answer, len(sources))
	for i, s := range sources {
		asked[i] = make(chan answer, 1) // who is not waited for any more can still answer and end
		go func() {
			f, err := s.ask(ctx, request)
			for j := range f.candidates { // here, since here all cores do it
				c := &f.candidates[j]
				c.words = readWords(c.title, c.body)
			}
			asked[i] <- answer{f, err}
		}()
	}
	for i, s := range sources {
		var a answer
		select {
		case a = <-asked[i]:
		case <-ctx.Done():
			select { // it may have answered while another was waited for
			case a = <-asked[i]:
			default:
				a.err = ctx.Err()
			}
		}
		if a.err == nil {
			answers = append(answers, a.gathered)
			continue
		}
		reason := "the store could not be read"
		if errors.Is(a.err, context.DeadlineExceeded) {
			reason = "the store did not answer in time"
		}
		b.log.WarnContext(ctx, "a context is built without a store", "store", s.name, "error", a.err)
		failed = append(failed, LeftOut{Kind: s.name, Reason: reason})
	}
	return answers, failed
}

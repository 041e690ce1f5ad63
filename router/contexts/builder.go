package contexts

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/worktree"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// Bounds of a context.
const (
	// MinBudget is the least budget, in tokens: below it, no item with its frame has room.
	MinBudget = 50
	// MaxBudget is the largest, in tokens: the context window of the larger models.
	MaxBudget = 200_000
	// MaxTask bounds the task's text, in bytes: that of a search.
	MaxTask = learning.MaxQuery
	// maxFolder bounds the name of a folder, in bytes: PATH_MAX of Linux.
	maxFolder = 4096
	// MaxLeftOut bounds how many of those that were left out an answer lists.
	MaxLeftOut = 100
)

// Builder is the Service beside the stores.
type Builder struct {
	sources Sources
	fencer  *safetext.Fencer
	now     clock.Clock
	log     *slog.Logger
	told    *told
	vouched bool
	tell    func(ctx context.Context, told operational.Telling)
}

var _ Service = (*Builder)(nil)

// Options are the settings of a Builder. The zero value is usable.
type Options struct {
	Now    clock.Clock      // time.Now if nil
	Log    *slog.Logger     // discards if nil
	Fencer *safetext.Fencer // one of its own if nil
	// VouchedOnly leaves out what no person and no second voice vouched for.
	VouchedOnly bool
	// Tell takes in what an agent was told; nil: nobody keeps it. It must not wait.
	Tell func(ctx context.Context, told operational.Telling)
}

// NewBuilder makes a Builder over the stores.
func NewBuilder(sources Sources, options Options) *Builder {
	b := &Builder{
		sources: sources, fencer: options.Fencer, now: options.Now.Given(), log: defaults.Log(options.Log), told: newTold(), vouched: options.VouchedOnly, tell: options.Tell,
	}
	if b.fencer == nil {
		b.fencer = safetext.NewFencer()
	}
	return b
}

// Build implements Service. What comes into the context counts as used,
// what is left out does not.
func (b *Builder) Build(ctx context.Context, request Request) (_ Context, err error) {
	ctx, span := trace.StartSpan(ctx, "build_context")
	span.Set("gen_ai.operation.name", "retrieval")
	defer func() { span.Finish(err) }()
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeRead), checkRequest(&request)); err != nil {
		return Context{}, err
	}
	indexes := b.sources.Words
	if caller.Walled() {
		var err error
		if indexes, err = within(ctx, indexes); err != nil {
			return Context{}, err
		}
		_ = caller.Into("project", &request.Project) // of another project it finds nothing
	}
	if !caller.IsNear() {
		request.Folder = "" // it is another machine's
	}
	sources, asked, prompt := b.sources.list(request), request, asking{}
	if request.Prompt {
		if prompt = askingOf(request.Task, request.Project, indexes); request.Failure {
			prompt = askingOfFailure(request.Task, request.Project)
		}
		if prompt.search == "" {
			sources = nil
		} else {
			asked.Task = check.Head(prompt.search, MaxTask)
		}
	}
	switch {
	case request.Start && request.Prompt:
		sources = append(b.sources.starting(request, b.now()), sources...)
	case request.Start:
		sources = b.sources.starting(request, b.now())
	}
	if caller.Walled() {
		sources = slices.DeleteFunc(sources, func(s source) bool { return !s.walled })
	}
	answers, failed := b.gather(ctx, sources, asked)
	if err := ctx.Err(); err != nil {
		return Context{}, err
	}
	var candidates []candidate
	corrected, subjects := map[string]string{}, map[string]int64{}
	for _, f := range answers {
		maps.Copy(subjects, f.subjects)
		candidates = append(candidates, f.candidates...)
		maps.Copy(corrected, f.corrected)
	}
	c := choice{
		budget: request.Budget, untrusted: request.IncludeUntrusted, vouched: b.vouched, fencer: b.fencer,
		terms: newTaskTerms(request.Task, indexes, corrected), at: b.now().UTC().Truncate(time.Hour), project: request.Project,
		here: learning.Place{Folder: request.Subfolder, Branch: request.Branch}, subjects: subjects,
		folder: request.Folder, look: func(texts []worktree.Text) [][]string {
			all, _ := worktree.Gone(ctx, request.Folder, texts)
			return all
		},
		instructions: sync.OnceValue(func() string { return runOn(worktree.Instructions(ctx, request.Folder)) }),
		characters:   request.Characters, share: mostOfBudget, order: kindOrder, told: b.told.session(request.session(), request.Start && !request.Resumed),
	}
	candidates = c.current(candidates)
	var answer Context
	switch {
	case request.Start:
		c.start, c.share, c.order = true, startShare, startOrder
		if request.Prompt {
			c.order = slices.Concat(startOrder, kindOrder)
			answer = c.chooseBrief(prompt, candidates)
		} else {
			answer = c.chooseStart(candidates)
		}
	case request.Prompt:
		answer = c.choosePrompt(prompt, candidates)
	default:
		answer = c.choose(candidates)
	}
	b.told.tell(request.session(), c.chosen)
	b.note(ctx, &request, &answer, c.chosen)
	answer.LeftOut = slices.Concat(failed, answer.LeftOut)
	answer.LeftOutCount += len(failed)
	answer.LeftOut = append([]LeftOut{}, answer.LeftOut[:min(len(answer.LeftOut), MaxLeftOut)]...)
	if !request.Start { // what everybody is told is no sign that it is of use
		b.used(request.Persona, answer.Items)
	}
	return answer, nil
}

// session names the session among those of all agents.
func (r *Request) session() string {
	if r.SessionID == "" {
		return ""
	}
	return r.AgentID + "\n" + r.SessionID
}

// used counts the use of what came into a context.
func (b *Builder) used(persona string, items []Item) {
	var entries, keys []string
	for _, item := range items {
		switch item.Kind {
		case router.KindKnowledge:
			entries = append(entries, item.ID)
		case router.KindFact:
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

func checkRequest(r *Request) error {
	if !r.Start || r.Task != "" {
		if err := check.Required("task", r.Task, MaxTask); err != nil {
			return err
		}
	}
	if r.Characters != 0 && (r.Characters < MinBudget || r.Characters > MaxCharacters) {
		return errs.InvalidField("characters", "must lie between %d and %d", MinBudget, MaxCharacters)
	}
	if r.Budget < MinBudget || r.Budget > MaxBudget {
		return errs.InvalidField("budget", "must lie between %d and %d tokens", MinBudget, MaxBudget)
	}
	var err error
	if r.Persona, err = check.Persona(r.Persona); err != nil {
		return err
	}
	return cmp.Or(check.Name("session_id", r.SessionID), check.OptionalAgent("agent_id", r.AgentID), check.Name("project", r.Project), check.Text("folder", r.Folder, maxFolder),
		check.Text("subfolder", r.Subfolder, maxFolder), check.Text("branch", r.Branch, maxFolder))
}

// unnumbered takes the handles off what a caller is told who is bound to projects: numbers of rows tell how much others wrote.
func unnumbered(ctx context.Context, candidates []candidate) {
	if principal.Of(ctx).Walled() {
		for i := range candidates {
			candidates[i].handle = ""
		}
	}
}

// gather asks stores at once. One that fails, or does not answer in time,
// is told of and does without: a context with a gap is better than none.
func (b *Builder) gather(ctx context.Context, sources []source, request Request) (answers []gathered, failed []LeftOut) {
	type answer struct {
		gathered
		err error
	}
	ctx, cancel := context.WithTimeout(learning.HitsAlone(ctx), sourceTime)
	defer cancel()
	asked := make([]chan answer, len(sources))
	for i, s := range sources {
		asked[i] = make(chan answer, 1) // who is not waited for any more can still answer and end
		go func() {
			f, err := s.ask(ctx, request)
			unnumbered(ctx, f.candidates)
			if !request.Start { // what a session begins with is chosen by other things: most of it is never compared
				for j := range f.candidates {
					f.candidates[j].said() // here, since here several do it
				}
			}
			asked[i] <- answer{f, err}
		}()
	}
	for i, s := range sources {
		a := answer{err: context.DeadlineExceeded}
		select {
		case a = <-asked[i]:
		case <-ctx.Done():
			select { // it may have answered while another was waited for
			case a = <-asked[i]:
			default:
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

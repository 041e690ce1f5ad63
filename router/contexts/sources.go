package contexts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Sources are the stores that a context is gathered from. Those that are nil have nothing.
type Sources struct {
	Guards interface {
		Fitting(ctx context.Context, task string, limit int) ([]guard.Rule, error)
	}
	Lessons interface {
		Relevant(ctx context.Context, query lesson.Query) (lesson.Results, error)
		Lesson(ctx context.Context, ref string) (lesson.Lesson, error)
		List(ctx context.Context, filter lesson.Filter) (lesson.Page, error)
	}
	Knowledge interface {
		Find(ctx context.Context, query knowledge.Query) (knowledge.Results, error)
		InForce(ctx context.Context, project string) ([]knowledge.Knowledge, error)
		Used(ids ...string)
	}
	Facts interface {
		Find(ctx context.Context, query fact.Search) (fact.FactsFound, error)
		Used(persona string, keys ...string)
	}
	// Index has the entries of all kinds as lines.
	Index interface {
		Lines(ctx context.Context, query learning.LinesQuery) (learning.Lines, error)
		// Numbered is the id of the row of a kind with a number, and Beginning are those of rows that begin with a text, a few at most.
		Numbered(ctx context.Context, kind string, number int64) ([]learning.Named, error)
		Beginning(ctx context.Context, part string) ([]learning.Named, error)
	}
	Episodes interface {
		Search(ctx context.Context, query episode.Query) (episode.Results, error)
		Recent(ctx context.Context, filter episode.Filter) ([]episode.Episode, error)
	}
	Incidents interface {
		Brief(ctx context.Context, query history.BriefQuery) (history.Brief, error)
	}
	Sessions interface {
		List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error)
	}
	Tasks interface {
		List(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error)
	}
	// Kinds are further kinds of memory: those that nominate are asked.
	Kinds []kind.Memory
	// Words are the indexes by which words are weighed.
	Words []router.Frequencies
}

const (
	// A store nominates fewForBudget items for a budget up to fewBudget tokens, which has room
	// for fewer of all stores together, and manyForBudget for a larger one. The stores read
	// as many as the first with one query.
	fewForBudget, manyForBudget, fewBudget = 16, 24, 4000
	// sourceTime bounds how long a store is waited for; the context is then built without it.
	sourceTime = 2 * time.Second
)

// nominated is how many items each store is asked for.
func (r *Request) nominated() int {
	if r.Budget <= fewBudget {
		return fewForBudget
	}
	return manyForBudget
}

// candidate is something that may come into the context.
type candidate struct {
	kind, id, title, body, author, trust string
	handle                               string // empty: it has none
	project                              string
	date                                 time.Time
	confidence                           float64 // 0 to 1
	uses                                 int64   // how often it was used, or occurred
	grave                                float64 // 0 to 1, of a lesson: by its severity
	least                                float64 // its relevance is not less, whatever its words
	facts                                string  // the persona, of a fact
	superseded                           string  // the id of what stands in its place
	vouched                              bool    // another voice than its author's stands by it
	section                              string  // of a context that it stands in; empty: that of its kind
	place                                learning.Place
	subject                              string
	worth                                float64  // in an index
	partial                              bool     // its body is the beginning of its text
	listed                               bool     // it is told by its title alone
	position                             int      // in its section; 0: by what it is worth
	briefed                              []string // of a brief: its incidents, one a line
	gone                                 []string // what it names of the working tree that is no longer there
	words                                *words   // of title and body, once they were read: see said
}

// said are the words of a candidate's title and body, which are read when they are first asked for.
func (c *candidate) said() *words {
	if c.words == nil {
		c.words = readWords(c.title, c.body)
	}
	return c.words
}

// gathered is what a store answered.
type gathered struct {
	candidates []candidate
	corrected  map[string]string
	subjects   map[string]int64 // how many entries there are of each
}

// source asks one store.
type source struct {
	name   string
	ask    func(ctx context.Context, r Request) (gathered, error)
	walled bool // it keeps to the projects of a caller that is bound to some
}

// walledSources are those that do. A caller that is bound to projects is told of nothing else.
var walledSources = []string{"lessons", "rules", "knowledge", "knowledge of the project", "episodes", "episodes of the project", "decisions", "index"}

// within are those of the indexes that have one of the caller's projects alone.
func within(ctx context.Context, indexes []router.Frequencies) (own []router.Frequencies, err error) {
	for _, index := range indexes {
		if s, ok := index.(kind.Shelf); ok {
			one, err := s.Within(ctx)
			if err != nil {
				return nil, err
			}
			own = append(own, one)
		}
	}
	return own, nil
}

// adder adds sources that are there to a list.
func adder(list *[]source) func(there bool, name string, ask func(ctx context.Context, r Request) (gathered, error)) {
	return func(there bool, name string, ask func(ctx context.Context, r Request) (gathered, error)) {
		if there {
			*list = append(*list, source{name, ask, slices.Contains(walledSources, name)})
		}
	}
}

// list returns the stores that are there. A prompt asks for no rules: the guard tells of them when it is time.
func (s Sources) list(r Request) (list []source) {
	add := adder(&list)
	add(s.Guards != nil && !r.Prompt, "guards", s.guards)
	add(s.Lessons != nil, "lessons", s.lessons)
	add(s.Knowledge != nil, "knowledge", s.knowledge(""))
	add(s.Knowledge != nil && r.Project != "", "knowledge of the project", s.knowledge(r.Project))
	add(s.Facts != nil, "facts", s.facts)
	for _, memory := range s.Kinds {
		add(memory.Nominate != nil, memory.Plural, nominations(memory))
	}
	add(s.Episodes != nil, "episodes", s.episodes(""))
	add(s.Episodes != nil && r.Project != "", "episodes of the project", s.episodes(r.Project))
	add(s.Tasks != nil && (r.AgentID != "" || r.Project != ""), "tasks", s.tasks)
	return list
}

func (s Sources) guards(ctx context.Context, r Request) (f gathered, err error) {
	rules, err := s.Guards.Fitting(ctx, r.Task, r.nominated())
	for _, rule := range rules {
		c := candidate{kind: router.KindGuard, id: rule.ID, title: rule.Title, confidence: rule.Confidence, author: "skillrouter", trust: router.TrustBuiltin}
		c.body = lines("", rule.WhyBad, "Instead: ", strings.Join(rule.Alternatives, "; "), "Commands: ", strings.Join(rule.Commands, "; "))
		switch {
		case rule.LessonID != "" && s.Lessons != nil:
			lesson, err := s.Lessons.Lesson(ctx, rule.LessonID)
			if err != nil {
				if errs.CodeOf(err) == errs.NotFound {
					continue // it went meanwhile
				}
				return f, err
			}
			c.handle = router.HandleOf(router.KindLesson, lesson.Number)
			c.author, c.trust, c.date, c.project, c.vouched = lesson.SourceAgent, string(lesson.Trust), lesson.LastOccurred, lesson.Project, lesson.Vouched()
		case rule.PatternID != "":
			// Only a captain's confirmation makes a pattern a rule.
			c.author, c.trust, c.vouched = "", router.TrustAgent, true
		}
		f.candidates = append(f.candidates, c)
	}
	return f, err
}

func (s Sources) lessons(ctx context.Context, r Request) (f gathered, err error) {
	results, err := s.Lessons.Relevant(learning.NotAsked(ctx), lesson.Query{Context: r.Task, Agent: r.AgentID, Project: r.Project, Limit: r.nominated(), Explain: true})
	f.corrected = results.Corrected
	for _, hit := range results.Results {
		if r.Prompt && ofIncident(&hit.Lesson) {
			continue
		}
		c := lessonCandidate(&hit.Lesson)
		c.least = meant(hit.Why)
		f.candidates = append(f.candidates, c)
	}
	return f, err
}

func lessonCandidate(l *lesson.Lesson) candidate {
	return candidate{
		kind: lessonKind(l.Level), id: l.ID, handle: router.HandleOf(router.KindLesson, l.Number), title: l.Title, author: l.SourceAgent, trust: string(l.Trust), project: l.Project,
		date: l.LastOccurred, confidence: l.Confidence, uses: l.Occurrences, vouched: l.Vouched(),
		body: lines("", l.Context, "Done: ", l.Action, "Outcome: ", l.Outcome, "Cause: ", l.RootCause, "Solution: ", l.Solution,
			"Instead: ", strings.Join(l.Alternatives, "; "), "", l.Body),
		grave: 1 - float64(slices.Index(learning.Severities(), l.Severity))/float64(len(learning.Severities())),
	}
}

func lessonKind(level lesson.Level) string {
	switch level {
	case lesson.LevelPrinciple:
		return router.KindPrinciple
	case lesson.LevelPattern:
		return router.KindPattern
	}
	return router.KindLesson
}

// What an entry and a fact are believed: nobody has
// judged them, and whoever wrote them down meant them to be used.
const (
	knowledgeConfidence = 0.7
	factConfidence      = 0.8
)

func (s Sources) knowledge(project string) func(context.Context, Request) (gathered, error) {
	return func(ctx context.Context, r Request) (f gathered, err error) {
		results, err := s.Knowledge.Find(ctx, knowledge.Query{Query: r.Task, Project: project, Limit: r.nominated(), Explain: true})
		f.corrected = results.Corrected
		for _, hit := range results.Results {
			c := knowledgeCandidate(&hit.Knowledge)
			c.least = meant(hit.Why)
			f.candidates = append(f.candidates, c)
		}
		return f, err
	}
}

func knowledgeCandidate(e *knowledge.Knowledge) candidate {
	return candidate{
		kind: router.KindKnowledge, id: e.ID, handle: router.HandleOf(router.KindKnowledge, e.Number), title: e.Title, body: e.Content, author: e.Author, trust: string(e.Trust), project: e.Project,
		place: e.Place, date: e.UpdatedAt, confidence: knowledgeConfidence, uses: e.UseCount, superseded: e.SupersededBy,
	}
}

func (s Sources) facts(ctx context.Context, r Request) (f gathered, err error) {
	results, err := s.Facts.Find(ctx, fact.Search{Persona: r.Persona, Query: r.Task, Limit: r.nominated()})
	f.corrected = results.Corrected
	for _, known := range results.Facts {
		f.candidates = append(f.candidates, factCandidate(&known))
	}
	return f, err
}

func factCandidate(f *fact.Fact) candidate {
	return candidate{
		kind: router.KindFact, id: f.Key, handle: router.HandleOf(router.KindFact, f.Version), title: f.Key, body: string(f.Value), author: f.Author, trust: string(f.Trust),
		date: f.CachedAt, confidence: factConfidence, facts: f.Persona, uses: f.AccessCount,
	}
}

// nominations asks a kind of memory.
func nominations(memory kind.Memory) func(context.Context, Request) (gathered, error) {
	return func(ctx context.Context, r Request) (f gathered, err error) {
		found, err := memory.Nominate(ctx, kind.Work{Task: r.Task, Persona: r.Persona, AgentID: r.AgentID, Project: r.Project, Limit: r.nominated()})
		f.corrected = found.Corrected
		for _, h := range found.Hits {
			f.candidates = append(f.candidates, candidate{
				kind: memory.Name, id: h.ID, handle: router.HandleOf(memory.Name, h.Number), title: h.Title, body: h.Text, author: h.Author, trust: h.Trust, project: h.Project, date: h.At,
				confidence: h.Confidence, least: meant(h.Why),
			})
		}
		return f, err
	}
}

func (s Sources) episodes(project string) func(context.Context, Request) (gathered, error) {
	return func(ctx context.Context, r Request) (f gathered, err error) {
		results, err := s.Episodes.Search(learning.NotAsked(ctx), episode.Query{Query: r.Task, Persona: r.Persona, Project: project, Limit: r.nominated(), Explain: true})
		f.corrected = results.Corrected
		for _, hit := range results.Results {
			if r.Prompt && (hit.EventType == episode.EventError || hit.Event == history.SummaryEvent) {
				continue // that something failed once is no answer, and how a session went is told at the next one's start
			}
			c := episodeCandidate(&hit.Episode)
			c.least = meant(hit.Why)
			f.candidates = append(f.candidates, c)
		}
		return f, err
	}
}

func episodeCandidate(e *episode.Episode) candidate {
	return candidate{
		kind: router.KindEpisode, id: e.ID, handle: router.HandleOf(router.KindEpisode, e.Number), title: e.Title, body: e.Content, author: e.AgentID, trust: router.TrustAgent, project: e.Project,
		place: e.Place, date: e.CreatedAt, confidence: e.Importance,
	}
}

// heldTask is the least relevance of a task that the agent itself holds: it is
// what the agent is at, in whatever words.
const heldTask = 0.5

func (s Sources) tasks(ctx context.Context, r Request) (f gathered, err error) {
	open, seen := true, map[string]bool{}
	ask := func(filter operational.TaskFilter, least float64) error {
		filter.Open, filter.Limit = &open, r.nominated()
		tasks, err := s.Tasks.List(ctx, filter)
		for _, t := range tasks {
			if seen[t.ID] {
				continue
			}
			seen[t.ID] = true
			f.candidates = append(f.candidates, candidate{
				kind: router.KindTask, id: t.ID, title: fmt.Sprintf("#%d %s", t.Number, t.Title), author: t.CreatedBy, trust: router.TrustAgent, project: t.Project,
				date: t.UpdatedAt, confidence: 1, least: least,
				body: lines("", t.Description, "Status: ", string(t.Status), "Held by: ", t.AgentID, "Blocked: ", t.BlockedReason, "Note: ", t.Note),
			})
		}
		return err
	}
	if r.AgentID != "" {
		if err := ask(operational.TaskFilter{AgentID: r.AgentID}, heldTask); err != nil {
			return f, err
		}
	}
	if r.Project != "" {
		return f, ask(operational.TaskFilter{Project: r.Project}, 0)
	}
	return f, nil
}

// meaningRelevance is the least relevance of what a store found by its meaning,
// where embeddings are configured: it may not share a word with the task.
const meaningRelevance = 0.4

// meant is the least relevance of a hit by why it was found. Only what the
// vectors found alone was near enough to be answered for its meaning.
func meant(why []learning.Reason) float64 {
	if len(why) > 0 && !slices.ContainsFunc(why, func(r learning.Reason) bool { return r.Lane != shelf.LaneVector }) {
		return meaningRelevance
	}
	return 0
}

// lines joins labels and texts, in turn, each pair on a line of its own; pairs without a text are left out.
func lines(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if text := strings.TrimSpace(pairs[i+1]); text != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(pairs[i])
			b.WriteString(text)
		}
	}
	return b.String()
}

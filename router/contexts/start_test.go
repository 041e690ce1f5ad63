package contexts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/contexts"
)

const day = 24 * time.Hour

// teamMemory is a memory of two projects, and of none.
func teamMemory() *stock {
	ended := now.Add(-day)
	of := func(e knowledge.Knowledge, project string, age time.Duration, uses int64) knowledge.Knowledge {
		e.Project, e.UpdatedAt, e.UseCount = project, now.Add(-age), uses
		return e
	}
	imported := of(entry("page", "A page said so", "Run this at once."), "shop", 0, 0)
	imported.Trust = learning.TrustImported
	rule := func(id, title, project string, severity learning.Severity, proposed bool) lesson.Lesson {
		return lesson.Lesson{
			ID: id, Type: learning.LessonAntiPattern, Title: title, Project: project, Severity: severity, Proposed: proposed, RootCause: "it lost data",
			Alternatives: []string{"ask first"}, SourceAgent: "alice", Trust: learning.TrustAgent, Level: lesson.LevelCase, LastOccurred: now.Add(-10 * day), Confidence: 0.8,
		}
	}
	learned := func(id, title, project string, level lesson.Level) lesson.Lesson {
		return lesson.Lesson{
			ID: id, Type: learning.LessonSuccess, Title: title, Project: project, Severity: learning.SeverityMedium, Solution: "do that",
			SourceAgent: "bob", Trust: learning.TrustAgent, Level: level, LastOccurred: now.Add(-2 * day), Confidence: 0.7,
		}
	}
	return &stock{
		knowledge: []knowledge.Knowledge{
			of(entry("pnpm", "Use pnpm not npm", "The lockfile is pnpm-lock.yaml."), "shop", 40*day, 20),
			of(entry("port-old", "The API's port", "It is 3000."), "shop", 30*day, 2),
			of(entry("port-new", "The API's port", "It is 4000."), "shop", day, 0),
			of(entry("style", "House style", "Write plainly."), "", 5*day, 0),
			of(entry("infra", "Terraform state", "It lies in a bucket."), "infra", 0, 30),
			imported,
		},
		episodes: []episode.Episode{
			{ID: "decided", Title: "Decided: money is kept in cents", Content: "Because of rounding.", EventType: episode.EventDecision, AgentID: "alice", Project: "shop", Importance: 0.5, CreatedAt: now.Add(-3 * day)},
			{ID: "did", Title: "Renamed a file", EventType: episode.EventAction, AgentID: "alice", Project: "shop", CreatedAt: now},
			{ID: "elsewhere", Title: "Decided: use modules", EventType: episode.EventDecision, AgentID: "alice", Project: "infra", CreatedAt: now},
		},
		lessons: []lesson.Lesson{
			rule("never-low", "Never rebase main", "shop", learning.SeverityLow, false), rule("never", "Never drop the orders table", "shop", learning.SeverityCritical, false),
			rule("proposed", "Never use tabs", "shop", learning.SeverityHigh, true), rule("never-infra", "Never apply on Friday", "infra", learning.SeverityCritical, false),
			rule("never-all", "Never commit secrets", "", learning.SeverityHigh, false),
			learned("principle", "Test before you merge", "", lesson.LevelPrinciple), learned("lesson", "Retry the flaky payment test once", "shop", lesson.LevelCase),
			learned("lesson-infra", "Lock the state", "infra", lesson.LevelCase),
		},
		facts: []fact.Fact{{Persona: "default", Key: "shop.stage", Value: []byte(`"staging"`), Author: "bob", Trust: learning.TrustAgent, CachedAt: now}},
		sessions: []operational.Session{
			{ID: "s2", AgentID: "codex:red-owl", Project: "shop", Status: operational.SessionEnded, Summary: "Looked at logs", EndedAt: &ended},
			{
				ID: "s1", AgentID: "claude-code:amber-fox", Project: "shop", Status: operational.SessionEnded, Goal: "Mend the cart", Summary: "Stopped at cart.ts:42; the total is wrong with two coupons.", EndedAt: &ended,
				Handover: &operational.Handover{Tasks: []operational.OpenItem{{Kind: "task", Title: "#7 Mend the cart"}}, TaskCount: 1},
			},
			{ID: "s0", AgentID: "claude-code:amber-fox", Project: "infra", Status: operational.SessionEnded, Summary: "Elsewhere", EndedAt: &ended},
		},
		tasks: []operational.Task{
			{ID: "t7", Number: 7, Title: "Mend the cart", AgentID: "claude-code:blue-elk", Project: "shop", UpdatedAt: now}, {ID: "t8", Number: 8, Title: "Somebody's", AgentID: "bob", Project: "shop", UpdatedAt: now},
		},
	}
}

var aStart = contexts.Request{Start: true, Budget: 2500, Characters: 9500, Project: "shop", AgentID: "claude-code:blue-elk"}

func TestStart(t *testing.T) {
	c := teamMemory().build(t, aStart)
	want := []string{"never", "never-all", "never-low", "decided", "s1", "t7", "shop.stage", "port-new", "style", "pnpm", "page", "lesson", "principle"}
	got := ids(c)
	if want := want; !slices.Equal(got, want) {
		t.Errorf("it begins with %q,\nnot with %q\n%s", got, want, c.Text)
	}
	for id, reason := range map[string]string{"port-old": "superseded by port-new"} {
		if got := reasonOf(c, id); got != reason {
			t.Errorf("%s is left out for %q, not for %q", id, got, reason)
		}
	}
	for _, phrase := range []string{"- agent 2026-11-19 ", "Open task: #7 Mend the cart", "## Decided, and in force\n", "By agents:\n2026-11-20\n- shop.stage = \"staging\"\n2026-11-19\n- The API's port\n  It is 4000.\n", "Imported, UNTRUSTED:\n2026-11-20\n- A page said so\n## ", "## The last session\n", "Instead: ask first"} {
		if !strings.Contains(c.Text, phrase) {
			t.Errorf("it does not say %q:\n%s", phrase, c.Text)
		}
	}
	if rules := c.Text[:c.Rules]; !strings.Contains(rules, "orders table") || !strings.HasSuffix(rules, ">\n") || strings.Contains(rules, "The last session") {
		t.Errorf("the rules end at %d: %s", c.Rules, rules)
	}
}

// TestStartSaysItOnce: of what says no more than its title the title is told alone.
func TestStartSaysItOnce(t *testing.T) {
	m := teamMemory()
	const said = "We deploy on Tuesday."
	m.episodes = append(m.episodes, episode.Episode{ID: "once", Title: said, Content: said + "\n", EventType: episode.EventDecision, AgentID: "alice", Project: "shop", CreatedAt: now})
	if c := m.build(t, aStart); strings.Count(c.Text, said) != 1 {
		t.Errorf("it is told otherwise than once:\n%s", c.Text)
	}
}

// TestStartTellsASessionBesideItsDecision: the end of a session is told, although it says little more than what was decided in it.
func TestStartTellsASessionBesideItsDecision(t *testing.T) {
	m := teamMemory()
	const said = "Never change the layout of the archive."
	m.episodes = append(m.episodes, episode.Episode{ID: "kept", Title: said, Content: "Split the importer into two. " + said, EventType: episode.EventDecision, AgentID: "alice", Project: "shop", CreatedAt: now})
	m.sessions[1].Goal, m.sessions[1].Summary, m.sessions[1].Handover = "Split the importer into two. "+said, "Split the importer into two. "+said, nil
	if c := m.build(t, aStart); !slices.Contains(ids(c), "s1") {
		t.Errorf("the session is left out for %q:\n%s", reasonOf(c, "s1"), c.Text)
	}
}

// TestStartAlone: without a project only what belongs to none is told.
func TestStartAlone(t *testing.T) {
	request := aStart
	request.Project = ""
	if got, want := ids(teamMemory().build(t, request)), []string{"never-all", "t7", "shop.stage", "style", "principle"}; !slices.Equal(got, want) {
		t.Errorf("it begins with %q, not with %q", got, want)
	}
	request.AgentID = ""
	if got, want := ids(teamMemory().build(t, request)), []string{"never-all", "shop.stage", "style", "principle"}; !slices.Equal(got, want) {
		t.Errorf("it begins with %q, not with %q", got, want)
	}
}

// TestStartIsBounded: however much is known, the bounds hold, and no kind takes all.
func TestStartIsBounded(t *testing.T) {
	s := teamMemory()
	for i := range 200 {
		e := entry(fmt.Sprintf("k%d", i), fmt.Sprintf("Entry number %d of the wide märchen", i), strings.Repeat(fmt.Sprintf("It has %d sentences to say, and more. ", i), 12))
		e.Project = "shop"
		s.knowledge = append(s.knowledge, e)
		l := s.lessons[1]
		l.ID, l.Title = fmt.Sprintf("n%d", i), fmt.Sprintf("Never do number %d on the server", i)
		s.lessons = append(s.lessons, l)
	}
	for _, bound := range []struct{ tokens, characters int }{{2500, 9500}, {2500, 2000}, {100_000, 9500}, {300, 0}, {50, 50}} {
		request := aStart
		request.Budget, request.Characters = bound.tokens, bound.characters
		c := s.build(t, request)
		if n := utf8.RuneCountInString(c.Text); bound.characters > 0 && n > bound.characters {
			t.Errorf("%d characters, not %d", n, bound.characters)
		}
		if bound.tokens != 2500 || bound.characters != 9500 {
			continue
		}
		kinds := map[string]int{}
		for _, item := range c.Items {
			kinds[item.Kind]++
		}
		if kinds["guard"] != 8 || kinds["session"] != 1 || kinds["knowledge"] < 5 || kinds["principle"] != 1 || kinds["lesson"] < 1 {
			t.Errorf("of the kinds it has %v", kinds)
		}
		if c.Tokens < 2000 {
			t.Errorf("it has %d tokens of %d, and much is left", c.Tokens, bound.tokens)
		}
	}
}

// TestStartNewest: of what was written in one hour the newest comes in.
func TestStartNewest(t *testing.T) {
	s := &stock{}
	for i := range 60 {
		e := entry(fmt.Sprintf("k%02d", i), fmt.Sprintf("Note %d of the march", i), fmt.Sprintf("%d is what it says, and it says more than that.", i))
		e.Project, e.UpdatedAt = "shop", now.Add(time.Duration(i)*time.Second)
		s.knowledge = append(s.knowledge, e)
	}
	request := aStart
	request.Budget = 500
	if got := ids(s.build(t, request)); len(got) < 3 || !slices.Contains(got, "k59") || slices.Contains(got, "k00") {
		t.Errorf("it begins with %q", got)
	}
}

// TestToldOnce: what a session was told is not told again while it is as it was.
func TestToldOnce(t *testing.T) {
	s := teamMemory()
	b := s.builder()
	build := func(request contexts.Request) []string {
		t.Helper()
		c, err := b.Build(asReader(t), request)
		if err != nil {
			t.Fatal(err)
		}
		return ids(c)
	}
	start := aStart
	start.SessionID = "one"
	first := build(start)
	resumed, task, other := start, contexts.Request{Task: "use pnpm or npm for the lockfile", Budget: 2500, Project: "shop", AgentID: start.AgentID, SessionID: "one"}, start
	resumed.Resumed, other.SessionID = true, "two"
	if got := build(resumed); len(got) != 0 {
		t.Errorf("it goes on, and is told again: %q", got)
	}
	if got := build(task); slices.Contains(got, "pnpm") {
		t.Errorf("a task of the session is told again: %q", got)
	}
	if got := build(other); !slices.Equal(got, first) {
		t.Errorf("another session is told %q", got)
	}
	s.knowledge[0].Content = "The lockfile is pnpm-lock.yaml, and npm breaks it."
	if got := build(resumed); !slices.Equal(got, []string{"pnpm"}) {
		t.Errorf("an entry was changed, and it is told %q", got)
	}
	if got := build(start); !slices.Equal(got, first) {
		t.Errorf("its window was emptied, and it is told %q", got)
	}
	failure := task
	failure.Failure = true
	if got := build(failure); slices.Contains(got, "pnpm") {
		t.Errorf("at a failure it is told again: %q", got)
	}
	task.SessionID = ""
	if got := build(task); !slices.Contains(got, "pnpm") {
		t.Errorf("outside of a session it is told %q", got)
	}
}

func fieldOf(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

func TestStartRefuses(t *testing.T) {
	b := (&stock{}).builder()
	for name, change := range map[string]func(*contexts.Request){
		"characters": func(r *contexts.Request) { r.Characters = 10 },
		"session_id": func(r *contexts.Request) { r.SessionID = "a\nb" },
		"budget":     func(r *contexts.Request) { r.Budget = 0 },
		"project":    func(r *contexts.Request) { r.Project = "a\nb" },
	} {
		request := aStart
		change(&request)
		if _, err := b.Build(asReader(t), request); fieldOf(err) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVouchedOnly: where it is set so, nothing is told that no person and no second voice vouched for.
func TestVouchedOnly(t *testing.T) {
	s := teamMemory()
	s.lessons[0].Validated, s.lessons[0].ValidatedBy = true, s.lessons[0].SourceAgent+":amber-fox" // its own voice
	s.lessons[1].Validated, s.lessons[1].ValidatedBy, s.lessons[1].Validator = true, "somebody-else", "somebody-else"
	said := entry("said", "Releases leave on Tuesdays", "Support is short of people.")
	said.Project, said.Trust = "shop", learning.TrustPerson
	s.knowledge = append(s.knowledge, said)
	sources := contexts.Sources{Guards: s, Lessons: s, Knowledge: stockKnowledge{s}, Facts: stockFacts{s}, Episodes: stockEpisodes{s}, Tasks: stockTasks{s}, Sessions: stockSessions{s}, Index: s}
	b := contexts.NewBuilder(sources, contexts.Options{Now: func() time.Time { return now }, VouchedOnly: true})
	c, err := b.Build(asReader(t), aStart)
	if err != nil {
		t.Fatal(err)
	}
	check(t, c)
	if got, want := ids(c), []string{s.lessons[1].ID, "said"}; !slices.Equal(got, want) {
		t.Errorf("it begins with %q, not with %q", got, want)
	}
	for id, reason := range map[string]string{"page": "untrusted", "pnpm": "not vouched for", s.lessons[0].ID: "not vouched for"} {
		if got := reasonOf(c, id); got != reason {
			t.Errorf("%s is left out for %q, not for %q", id, got, reason)
		}
	}
}

// TestGone: what names something of the working tree that is no longer there is marked, and stands behind, at a start, with a
// prompt and for a task; of a caller on another machine, and of another project, nothing is looked for.
// It runs in virtual time, which stands still while the folder is read: how long that may take is no matter of this test.
func TestGone(t *testing.T) { synctest.Test(t, gone) }

func gone(t *testing.T) {
	tree := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(tree, "scripts"), 0o700), os.WriteFile(filepath.Join(tree, "scripts", "test.sh"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := &stock{}
	for id, said := range map[string]string{
		"stale": "Deploy the cart with scripts/deploy.sh, it asks for the environment", "fresh": "Test the cart before you deploy it with scripts/test.sh, it takes a minute",
	} {
		e := entry(id, "How the cart is deployed: "+id, said)
		e.Project, e.UpdatedAt = "shop", now
		if id == "stale" {
			e.UseCount = 30
		}
		s.knowledge = append(s.knowledge, e)
	}
	elsewhere := entry("elsewhere", "The blog's march", "Deploy the blog with scripts/none.sh")
	s.knowledge = append(s.knowledge, elsewhere)
	near := principal.With(t.Context(), principal.System().FromNear())
	for name, request := range map[string]contexts.Request{
		"start":  {Start: true, Budget: 1000, Project: "shop", Folder: tree},
		"prompt": {Prompt: true, Task: "how do we deploy the cart?", Budget: 600, Project: "shop", Folder: tree},
		"task":   {Task: "deploy the cart", Budget: 1000, Project: "shop", Folder: tree},
	} {
		c, err := s.builder().Build(near, request)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(ids(c), func(id string) bool { return id == "elsewhere" })
		if !slices.Equal(got, []string{"fresh", "stale"}) || strings.Count(c.Text, "no longer there: scripts/deploy.sh") != 1 || strings.Count(c.Text, "no longer there") != 1 {
			t.Errorf("%s: it has %q:\n%s", name, got, c.Text)
		}
		for _, item := range c.Items {
			if (item.ID == "stale") != slices.Equal(item.Gone, []string{"scripts/deploy.sh"}) {
				t.Errorf("%s: %+v", name, item)
			}
		}
		if c, err = s.builder().Build(principal.With(t.Context(), principal.System()), request); err != nil || strings.Contains(c.Text, "no longer there") {
			t.Errorf("%s: from another machine: %v\n%s", name, err, c.Text)
		}
	}
}

// TestStartOfAPersona: a start tells a persona's own decisions and sessions.
func TestStartOfAPersona(t *testing.T) {
	s := teamMemory()
	for i := range s.episodes {
		s.episodes[i].Persona = "analyst"
	}
	for i := range s.sessions {
		s.sessions[i].Persona = "analyst"
	}
	request := aStart
	if got := ids(s.build(t, request)); slices.Contains(got, "decided") || slices.Contains(got, "s1") {
		t.Errorf("another persona is told %q", got)
	}
	request.Persona = "analyst"
	if got := ids(s.build(t, request)); !slices.Contains(got, "decided") || !slices.Contains(got, "s1") {
		t.Errorf("its own persona is told %q", got)
	}
}

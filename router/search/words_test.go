package search_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
	"github.com/skillrouter/skillrouter/router/search"
)

// send puts a message into the log.
func send(t *testing.T, s *store.Store, from, to, said string) string {
	t.Helper()
	m := operational.Message{
		ID: fmt.Sprintf("%s-%s-%d", from, to, len(said)), From: from, To: to, Signal: operational.SignalMessage,
		Context: []byte(fmt.Sprintf(`{"text":%q}`, said)), CreatedAt: time.Now().Truncate(time.Millisecond),
	}
	if err := s.AppendMessages(t.Context(), func() []*operational.MessageAppend {
		return []*operational.MessageAppend{{Message: m}}
	}, nil); err != nil {
		t.Fatal(err)
	}
	return m.ID
}

func asAgent(t *testing.T, agent string, scopes ...principal.Scope) context.Context {
	return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: scopes})
}

func wordsOver(t *testing.T, s *store.Store) *search.Searcher {
	t.Helper()
	words := search.NewWords(s, s.SignalLog(), slog.New(slog.DiscardHandler))
	if err := words.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return search.NewSearcher(words.Memories(), search.SearcherOptions{})
}

func idsOf(r search.Answer) string {
	var ids []string
	for _, hit := range r.Results {
		ids = append(ids, hit.ID)
	}
	return strings.Join(ids, " ")
}

// TestKeepsMailboxes reads others' mail, as an attacker would.
func TestKeepsMailboxes(t *testing.T) {
	s := fixture.OpenStore(t)
	service := wordsOver(t, s)
	secret := send(t, s, "alice", "bob", "the launch codeword is xylophone")
	open := send(t, s, "alice", "", "lunch is at noon, bring forks")
	mine := send(t, s, "mallory", "mallory", "xylophona lessons on monday")

	for name, c := range map[string]struct {
		ctx   context.Context
		query string
		want  string
	}{
		"the sender":               {asAgent(t, "alice", principal.ScopeAgent), "codeword", secret},
		"the recipient":            {asAgent(t, "bob", principal.ScopeAgent), "launch codeword", secret},
		"another agent":            {asAgent(t, "mallory", principal.ScopeAgent), "codeword", ""},
		"by a misspelt word":       {asAgent(t, "mallory", principal.ScopeAgent), "xylophome", ""},
		"by the word itself":       {asAgent(t, "mallory", principal.ScopeAgent), "xylophone", ""},
		"its own":                  {asAgent(t, "mallory", principal.ScopeAgent), "xylophona", mine},
		"a broadcast":              {asAgent(t, "mallory", principal.ScopeAgent), "lunch forks", open},
		"a captain":                {asAgent(t, "", principal.ScopeCaptain), "codeword", secret},
		"a reader":                 {asAgent(t, "mallory", principal.ScopeRead), "codeword", ""},
		"a reader of broadcasts":   {asAgent(t, "", principal.ScopeRead), "lunch forks", ""},
		"an agent's token of none": {asAgent(t, "", principal.ScopeAgent), "codeword", ""},
	} {
		r, err := service.Search(c.ctx, search.Query{Query: c.query})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := idsOf(r); got != c.want {
			t.Errorf("%s finds %q, want %q", name, got, c.want)
		}
		if c.want == "" {
			if len(r.Repairs) == 0 {
				t.Errorf("%s is not told what was tried", name)
			}
			// Neither a correction, nor a count, nor what was tried may tell what others wrote.
			if said := fmt.Sprintf("%+v", r); strings.Contains(said, "xylophona") && c.query != "xylophona" || strings.Contains(said, "codeword is") {
				t.Errorf("%s is told of others' words: %s", name, said)
			}
			for _, kind := range r.Kinds {
				if kind.Found != 0 {
					t.Errorf("%s is told that %d %ss fit", name, kind.Found, kind.Kind)
				}
			}
			for _, tried := range r.Repairs {
				if tried.Found != 0 {
					t.Errorf("%s is told that %s finds %d", name, tried.Detail, tried.Found)
				}
			}
		}
	}

	// What others write must not move the attacker's own answer.
	mallory := asAgent(t, "mallory", principal.ScopeAgent)
	before, err := service.Search(mallory, search.Query{Query: "xylophona monday zither"})
	if err != nil {
		t.Fatal(err)
	}
	send(t, s, "alice", "bob", "a zither beside the xylophone on monday")
	after, err := service.Search(mallory, search.Query{Query: "xylophona monday zither"})
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Results) != 1 || len(after.Results) != 1 || before.Results[0].Relevance != after.Results[0].Relevance || fmt.Sprint(before.Kinds, before.Corrected) != fmt.Sprint(after.Kinds, after.Corrected) {
		t.Errorf("the answer was %+v and is %+v since others wrote", before, after)
	}
	if _, err := service.Search(t.Context(), search.Query{Query: "lunch"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("nobody in particular may search: %v", err)
	}
}

// TestReadsItsWrites finds what was stored a moment ago, and what was
// changed and deleted not as it was.
func TestReadsItsWrites(t *testing.T) {
	s := fixture.OpenStore(t)
	service := wordsOver(t, s)
	ctx := asAgent(t, "", principal.ScopeCaptain)
	tasks, recon := operational.NewTasks(s, time.Now), operational.NewRecon(s, time.Now)
	count := func(query search.Query) int {
		t.Helper()
		r, err := service.Search(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		return r.Count
	}
	task, err := tasks.Create(ctx, operational.TaskDraft{Title: "Polish the tuba", Project: "band"})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(search.Query{Query: "tuba", Project: "band", Category: "pending"}); n != 1 {
		t.Errorf("%d found of a task that was just made", n)
	}
	if _, err := tasks.Cancel(ctx, task.ID, operational.TaskNote{Note: "the oboe matters more"}); err != nil {
		t.Fatal(err)
	}
	if n := count(search.Query{Query: "tuba", Category: "pending"}); n != 0 {
		t.Error("a cancelled task is found as a pending one")
	}
	if _, err := recon.ReportAll(ctx, []operational.FindingDraft{{Environment: "stage", Title: "Open trombone port", Severity: operational.SeverityHigh}}); err != nil {
		t.Fatal(err)
	}
	if n := count(search.Query{Query: "trombone", Kinds: []string{router.KindFinding}, Category: "high"}); n != 1 {
		t.Errorf("%d found of a finding", n)
	}
	if _, err := recon.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "stage", Project: "band"}); err != nil {
		t.Fatal(err)
	}
	if n := count(search.Query{Query: "trombone", Project: "band"}); n != 1 {
		t.Errorf("%d found by the project that its environment was given", n)
	}
	r, err := service.Search(ctx, search.Query{Query: "trombone", Project: "orchestra", AgentID: "nobody"})
	if err != nil || r.Count != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	said := fmt.Sprintf("%+v %+v", r.Repairs, r.Kinds)
	for _, want := range []string{"without project=orchestra", "without agent_id=nobody", "without any filter Found:1", "findings are of no agent", "messages are of no project"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	if r, err = service.Search(ctx, search.Query{Query: "trombonist"}); err != nil || r.Count != 1 || len(r.Repairs) == 0 || r.Notice == "" {
		t.Errorf("a word like one that is there finds %+v, %v", r, err)
	}
}

// TestForgetsSwept holds that a message whose time is over is found no more, nor counted.
func TestForgetsSwept(t *testing.T) {
	s := fixture.OpenStore(t)
	gone := send(t, s, "alice", "", "a bassoon for sale")
	service := wordsOver(t, s)
	ctx := asAgent(t, "", principal.ScopeCaptain)
	if r, err := service.Search(ctx, search.Query{Query: "bassoon"}); err != nil || idsOf(r) != gone {
		t.Fatalf("%+v, %v", r, err)
	}
	rung := s.SweptBell().Wait()
	if swept, err := s.Sweep(t.Context(), 0, time.Now().Add(time.Hour), 10); err != nil || swept.Deleted != 1 {
		t.Fatalf("%+v, %v", swept, err)
	}
	select {
	case <-rung:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody is told of the sweep")
	}
	if r, err := service.Search(ctx, search.Query{Query: "bassoon"}); err != nil || r.Count != 0 {
		t.Errorf("a deleted message is found: %+v, %v", r, err)
	}
}

func TestOfHostileInput(t *testing.T) {
	s := fixture.OpenStore(t)
	send(t, s, "alice", "", "💥 שלום עולם data-é́ \u0000 end")
	service := wordsOver(t, s)
	ctx := asAgent(t, "", principal.ScopeCaptain)
	var terms strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&terms, "w%d ", i)
	}
	for name, c := range map[string]struct {
		query search.Query
		code  errs.Code
	}{
		"a megabyte":       {search.Query{Query: strings.Repeat("x", 1<<20)}, errs.TooLarge},
		"10,000 terms":     {search.Query{Query: terms.String()}, errs.TooLarge},
		"many terms":       {search.Query{Query: terms.String()[:16000]}, ""},
		"stop words":       {search.Query{Query: "the of and to"}, ""},
		"punctuation":      {search.Query{Query: "!!! ??? --- ((("}, ""},
		"emoji":            {search.Query{Query: "💥💥"}, ""},
		"right to left":    {search.Query{Query: "שלום"}, ""},
		"scripts":          {search.Query{Query: "gateway ворота ゲート 门"}, ""},
		"NUL":              {search.Query{Query: "a\x00b"}, errs.Invalid},
		"invalid UTF-8":    {search.Query{Query: "a\xff\xfe"}, errs.Invalid},
		"nothing":          {search.Query{}, errs.Invalid},
		"no kind":          {search.Query{Query: "x", Kinds: []string{"mail"}}, errs.Invalid},
		"a limit":          {search.Query{Query: "x", Limit: search.MaxFound + 1}, errs.Invalid},
		"a time":           {search.Query{Query: "x", TimeRange: "whenever"}, errs.Invalid},
		"a tag of ours":    {search.Query{Query: "x", Tags: []string{"\x00by:alice"}}, errs.Invalid},
		"an empty tag":     {search.Query{Query: "x", Tags: []string{""}}, errs.Invalid},
		"too many tags":    {search.Query{Query: "x", Tags: make([]string, 1000)}, errs.Invalid},
		"a reader's agent": {search.Query{Query: "end", AgentID: "*"}, ""},
	} {
		r, err := service.Search(ctx, c.query)
		if errs.CodeOf(err) != c.code && !(c.code == "" && err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && r.Count == 0 && len(r.Repairs) == 0 {
			t.Errorf("%s: an empty answer says nothing of what was tried", name)
		}
	}
}

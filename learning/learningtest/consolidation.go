package learningtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/history"
)

// ConsolidationWorld is a ConsolidationService under test, and where it stores.
type ConsolidationWorld struct {
	Consolidation history.ConsolidationService
	Facts         fact.Service
	Episodes      episode.Service
}

// Consolidation runs the contract of ConsolidationService. open is called for
// each case and must give a service on a database of its own, which takes calls
// as principal.Open, asks the rules, and accepts at once from threshold.
func Consolidation(t *testing.T, open func(t *testing.T, threshold float64) ConsolidationWorld) {
	for _, test := range []struct {
		name      string
		threshold float64
		run       func(t *testing.T, ctx context.Context, w ConsolidationWorld)
	}{
		{"a transcript proposes and stores nothing", 0, consolidationProposes},
		{"the same transcript again changes nothing", 0, consolidationRepeats},
		{"the same transcript at once is one", 0, consolidationRaces},
		{"what is accepted is stored once", 0, consolidationAccepts},
		{"what is rejected is not stored", 0, consolidationRejects},
		{"a verdict is final in one direction", 0, consolidationVerdicts},
		{"at once from the threshold", 0.7, consolidationThreshold},
		{"a text in any form", 0, consolidationForms},
		{"secrets are never proposed", 0.01, consolidationSecrets},
		{"proposals are listed by what they are", 0, consolidationLists},
		{"bad input is refused by name", 0, consolidationRefuses},
		{"what is not there", 0, consolidationMissing},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, caller(t), open(t, test.threshold)) })
	}
}

// session is a transcript with a fact and an episode in it.
func session() history.TranscriptDraft {
	return history.TranscriptDraft{
		Persona: "coder", AgentID: "builder-1", SessionID: "s-1", Project: "shop",
		Turns: []history.Turn{
			{Role: "user", Content: "The test command is `pytest -q`."},
			{Role: "assistant", Content: "$ pytest -q"},
			{Role: "tool", Content: "E   ModuleNotFoundError: No module named 'attrs'\n1 error in 0.1s"},
			{Role: "assistant", Content: "$ pip install attrs"},
			{Role: "tool", Content: "Successfully installed attrs-24.2.0"},
			{Role: "assistant", Content: "$ pytest -q"},
			{Role: "tool", Content: "8 passed in 0.54s"},
		},
	}
}

func ofKind(t *testing.T, list []history.Proposal, kind history.ProposalKind) history.Proposal {
	t.Helper()
	for _, p := range list {
		if p.Kind == kind {
			return p
		}
	}
	t.Fatalf("no %s among %+v", kind, list)
	return history.Proposal{}
}

const testCommand = "project.test_command"

func coderFact(key string) fact.Ref { return fact.Ref{Persona: "coder", Key: key} }

func consolidationProposes(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	if got.Duplicate || got.Extractor != history.RulesExtractor || got.Accepted != 0 || len(got.Proposals) != 2 || len(got.TranscriptID) != 64 || got.Notice != "" {
		t.Fatalf("%+v", got)
	}
	f := ofKind(t, got.Proposals, history.ProposalFact)
	var draft fact.Draft
	if err := json.Unmarshal(f.Content, &draft); err != nil || draft.Key != testCommand || string(draft.Value) != `"pytest -q"` || draft.Persona != "coder" {
		t.Errorf("%s, %v", f.Content, err)
	}
	if f.Status != history.ProposalPending || f.Persona != "coder" || f.AgentID != "builder-1" || f.SessionID != "s-1" || f.DecidedAt != nil || f.CreatedAt.IsZero() {
		t.Errorf("%+v", f)
	}
	if f.Confidence <= 0.5 || f.Confidence >= 1 || len(f.Evidence) == 0 || len(f.Turns) == 0 || f.Turns[0] != 0 {
		t.Errorf("%+v", f)
	}
	e := ofKind(t, got.Proposals, history.ProposalEpisode)
	if !strings.Contains(string(e.Content), "pip install attrs") || !strings.Contains(strings.Join(e.Evidence, "\n"), "No module named") {
		t.Errorf("%+v", e)
	}
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, coderFact(testCommand)))
	if list := must[[]episode.Episode](t)(w.Episodes.Recent(ctx, episode.Filter{Persona: "coder"})); len(list) != 0 {
		t.Errorf("%d episodes", len(list))
	}
	if one := must[history.Proposal](t)(w.Consolidation.Proposal(ctx, f.ID)); cmp.Diff(one, f) != "" {
		t.Error(cmp.Diff(one, f))
	}
}

func consolidationRepeats(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	first := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	accepted := must[history.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, first.Proposals, history.ProposalFact).ID))
	draft := session()
	draft.Project = ""                    // whose it is and what was said make it the same, not what for
	draft.Turns[0].Content += "\r\n  \n " // nor white space at the ends
	again := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft))
	if !again.Duplicate || again.TranscriptID != first.TranscriptID || len(again.Proposals) != len(first.Proposals) {
		t.Fatalf("%+v", again)
	}
	if now := ofKind(t, again.Proposals, history.ProposalFact); cmp.Diff(now, accepted) != "" {
		t.Error(cmp.Diff(now, accepted))
	}
	for name, change := range map[string]func(d *history.TranscriptDraft){
		"persona": func(d *history.TranscriptDraft) { d.Persona = "other" }, "agent": func(d *history.TranscriptDraft) { d.AgentID = "builder-2" },
		"session": func(d *history.TranscriptDraft) { d.SessionID = "s-2" }, "turn": func(d *history.TranscriptDraft) { d.Turns[0].Role = "assistant" },
	} {
		other := session()
		change(&other)
		if got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, other)); got.Duplicate || got.TranscriptID == first.TranscriptID {
			t.Errorf("another %s is the same transcript", name)
		}
	}
}

func consolidationRaces(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	const n = 8
	results := make([]history.Consolidated, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { results[i], errs[i] = w.Consolidation.Consolidate(ctx, session()) })
	}
	all.Wait()
	fresh := 0
	for i, r := range results {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if !r.Duplicate {
			fresh++
		}
		if cmp.Diff(r.Proposals, results[0].Proposals) != "" {
			t.Error(cmp.Diff(r.Proposals, results[0].Proposals))
		}
	}
	if fresh != 1 {
		t.Errorf("%d of them were the first", fresh)
	}
	// Accepting at once stores once.
	id := ofKind(t, results[0].Proposals, history.ProposalEpisode).ID
	stored := make([]string, n)
	for i := range n {
		all.Go(func() {
			p, err := w.Consolidation.Accept(ctx, id)
			stored[i], errs[i] = p.StoredAs, err
		})
	}
	all.Wait()
	for i := range n {
		if errs[i] != nil || stored[i] == "" || stored[i] != stored[0] {
			t.Errorf("%q, %v", stored[i], errs[i])
		}
	}
	if list := must[[]episode.Episode](t)(w.Episodes.Recent(ctx, episode.Filter{Persona: "coder"})); len(list) != 1 || list[0].ID != stored[0] {
		t.Errorf("%+v", list)
	}
}

func consolidationAccepts(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	f := must[history.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, got.Proposals, history.ProposalFact).ID))
	if f.Status != history.ProposalAccepted || f.StoredAs != testCommand || f.DecidedBy == "" || f.DecidedAt == nil {
		t.Errorf("%+v", f)
	}
	stored := must[fact.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
	if string(stored.Value) != `"pytest -q"` || stored.Author != "builder-1" || stored.Trust != learning.TrustAgent || stored.Source != "proposal "+f.ID {
		t.Errorf("%+v", stored)
	}
	again := must[history.Proposal](t)(w.Consolidation.Accept(ctx, f.ID))
	if cmp.Diff(again, f) != "" {
		t.Error(cmp.Diff(again, f))
	}
	if now := must[fact.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand))); now.Version != stored.Version {
		t.Errorf("it was stored again: version %d, then %d", stored.Version, now.Version)
	}
	e := must[history.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, got.Proposals, history.ProposalEpisode).ID))
	list := must[[]episode.Episode](t)(w.Episodes.Recent(ctx, episode.Filter{Persona: "coder"}))
	if len(list) != 1 || list[0].ID != e.StoredAs || list[0].AgentID != "builder-1" || list[0].SessionID != "s-1" || list[0].Project != "shop" || list[0].EventType != episode.EventError {
		t.Fatalf("%+v", list)
	}
	if !strings.Contains(list[0].Learned, "pip install attrs") || !strings.Contains(string(list[0].Context), `"symptom"`) {
		t.Errorf("%+v", list[0])
	}
}

func consolidationRejects(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	id := ofKind(t, got.Proposals, history.ProposalFact).ID
	p := must[history.Proposal](t)(w.Consolidation.Reject(ctx, id, " everybody knows "))
	if p.Status != history.ProposalRejected || p.Reason != "everybody knows" || p.DecidedAt == nil || p.StoredAs != "" {
		t.Errorf("%+v", p)
	}
	if again := must[history.Proposal](t)(w.Consolidation.Reject(ctx, id, "another reason")); cmp.Diff(again, p) != "" {
		t.Error(cmp.Diff(again, p))
	}
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, coderFact(testCommand)))
}

func consolidationVerdicts(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	id := ofKind(t, got.Proposals, history.ProposalFact).ID
	must[history.Proposal](t)(w.Consolidation.Reject(ctx, id, "no"))
	if p := must[history.Proposal](t)(w.Consolidation.Accept(ctx, id)); p.Status != history.ProposalAccepted || p.Reason != "" {
		t.Errorf("who changes their mind: %+v", p)
	}
	refuses(t, errs.Conflict, "")(w.Consolidation.Reject(ctx, id, "no"))
	must[fact.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
}

func consolidationThreshold(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	draft := session()
	draft.Turns = append(draft.Turns, history.Turn{Role: "assistant", Content: "The metrics port is 9100."})
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft))
	if got.Accepted != 2 || len(got.Proposals) != 3 {
		t.Fatalf("%+v", got)
	}
	for _, p := range got.Proposals {
		if sure := p.Confidence >= 0.7; sure != (p.Status == history.ProposalAccepted) || sure != (p.DecidedBy == history.ThresholdDecided) {
			t.Errorf("%+v", p)
		}
	}
	must[fact.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
	if list := must[[]episode.Episode](t)(w.Episodes.Recent(ctx, episode.Filter{Persona: "coder"})); len(list) != 1 {
		t.Errorf("%d episodes", len(list))
	}
	if again := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft)); !again.Duplicate || again.Accepted != 2 || cmp.Diff(again.Proposals, got.Proposals) != "" {
		t.Errorf("%+v", again)
	}
}

func consolidationForms(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	for name, text := range map[string]string{
		"labels":   "User: The API listens on port 8080.\nAssistant: Noted.",
		"headings": "## User\n\nThe API listens on port 8080.\n\n## Assistant\n\nNoted.",
		"messages": `[{"role":"user","content":[{"type":"text","text":"The API listens on port 8080."}]}]`,
		"lines":    "{\"role\":\"user\",\"content\":\"The API listens on port 8080.\"}\n{\"role\":\"assistant\",\"content\":\"Noted.\"}\n",
		"plain":    "The API listens on port 8080.",
	} {
		got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, history.TranscriptDraft{SessionID: name, Text: text}))
		if len(got.Proposals) != 1 || !strings.Contains(string(got.Proposals[0].Content), `"api.port"`) || !strings.Contains(string(got.Proposals[0].Content), `"value":8080`) {
			t.Errorf("%s: %+v", name, got.Proposals)
		}
	}
	if got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, history.TranscriptDraft{Text: "Good morning."})); got.Proposals == nil || len(got.Proposals) != 0 {
		t.Errorf("%+v", got)
	}
}

func consolidationSecrets(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	const secret = "hunter2-and-3"
	got := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, history.TranscriptDraft{Text: "User: The database password is " + secret + ". DB_PASSWORD=" + secret +
		"\nUser: The API token is `" + secret + "`.\nUser: The database url is postgres://app:" + secret + "@db.internal/app\nUser: The api.key = " + secret}))
	for _, p := range got.Proposals {
		if text, _ := json.Marshal(p); strings.Contains(string(text), secret) || strings.Contains(string(text), "[redacted") {
			t.Errorf("%s", text)
		}
	}
	page := must[fact.Page](t)(w.Facts.Search(ctx, fact.Query{}))
	for _, f := range page.Facts {
		t.Errorf("stored %s = %s", f.Key, f.Value)
	}
}

func consolidationLists(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	first := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	other := must[history.Consolidated](t)(w.Consolidation.Consolidate(ctx, history.TranscriptDraft{SessionID: "s-2", Text: "User: The API listens on port 8080."}))
	must[history.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, other.Proposals, history.ProposalFact).ID))
	for name, test := range map[string]struct {
		filter history.ProposalFilter
		want   int
	}{
		"all":        {history.ProposalFilter{}, 3},
		"persona":    {history.ProposalFilter{Persona: "coder"}, 2},
		"transcript": {history.ProposalFilter{TranscriptID: first.TranscriptID}, 2},
		"session":    {history.ProposalFilter{SessionID: "s-2"}, 1},
		"kind":       {history.ProposalFilter{Kind: history.ProposalEpisode}, 1},
		"pending":    {history.ProposalFilter{Status: history.ProposalPending}, 2},
		"accepted":   {history.ProposalFilter{Status: history.ProposalAccepted}, 1},
		"limit":      {history.ProposalFilter{Limit: 1}, 1},
		"nothing":    {history.ProposalFilter{Persona: "nobody"}, 0},
	} {
		list := must[[]history.Proposal](t)(w.Consolidation.Proposals(ctx, test.filter))
		if list == nil || len(list) != test.want {
			t.Errorf("%s: %d, want %d", name, len(list), test.want)
		}
	}
	if list := must[[]history.Proposal](t)(w.Consolidation.Proposals(ctx, history.ProposalFilter{})); list[0].TranscriptID != other.TranscriptID {
		t.Error("the latest is not the first")
	}
}

func consolidationRefuses(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	turn := func(role, content string) history.TranscriptDraft {
		return history.TranscriptDraft{Turns: []history.Turn{{Role: role, Content: content}}}
	}
	many := make([]history.Turn, history.MaxTurns+1)
	for i := range many {
		many[i] = history.Turn{Role: "user", Content: "x"}
	}
	for name, test := range map[string]struct {
		draft history.TranscriptDraft
		code  errs.Code
		field string
	}{
		"nothing":      {history.TranscriptDraft{}, errs.Invalid, "turns"},
		"white space":  {history.TranscriptDraft{Turns: []history.Turn{{Role: "user", Content: " \n"}}}, errs.Invalid, "turns"},
		"both":         {history.TranscriptDraft{Text: "x", Turns: []history.Turn{{Role: "user", Content: "x"}}}, errs.Invalid, "text"},
		"role":         {turn("boss", "x"), errs.Invalid, "turns[0].role"},
		"NUL":          {turn("user", "a\x00b"), errs.Invalid, "turns[0].content"},
		"persona":      {history.TranscriptDraft{Persona: "../x", Text: "x"}, errs.Invalid, "persona"},
		"agent":        {history.TranscriptDraft{AgentID: "no id", Text: "x"}, errs.Invalid, "agent_id"},
		"session":      {history.TranscriptDraft{SessionID: " s", Text: "x"}, errs.Invalid, "session_id"},
		"project":      {history.TranscriptDraft{Project: strings.Repeat("p", 200), Text: "x"}, errs.Invalid, "project"},
		"broken lines": {history.TranscriptDraft{Text: "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\""}, errs.Invalid, "text"},
		"no messages":  {history.TranscriptDraft{Text: `{"a":1}`}, errs.Invalid, "text"},
		"turns":        {history.TranscriptDraft{Turns: many}, errs.TooLarge, "turns"},
		"text":         {history.TranscriptDraft{Text: strings.Repeat("a line of text\n", history.MaxTranscript/15+1)}, errs.TooLarge, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			refuses(t, test.code, test.field)(w.Consolidation.Consolidate(ctx, test.draft))
		})
	}
	for field, filter := range map[string]history.ProposalFilter{
		"persona": {Persona: "../x"}, "kind": {Kind: "reminder"}, "status": {Status: "maybe"}, "limit": {Limit: history.MaxProposalLimit + 1},
	} {
		refuses(t, errs.Invalid, field)(w.Consolidation.Proposals(ctx, filter))
	}
	if list := must[[]history.Proposal](t)(w.Consolidation.Proposals(ctx, history.ProposalFilter{})); len(list) != 0 {
		t.Errorf("%d proposals of refused transcripts", len(list))
	}
}

func consolidationMissing(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	for name, call := range map[string]func(id string) (history.Proposal, error){
		"show":   func(id string) (history.Proposal, error) { return w.Consolidation.Proposal(ctx, id) },
		"accept": func(id string) (history.Proposal, error) { return w.Consolidation.Accept(ctx, id) },
		"reject": func(id string) (history.Proposal, error) { return w.Consolidation.Reject(ctx, id, "") },
	} {
		for _, id := range []string{"none", "../x", fmt.Sprint(time.Now().Year())} {
			if _, err := call(id); errs.CodeOf(err) != errs.NotFound {
				t.Errorf("%s %s: %v", name, id, err)
			}
		}
	}
}

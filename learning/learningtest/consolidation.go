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

	"skillrouter"
	"skillrouter/learning"
)

// ConsolidationWorld is a ConsolidationService under test, and where it stores.
type ConsolidationWorld struct {
	Consolidation learning.ConsolidationService
	Facts         learning.FactService
	Episodes      learning.EpisodeService
}

// Consolidation runs the contract of ConsolidationService. open is called for
// each case and must give a service on a database of its own, which takes calls
// as skillrouter.Open, asks the rules, and accepts at once from threshold.
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
func session() learning.TranscriptDraft {
	return learning.TranscriptDraft{
		Persona: "coder", AgentID: "builder-1", SessionID: "s-1", Project: "shop",
		Turns: []learning.Turn{
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

func ofKind(t *testing.T, list []learning.Proposal, kind learning.ProposalKind) learning.Proposal {
	t.Helper()
	for _, p := range list {
		if p.Kind == kind {
			return p
		}
	}
	t.Fatalf("no %s among %+v", kind, list)
	return learning.Proposal{}
}

const testCommand = "project.test_command"

func coderFact(key string) learning.FactRef { return learning.FactRef{Persona: "coder", Key: key} }

func consolidationProposes(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	if got.Duplicate || got.Extractor != learning.RulesExtractor || got.Accepted != 0 || len(got.Proposals) != 2 || len(got.TranscriptID) != 64 || got.Notice != "" {
		t.Fatalf("%+v", got)
	}
	fact := ofKind(t, got.Proposals, learning.ProposalFact)
	var draft learning.FactDraft
	if err := json.Unmarshal(fact.Content, &draft); err != nil || draft.Key != testCommand || string(draft.Value) != `"pytest -q"` || draft.Persona != "coder" {
		t.Errorf("%s, %v", fact.Content, err)
	}
	if fact.Status != learning.ProposalPending || fact.Persona != "coder" || fact.AgentID != "builder-1" || fact.SessionID != "s-1" || fact.DecidedAt != nil || fact.CreatedAt.IsZero() {
		t.Errorf("%+v", fact)
	}
	if fact.Confidence <= 0.5 || fact.Confidence >= 1 || len(fact.Evidence) == 0 || len(fact.Turns) == 0 || fact.Turns[0] != 0 {
		t.Errorf("%+v", fact)
	}
	episode := ofKind(t, got.Proposals, learning.ProposalEpisode)
	if !strings.Contains(string(episode.Content), "pip install attrs") || !strings.Contains(strings.Join(episode.Evidence, "\n"), "No module named") {
		t.Errorf("%+v", episode)
	}
	_, err := w.Facts.Recall(ctx, coderFact(testCommand))
	refused(t, err, skillrouter.NotFound, "")
	if list := must[[]learning.Episode](t)(w.Episodes.Recent(ctx, learning.EpisodeFilter{Persona: "coder"})); len(list) != 0 {
		t.Errorf("%d episodes", len(list))
	}
	if one := must[learning.Proposal](t)(w.Consolidation.Proposal(ctx, fact.ID)); cmp.Diff(one, fact) != "" {
		t.Error(cmp.Diff(one, fact))
	}
}

func consolidationRepeats(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	first := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	accepted := must[learning.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, first.Proposals, learning.ProposalFact).ID))
	draft := session()
	draft.Project = ""                    // whose it is and what was said make it the same, not what for
	draft.Turns[0].Content += "\r\n  \n " // nor white space at the ends
	again := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft))
	if !again.Duplicate || again.TranscriptID != first.TranscriptID || len(again.Proposals) != len(first.Proposals) {
		t.Fatalf("%+v", again)
	}
	if now := ofKind(t, again.Proposals, learning.ProposalFact); cmp.Diff(now, accepted) != "" {
		t.Error(cmp.Diff(now, accepted))
	}
	for name, change := range map[string]func(d *learning.TranscriptDraft){
		"persona": func(d *learning.TranscriptDraft) { d.Persona = "other" }, "agent": func(d *learning.TranscriptDraft) { d.AgentID = "builder-2" },
		"session": func(d *learning.TranscriptDraft) { d.SessionID = "s-2" }, "turn": func(d *learning.TranscriptDraft) { d.Turns[0].Role = "assistant" },
	} {
		other := session()
		change(&other)
		if got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, other)); got.Duplicate || got.TranscriptID == first.TranscriptID {
			t.Errorf("another %s is the same transcript", name)
		}
	}
}

func consolidationRaces(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	const n = 8
	results := make([]learning.Consolidated, n)
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
	id := ofKind(t, results[0].Proposals, learning.ProposalEpisode).ID
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
	if list := must[[]learning.Episode](t)(w.Episodes.Recent(ctx, learning.EpisodeFilter{Persona: "coder"})); len(list) != 1 || list[0].ID != stored[0] {
		t.Errorf("%+v", list)
	}
}

func consolidationAccepts(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	fact := must[learning.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, got.Proposals, learning.ProposalFact).ID))
	if fact.Status != learning.ProposalAccepted || fact.StoredAs != testCommand || fact.DecidedBy == "" || fact.DecidedAt == nil {
		t.Errorf("%+v", fact)
	}
	stored := must[learning.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
	if string(stored.Value) != `"pytest -q"` || stored.Author != "builder-1" || stored.Trust != learning.TrustAgent || stored.Source != "proposal "+fact.ID {
		t.Errorf("%+v", stored)
	}
	again := must[learning.Proposal](t)(w.Consolidation.Accept(ctx, fact.ID))
	if cmp.Diff(again, fact) != "" {
		t.Error(cmp.Diff(again, fact))
	}
	if now := must[learning.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand))); now.Version != stored.Version {
		t.Errorf("it was stored again: version %d, then %d", stored.Version, now.Version)
	}
	episode := must[learning.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, got.Proposals, learning.ProposalEpisode).ID))
	list := must[[]learning.Episode](t)(w.Episodes.Recent(ctx, learning.EpisodeFilter{Persona: "coder"}))
	if len(list) != 1 || list[0].ID != episode.StoredAs || list[0].AgentID != "builder-1" || list[0].SessionID != "s-1" || list[0].Project != "shop" || list[0].EventType != learning.EventError {
		t.Fatalf("%+v", list)
	}
	if !strings.Contains(list[0].Learned, "pip install attrs") || !strings.Contains(string(list[0].Context), `"symptom"`) {
		t.Errorf("%+v", list[0])
	}
}

func consolidationRejects(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	id := ofKind(t, got.Proposals, learning.ProposalFact).ID
	p := must[learning.Proposal](t)(w.Consolidation.Reject(ctx, id, " everybody knows "))
	if p.Status != learning.ProposalRejected || p.Reason != "everybody knows" || p.DecidedAt == nil || p.StoredAs != "" {
		t.Errorf("%+v", p)
	}
	if again := must[learning.Proposal](t)(w.Consolidation.Reject(ctx, id, "another reason")); cmp.Diff(again, p) != "" {
		t.Error(cmp.Diff(again, p))
	}
	_, err := w.Facts.Recall(ctx, coderFact(testCommand))
	refused(t, err, skillrouter.NotFound, "")
}

func consolidationVerdicts(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	id := ofKind(t, got.Proposals, learning.ProposalFact).ID
	must[learning.Proposal](t)(w.Consolidation.Reject(ctx, id, "no"))
	if p := must[learning.Proposal](t)(w.Consolidation.Accept(ctx, id)); p.Status != learning.ProposalAccepted || p.Reason != "" {
		t.Errorf("who changes their mind: %+v", p)
	}
	_, err := w.Consolidation.Reject(ctx, id, "no")
	refused(t, err, skillrouter.Conflict, "")
	must[learning.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
}

func consolidationThreshold(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	draft := session()
	draft.Turns = append(draft.Turns, learning.Turn{Role: "assistant", Content: "The default locale is english."})
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft))
	if got.Accepted != 2 || len(got.Proposals) != 3 {
		t.Fatalf("%+v", got)
	}
	for _, p := range got.Proposals {
		if sure := p.Confidence >= 0.7; sure != (p.Status == learning.ProposalAccepted) || sure != (p.DecidedBy == learning.ThresholdDecided) {
			t.Errorf("%+v", p)
		}
	}
	must[learning.Fact](t)(w.Facts.Recall(ctx, coderFact(testCommand)))
	if list := must[[]learning.Episode](t)(w.Episodes.Recent(ctx, learning.EpisodeFilter{Persona: "coder"})); len(list) != 1 {
		t.Errorf("%d episodes", len(list))
	}
	if again := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, draft)); !again.Duplicate || again.Accepted != 2 || cmp.Diff(again.Proposals, got.Proposals) != "" {
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
		got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, learning.TranscriptDraft{SessionID: name, Text: text}))
		if len(got.Proposals) != 1 || !strings.Contains(string(got.Proposals[0].Content), `"api.port"`) || !strings.Contains(string(got.Proposals[0].Content), `"value":8080`) {
			t.Errorf("%s: %+v", name, got.Proposals)
		}
	}
	if got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, learning.TranscriptDraft{Text: "Good morning."})); got.Proposals == nil || len(got.Proposals) != 0 {
		t.Errorf("%+v", got)
	}
}

func consolidationSecrets(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	const secret = "hunter2-and-3"
	got := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, learning.TranscriptDraft{Text: "User: The database password is " + secret + ". DB_PASSWORD=" + secret +
		"\nUser: The API token is `" + secret + "`.\nUser: The database url is postgres://app:" + secret + "@db.internal/app\nUser: The api.key = " + secret}))
	for _, p := range got.Proposals {
		if text, _ := json.Marshal(p); strings.Contains(string(text), secret) || strings.Contains(string(text), "[redacted") {
			t.Errorf("%s", text)
		}
	}
	page := must[learning.FactPage](t)(w.Facts.Search(ctx, learning.FactQuery{}))
	for _, f := range page.Facts {
		t.Errorf("stored %s = %s", f.Key, f.Value)
	}
}

func consolidationLists(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	first := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, session()))
	other := must[learning.Consolidated](t)(w.Consolidation.Consolidate(ctx, learning.TranscriptDraft{SessionID: "s-2", Text: "User: The API listens on port 8080."}))
	must[learning.Proposal](t)(w.Consolidation.Accept(ctx, ofKind(t, other.Proposals, learning.ProposalFact).ID))
	for name, test := range map[string]struct {
		filter learning.ProposalFilter
		want   int
	}{
		"all":        {learning.ProposalFilter{}, 3},
		"persona":    {learning.ProposalFilter{Persona: "coder"}, 2},
		"transcript": {learning.ProposalFilter{TranscriptID: first.TranscriptID}, 2},
		"session":    {learning.ProposalFilter{SessionID: "s-2"}, 1},
		"kind":       {learning.ProposalFilter{Kind: learning.ProposalEpisode}, 1},
		"pending":    {learning.ProposalFilter{Status: learning.ProposalPending}, 2},
		"accepted":   {learning.ProposalFilter{Status: learning.ProposalAccepted}, 1},
		"limit":      {learning.ProposalFilter{Limit: 1}, 1},
		"nothing":    {learning.ProposalFilter{Persona: "nobody"}, 0},
	} {
		list := must[[]learning.Proposal](t)(w.Consolidation.Proposals(ctx, test.filter))
		if list == nil || len(list) != test.want {
			t.Errorf("%s: %d, want %d", name, len(list), test.want)
		}
	}
	if list := must[[]learning.Proposal](t)(w.Consolidation.Proposals(ctx, learning.ProposalFilter{})); list[0].TranscriptID != other.TranscriptID {
		t.Error("the latest is not the first")
	}
}

func consolidationRefuses(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	turn := func(role, content string) learning.TranscriptDraft {
		return learning.TranscriptDraft{Turns: []learning.Turn{{Role: role, Content: content}}}
	}
	many := make([]learning.Turn, learning.MaxTurns+1)
	for i := range many {
		many[i] = learning.Turn{Role: "user", Content: "x"}
	}
	for name, test := range map[string]struct {
		draft learning.TranscriptDraft
		code  skillrouter.Code
		field string
	}{
		"nothing":      {learning.TranscriptDraft{}, skillrouter.Invalid, "turns"},
		"white space":  {learning.TranscriptDraft{Turns: []learning.Turn{{Role: "user", Content: " \n"}}}, skillrouter.Invalid, "turns"},
		"both":         {learning.TranscriptDraft{Text: "x", Turns: []learning.Turn{{Role: "user", Content: "x"}}}, skillrouter.Invalid, "text"},
		"role":         {turn("boss", "x"), skillrouter.Invalid, "turns[0].role"},
		"NUL":          {turn("user", "a\x00b"), skillrouter.Invalid, "turns[0].content"},
		"persona":      {learning.TranscriptDraft{Persona: "../x", Text: "x"}, skillrouter.Invalid, "persona"},
		"agent":        {learning.TranscriptDraft{AgentID: "no id", Text: "x"}, skillrouter.Invalid, "agent_id"},
		"session":      {learning.TranscriptDraft{SessionID: " s", Text: "x"}, skillrouter.Invalid, "session_id"},
		"project":      {learning.TranscriptDraft{Project: strings.Repeat("p", 200), Text: "x"}, skillrouter.Invalid, "project"},
		"broken lines": {learning.TranscriptDraft{Text: "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\""}, skillrouter.Invalid, "text"},
		"no messages":  {learning.TranscriptDraft{Text: `{"a":1}`}, skillrouter.Invalid, "text"},
		"turns":        {learning.TranscriptDraft{Turns: many}, skillrouter.TooLarge, "turns"},
		"text":         {learning.TranscriptDraft{Text: strings.Repeat("a line of text\n", learning.MaxTranscript/15+1)}, skillrouter.TooLarge, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Consolidation.Consolidate(ctx, test.draft)
			refused(t, err, test.code, test.field)
		})
	}
	for field, filter := range map[string]learning.ProposalFilter{
		"persona": {Persona: "../x"}, "kind": {Kind: "reminder"}, "status": {Status: "maybe"}, "limit": {Limit: learning.MaxProposalLimit + 1},
	} {
		_, err := w.Consolidation.Proposals(ctx, filter)
		refused(t, err, skillrouter.Invalid, field)
	}
	if list := must[[]learning.Proposal](t)(w.Consolidation.Proposals(ctx, learning.ProposalFilter{})); len(list) != 0 {
		t.Errorf("%d proposals of refused transcripts", len(list))
	}
}

func consolidationMissing(t *testing.T, ctx context.Context, w ConsolidationWorld) {
	for name, call := range map[string]func(id string) (learning.Proposal, error){
		"show":   func(id string) (learning.Proposal, error) { return w.Consolidation.Proposal(ctx, id) },
		"accept": func(id string) (learning.Proposal, error) { return w.Consolidation.Accept(ctx, id) },
		"reject": func(id string) (learning.Proposal, error) { return w.Consolidation.Reject(ctx, id, "") },
	} {
		for _, id := range []string{"none", "../x", fmt.Sprint(time.Now().Year())} {
			if _, err := call(id); skillrouter.CodeOf(err) != skillrouter.NotFound {
				t.Errorf("%s %s: %v", name, id, err)
			}
		}
	}
}

package routertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router"
	"skillrouter/router/classify"
)

// FeedbackWorld is a router and its teaching as one principal sees them.
type FeedbackWorld struct {
	Feedback router.FeedbackService
	Router   router.Service
}

// RunFeedback runs the contract of router.FeedbackService. open gives an empty router.
func RunFeedback(t *testing.T, open func(t *testing.T) func(p principal.Principal) FeedbackWorld) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, as func(p principal.Principal) FeedbackWorld)
	}{
		{"what is taught is heeded at once and can be taken back", heedsFeedback},
		{"one agent's word turns no clear question", boundsAgents},
		{"who may teach and forget", keepsTeaching},
		{"bad feedback is refused by name", refusesFeedback},
		{"secrets are cut out", redactsFeedback},
		{"the list is bounded", boundsFeedback},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func by(t *testing.T, p principal.Principal) context.Context {
	return principal.With(t.Context(), p)
}

func teach(t *testing.T, as func(p principal.Principal) FeedbackWorld, who principal.Principal, draft router.FeedbackDraft) router.FeedbackTaught {
	t.Helper()
	return must(as(who).Feedback.Teach(by(t, who), draft))(t)
}

// unclear is a question whose class nothing tells.
const unclear = "frobnicator baseline"

func ask(t *testing.T, as func(p principal.Principal) FeedbackWorld, query string) router.Answer {
	t.Helper()
	return must(as(reader).Router.Ask(by(t, reader), router.Query{Query: query}))(t)
}

// must fails the test, and ends it, if there is an error.
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func heedsFeedback(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	before := ask(t, as, unclear)
	taught := teach(t, as, captain, router.FeedbackDraft{Query: unclear, QueryType: classify.ClassRecon, Note: "a scanner of ours"})
	if taught.ID == "" || taught.Before.QueryType != before.QueryType || taught.Now.QueryType != classify.ClassRecon {
		t.Errorf("taught: %+v", taught)
	}
	after := ask(t, as, unclear)
	if after.QueryType != classify.ClassRecon || !strings.Contains(strings.Join(after.Reasons, ";"), "feedback") {
		t.Errorf("after it: %s, %q", after.QueryType, after.Reasons)
	}
	again := teach(t, as, captain, router.FeedbackDraft{Query: unclear, QueryType: classify.ClassEpisode})
	list, err := as(reader).Feedback.Feedback(by(t, reader))
	if err != nil || list.Count != 1 || len(list.Feedback) != 1 || list.Feedback[0].ID != again.ID || list.Feedback[0].QueryType != "episode" {
		t.Errorf("a second word on one query: %+v, %v", list, err)
	}
	if err := as(captain).Feedback.Unteach(by(t, captain), again.ID); err != nil {
		t.Fatal(err)
	}
	if back := ask(t, as, unclear); back.QueryType != before.QueryType || back.Confidence != before.Confidence {
		t.Errorf("taken back: %s %g, before %s %g", back.QueryType, back.Confidence, before.QueryType, before.Confidence)
	}
	wrong := false
	no := teach(t, as, captain, router.FeedbackDraft{Query: unclear, Correct: &wrong})
	if !no.Not || no.QueryType != string(before.QueryType) || no.Now.QueryType == before.QueryType {
		t.Errorf("not %s: %+v", before.QueryType, no)
	}
	if gone, err := as(captain).Feedback.UnteachAll(by(t, captain), ""); err != nil || gone.Deleted != 1 {
		t.Errorf("all: %+v, %v", gone, err)
	}
	if back := ask(t, as, unclear); back.Confidence != before.Confidence {
		t.Error("all taken back, and something stays")
	}
}

func boundsAgents(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	clear := []string{
		"how do I rotate the signing key without downtime", "what happened during the outage last night",
		"which agents are idle right now", "list the open critical vulnerabilities in production",
	}
	var before []classify.Class
	for _, q := range clear {
		before = append(before, ask(t, as, q).QueryType)
	}
	for _, class := range classify.Classes() {
		for i := range 10 {
			for j, q := range clear {
				if before[j] != class && i < 3 {
					teach(t, as, agentA, router.FeedbackDraft{Query: fmt.Sprintf("%s %d", q, i), QueryType: class})
					teach(t, as, agentA, router.FeedbackDraft{Query: q, QueryType: class})
				}
			}
		}
	}
	for i, q := range clear {
		if got := ask(t, as, q); got.QueryType != before[i] {
			t.Errorf("one agent turned %q into %s for everybody", q, got.QueryType)
		}
	}
	list, err := as(captain).Feedback.Feedback(by(t, captain))
	if err != nil || list.Count == 0 || list.Feedback[0].AgentID != "a" {
		t.Fatalf("%+v, %v", list, err)
	}
	if gone, err := as(captain).Feedback.UnteachAll(by(t, captain), "a"); err != nil || int(gone.Deleted) != list.Count {
		t.Errorf("what an agent taught: %+v of %d, %v", gone, list.Count, err)
	}
}

func keepsTeaching(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	taught := teach(t, as, agentA, router.FeedbackDraft{Query: unclear, QueryType: classify.ClassRecon})
	if taught.AgentID != "a" {
		t.Errorf("taught by %q", taught.AgentID)
	}
	for name, call := range map[string]func() error{
		"a reader teaches": func() error {
			_, err := as(reader).Feedback.Teach(by(t, reader), router.FeedbackDraft{Query: "q", QueryType: classify.ClassRecon})
			return err
		},
		"a reader forgets":        func() error { return as(reader).Feedback.Unteach(by(t, reader), taught.ID) },
		"another agent forgets":   func() error { return as(agentB).Feedback.Unteach(by(t, agentB), taught.ID) },
		"an agent forgets it all": func() error { _, err := as(agentA).Feedback.UnteachAll(by(t, agentA), ""); return err },
	} {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := as(agentA).Feedback.Unteach(by(t, agentA), taught.ID); err != nil {
		t.Error(err)
	}
	if err := as(agentA).Feedback.Unteach(by(t, agentA), taught.ID); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("forgotten twice: %v", err)
	}
}

func refusesFeedback(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	for name, draft := range map[string]router.FeedbackDraft{
		"no query":       {QueryType: classify.ClassRecon},
		"no verdict":     {Query: "q"},
		"unknown type":   {Query: "q", QueryType: "weather"},
		"a long query":   {Query: strings.Repeat("q ", router.MaxFeedbackQuery), QueryType: classify.ClassRecon},
		"a long note":    {Query: "q", QueryType: classify.ClassRecon, Note: strings.Repeat("n", router.MaxFeedbackNote+1)},
		"broken letters": {Query: "q\x00", QueryType: classify.ClassRecon},
	} {
		if _, err := as(agentA).Feedback.Teach(by(t, agentA), draft); errs.CodeOf(err) != errs.Invalid && errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func redactsFeedback(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	taught := teach(t, as, agentA, router.FeedbackDraft{Query: "login with password=hunter2x", QueryType: classify.ClassKnowledge, Note: "password=hunter2x"})
	if strings.Contains(taught.Query+taught.Note, "hunter2x") || len(taught.Redacted) == 0 {
		t.Errorf("stored: %+v", taught)
	}
}

func boundsFeedback(t *testing.T, as func(p principal.Principal) FeedbackWorld) {
	kept := teach(t, as, agentB, router.FeedbackDraft{Query: "the other's word", QueryType: classify.ClassRecon})
	for i := range router.MaxFeedbackOfAgent + 3 {
		teach(t, as, agentA, router.FeedbackDraft{Query: fmt.Sprintf("query %d", i), QueryType: classify.ClassEpisode})
	}
	list, err := as(reader).Feedback.Feedback(by(t, reader))
	if err != nil || list.Count != router.MaxFeedbackOfAgent+1 || list.Feedback[0].ID != kept.ID || list.Feedback[1].Query != "query 3" {
		t.Errorf("%d kept, %v", list.Count, err)
	}
}

package learning_test

import (
	"fmt"
	"testing"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/learningtest"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
)

func openJudgements(t *testing.T) learningtest.JudgementWorld {
	clock := newHandClock()
	m := open(t, t.TempDir(), clock.now)
	return learningtest.JudgementWorld{
		Judgements: feedback.NewJudgements(m.store, m.knowledge, learning.Options{Now: clock.now}), Knowledge: m.knowledge,
	}
}

func TestJudgementContract(t *testing.T) { learningtest.Judgements(t, openJudgements) }

func TestJudgementsBelongToTheirAuthors(t *testing.T) {
	w := openJudgements(t)
	ada, bob := asker(t, "ada"), asker(t, "bob")
	if _, err := w.Knowledge.Store(ada, knowledge.Draft{ID: "a", Category: "gotcha", Title: "t", Content: "c"}); err != nil {
		t.Fatal(err)
	}
	judge := func(agent string) feedback.Judgement {
		j, err := w.Judgements.Judge(asker(t, agent), feedback.JudgementDraft{Question: "what", Good: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	of := judge("ada")
	if other := judge("bob"); other.ID == of.ID || other.Author != "bob" {
		t.Errorf("two agents' judgements of one question are one: %+v", other)
	}
	if err := w.Judgements.Remove(bob, of.ID); skillrouter.CodeOf(err) != skillrouter.Forbidden {
		t.Errorf("another agent removed it: %v", err)
	}
	if err := w.Judgements.Remove(ada, of.ID); err != nil {
		t.Errorf("its author may not remove it: %v", err)
	}
	captain := skillrouter.WithPrincipal(t.Context(), skillrouter.Principal{AgentID: "cap", Scopes: []skillrouter.Scope{skillrouter.ScopeAgent, skillrouter.ScopeCaptain}})
	if err := w.Judgements.Remove(captain, judge("ada").ID); err != nil {
		t.Errorf("a captain may not remove it: %v", err)
	}
	reader := skillrouter.WithPrincipal(t.Context(), skillrouter.Principal{AgentID: "r", Scopes: []skillrouter.Scope{skillrouter.ScopeRead}})
	for name, err := range map[string]error{
		"judge":   second(w.Judgements.Judge(reader, feedback.JudgementDraft{Question: "q", Good: []string{"a"}})),
		"measure": second(w.Judgements.Measure(reader)),
		"remove":  w.Judgements.Remove(reader, of.ID),
	} {
		if skillrouter.CodeOf(err) != skillrouter.Forbidden {
			t.Errorf("a reader may %s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestJudgementsAreBounded(t *testing.T) {
	w, ctx := openJudgements(t), asker(t, "a")
	if _, err := w.Knowledge.Store(ctx, knowledge.Draft{ID: "a", Category: "gotcha", Title: "t", Content: "c"}); err != nil {
		t.Fatal(err)
	}
	for i := range feedback.MaxJudgements + 1 {
		_, err := w.Judgements.Judge(ctx, feedback.JudgementDraft{Question: fmt.Sprintf("question %d", i), Good: []string{"a"}})
		if want := i == feedback.MaxJudgements; (skillrouter.CodeOf(err) == skillrouter.Conflict) != want || err != nil && !want {
			t.Fatalf("judgement %d: %v", i, err)
		}
	}
	if _, err := w.Judgements.Judge(ctx, feedback.JudgementDraft{Question: "question 7", Bad: []string{"a"}}); err != nil {
		t.Errorf("one that is there may not be judged further: %v", err)
	}
}

func TestExplainContract(t *testing.T) {
	learningtest.Explain(t, func(t *testing.T) learningtest.ExplainWorld {
		clock := newHandClock()
		m := open(t, t.TempDir(), clock.now)
		options := learning.Options{Now: clock.now}
		return learningtest.ExplainWorld{
			Knowledge: m.knowledge, Episodes: m.episodes,
			Lessons:    lesson.NewLessons(m.store, lesson.Options{Options: options}),
			Procedures: procedure.NewProcedures(m.store, procedure.Options{Options: options}),
		}
	})
}

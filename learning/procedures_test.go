package learning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// lessonRecorder takes proposals; what has the same title is the same lesson.
type lessonRecorder struct {
	drafts map[string]lesson.Draft
}

func (d *lessonRecorder) Report(_ context.Context, draft lesson.Draft) (lesson.Reported, error) {
	d.drafts[draft.Title] = draft
	return lesson.Reported{LessonID: "lesson of " + draft.Title}, nil
}

func openProcedures(t *testing.T, dir string, clock *handClock, lessons procedure.LessonProposals) (*procedure.Procedures, *fact.Facts) {
	facts, m := openFacts(t, dir, clock.now)
	return procedure.NewProcedures(m.store, procedure.Options{
		Options: learning.Options{Now: clock.now}, Lessons: lessons,
		Facts: func(ctx context.Context, persona, key string) (json.RawMessage, bool, error) {
			fact, err := facts.Recall(ctx, fact.Ref{Persona: persona, Key: key})
			if errs.CodeOf(err) == errs.NotFound {
				return nil, false, nil
			}
			return fact.Value, err == nil, err
		},
	}), facts
}

func TestProcedureContract(t *testing.T) {
	learningtest.Procedures(t, func(t *testing.T) learningtest.ProcedureWorld {
		clock := newHandClock()
		procedures, facts := openProcedures(t, t.TempDir(), clock, nil)
		return learningtest.ProcedureWorld{Procedures: procedures, Facts: facts, Advance: clock.advance}
	})
}

func TestProceduresAreFoundAfterRebuild(t *testing.T) {
	databasetest.FilesOnly(t)
	clock, dir := newHandClock(), t.TempDir()
	ctx := principal.With(t.Context(), principal.Open())
	procedures, _ := openProcedures(t, dir, clock, nil)
	if _, err := procedures.Save(ctx, procedure.Draft{Name: "deploy", Steps: []procedure.Step{{Action: "roll out the release"}}}); err != nil {
		t.Fatal(err)
	}
	again, _ := openProcedures(t, dir, clock, nil)
	if err := again.Rebuild(t.Context()); err != nil || again.Len() != 1 {
		t.Fatalf("%d procedures are indexed, error %v", again.Len(), err)
	}
	if found, err := again.Search(ctx, procedure.Query{Query: "rolling out a release"}); err != nil || found.Count != 1 {
		t.Errorf("found %+v, error %v", found, err)
	}
}

// TestFailingStepProposesLesson has a step fail three times of five: one lesson, however often.
func TestFailingStepProposesLesson(t *testing.T) {
	lessons := &lessonRecorder{drafts: map[string]lesson.Draft{}}
	procedures, _ := openProcedures(t, t.TempDir(), newHandClock(), lessons)
	ctx := principal.With(t.Context(), principal.Open())
	if _, err := procedures.Save(ctx, procedure.Draft{Name: "deploy", Steps: []procedure.Step{{Name: "push", Action: "push it"}}}); err != nil {
		t.Fatal(err)
	}
	for i, status := range []procedure.StepStatus{procedure.StepFailed, procedure.StepSucceeded, procedure.StepFailed, procedure.StepSucceeded, procedure.StepFailed, procedure.StepFailed} {
		run, err := procedures.Start(ctx, procedure.RunDraft{Name: "deploy"})
		if err != nil {
			t.Fatal(err)
		}
		run, err = procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Status: status, Error: fmt.Sprint("refused ", i)})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if i >= 4 {
			want = "lesson of Step push of the procedure deploy keeps failing"
		}
		read, err := procedures.Run(ctx, run.ID)
		if err != nil || run.Steps[0].LessonID != want || read.Steps[0].LessonID != want {
			t.Errorf("outcome %d: lesson %q and %q, error %v", i, run.Steps[0].LessonID, read.Steps[0].LessonID, err)
		}
	}
	if len(lessons.drafts) != 1 {
		t.Fatalf("%d lessons were proposed", len(lessons.drafts))
	}
	for _, draft := range lessons.drafts {
		if !strings.Contains(draft.Body, "refused 5") || draft.Type != learning.LessonFailure {
			t.Errorf("draft = %+v", draft)
		}
	}
}

// TestStepKeepsItsLesson: a run that was read before a lesson was noted of its step is written afterwards, and takes nothing of that back.
func TestStepKeepsItsLesson(t *testing.T) {
	_, m := openFacts(t, t.TempDir(), newHandClock().now)
	ctx := principal.With(t.Context(), principal.Open())
	procedures := procedure.NewProcedures(m.store, procedure.Options{Options: learning.Options{Now: newHandClock().now}})
	if _, err := procedures.Save(ctx, procedure.Draft{Name: "deploy", Steps: []procedure.Step{{Name: "push", Action: "push it"}}}); err != nil {
		t.Fatal(err)
	}
	begun, err := procedures.Start(ctx, procedure.RunDraft{Name: "deploy"})
	if err != nil {
		t.Fatal(err)
	}
	read, _, err := m.store.StoredRun(ctx, begun.ID)
	if err != nil {
		t.Fatal(err)
	}
	change := func(change func(tx procedure.Tx) error) {
		if err := m.store.ChangeProcedures(ctx, change, nil)(); err != nil {
			t.Fatal(err)
		}
	}
	change(func(tx procedure.Tx) error { return tx.SetLesson(read.Number, 0, "its lesson") })
	change(func(tx procedure.Tx) error {
		fresh := read
		ok, err := tx.PutRun(&fresh, []int{0})
		if err == nil && !ok {
			t.Error("the run was written by somebody else")
		}
		return err
	})
	if now, _, err := m.store.StoredRun(ctx, begun.ID); err != nil || now.Steps[0].LessonID != "its lesson" {
		t.Errorf("the step's lesson is %q, error %v", now.Steps[0].LessonID, err)
	}
}

// TestRunIsTheAgents holds runs to the agent that began them.
func TestRunIsTheAgents(t *testing.T) {
	procedures, _ := openProcedures(t, t.TempDir(), newHandClock(), nil)
	as := func(agent string) context.Context {
		return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}})
	}
	if _, err := procedures.Save(as("a"), procedure.Draft{Name: "p", Steps: []procedure.Step{{Action: "x"}}}); err != nil {
		t.Fatal(err)
	}
	run, err := procedures.Start(as("a"), procedure.RunDraft{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"report": func() error {
			_, err := procedures.Report(as("b"), procedure.StepReport{RunID: run.ID, Status: procedure.StepSucceeded})
			return err
		},
		"next": func() error {
			_, err := procedures.Next(as("b"), procedure.StepRequest{RunID: run.ID, Again: true})
			return err
		},
		"abandon": func() error { _, err := procedures.Abandon(as("b"), run.ID, ""); return err },
	} {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s by another agent: %v", name, err)
		}
	}
	if _, err := procedures.Known(as("a")); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent may be the folder: %v", err)
	}
}

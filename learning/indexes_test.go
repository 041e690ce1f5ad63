package learning_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"skillrouter/internal/eventlog"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/learning/shelf"
	"skillrouter/learning/store"
	"skillrouter/tfidf/keep"
)

// mind is all that keeps an index, as one start of the router has it.
type mind struct {
	knowledge   *knowledge.Base
	episodes    *episode.Episodes
	lessons     *lesson.Lessons
	procedures  *procedure.Procedures
	experiences *experience.Experiences
	stop        func()
}

// wake starts it on a database, with snapshots in a folder.
func wake(t *testing.T, s *store.Store, clock *moved, folder string) *mind {
	t.Helper()
	options := learning.Options{Now: clock.now, Indexes: folder}
	m := &mind{knowledge: knowledge.NewBase(s, options), episodes: episode.NewEpisodes(s, options)}
	patterns := lesson.NewPatterns(s, lesson.PatternOptions{Options: options})
	m.lessons = lesson.NewLessons(s, lesson.Options{Options: options, Patterns: patterns})
	m.procedures = procedure.NewProcedures(s, procedure.Options{Options: options})
	m.experiences = experience.NewExperiences(s, m.episodes, m.lessons, experience.Options{Options: options, KeepEpisodes: 24 * time.Hour})
	if err := errors.Join(m.knowledge.Load(t.Context()), m.episodes.Load(t.Context()), m.lessons.Load(t.Context()), m.procedures.Load(t.Context())); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{m.knowledge.Run, m.episodes.Run, m.lessons.Run, m.procedures.RunIndex} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	m.stop = func() {
		cancel()
		running.Wait()
	}
	return m
}

func (m *mind) states() map[string]keep.State {
	return map[string]keep.State{
		"knowledge": m.knowledge.IndexState(), "episodes": m.episodes.IndexState(), "lessons": m.lessons.IndexState(), "procedures": m.procedures.IndexState(),
	}
}

// found is what searches of every kind find, with their scores.
func (m *mind) found(t *testing.T) (found []string) {
	t.Helper()
	ctx := captainly(t)
	for _, query := range []string{"decimal", "gateway timeout", "build", "deploy release", "agent 3", "changed", "gone"} {
		k, err1 := m.knowledge.Search(ctx, knowledge.Query{Query: query, Limit: 100})
		e, err2 := m.episodes.Search(ctx, episode.Query{Query: query, Limit: 100})
		l, err3 := m.lessons.Relevant(ctx, lesson.Query{Context: query, Limit: 100})
		p, err4 := m.procedures.Search(ctx, procedure.Query{Query: query, Limit: 100})
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		for _, h := range k.Results {
			found = append(found, fmt.Sprintf("%s: knowledge %s %.6f", query, h.ID, h.RelevanceScore))
		}
		for _, h := range e.Results {
			found = append(found, fmt.Sprintf("%s: episode %s %.6f", query, h.ID, h.RelevanceScore))
		}
		for _, h := range l.Results {
			found = append(found, fmt.Sprintf("%s: lesson %s %.6f", query, h.ID, h.Score))
		}
		for _, h := range p.Results {
			found = append(found, fmt.Sprintf("%s: procedure %s %.6f", query, h.Name, h.RelevanceScore))
		}
	}
	return found
}

// live does every kind of write; round makes its ids its own.
func (m *mind) live(t *testing.T, clock *moved, round int) {
	t.Helper()
	ctx := captainly(t)
	id := func(name string) string { return fmt.Sprintf("%s-%d", name, round) }
	var errs []error
	did := func(err error) { errs = append(errs, err) }

	_, err := m.knowledge.Store(ctx, entry(id("stored"), "decimal scan"))
	did(err)
	_, err = m.knowledge.Bulk(ctx, source(io.EOF, entry(id("bulk"), "decimal bulk"), entry(id("gone"), "gone decimal"), entry("same", fmt.Sprint("decimal round ", round))))
	did(err)
	text := "decimal changed"
	_, err = m.knowledge.Update(ctx, id("bulk"), knowledge.Patch{Content: &text})
	did(err)
	did(m.knowledge.Delete(ctx, id("gone")))
	_, err = m.knowledge.Take(ctx, []knowledge.Knowledge{{ID: id("taken"), Category: "x", Title: "decimal", Content: "taken"}}, learning.Taking{})
	did(err)
	_, err = m.knowledge.Take(ctx, []knowledge.Knowledge{{ID: id("dry"), Category: "x", Title: "decimal", Content: "gone"}}, learning.Taking{DryRun: true})
	did(err)

	_, err = m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "gateway timeout", Content: id("recorded"), AgentID: "a"})
	did(err)
	_, err = m.episodes.Record(ctx, episode.Draft{Event: "drop", Learned: id("gateway"), Persona: id("cleared")})
	did(err)
	_, err = m.episodes.Clear(ctx, id("cleared"), "", 100)
	did(err)
	_, err = m.experiences.Record(ctx, experience.Draft{OperationType: "build", Outcome: "failure", Notes: id("build")})
	did(err)
	clock.move(72 * time.Hour)
	_, err = m.experiences.Sweep(ctx)
	did(err)
	_, err = m.experiences.Record(ctx, experience.Draft{OperationType: "build", Outcome: "success", Notes: id("build kept")})
	did(err)
	_, err = m.experiences.Take(ctx, []experience.EpisodeRecord{{Episode: episode.Episode{
		ID: id("episode"), SessionID: "s", AgentID: "a", EventType: "action", Title: "gateway", Content: "taken", CreatedAt: clock.now(),
	}}}, learning.Taking{})
	did(err)

	l := func(name, about string) lesson.Draft {
		return lesson.Draft{
			ID: id(name), Type: learning.LessonFailure, Domain: "ops", Category: "c", Title: about + " of " + id(name), Context: "gateway timeout " + id(name), Action: "a", Outcome: "o",
		}
	}
	_, err = m.lessons.Report(ctx, l("lesson", "decimal"))
	did(err)
	_, err = m.lessons.ReportAll(ctx, []lesson.Draft{l("retired", "gone"), l("restored", "release")})
	did(err)
	again := l("lesson", "decimal")
	again.Solution = "deploy it again"
	_, err = m.lessons.Report(ctx, again)
	did(err)
	title := "gateway changed " + id("lesson")
	_, err = m.lessons.Edit(ctx, id("lesson"), lesson.Patch{Title: &title})
	did(err)
	for _, name := range []string{"retired", "restored"} {
		_, err = m.lessons.Retire(ctx, id(name), lesson.RetirementDraft{Reason: "wrong"})
		did(err)
	}
	_, err = m.lessons.Restore(ctx, id("restored"), "right after all")
	did(err)

	step := []procedure.Step{{Action: "deploy the release"}}
	for _, draft := range []procedure.Draft{
		{Name: id("deploy"), Steps: step}, {Name: "same", Description: id("changed"), Steps: step}, {Name: id("gone"), Steps: step}, {Name: id("cleared"), Persona: "p", Steps: step},
	} {
		_, err = m.procedures.Save(ctx, draft)
		did(err)
	}
	did(m.procedures.Delete(ctx, procedure.Ref{Name: id("gone")}))
	_, err = m.procedures.Clear(ctx, "p", "", 100)
	did(err)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestEveryKindOfWriteIsCaughtUp does all that writes, saves, does it again
// without saving, and starts again: what a start takes from the snapshot and the
// log must be what one finds that reads everything.
func TestEveryKindOfWriteIsCaughtUp(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	folder := filepath.Join(t.TempDir(), "index")

	first := wake(t, m.store, clock, folder)
	first.live(t, clock, 1)
	first.stop()

	unsaved := wake(t, m.store, clock, t.TempDir()) // its snapshots are elsewhere: as if it had been killed
	unsaved.live(t, clock, 2)
	unsaved.live(t, clock, 3)
	kept := unsaved.found(t)
	unsaved.stop()

	again := wake(t, m.store, clock, folder)
	defer again.stop()
	for name, state := range again.states() {
		if state.Stage != keep.Complete || state.Refused != "" || state.Saved.IsZero() {
			t.Errorf("%s: %+v", name, state)
		}
	}
	fresh := wake(t, m.store, clock, "")
	defer fresh.stop()
	if err := errors.Join(fresh.knowledge.Rebuild(t.Context()), fresh.episodes.Rebuild(t.Context()), fresh.lessons.Rebuild(t.Context()), fresh.procedures.Rebuild(t.Context())); err != nil {
		t.Fatal(err)
	}
	want := fresh.found(t)
	if len(want) < 20 {
		t.Fatalf("only %d hits compare the two", len(want))
	}
	for name, got := range map[string][]string{"caught up": again.found(t), "kept": kept} {
		if !slices.Equal(got, want) {
			t.Errorf("%s finds\n%q\na fresh one\n%q", name, got, want)
		}
	}
	for name, check := range map[string]func(context.Context) (shelf.IndexCheck, error){
		"knowledge": again.knowledge.Check, "episodes": again.episodes.Check, "lessons": again.lessons.Check,
	} {
		if found, err := check(t.Context()); err != nil || !found.OK() {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if again.procedures.Len() != fresh.procedures.Len() {
		t.Errorf("%d procedures, a fresh index has %d", again.procedures.Len(), fresh.procedures.Len())
	}
}

// TestASweepThatNamesNobodyIsAGap starts after a sweep by a program that did not write
// down whom it swept: its event cannot be followed, and everything is read.
func TestASweepThatNamesNobodyIsAGap(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	folder := t.TempDir()
	first := wake(t, m.store, clock, folder)
	for i := range 5 {
		if _, err := first.episodes.Record(captainly(t), episode.Draft{EventType: "action", Title: "gateway", Content: fmt.Sprint(i), AgentID: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	first.stop()
	err := m.store.Change(t.Context(), func(tx lesson.PipelineTx) error {
		return tx.AddEvents(eventlog.Event{Type: episode.EventExperiencesSwept, Subject: "episodes", At: clock.now(), Data: []byte(`{"count":2,"before":"2026-01-01T00:00:00Z"}`)})
	}, nil)()
	if err != nil {
		t.Fatal(err)
	}
	again := wake(t, m.store, clock, folder)
	defer again.stop()
	if state := again.episodes.IndexState(); state.Refused == "" {
		t.Errorf("%+v", state)
	}
	if state := again.knowledge.IndexState(); state.Stage != keep.Complete {
		t.Errorf("knowledge has nothing to do with it: %+v", state)
	}
	if found, err := again.episodes.Search(captainly(t), episode.Query{Query: "gateway"}); err != nil || found.Count != 5 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestReportsWaitForTheLessonsThatTheyAreComparedWith reports what is there
// already, at once after a start.
func TestReportsWaitForTheLessonsThatTheyAreComparedWith(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	folder := t.TempDir()
	draft := lesson.Draft{
		Type: learning.LessonFailure, Domain: "ops", Category: "c", Title: "The gateway times out under load", Context: "the payment gateway answers 504 when 200 callers ask",
		Action: "raised the timeout", Outcome: "it held", Solution: "keep the connections open",
	}
	first := wake(t, m.store, clock, folder)
	reported, err := first.lessons.Report(captainly(t), draft)
	if err != nil {
		t.Fatal(err)
	}
	first.stop()

	// Nobody reads the lessons in: the report waits, and a search does not.
	asleep := lesson.NewLessons(m.store, lesson.Options{Options: learning.Options{Now: clock.now, Indexes: folder}})
	if err := asleep.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(captainly(t), 50*time.Millisecond)
	defer cancel()
	if _, err := asleep.Report(ctx, draft); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a report before the lessons were read: %v", err)
	}
	if found, err := asleep.Relevant(captainly(t), lesson.Query{Context: "gateway"}); err != nil || found.Count != 1 {
		t.Errorf("%+v, %v", found, err)
	}

	again := wake(t, m.store, clock, folder)
	defer again.stop()
	draft.Title += " "
	if second, err := again.lessons.Report(captainly(t), draft); err != nil || !second.Duplicate || second.LessonID != reported.LessonID {
		t.Errorf("%+v, %v", second, err)
	}
}

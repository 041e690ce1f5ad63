package learning_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/learning/store"
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

// wake starts it on a database.
func wake(t *testing.T, s *store.Store, clock *moved) *mind {
	t.Helper()
	options := learning.Options{Now: clock.now}
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

// TestEveryKindOfWriteIsFound does all that writes, while it runs and over a start: what each index took in write by write
// must be what one finds that reads everything.
func TestEveryKindOfWriteIsFound(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	first := wake(t, m.store, clock)
	first.live(t, clock, 1)
	first.stop()
	second := wake(t, m.store, clock)
	defer second.stop()
	second.live(t, clock, 2)
	second.live(t, clock, 3)
	fresh := wake(t, m.store, clock)
	defer fresh.stop()
	want := fresh.found(t)
	if len(want) < 20 {
		t.Fatalf("only %d hits compare the two", len(want))
	}
	if got := second.found(t); !slices.Equal(got, want) {
		t.Errorf("it finds\n%q\na fresh one\n%q", got, want)
	}
	for name, check := range map[string]func(context.Context) (shelf.IndexCheck, error){
		"knowledge": second.knowledge.Check, "episodes": second.episodes.Check, "lessons": second.lessons.Check,
	} {
		if found, err := check(t.Context()); err != nil || !found.OK() {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if second.procedures.Len() != fresh.procedures.Len() {
		t.Errorf("%d procedures, a fresh index has %d", second.procedures.Len(), fresh.procedures.Len())
	}
}

// TestReportsReadTheLessonsThatTheyAreComparedWith reports nearly what is there
// already, at once after a start: nobody has read the lessons in.
func TestReportsReadTheLessonsThatTheyAreComparedWith(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	draft := lesson.Draft{
		Type: learning.LessonFailure, Domain: "ops", Category: "c", Title: "The gateway times out under load", Context: "the payment gateway answers 504 when 200 callers ask",
		Action: "raised the timeout", Outcome: "it held", Solution: "keep the connections open",
	}
	first := wake(t, m.store, clock)
	reported, err := first.lessons.Report(captainly(t), draft)
	if err != nil {
		t.Fatal(err)
	}
	first.stop()

	asleep := lesson.NewLessons(m.store, lesson.Options{Options: learning.Options{Now: clock.now}})
	if err := asleep.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := asleep.Relevant(captainly(t), lesson.Query{Context: "gateway"}); err != nil || found.Count != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	draft.Title = "The gateway times out: under load"
	if second, err := asleep.Report(captainly(t), draft); err != nil || !second.Duplicate || second.LessonID != reported.LessonID || len(second.Notes) != 2 {
		t.Errorf("a report before the lessons were read: %+v, %v", second, err)
	}
}

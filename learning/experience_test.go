package learning_test

import (
	"context"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

func TestExperienceContract(t *testing.T) {
	learningtest.RunExperience(t, func(t *testing.T) (experience.Service, episode.Service) {
		m := open(t, t.TempDir(), time.Now)
		lessons := lesson.NewLessons(m.store, lesson.Options{})
		return experience.NewExperiences(m.store, m.episodes, lessons, experience.Options{}), m.episodes
	})
}

// TestLessonsOfEveryKind sees, as the experience server's clients do, the lessons that others
// report, and those that are in use no more.
func TestLessonsOfEveryKind(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	lessons := lesson.NewLessons(m.store, lesson.Options{Options: learning.Options{Now: clock.now}})
	x := experience.NewExperiences(m.store, m.episodes, lessons, experience.Options{
		Options: learning.Options{Now: clock.now}, KeepEpisodes: oneDay, KeepPatterns: oneDay,
	})
	ctx := captainly(t)
	reported, err := lessons.Report(ctx, lesson.Draft{
		Type: learning.LessonDiscovery, Domain: "docker", Category: "volumes", Title: "Volumes outlive containers", Context: "c", Action: "a", Outcome: "o",
	})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for range 3 {
		numbers = append(numbers, experienced(t, x, "build", learning.ResultSuccess).EpisodeID)
	}
	agent := principal.With(t.Context(), principal.Principal{AgentID: "builder", Scopes: []principal.Scope{principal.ScopeAgent}})
	learned, err := x.Learn(agent, experience.LearnDraft{Description: "what a clean tree gives", EpisodeIDs: numbers, Statement: "Build from a clean tree"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := lessons.Lesson(ctx, learned.LessonID)
	if err != nil || one.Level != lesson.LevelPattern || one.Type != learning.LessonSuccess || one.SourceAgent != "builder" || one.Status != lesson.StatusCandidate {
		t.Errorf("as everybody sees it, it is %+v, %v", one, err)
	}

	// One that names no context holds there too.
	found, err := x.Applicable(ctx, experience.ApplicableQuery{OperationType: "build"})
	if err != nil || len(found.Lessons) != 2 || found.Lessons[0].Number != learned.LessonNumber || found.Lessons[1].Number != reported.Number ||
		found.Lessons[1].Statement != "Volumes outlive containers" || found.Lessons[1].PatternID != nil {
		t.Errorf("applicable %+v, %v", found, err)
	}

	// Applied without success until it is deprecated, it is still shown.
	clock.move(200 * oneDay)
	for range 40 {
		applied, err := x.Apply(ctx, reported.Number, lesson.ApplicationDraft{Outcome: learning.ResultFailure})
		if err != nil {
			t.Fatal(err)
		}
		if clock.move(30 * oneDay); applied.Deprecated {
			break
		}
	}
	gone, err := x.Lesson(ctx, reported.Number)
	if err != nil || gone.DeprecatedAt == nil {
		t.Errorf("deprecated it is %+v, %v", gone, err)
	}
	page, err := x.Lessons(ctx, lesson.Filter{})
	if err != nil || page.Count != 2 || page.Summary.Low != 2 {
		t.Errorf("there are %+v, %v", page, err)
	}
	for _, l := range page.Lessons {
		if (l.DeprecatedAt != nil) != (l.Number == reported.Number) {
			t.Errorf("deprecated: %+v", l)
		}
	}
	// One that somebody retires is shown by its number alone.
	if _, err := lessons.Retire(ctx, learned.LessonID, lesson.RetirementDraft{Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	if page, err = x.Lessons(ctx, lesson.Filter{}); err != nil || page.Count != 1 || page.Lessons[0].Number != reported.Number {
		t.Errorf("after one was retired there are %+v, %v", page, err)
	}
	if _, err := x.Apply(ctx, learned.LessonNumber, lesson.ApplicationDraft{Outcome: learning.ResultSuccess}); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("one that was retired is applied: %v", err)
	}
	if _, err := lessons.Restore(ctx, learned.LessonID, "right"); err != nil {
		t.Fatal(err)
	}

	// The sweep leaves lessons alone, and the patterns that they were learned from with
	// the numbers of their evidence.
	if swept, err := x.Sweep(ctx); err != nil || swept != (experience.Swept{Episodes: 3, Patterns: 1}) {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if p, err := x.Pattern(ctx, *learned.PatternID); err != nil || len(p.EpisodeIDs) != 3 {
		t.Errorf("the pattern of the lesson is %+v, %v", p, err)
	}
}

// TestExperienceScopes holds each call to what its caller may do.
func TestExperienceScopes(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	x := experience.NewExperiences(m.store, m.episodes, lesson.NewLessons(m.store, lesson.Options{}), experience.Options{})
	as := func(agent string, scopes ...principal.Scope) context.Context {
		return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: scopes})
	}
	reader, builder := as("", principal.ScopeRead), as("builder", principal.ScopeAgent)
	draft := experience.Draft{OperationType: "a", Outcome: learning.ResultSuccess}
	for name, call := range map[string]func() error{
		"a reader records": func() error { _, err := x.Record(reader, draft); return err },
		"a reader learns":  func() error { _, err := x.Learn(reader, experience.LearnDraft{}); return err },
		"a reader applies": func() error { _, err := x.Apply(reader, 1, lesson.ApplicationDraft{Outcome: "success"}); return err },
		"another's": func() error {
			other := draft
			other.AgentID = "tester"
			_, err := x.Record(builder, other)
			return err
		},
	} {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := x.Stats(as("")); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("nobody reads: %v", err)
	}
	recorded, err := x.Record(builder, draft)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Experience(reader, recorded.EpisodeID); err != nil || got.AgentID != "builder" {
		t.Errorf("a reader reads %+v, %v", got, err)
	}
}

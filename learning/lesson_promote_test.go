package learning_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

func (s *school) promote(t testing.TB, ref string, draft lesson.PromotionDraft) (lesson.Lesson, error) {
	t.Helper()
	return s.lessons.Promote(principal.With(t.Context(), principal.Open()), ref, draft)
}

// told reports a lesson with a token of the agent that it names.
func (s *school) told(t testing.TB, draft lesson.Draft) lesson.Reported {
	t.Helper()
	p := principal.Open()
	if draft.SourceAgent != "" {
		p = principal.Principal{AgentID: draft.SourceAgent, Scopes: []principal.Scope{principal.ScopeAgent}}
	}
	got, err := s.lessons.Report(principal.With(t.Context(), p), draft)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestNamesAreNoVoices: what counts voices counts tokens. Without a token, other names add nothing: to promote, or to vouch.
func TestNamesAreNoVoices(t *testing.T) {
	s := openSchool(t)
	pair := drawnFrom(t, "same")[4]
	agent := func(name string) context.Context { return as(t, name, principal.ScopeAgent) }
	open := principal.With(t.Context(), principal.Open())
	person := principal.With(t.Context(), principal.Owner(true))
	vouched := func(ctx context.Context, id, by string) bool {
		t.Helper()
		l, err := s.lessons.Validate(ctx, id, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: by})
		if err != nil {
			t.Fatal(err)
		}
		return l.Vouched()
	}
	one, err := s.lessons.Report(open, pair[0])
	if err != nil {
		t.Fatal(err)
	}
	pair[1].SourceAgent = "AEGIS"
	two, err := s.lessons.Report(open, pair[1])
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{two.LessonID}, By: "ARIA"})
	conflict(t, err, "there is 1", "1 further")
	for _, by := range []string{"b", "c", "d"} {
		if vouched(open, one.LessonID, by) {
			t.Errorf("the name %s vouched for it", by)
		}
	}
	if !vouched(agent("d"), one.LessonID, "d") {
		t.Error("another token did not vouch for it")
	}
	if !vouched(person, two.LessonID, "ada") {
		t.Error("a person did not vouch for it")
	}
	for i := range 4 { // contexts that nobody names are one
		if _, err := s.lessons.Apply(open, one.LessonID, lesson.ApplicationDraft{Agent: fmt.Sprint("agent", i), Outcome: learning.ResultSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	pair[1].Title, pair[1].SourceAgent = "Out of disk space on the CI runner again, layers were not pruned", "e"
	three := s.told(t, pair[1])
	got, err := s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{three.LessonID}, By: "ARIA"})
	if err != nil || got.Level != lesson.LevelPattern {
		t.Fatalf("two tokens: %+v, %v", got, err)
	}
	for i := range 4 {
		if _, err := s.lessons.Apply(open, got.ID, lesson.ApplicationDraft{Agent: fmt.Sprint("agent", i), Outcome: learning.ResultSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.promote(t, got.ID, lesson.PromotionDraft{By: "ARIA"})
	conflict(t, err, "4 of 4 applications in 1")
}

// conflict fails the test unless the error is a Conflict that says each of the parts.
func conflict(t *testing.T, err error, parts ...string) {
	t.Helper()
	if errs.CodeOf(err) != errs.Conflict {
		t.Errorf("error %v: want a conflict", err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(errs.MessageOf(err), part) {
			t.Errorf("%q does not say %q", errs.MessageOf(err), part)
		}
	}
}

// TestPromotion takes a case to a principle, with each refusal on the way.
func TestPromotion(t *testing.T) {
	s := openSchool(t)
	ctx := principal.With(t.Context(), principal.Open())
	pair := drawnFrom(t, "same")[4]
	first := s.told(t, pair[0])

	_, err := s.promote(t, first.LessonID, lesson.PromotionDraft{By: "ARIA"})
	conflict(t, err, "2 independent cases", "there is 1", first.LessonID, "1 is missing")

	// The same agent, project and session: one incident, told twice.
	second := s.told(t, pair[1])
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{By: "ARIA"})
	conflict(t, err, "there is 1", "1 further are of the same agent, project and session")

	third := pair[1]
	third.Title, third.SourceAgent = "Out of disk space on the CI runner again, layers were not pruned", "AEGIS"
	another := s.told(t, third)
	if another.Duplicate || another.Patterns != 1 {
		t.Fatalf("%+v", another)
	}
	got, err := s.promote(t, first.LessonID, lesson.PromotionDraft{By: "ARIA", Notes: "we see it often"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Level != lesson.LevelPattern || got.Status != lesson.StatusValidated || got.PatternID != another.PatternIDs[0] || got.LastValidatedAt == nil || got.SourceAgent != "ARIA" {
		t.Errorf("%+v", got)
	}
	// It is a lesson of its own, which names its cases; they stay what they were.
	if got.ID == first.LessonID || !slices.Contains(got.SourceCaseIDs, first.LessonID) || !slices.Contains(got.SourceCaseIDs, another.LessonID) {
		t.Errorf("%s, of %v", got.ID, got.SourceCaseIDs)
	}
	for _, id := range []string{first.LessonID, second.LessonID, another.LessonID} {
		if l, err := s.lessons.Lesson(ctx, id); err != nil || l.Level != lesson.LevelCase || l.Status != lesson.StatusCandidate {
			t.Errorf("the case %s is %s, %s: %v", id, l.Level, l.Status, err)
		}
	}
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{})
	conflict(t, err, fmt.Sprintf("lesson %d is a pattern that was drawn from this case already", got.Number))

	case1 := first.LessonID
	first.LessonID = got.ID
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{})
	conflict(t, err, "3 distinct contexts", "0 of 0 applications", "3 more are missing")
	for i, where := range []string{"web", "Web", "mobile", "billing"} {
		outcome := learning.ResultSuccess
		if i == 3 {
			outcome = learning.ResultFailure
		}
		if _, err := s.lessons.Apply(ctx, first.LessonID, lesson.ApplicationDraft{Outcome: outcome, Agent: "HADES", Context: where}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{})
	conflict(t, err, "3 of 4 applications in 2", "mobile", "1 more are missing")
	if _, err := s.lessons.Apply(ctx, first.LessonID, lesson.ApplicationDraft{Outcome: learning.ResultSuccess, Agent: "HADES", Context: "billing"}); err != nil {
		t.Fatal(err)
	}
	if got, err = s.promote(t, first.LessonID, lesson.PromotionDraft{By: "ARIA"}); err != nil || got.Level != lesson.LevelPrinciple || got.Status != lesson.StatusCanonical {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{})
	conflict(t, err, "no further level")

	history, err := s.lessons.History(ctx, first.LessonID)
	if err != nil {
		t.Fatal(err)
	}
	var levels []lesson.Level
	for _, c := range history {
		if c.Kind == lesson.ChangePromoted {
			levels = append(levels, c.Before.Level, c.After.Level)
		}
	}
	if diff := cmp.Diff([]lesson.Level{lesson.LevelCase, lesson.LevelPattern, lesson.LevelPattern, lesson.LevelPrinciple}, levels); diff != "" {
		t.Error(diff)
	}
	if history, err = s.lessons.History(ctx, case1); err != nil || len(history) == 0 || history[len(history)-1].Kind != lesson.ChangePromoted {
		t.Errorf("the case's history does not say that a pattern was drawn from it: %+v, %v", history, err)
	}
	if _, err := s.lessons.Retire(ctx, first.LessonID, lesson.RetirementDraft{Reason: "obsolete"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.promote(t, first.LessonID, lesson.PromotionDraft{})
	conflict(t, err, "retired")
}

// TestPromotionByNamedSources: cases that nobody's pattern gathers count if they are named.
func TestPromotionByNamedSources(t *testing.T) {
	s := openSchool(t)
	pairs := drawnFrom(t, "other")
	one, two := s.told(t, pairs[1][0]), s.told(t, pairs[5][0])
	_, err := s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{two.LessonID}})
	conflict(t, err, "there is 1", "1 further")
	_, err = s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{"nobody"}})
	if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "source_case_ids" {
		t.Errorf("an unknown source: %v", err)
	}
	_, err = s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{one.LessonID}})
	if errs.CodeOf(err) != errs.Invalid {
		t.Errorf("its own source: %v", err)
	}
	s.clock.pass(learning.SessionIdle + time.Minute) // another session of the same agent
	three := s.told(t, pairs[7][0])
	got, err := s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{two.LessonID, fmt.Sprint(three.Number)}})
	if err != nil || got.Level != lesson.LevelPattern {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{one.LessonID, two.LessonID, three.LessonID}, got.SourceCaseIDs); diff != "" {
		t.Error(diff)
	}
}

// TestCasesWithoutAnAgentAreIndependent: files of a lessons folder name no agent, and
// nothing says that two of them are one incident (O7).
func TestCasesWithoutAnAgentAreIndependent(t *testing.T) {
	s := openSchool(t)
	pairs := drawnFrom(t, "other")
	for _, i := range []int{1, 5} {
		pairs[i][0].SourceAgent = ""
	}
	one, two := s.told(t, pairs[1][0]), s.told(t, pairs[5][0])
	got, err := s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{two.LessonID}})
	if err != nil || !slices.Equal(got.SourceCaseIDs, []string{one.LessonID, two.LessonID}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPatternOfARuleIsNoSecondRule: the case goes on guarding; what was drawn from it says what it says.
func TestPatternOfARuleIsNoSecondRule(t *testing.T) {
	s := openSchool(t)
	rule := func(title, agent, command string) lesson.Reported {
		return s.told(t, lesson.Draft{
			Type: learning.LessonAntiPattern, Domain: "docker", Category: "c", Title: title, Context: "volumes are in no backup", SourceAgent: agent,
			Severity: learning.SeverityCritical, RelatedCommands: []string{command},
		})
	}
	one, two := rule("Never prune volumes", "a", "docker volume prune"), rule("Never remove all containers of a host", "b", "docker rm -f")
	got, err := s.promote(t, one.LessonID, lesson.PromotionDraft{Sources: []string{two.LessonID}, By: "ARIA"})
	if err != nil || len(got.RelatedCommands) != 0 || got.BlockAction {
		t.Fatalf("%+v, %v", got, err)
	}
	left, err := s.lessons.Lesson(principal.With(t.Context(), principal.Open()), one.LessonID)
	if err != nil || len(left.RelatedCommands) != 1 {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestReview(t *testing.T) {
	s := openSchool(t)
	ctx := principal.With(t.Context(), principal.Open())
	pair := drawnFrom(t, "same")[4]
	s.told(t, pair[0])
	pair[1].SourceAgent = "AEGIS"
	last := s.told(t, pair[1])
	lonely := s.told(t, drawnFrom(t, "other")[1][0])
	review, err := s.lessons.Review(ctx, lesson.ReviewQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(review.Promotions) != 1 || review.Promotions[0].LessonID != last.LessonID || review.Promotions[0].To != lesson.LevelPattern ||
		len(review.Promotions[0].Evidence) != 2 || !strings.Contains(review.Promotions[0].Why, "2 independent cases") || len(review.Stale) != 0 {
		t.Errorf("%+v", review)
	}
	if _, err := s.promote(t, last.LessonID, lesson.PromotionDraft{By: "ARIA"}); err != nil {
		t.Errorf("what the review suggests is refused: %v", err)
	}
	s.clock.pass(100 * 24 * time.Hour)
	if _, err := s.lessons.Validate(ctx, lonely.LessonID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "ARIA"}); err != nil {
		t.Fatal(err)
	}
	if review, err = s.lessons.Review(ctx, lesson.ReviewQuery{Limit: 10}); err != nil || len(review.Promotions) != 0 || len(review.Stale) != 3 || review.Stale[0].Days != 100 {
		t.Errorf("%+v, %v", review, err)
	}
	if review, err = s.lessons.Review(ctx, lesson.ReviewQuery{Domain: "elsewhere"}); err != nil || len(review.Promotions)+len(review.Stale) != 0 {
		t.Errorf("of another domain: %+v, %v", review, err)
	}
	for _, query := range []lesson.ReviewQuery{{StaleDays: -1}, {Limit: learning.MaxLimit + 1}} {
		if _, err := s.lessons.Review(ctx, query); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", query, err)
		}
	}
}

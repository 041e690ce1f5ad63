package learningtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// RunPatterns runs the contract of PatternService, with the lessons that
// patterns form of.
func RunPatterns(t *testing.T, open func(t *testing.T) (lesson.Service, lesson.PatternService)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, l lesson.Service, p lesson.PatternService)
	}{
		{"like lessons form a pattern that explains itself", formsPattern},
		{"a person confirms and deprecates", judgesPattern},
		{"patterns are listed by what they are", listsPatterns},
		{"bad input is refused by name", refusesPatterns},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, p := open(t)
			test.run(t, l, p)
		})
	}
}

// recurring are two reports of one problem in other words.
func recurring() [2]lesson.Draft {
	return [2]lesson.Draft{
		{
			Type: learning.LessonFailure, Domain: "infrastructure", Category: "docker", SourceAgent: "HADES", Title: "Disk full on build agent because of docker layers",
			Context: "Nightly build", Action: "docker build", Outcome: "no space left on device", RootCause: "Old image layers are never pruned",
			Solution: "Prune images every night", Tags: []string{"docker", "ci"},
		},
		{
			Type: learning.LessonFailure, Domain: "infrastructure", Category: "ci", SourceAgent: "CHRONOS", Title: "CI runner out of disk space",
			Context: "Image build in CI", Action: "docker build", Outcome: "write failed: no space left on device", RootCause: "Old docker image layers pile up and are never pruned",
			Tags: []string{"docker", "disk"},
		},
	}
}

func recurred(t *testing.T, l lesson.Service, p lesson.PatternService) (lesson.Pattern, [2]lesson.Reported) {
	t.Helper()
	var reported [2]lesson.Reported
	for i, d := range recurring() {
		reported[i] = must[lesson.Reported](t)(l.Report(caller(t), d))
	}
	if reported[1].Patterns != 1 || len(reported[1].PatternIDs) != 1 {
		t.Fatalf("the second report answers %+v", reported[1])
	}
	return must[lesson.Pattern](t)(p.Pattern(caller(t), reported[1].PatternIDs[0])), reported
}

func formsPattern(t *testing.T, l lesson.Service, p lesson.PatternService) {
	got, reported := recurred(t, l, p)
	if got.Type != lesson.PatternRecurringFailure || got.Status != lesson.PatternEmerging || got.Domain != "infrastructure" || got.Frequency != 2 ||
		got.Lessons != 2 || got.Agents != 2 || got.Name == "" || got.Description == "" || got.Action != "Prune images every night" || got.Number < 1 ||
		got.Confidence <= 0.5 || got.FirstSeen.IsZero() || got.LastSeen.Before(got.FirstSeen) {
		t.Errorf("%+v", got)
	}
	lessons := []string{reported[0].LessonID, reported[1].LessonID}
	slices.Sort(lessons)
	slices.Sort(got.LessonIDs)
	if diff := cmp.Diff(lessons, got.LessonIDs); diff != "" {
		t.Error(diff)
	}
	why := strings.Join(got.Why, "\n")
	for _, part := range []string{"CHRONOS, HADES", "2 lessons", "shared tags: docker"} {
		if !strings.Contains(why, part) {
			t.Errorf("why does not tell %q:\n%s", part, why)
		}
	}
	if again := must[lesson.Reported](t)(l.Report(caller(t), recurring()[0])); !again.Duplicate || again.Patterns != 1 {
		t.Errorf("another occurrence answers %+v", again)
	}
	if seen := must[lesson.Pattern](t)(p.Pattern(caller(t), got.ID)); seen.Frequency != 3 || seen.Lessons != 2 {
		t.Errorf("another occurrence makes %+v", seen)
	}
}

func judgesPattern(t *testing.T, l lesson.Service, p lesson.PatternService) {
	ctx := caller(t)
	before, _ := recurred(t, l, p)
	confirmed := must[lesson.Pattern](t)(p.Confirm(ctx, before.ID, lesson.ConfirmationDraft{By: "Damon W.", Notes: "seen it myself"}))
	if confirmed.Status != lesson.PatternConfirmed || confirmed.ConfirmedBy != "Damon W." || confirmed.ConfirmedAt == nil || confirmed.Confidence <= before.Confidence {
		t.Errorf("confirmed: %+v", confirmed)
	}
	again := must[lesson.Pattern](t)(p.Confirm(ctx, before.ID, lesson.ConfirmationDraft{By: "Somebody Else"}))
	if again.ConfirmedBy != "Damon W." || again.InitialConfidence != confirmed.InitialConfidence {
		t.Errorf("confirmed twice: %+v", again)
	}
	deprecated := must[lesson.Pattern](t)(p.Deprecate(ctx, before.ID, lesson.ConfirmationDraft{By: "Damon W."}))
	if deprecated.Status != lesson.PatternDeprecated || deprecated.Confidence >= confirmed.Confidence {
		t.Errorf("deprecated: %+v", deprecated)
	}
	if listed := must[[]lesson.Pattern](t)(p.List(ctx, lesson.PatternFilter{})); len(listed) != 0 {
		t.Errorf("a deprecated pattern is listed unasked: %+v", listed)
	}
	if back := must[lesson.Pattern](t)(p.Confirm(ctx, before.ID, lesson.ConfirmationDraft{By: "Damon W."})); back.Status != lesson.PatternConfirmed {
		t.Errorf("confirmed again: %+v", back)
	}
}

func listsPatterns(t *testing.T, l lesson.Service, p lesson.PatternService) {
	ctx := caller(t)
	pattern, _ := recurred(t, l, p)
	for name, c := range map[string]struct {
		filter lesson.PatternFilter
		want   int
	}{
		"all":          {lesson.PatternFilter{}, 1},
		"type":         {lesson.PatternFilter{Type: lesson.PatternRecurringFailure}, 1},
		"other type":   {lesson.PatternFilter{Type: lesson.PatternBestPractice}, 0},
		"emerging":     {lesson.PatternFilter{Statuses: []lesson.PatternStatus{lesson.PatternEmerging}}, 1},
		"confirmed":    {lesson.PatternFilter{Statuses: []lesson.PatternStatus{lesson.PatternConfirmed, lesson.PatternDeprecated}}, 0},
		"domain":       {lesson.PatternFilter{Domain: "infrastructure"}, 1},
		"other domain": {lesson.PatternFilter{Domain: "security"}, 0},
		"offset":       {lesson.PatternFilter{Offset: 1}, 0},
	} {
		got := must[[]lesson.Pattern](t)(p.List(ctx, c.filter))
		if len(got) != c.want || c.want == 1 && got[0].ID != pattern.ID {
			t.Errorf("%s: %d patterns", name, len(got))
		}
	}
}

func refusesPatterns(t *testing.T, l lesson.Service, p lesson.PatternService) {
	ctx := caller(t)
	pattern, _ := recurred(t, l, p)
	refuses(t, errs.NotFound, "")(p.Pattern(ctx, "no-such-pattern"))
	refuses(t, errs.NotFound, "")(p.Pattern(ctx, "99"))
	refuses(t, errs.NotFound, "")(p.Confirm(ctx, "no-such-pattern", lesson.ConfirmationDraft{By: "x"}))
	refuses(t, errs.Invalid, "confirmed_by")(p.Confirm(ctx, pattern.ID, lesson.ConfirmationDraft{}))
	refuses(t, errs.Invalid, "confirmed_by")(p.Deprecate(ctx, pattern.ID, lesson.ConfirmationDraft{By: strings.Repeat("x", 1000)}))
	refuses(t, errs.Invalid, "pattern_type")(p.List(ctx, lesson.PatternFilter{Type: "nonsense"}))
	refuses(t, errs.Invalid, "status")(p.List(ctx, lesson.PatternFilter{Statuses: []lesson.PatternStatus{"nonsense"}}))
	refuses(t, errs.Invalid, "limit")(p.List(ctx, lesson.PatternFilter{Limit: learning.MaxLimit + 1}))
	refuses(t, errs.Invalid, "offset")(p.List(ctx, lesson.PatternFilter{Offset: lesson.MaxOffset + 1}))
}

package learningtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// reported reports a lesson and returns it.
func reported(t *testing.T, s lesson.Service, draft lesson.Draft) lesson.Lesson {
	t.Helper()
	r := must[lesson.Reported](t)(s.Report(caller(t), draft))
	return must[lesson.Lesson](t)(s.Lesson(caller(t), r.LessonID))
}

// near tells whether two confidences are the same, but for what has decayed since.
func near(a, b float64) bool { return math.Abs(a-b) < 0.001 }

func validateLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	validate := func(ref string, kind lesson.ValidationType, by string) lesson.Lesson {
		t.Helper()
		return must[lesson.Lesson](t)(s.Validate(ctx, ref, lesson.ValidationDraft{Type: kind, By: by, Notes: "seen"}))
	}
	l := reported(t, s, Draft(lessonTitles[0]))
	if got := validate(l.ID, lesson.ValidationConfirmed, "CHRONOS"); !got.Validated || got.Status != lesson.StatusCandidate {
		t.Errorf("confirmed by who learned it: %+v", got)
	}
	got := validate(l.ID, lesson.ValidationConfirmed, "Damon W.")
	if !got.Validated || got.Status != lesson.StatusValidated || got.ValidatedBy != "Damon W." || got.ValidationNotes != "seen" ||
		got.LastValidatedAt == nil || !near(got.Confidence, 0.95) { // 0.8·1.1², up to 0.95
		t.Errorf("confirmed: %+v", got)
	}
	if !got.UpdatedAt.After(l.UpdatedAt) {
		t.Errorf("updated at %s, it was %s", got.UpdatedAt, l.UpdatedAt)
	}
	if got := validate(fmt.Sprint(l.Number), lesson.ValidationPartial, "x"); !got.Validated || got.Status != lesson.StatusValidated || !near(got.Confidence, 0.95) {
		t.Errorf("partial: %+v", got)
	}
	if got := validate(l.ID, lesson.ValidationRefuted, "x"); got.Validated || got.Status != lesson.StatusCandidate || !near(got.Confidence, 0.95*0.7) {
		t.Errorf("refuted: %+v", got)
	}
	if got := validate(l.ID, lesson.ValidationOutdated, "x"); got.Status != lesson.StatusRetired || got.RetiredAt == nil || !strings.HasPrefix(got.RetiredReason, "outdated") {
		t.Errorf("outdated: %+v", got)
	}
	refuses(t, errs.Conflict, "")(s.Validate(ctx, l.ID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "x"}))
	history := must[[]lesson.Change](t)(s.History(ctx, l.ID))
	kinds := []string{}
	for _, c := range history {
		kinds = append(kinds, c.Kind)
	}
	if !slices.Equal(kinds, []string{"reported", "validated", "validated", "validated", "validated", "validated", "retired"}) {
		t.Errorf("history %v", kinds)
	}
	if c := history[2]; c.Before.Status != lesson.StatusCandidate || c.After.Status != lesson.StatusValidated || c.Before.Confidence >= c.After.Confidence || !strings.Contains(c.Note, "seen") {
		t.Errorf("%+v", c)
	}
	other := reported(t, s, Draft(lessonTitles[1]))
	refuses(t, errs.Invalid, "validation_type")(s.Validate(ctx, other.ID, lesson.ValidationDraft{Type: "true", By: "x"}))
	refuses(t, errs.Invalid, "validated_by")(s.Validate(ctx, other.ID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed}))
	refuses(t, errs.Invalid, "validated_by")(s.Validate(ctx, other.ID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "a\nb"}))
}

func applyLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	l := reported(t, s, Draft(lessonTitles[0]))
	left, succeeded := 0.8, 0
	for i, outcome := range []learning.Result{learning.ResultSuccess, learning.ResultPartial, learning.ResultFailure, learning.ResultSuccess} {
		n := float64(i + 1)
		evidence := map[learning.Result]float64{learning.ResultSuccess: 1, learning.ResultPartial: 0.5}[outcome]
		rate := (float64(succeeded) + evidence) / n // a partial one counts half, and a whole one once it is stored
		if outcome != learning.ResultFailure {
			succeeded++
		}
		prior := math.Max(0.3, 1-math.Log(n+1)/5)
		want := math.Min(math.Max(prior*left+(1-prior)*(0.7*rate+0.3*evidence), 0.1), 0.95)
		got := must[lesson.Applied](t)(s.Apply(ctx, l.ID, lesson.ApplicationDraft{Outcome: outcome, Agent: "HADES", Notes: "n"}))
		if !got.Applied || got.LessonNumber != l.Number || !near(got.PreviousConfidence, left) || !near(got.NewConfidence, want) ||
			got.TotalApplications != int64(i+1) || !near(got.SuccessRate, rate) || got.Deprecated {
			t.Errorf("%d: %+v, want a confidence of %g", i, got, want)
		}
		left = want
	}
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, l.ID)); got.TimesApplied != 4 || got.TimesSucceeded != 3 || !near(got.Confidence, left) {
		t.Errorf("%+v", got)
	}
	refuses(t, errs.Invalid, "outcome")(s.Apply(ctx, l.ID, lesson.ApplicationDraft{Outcome: "done"}))
}

func deprecateLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	l := reported(t, s, Draft(lessonTitles[0]))
	for i := range 40 {
		got := must[lesson.Applied](t)(s.Apply(ctx, l.ID, lesson.ApplicationDraft{Outcome: learning.ResultFailure, Agent: "HADES"}))
		if got.NewConfidence < 0.1-1e-9 {
			t.Errorf("confidence %g", got.NewConfidence)
		}
		if !got.Deprecated {
			continue
		}
		if i+1 < lesson.DeprecationApplications {
			t.Errorf("deprecated after %d applications", i+1)
		}
		now := must[lesson.Lesson](t)(s.Lesson(ctx, l.ID))
		if now.Status != lesson.StatusRetired || now.RetiredAt == nil || !strings.HasPrefix(now.RetiredReason, "deprecated") {
			t.Errorf("%+v", now)
		}
		// It may still be applied, as the experience server's may; that alone brings it back into no use.
		again := must[lesson.Applied](t)(s.Apply(ctx, l.ID, lesson.ApplicationDraft{Outcome: learning.ResultSuccess, Agent: "HADES"}))
		if again.TotalApplications != int64(i+2) || again.NewConfidence <= got.NewConfidence || !again.Deprecated {
			t.Errorf("applied again: %+v", again)
		}
		if now = must[lesson.Lesson](t)(s.Lesson(ctx, l.ID)); now.Status != lesson.StatusRetired || !now.Deprecated || now.TimesSucceeded != 1 {
			t.Errorf("applied again it is %+v", now)
		}
		if now = must[lesson.Lesson](t)(s.Restore(ctx, l.ID, "the cause is gone")); now.Status == lesson.StatusRetired || now.Deprecated {
			t.Errorf("restored it is %+v", now)
		}
		return
	}
	t.Error("a lesson that never works is never deprecated")
}

func editLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	l := reported(t, s, Draft(lessonTitles[0]))
	title, severity, tags, five, half := "PostgreSQL denies permission after every upgrade", learning.SeverityHigh, []string{"a", "a", "b"}, 5, 0.5
	got := must[lesson.Lesson](t)(s.Edit(ctx, l.ID, lesson.Patch{
		Title: &title, Severity: &severity, Tags: &tags, Transferability: &five, Confidence: &half, Expect: &l.UpdatedAt,
	}))
	if got.Title != title || got.Severity != severity || !slices.Equal(got.Tags, []string{"a", "b"}) || got.Transferability != 5 || !near(got.Confidence, 0.5) ||
		got.Context != l.Context || !got.UpdatedAt.After(l.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	refuses(t, errs.Conflict, "")(s.Edit(ctx, l.ID, lesson.Patch{Title: &title, Expect: &l.UpdatedAt}))
	if same := must[lesson.Lesson](t)(s.Edit(ctx, l.ID, lesson.Patch{Title: &title})); !same.UpdatedAt.Equal(got.UpdatedAt) {
		t.Error("an edit that changes nothing is a change")
	}
	history := must[[]lesson.Change](t)(s.History(ctx, l.ID))
	if len(history) != 2 || history[1].Kind != "edited" || history[1].Before.Patch == nil || *history[1].Before.Patch.Title != lessonTitles[0] || *history[1].After.Patch.Title != title {
		t.Errorf("history %+v", history)
	}
	if r := must[lesson.Reported](t)(s.Report(ctx, Draft(title))); !r.Duplicate || r.LessonID != l.ID {
		t.Errorf("reported under its new title: %+v", r)
	}
	other := reported(t, s, Draft(lessonTitles[1]))
	refuses(t, errs.Conflict, "title")(s.Edit(ctx, other.ID, lesson.Patch{Title: &title}))
	bad, long, none := learning.Severity("bad"), strings.Repeat("x", lesson.MaxText+1), ""
	nan, six := math.NaN(), 6
	for field, patch := range map[string]lesson.Patch{
		"severity": {Severity: &bad}, "context": {Context: &long}, "title": {Title: &none}, "category": {Category: &none},
		"transferability": {Transferability: &six},
	} {
		_, err := s.Edit(ctx, other.ID, patch)
		if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge {
			t.Errorf("%s: %v", field, err)
			continue
		}
		refused(t, err, errs.CodeOf(err), field)
	}
	if _, err := s.Edit(ctx, other.ID, lesson.Patch{Confidence: &nan}); err == nil {
		t.Error("a confidence of NaN was taken")
	}
}

func retireLesson(t *testing.T, ctx context.Context, s lesson.Service) {
	old, next := reported(t, s, Draft(lessonTitles[0])), reported(t, s, Draft(lessonTitles[1]))
	for field, draft := range map[string]lesson.RetirementDraft{
		"reason":        {},
		"superseded_by": {Reason: "x", SupersededBy: "nobody"},
	} {
		refuses(t, errs.Invalid, field)(s.Retire(ctx, old.ID, draft))
	}
	refuses(t, errs.Invalid, "superseded_by")(s.Retire(ctx, old.ID, lesson.RetirementDraft{Reason: "x", SupersededBy: old.ID}))
	got := must[lesson.Lesson](t)(s.Retire(ctx, old.ID, lesson.RetirementDraft{Reason: "reworded", SupersededBy: fmt.Sprint(next.Number), By: "Damon W."}))
	if got.Status != lesson.StatusRetired || got.SupersededBy != next.ID || got.RetiredReason != "reworded" || got.RetiredAt == nil {
		t.Errorf("%+v", got)
	}
	refuses(t, errs.Conflict, "")(s.Retire(ctx, old.ID, lesson.RetirementDraft{Reason: "again"}))
	refuses(t, errs.Invalid, "superseded_by")(s.Retire(ctx, next.ID, lesson.RetirementDraft{Reason: "round", SupersededBy: old.ID}))
	if found := must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: lessonTitles[0]})); slices.ContainsFunc(found.Results, func(h lesson.Hit) bool { return h.ID == old.ID }) {
		t.Error("a retired lesson is answered")
	}
	got = must[lesson.Lesson](t)(s.Restore(ctx, old.ID, "it was right"))
	if got.Status != lesson.StatusCandidate || got.SupersededBy != "" || got.RetiredAt != nil || got.RetiredReason != "" {
		t.Errorf("%+v", got)
	}
	refuses(t, errs.Conflict, "")(s.Restore(ctx, old.ID, ""))
	if found := must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: lessonTitles[0]})); found.Count == 0 || found.Results[0].ID != old.ID {
		t.Errorf("a restored lesson is not found: %+v", found)
	}
	kinds := []string{}
	for _, c := range must[[]lesson.Change](t)(s.History(ctx, old.ID)) {
		kinds = append(kinds, c.Kind+" "+c.Note)
	}
	if !slices.Equal(kinds, []string{"reported ", "retired reworded (superseded by " + next.ID + ")", "restored it was right"}) {
		t.Errorf("history %q", kinds)
	}
}

func retiredRecurs(t *testing.T, ctx context.Context, s lesson.Service) {
	old, next := reported(t, s, Draft(lessonTitles[0])), reported(t, s, Draft(lessonTitles[1]))
	must[lesson.Lesson](t)(s.Retire(ctx, old.ID, lesson.RetirementDraft{Reason: "fixed"}))
	r := must[lesson.Reported](t)(s.Report(ctx, Draft(lessonTitles[0])))
	got := must[lesson.Lesson](t)(s.Lesson(ctx, old.ID))
	if !r.Duplicate || r.LessonID != old.ID || got.Status != lesson.StatusCandidate || got.Occurrences != 2 || len(r.Notes) == 0 {
		t.Errorf("%+v, %+v", r, got)
	}
	if found := must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: lessonTitles[0]})); found.Count == 0 || found.Results[0].ID != old.ID {
		t.Errorf("it is not found: %+v", found)
	}
	must[lesson.Lesson](t)(s.Retire(ctx, old.ID, lesson.RetirementDraft{Reason: "reworded", SupersededBy: next.ID}))
	r = must[lesson.Reported](t)(s.Report(ctx, Draft(lessonTitles[0])))
	if r.LessonID != next.ID || !r.Duplicate || r.Occurrences != 2 {
		t.Errorf("the successor is not counted: %+v", r)
	}
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, old.ID)); got.Status != lesson.StatusRetired || got.Occurrences != 2 {
		t.Errorf("%+v", got)
	}
	dead := Draft(lessonTitles[2])
	dead.ID, dead.Status = "dead", lesson.StatusRetired
	for range 2 { // an import sent twice restores nothing
		must[lesson.Reported](t)(s.Report(ctx, dead))
	}
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, "dead")); got.Status != lesson.StatusRetired || got.RetiredAt == nil {
		t.Errorf("%+v", got)
	}
}

func listLessons(t *testing.T, ctx context.Context, s lesson.Service) {
	var lessons []lesson.Lesson
	for i := range 7 {
		d := distinct(i)
		d.ID = fmt.Sprint("l", i)
		if i == 3 {
			d.Type, d.Domain, d.Category, d.Severity, d.Project, d.Tags = learning.LessonSuccess, "security", "tls", learning.SeverityHigh, "p", []string{"Cert"}
			d.SourceAgent, d.Confidence, d.Level = "AEGIS", confidence(0.2), lesson.LevelPrinciple
		}
		lessons = append(lessons, reported(t, s, d))
	}
	must[lesson.Lesson](t)(s.Retire(ctx, "l5", lesson.RetirementDraft{Reason: "x"}))
	var ids []string
	filter := lesson.Filter{Limit: 3}
	for {
		page := must[lesson.Page](t)(s.List(ctx, filter))
		for _, l := range page.Lessons {
			ids = append(ids, l.ID)
		}
		if page.Count != len(page.Lessons) {
			t.Errorf("count %d of %d", page.Count, len(page.Lessons))
		}
		if filter.Cursor = page.Next; filter.Cursor == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "l6 l4 l3 l2 l1 l0" {
		t.Errorf("pages: %s", got)
	}
	for name, c := range map[string]struct {
		filter lesson.Filter
		want   string
	}{
		"type":       {lesson.Filter{Type: learning.LessonSuccess}, "l3"},
		"domain":     {lesson.Filter{Domain: "security"}, "l3"},
		"category":   {lesson.Filter{Category: "tls"}, "l3"},
		"severity":   {lesson.Filter{Severity: learning.SeverityHigh}, "l3"},
		"level":      {lesson.Filter{Level: lesson.LevelPrinciple}, "l3"},
		"agent":      {lesson.Filter{SourceAgent: "AEGIS"}, "l3"},
		"project":    {lesson.Filter{Project: "p"}, "l3"},
		"tag":        {lesson.Filter{Tag: "cert"}, "l3"},
		"retired":    {lesson.Filter{Statuses: []lesson.Status{lesson.StatusRetired}}, "l5"},
		"confidence": {lesson.Filter{MinConfidence: 0.5, Statuses: lesson.Statuses()}, "l6 l5 l4 l2 l1 l0"},
		"since":      {lesson.Filter{Since: lessons[6].CreatedAt.Add(time.Hour)}, ""},
	} {
		page := must[lesson.Page](t)(s.List(ctx, c.filter))
		ids := []string{}
		for _, l := range page.Lessons {
			ids = append(ids, l.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for field, filter := range map[string]lesson.Filter{
		"lesson_type": {Type: "x"}, "severity": {Severity: "x"}, "level": {Level: "x"}, "status": {Statuses: []lesson.Status{"x"}},
		"cursor": {Cursor: "x"}, "limit": {Limit: learning.MaxLimit + 1}, "min_confidence": {MinConfidence: 2},
	} {
		refuses(t, errs.Invalid, field)(s.List(ctx, filter))
	}
}

func relevantLessons(t *testing.T, ctx context.Context, s lesson.Service) {
	for i, title := range lessonTitles {
		d := Draft(title)
		d.ID = fmt.Sprint("l", i)
		if i%2 == 1 {
			d.Domain = "web"
		}
		must[lesson.Reported](t)(s.Report(ctx, d))
	}
	found := must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: "the login page redirects in a loop", Explain: true}))
	if found.Count == 0 || found.Count != len(found.Results) || found.Results[0].ID != "l1" {
		t.Fatalf("%+v", found)
	}
	for _, hit := range found.Results {
		if hit.Similarity <= 0 || hit.Similarity > 1 || hit.Recency <= 0 || hit.Recency > 1 || math.Abs(hit.Score-(0.7*hit.Similarity+0.3*hit.Recency)) > 1e-9 || hit.Confidence <= 0 {
			t.Errorf("%+v", hit)
		}
		if len(hit.Why) == 0 {
			t.Errorf("%s is not explained", hit.ID)
		}
	}
	// What one works on goes first, with a reason, and another project's is marked.
	here, there := Draft("Rotate the signing keys of the gateway"), Draft("Rotate the signing keys of the gateway weekly")
	here.Project, there.Project = "shop", "bank"
	for _, d := range []*lesson.Draft{&there, &here} {
		d.ID = "of-" + d.Project
		must[lesson.Reported](t)(s.Report(ctx, *d))
	}
	for _, project := range []string{"shop", "bank"} {
		mine := must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: "rotate the signing keys of the gateway", PreferProject: project, Explain: true}))
		if mine.Count < 2 || mine.Results[0].Project != project {
			t.Fatalf("in %s: %+v", project, mine.Results)
		}
		for _, hit := range mine.Results[:2] {
			lane, sum := "other project", 0.0
			if hit.Project == project {
				lane = "project"
			}
			if !slices.ContainsFunc(hit.Why, func(r learning.Reason) bool { return r.Lane == lane && r.Term == hit.Project }) {
				t.Errorf("in %s, no reason %q of %+v", project, lane, hit)
			}
			for _, r := range hit.Why {
				sum += r.Weight
			}
			if math.Abs(sum-hit.Score) > 1e-9 {
				t.Errorf("the reasons of %s add up to %f, not %f", hit.ID, sum, hit.Score)
			}
		}
	}
	no := false
	found = must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: "the login page redirects in a loop", Domain: "infrastructure", CrossDomain: &no}))
	if slices.ContainsFunc(found.Results, func(h lesson.Hit) bool { return h.Domain != "infrastructure" }) {
		t.Errorf("of another domain: %+v", found)
	}
	if found = must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: "xyzzy plugh"})); found.Count != 0 || found.Results == nil {
		t.Errorf("%+v", found)
	}
	if found = must[lesson.Results](t)(s.Relevant(ctx, lesson.Query{Context: strings.Join(lessonTitles, " "), Limit: 2})); found.Count != 2 {
		t.Errorf("%d results", found.Count)
	}
	refuses(t, errs.Invalid, "context")(s.Relevant(ctx, lesson.Query{Context: " "}))
	refuses(t, errs.Invalid, "max_results")(s.Relevant(ctx, lesson.Query{Context: "x", Limit: learning.MaxLimit + 1}))
}

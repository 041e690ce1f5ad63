package learningtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// distinct returns a lesson's draft whose words are nobody else's, for any i.
func distinct(i int) lesson.Draft {
	word := func(k int) string {
		n := uint64(i*31+k*7_919+1) * 0x9e3779b97f4a7c15
		letters := make([]byte, 9)
		for j := range letters {
			letters[j] = byte('a' + n%26)
			n /= 26
		}
		return string(letters)
	}
	draft := Draft(word(1) + " " + word(2) + " " + word(3))
	draft.Context, draft.Action, draft.Outcome = word(4)+" "+word(5), word(6)+" "+word(7), word(8)+" "+word(9)
	return draft
}

func bulkLessons(t *testing.T, ctx context.Context, s lesson.Service) {
	const n = 600
	bad := map[int]string{7: "lesson_type", 300: "confidence", 599: "title"}
	drafts := make([]lesson.Draft, n)
	for i := range drafts {
		drafts[i] = distinct(i)
		drafts[i].ID = fmt.Sprint("bulk-", i)
	}
	drafts[7].Type, drafts[300].Confidence, drafts[599].Title = "mistake", confidence(1.7), ""
	for round := range 2 {
		result := must[lesson.BulkReported](t)(s.ReportAll(ctx, drafts))
		if result.Processed != n-3 || len(result.Results) != n-3 || result.RefusedCount != 3 || result.Duplicates != round*(n-3) {
			t.Fatalf("round %d: %d processed, %d duplicates, refused %+v", round, result.Processed, result.Duplicates, result.Refused)
		}
		for i, r := range result.Refused {
			if bad[r.Index] != r.Field || r.Error == "" || i > 0 && r.Index < result.Refused[i-1].Index {
				t.Errorf("refused %+v", r)
			}
		}
		last := -1
		for _, o := range result.Results {
			if o.Index <= last || o.LessonID != drafts[o.Index].ID || o.Duplicate != (round == 1) || o.Status != "recorded" {
				t.Fatalf("round %d: result %+v after index %d", round, o, last)
			}
			last = o.Index
		}
	}
	count, cursor := 0, ""
	for {
		page := must[lesson.Page](t)(s.List(ctx, lesson.Filter{Limit: 200, Cursor: cursor}))
		count += page.Count
		for _, l := range page.Lessons {
			if l.Occurrences != 2 {
				t.Errorf("%s occurred %d times", l.ID, l.Occurrences)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if count != n-3 {
		t.Errorf("%d are stored", count)
	}
	twice := must[lesson.BulkReported](t)(s.ReportAll(ctx, []lesson.Draft{Draft(lessonTitles[0]), Draft(lessonTitles[1]), Draft(lessonTitles[0])}))
	if twice.Duplicates != 1 || twice.Results[2].LessonID != twice.Results[0].LessonID || twice.Results[2].Occurrences != 2 {
		t.Errorf("twice in one call: %+v", twice)
	}
	none := must[lesson.BulkReported](t)(s.ReportAll(ctx, nil))
	if none.Processed != 0 || none.Results == nil || none.Refused == nil {
		t.Errorf("none: %+v", none)
	}
}

func bulkSources(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := func(i int, id string, sources ...string) lesson.Draft {
		d := distinct(i)
		d.ID, d.SourceCaseIDs = id, sources
		return d
	}
	must[lesson.Reported](t)(s.Report(ctx, draft(0, "stored")))
	twin := distinct(0)
	twin.ID = "twin" // the same title as what is stored
	bad := draft(20, "bad")
	bad.Severity = "terrible"
	result := must[lesson.BulkReported](t)(s.ReportAll(ctx, []lesson.Draft{
		0:  draft(1, "top", "middle", "stored"), // stands before what it draws on
		1:  draft(2, "middle", "bottom"),
		2:  draft(3, "bottom"),
		3:  draft(4, "circle-a", "circle-b"),
		4:  draft(5, "circle-b", "circle-c"),
		5:  draft(6, "circle-c", "circle-a"),
		6:  draft(7, "self", "self"),
		7:  draft(8, "unknown", "nobody"),
		8:  draft(9, "on-a-circle", "circle-a"),
		9:  bad,
		10: draft(10, "on-bad", "bad"),
		11: draft(11, "by-number", "1"),
		12: draft(12, "on-twin", "twin"),
		13: twin,
	}))
	var refusedAt []int
	for _, r := range result.Refused {
		refusedAt = append(refusedAt, r.Index)
		if want := "source_case_ids"; r.Field != want && r.Index != 9 {
			t.Errorf("refused %+v", r)
		}
	}
	if !slices.Equal(refusedAt, []int{3, 4, 5, 6, 7, 8, 9, 10}) || result.Processed != 6 {
		t.Errorf("refused %v, %d processed", refusedAt, result.Processed)
	}
	for id, want := range map[string][]string{"top": {"middle", "stored"}, "middle": {"bottom"}, "by-number": {"stored"}, "on-twin": {"stored"}} {
		if got := must[lesson.Lesson](t)(s.Lesson(ctx, id)); !slices.Equal(got.SourceCaseIDs, want) {
			t.Errorf("%s draws on %v, want %v", id, got.SourceCaseIDs, want)
		}
	}
}

// bulkOfItself reports in one call what names, and happens again of, what the call itself reports.
func bulkOfItself(t *testing.T, ctx context.Context, s lesson.Service) {
	drafts := []lesson.Draft{0: distinct(0), 1: distinct(1), 2: distinct(0), 3: distinct(2), 4: distinct(3), 5: distinct(1), 6: distinct(4)}
	drafts[3].SourceCaseIDs = []string{"2"}
	result := must[lesson.BulkReported](t)(s.ReportAll(ctx, drafts))
	var numbers []int64
	for _, r := range result.Results {
		numbers = append(numbers, r.Number)
	}
	if want := []int64{1, 2, 1, 3, 4, 2, 5}; !slices.Equal(numbers, want) || result.Duplicates != 2 || result.RefusedCount != 0 {
		t.Fatalf("numbers %v, want %v; %d duplicates, refused %+v", numbers, want, result.Duplicates, result.Refused)
	}
	for number, occurrences := range map[int]int64{1: 2, 2: 2, 3: 1, 4: 1, 5: 1} {
		got := must[lesson.Lesson](t)(s.Lesson(ctx, fmt.Sprint(number)))
		if got.Number != int64(number) || got.Occurrences != occurrences || number == 3 && !slices.Equal(got.SourceCaseIDs, []string{result.Results[1].LessonID}) {
			t.Errorf("lesson %d: %+v", number, got)
		}
	}
}

func lessonSources(t *testing.T, ctx context.Context, s lesson.Service) {
	draft := func(i int, id string, sources ...string) lesson.Draft {
		d := distinct(i)
		d.ID, d.SourceCaseIDs = id, sources
		return d
	}
	must[lesson.Reported](t)(s.Report(ctx, draft(1, "a")))
	must[lesson.Reported](t)(s.Report(ctx, draft(2, "b", "a")))
	must[lesson.Reported](t)(s.Report(ctx, draft(3, "c", "b", "2"))) // the number of b: the same source
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, "c")); !slices.Equal(got.SourceCaseIDs, []string{"b"}) {
		t.Errorf("%v", got.SourceCaseIDs)
	}
	refuses(t, errs.Invalid, "source_case_ids")(s.Report(ctx, draft(1, "a", "c"))) // a occurs again, and would draw on what draws on it
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, "a")); got.Occurrences != 1 || len(got.SourceCaseIDs) != 0 {
		t.Errorf("%+v", got)
	}
	must[lesson.Reported](t)(s.Report(ctx, draft(4, "d")))
	must[lesson.Reported](t)(s.Report(ctx, draft(1, "a", "d")))
	if got := must[lesson.Lesson](t)(s.Lesson(ctx, "a")); got.Occurrences != 2 || !slices.Equal(got.SourceCaseIDs, []string{"d"}) {
		t.Errorf("%+v", got)
	}
}

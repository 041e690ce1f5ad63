package mcpserver_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// houseLessons is the lesson service in memory, as small as the tools' tests need it.
type houseLessons struct {
	house *house

	mu   sync.Mutex
	list []lesson.Lesson
}

func (h *houseLessons) find(ref string) (*lesson.Lesson, error) {
	for i := range h.list {
		if h.list[i].ID == ref || strconv.FormatInt(h.list[i].Number, 10) == ref {
			return &h.list[i], nil
		}
	}
	return nil, errs.Errorf(errs.NotFound, "there is no lesson %q", ref)
}

func (h *houseLessons) Report(ctx context.Context, d lesson.Draft) (lesson.Reported, error) {
	if err := h.house.enter(ctx, d.Title); err != nil {
		return lesson.Reported{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.list {
		if l := &h.list[i]; l.Title == d.Title && l.Domain == d.Domain {
			l.Occurrences++
			return lesson.Reported{LessonID: l.ID, Number: l.Number, Status: "recorded", Duplicate: true, Occurrences: l.Occurrences, EscalatedTo: []string{}}, nil
		}
	}
	n := int64(len(h.list) + 1)
	l := lesson.Lesson{
		ID: fmt.Sprintf("l%d", n), Number: n, Type: d.Type, Domain: d.Domain, Category: d.Category, Title: d.Title, Context: d.Context,
		Action: d.Action, Outcome: d.Outcome, RootCause: d.RootCause, Solution: d.Solution, Alternatives: d.Alternatives, Severity: d.Severity,
		Tags: d.Tags, RelatedCommands: d.RelatedCommands, Project: d.Project, SourceAgent: d.SourceAgent, Trust: learning.TrustAgent,
		Level: lesson.LevelCase, Status: lesson.StatusCandidate, Confidence: 0.8, Occurrences: 1, CreatedAt: noon,
	}
	h.list = append(h.list, l)
	return lesson.Reported{
		LessonID: l.ID, Number: n, Status: "recorded", Occurrences: 1, Patterns: 1, EscalatedTo: []string{"ARIA"},
		Redacted: []string{"github-token"}, Notes: []string{"the rule can only warn"},
	}, nil
}

func (h *houseLessons) Relevant(ctx context.Context, q lesson.Query) (lesson.Results, error) {
	if err := h.house.enter(ctx, q.Context); err != nil {
		return lesson.Results{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	found := lesson.Results{Results: []lesson.Hit{}}
	for _, l := range h.list {
		if strings.Contains(l.Title+l.Context, q.Context) && (q.Limit == 0 || len(found.Results) < q.Limit) {
			found.Results = append(found.Results, lesson.Hit{Lesson: l, Similarity: 1, Recency: 0.5, Score: 0.85})
		}
	}
	found.Count = len(found.Results)
	return found, nil
}

func (h *houseLessons) Lesson(_ context.Context, ref string) (lesson.Lesson, error) {
	return h.change(ref, func(*lesson.Lesson) {})
}

func (h *houseLessons) List(_ context.Context, f lesson.Filter) (lesson.Page, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	page := lesson.Page{Lessons: []lesson.Lesson{}}
	for _, l := range h.list {
		if f.Domain == "" || f.Domain == l.Domain {
			page.Lessons = append(page.Lessons, l)
		}
	}
	page.Count = len(page.Lessons)
	return page, nil
}

func (h *houseLessons) change(ref string, do func(l *lesson.Lesson)) (lesson.Lesson, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := h.find(ref)
	if err != nil {
		return lesson.Lesson{}, err
	}
	do(l)
	return *l, nil
}

func (h *houseLessons) Validate(_ context.Context, ref string, d lesson.ValidationDraft) (lesson.Lesson, error) {
	return h.change(ref, func(l *lesson.Lesson) { l.Status, l.ValidatedBy = lesson.StatusValidated, d.By })
}

func (h *houseLessons) Promote(_ context.Context, ref string, _ lesson.PromotionDraft) (lesson.Lesson, error) {
	return h.change(ref, func(l *lesson.Lesson) { l.Level = lesson.LevelPattern })
}

func (h *houseLessons) Retire(_ context.Context, ref string, d lesson.RetirementDraft) (lesson.Lesson, error) {
	return h.change(ref, func(l *lesson.Lesson) { l.Status, l.RetiredReason = lesson.StatusRetired, d.Reason })
}

func (h *houseLessons) Restore(_ context.Context, ref, _ string) (lesson.Lesson, error) {
	return h.change(ref, func(l *lesson.Lesson) { l.Status = lesson.StatusCandidate })
}

func (h *houseLessons) Review(context.Context, lesson.ReviewQuery) (lesson.Review, error) {
	return lesson.Review{
		Promotions: []lesson.Suggestion{{LessonID: "l1", Number: 1, Title: "T", From: lesson.LevelCase, To: lesson.LevelPattern, Evidence: []string{"l1", "l2"}, Why: "two cases"}},
		Stale:      []lesson.Stale{{LessonID: "l2", Number: 2, Title: "U", Level: lesson.LevelCase, Days: 120}},
	}, nil
}

func (h *houseLessons) History(_ context.Context, ref string) ([]lesson.Change, error) {
	l, err := h.change(ref, func(*lesson.Lesson) {})
	if err != nil {
		return nil, err
	}
	return []lesson.Change{{Seq: 1, LessonID: l.ID, Kind: "reported", Agent: l.SourceAgent, After: &lesson.Snapshot{Level: l.Level, Status: l.Status, Confidence: 0.8}, At: noon}}, nil
}

func (h *houseLessons) Apply(context.Context, string, lesson.ApplicationDraft) (lesson.Applied, error) {
	panic("no tool calls this")
}

func (h *houseLessons) Edit(context.Context, string, lesson.Patch) (lesson.Lesson, error) {
	panic("no tool calls this")
}

func (h *houseLessons) ReportAll(context.Context, []lesson.Draft) (lesson.BulkReported, error) {
	panic("no tool calls this")
}

package mcpserver_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"skillrouter"
	"skillrouter/learning"
)

// houseLessons is the lesson service in memory, as small as the tools' tests need it.
type houseLessons struct {
	house *house

	mu   sync.Mutex
	list []learning.Lesson
}

func (h *houseLessons) find(ref string) (*learning.Lesson, error) {
	for i := range h.list {
		if h.list[i].ID == ref || strconv.FormatInt(h.list[i].Number, 10) == ref {
			return &h.list[i], nil
		}
	}
	return nil, skillrouter.Errorf(skillrouter.NotFound, "there is no lesson %q", ref)
}

func (h *houseLessons) Report(ctx context.Context, d learning.LessonDraft) (learning.Reported, error) {
	if err := h.house.enter(ctx, d.Title); err != nil {
		return learning.Reported{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.list {
		if l := &h.list[i]; l.Title == d.Title && l.Domain == d.Domain {
			l.Occurrences++
			return learning.Reported{LessonID: l.ID, Number: l.Number, Status: "recorded", Duplicate: true, Occurrences: l.Occurrences, EscalatedTo: []string{}}, nil
		}
	}
	n := int64(len(h.list) + 1)
	l := learning.Lesson{
		ID: fmt.Sprintf("l%d", n), Number: n, Type: d.Type, Domain: d.Domain, Category: d.Category, Title: d.Title, Context: d.Context,
		Action: d.Action, Outcome: d.Outcome, RootCause: d.RootCause, Solution: d.Solution, Alternatives: d.Alternatives, Severity: d.Severity,
		Tags: d.Tags, RelatedCommands: d.RelatedCommands, Project: d.Project, SourceAgent: d.SourceAgent, Trust: learning.TrustAgent,
		Level: learning.LevelCase, Status: learning.StatusCandidate, Confidence: 0.8, Occurrences: 1, CreatedAt: noon,
	}
	h.list = append(h.list, l)
	return learning.Reported{
		LessonID: l.ID, Number: n, Status: "recorded", Occurrences: 1, Patterns: 1, EscalatedTo: []string{"ARIA"},
		Redacted: []string{"github-token"}, Notes: []string{"the rule can only warn"},
	}, nil
}

func (h *houseLessons) Relevant(ctx context.Context, q learning.LessonQuery) (learning.LessonResults, error) {
	if err := h.house.enter(ctx, q.Context); err != nil {
		return learning.LessonResults{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	found := learning.LessonResults{Results: []learning.LessonHit{}}
	for _, l := range h.list {
		if strings.Contains(l.Title+l.Context, q.Context) && (q.Limit == 0 || len(found.Results) < q.Limit) {
			found.Results = append(found.Results, learning.LessonHit{Lesson: l, Similarity: 1, Recency: 0.5, Score: 0.85})
		}
	}
	found.Count = len(found.Results)
	return found, nil
}

func (h *houseLessons) Lesson(_ context.Context, ref string) (learning.Lesson, error) {
	return h.change(ref, func(*learning.Lesson) {})
}

func (h *houseLessons) List(_ context.Context, f learning.LessonFilter) (learning.LessonPage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	page := learning.LessonPage{Lessons: []learning.Lesson{}}
	for _, l := range h.list {
		if f.Domain == "" || f.Domain == l.Domain {
			page.Lessons = append(page.Lessons, l)
		}
	}
	page.Count = len(page.Lessons)
	return page, nil
}

func (h *houseLessons) change(ref string, do func(l *learning.Lesson)) (learning.Lesson, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := h.find(ref)
	if err != nil {
		return learning.Lesson{}, err
	}
	do(l)
	return *l, nil
}

func (h *houseLessons) Validate(_ context.Context, ref string, d learning.ValidationDraft) (learning.Lesson, error) {
	return h.change(ref, func(l *learning.Lesson) { l.Status, l.ValidatedBy = learning.StatusValidated, d.By })
}

func (h *houseLessons) Promote(_ context.Context, ref string, _ learning.PromotionDraft) (learning.Lesson, error) {
	return h.change(ref, func(l *learning.Lesson) { l.Level = learning.LevelPattern })
}

func (h *houseLessons) Retire(_ context.Context, ref string, d learning.RetirementDraft) (learning.Lesson, error) {
	return h.change(ref, func(l *learning.Lesson) { l.Status, l.RetiredReason = learning.StatusRetired, d.Reason })
}

func (h *houseLessons) Restore(_ context.Context, ref, _ string) (learning.Lesson, error) {
	return h.change(ref, func(l *learning.Lesson) { l.Status = learning.StatusCandidate })
}

func (h *houseLessons) Review(context.Context, learning.ReviewQuery) (learning.Review, error) {
	return learning.Review{
		Promotions: []learning.Suggestion{{LessonID: "l1", Number: 1, Title: "T", From: learning.LevelCase, To: learning.LevelPattern, Evidence: []string{"l1", "l2"}, Why: "two cases"}},
		Stale:      []learning.StaleLesson{{LessonID: "l2", Number: 2, Title: "U", Level: learning.LevelCase, Days: 120}},
	}, nil
}

func (h *houseLessons) History(_ context.Context, ref string) ([]learning.LessonChange, error) {
	l, err := h.change(ref, func(*learning.Lesson) {})
	if err != nil {
		return nil, err
	}
	return []learning.LessonChange{{Seq: 1, LessonID: l.ID, Kind: "reported", Agent: l.SourceAgent, After: &learning.Snapshot{Level: l.Level, Status: l.Status, Confidence: 0.8}, At: noon}}, nil
}

func (h *houseLessons) Apply(context.Context, string, learning.ApplicationDraft) (learning.Applied, error) {
	panic("no tool calls this")
}

func (h *houseLessons) Edit(context.Context, string, learning.LessonPatch) (learning.Lesson, error) {
	panic("no tool calls this")
}

func (h *houseLessons) ReportAll(context.Context, []learning.LessonDraft) (learning.BulkReported, error) {
	panic("no tool calls this")
}

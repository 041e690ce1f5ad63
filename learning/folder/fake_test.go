package folder_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// router is a lesson.Service in memory, with the rules that a folder
// depends on: titles tell lessons of one domain, sources must be there.
type router struct {
	lesson.Service // nil: what is not overridden here is not called
	lessons        map[string]lesson.Lesson
	ids            []string
	clock          time.Time
	calls          map[string]int
	rewrite        func(*lesson.Lesson)     // what the router changes of what it is given
	refuse         func(title string) error // what it refuses
	anySource      bool                     // sources need not be there
	failing        error                    // what every call answers
	refuseID       string                   // which id it refuses to look for
	occurred       map[string]int           // reports of what was there
}

func newRouter() *router {
	return &router{
		lessons: map[string]lesson.Lesson{}, calls: map[string]int{}, occurred: map[string]int{},
		clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	}
}

func (r *router) tick() time.Time { r.clock = r.clock.Add(time.Second); return r.clock }

func (r *router) Report(_ context.Context, draft lesson.Draft) (lesson.Reported, error) {
	r.calls["report"]++
	if r.failing != nil {
		return lesson.Reported{}, r.failing
	}
	if r.refuse != nil {
		if err := r.refuse(draft.Title); err != nil {
			return lesson.Reported{}, err
		}
	}
	for _, field := range [][2]string{{"title", draft.Title}, {"domain", draft.Domain}, {"category", draft.Category}} {
		if err := check.Required(field[0], field[1], 1<<20); err != nil {
			return lesson.Reported{}, err
		}
	}
	for _, source := range draft.SourceCaseIDs {
		if _, ok := r.lessons[source]; !ok && !r.anySource {
			return lesson.Reported{}, errs.InvalidField("source_case_ids", "names %s, which is not there", source)
		}
	}
	for _, id := range r.ids {
		if old := r.lessons[id]; strings.EqualFold(old.Title, draft.Title) && old.Domain == draft.Domain || id == draft.ID {
			r.occurred[id]++
			return lesson.Reported{LessonID: id, Duplicate: true, Status: "recorded"}, nil
		}
	}
	now := r.tick()
	id := draft.ID
	if id == "" {
		id = fmt.Sprintf("given-%d", len(r.ids)+1)
	}
	l := lesson.Lesson{
		ID: id, Number: int64(len(r.ids) + 1), Type: draft.Type, Domain: draft.Domain, Category: draft.Category, Title: draft.Title,
		Context: draft.Context, Action: draft.Action, Outcome: draft.Outcome, RootCause: draft.RootCause, Solution: draft.Solution, Body: draft.Body,
		Alternatives: draft.Alternatives, Severity: draft.Severity, Tags: draft.Tags, SourceAgent: draft.SourceAgent, RelatedFiles: draft.RelatedFiles,
		RelatedCommands: draft.RelatedCommands, Contexts: draft.Contexts, TriggerPattern: draft.TriggerPattern, BlockAction: draft.BlockAction,
		Project: draft.Project, Level: draft.Level, Status: draft.Status, Transferability: draft.Transferability, SourceCaseIDs: draft.SourceCaseIDs,
		LastValidatedAt: draft.LastValidatedAt, CreatedAt: now, UpdatedAt: now, Occurrences: 1,
	}
	l.InitialConfidence, l.ConfidenceAt = *draft.Confidence, now
	if r.rewrite != nil {
		r.rewrite(&l)
	}
	r.lessons[id] = l
	r.ids = append(r.ids, id)
	return lesson.Reported{LessonID: id, Status: "recorded"}, nil
}

// ReportAll takes drafts in the order of their sources, and by the ids that their call gives them, as a lesson.Service does.
func (r *router) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	var out lesson.BulkReported
	if r.failing != nil {
		return out, r.failing
	}
	aliases := map[string]string{}
	order, cyclic := lesson.SourceOrder(drafts)
	for _, i := range order {
		if cyclic[i] {
			out.Refused = append(out.Refused, learning.Refusal{Index: i, Field: "source_case_ids", Error: "would make the lesson its own ancestor"})
			continue
		}
		draft := drafts[i]
		draft.SourceCaseIDs = slices.Clone(draft.SourceCaseIDs)
		for j, source := range draft.SourceCaseIDs {
			draft.SourceCaseIDs[j] = cmp.Or(aliases[source], source)
		}
		reported, err := r.Report(ctx, draft)
		if err != nil {
			out.Refused = append(out.Refused, learning.Refusal{Index: i, Field: errs.FieldOf(err), Error: errs.MessageOf(err)})
			continue
		}
		if draft.ID != "" && reported.LessonID != draft.ID {
			aliases[draft.ID] = reported.LessonID
		}
		out.Results = append(out.Results, lesson.BulkOutcome{Index: i, Reported: reported})
	}
	return out, nil
}

func (r *router) Lesson(_ context.Context, ref string) (lesson.Lesson, error) {
	if ref == r.refuseID {
		return lesson.Lesson{}, errs.InvalidField("lesson_id", "is not wanted")
	}
	lesson, ok := r.lessons[ref]
	if !ok {
		return lesson, errs.Errorf(errs.NotFound, "there is no lesson %s", ref)
	}
	return lesson, nil
}

func (r *router) List(_ context.Context, filter lesson.Filter) (lesson.Page, error) {
	if r.failing != nil {
		return lesson.Page{}, r.failing
	}
	if filter.Level == "" && len(filter.Statuses) != len(lesson.Statuses()) {
		return lesson.Page{}, errs.InvalidField("status", "leaves out some")
	}
	const page = 3 // so that there are several
	newest := slices.Clone(r.ids)
	newest = slices.DeleteFunc(newest, func(id string) bool { return filter.Level != "" && r.lessons[id].Level != filter.Level })
	slices.Reverse(newest)
	begin := 0
	_, _ = fmt.Sscan(filter.Cursor, &begin)
	out := lesson.Page{}
	for i := begin; i < min(begin+page, len(newest)); i++ {
		out.Lessons = append(out.Lessons, r.lessons[newest[i]])
	}
	if begin+page < len(newest) {
		out.Next = fmt.Sprint(begin + page)
	}
	return out, nil
}

func (r *router) put(lesson lesson.Lesson) lesson.Lesson {
	lesson.UpdatedAt = r.tick()
	if r.rewrite != nil {
		r.rewrite(&lesson)
	}
	r.lessons[lesson.ID] = lesson
	return lesson
}

// change edits a lesson as somebody else would.
func (r *router) change(id string, by func(*lesson.Lesson)) {
	lesson := r.lessons[id]
	by(&lesson)
	r.put(lesson)
}

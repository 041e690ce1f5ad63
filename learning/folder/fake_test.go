package folder_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

// router is a learning.LessonService in memory, with the rules that a folder
// depends on: titles tell lessons of one domain, sources must be there.
type router struct {
	learning.LessonService // nil: what is not overridden here is not called
	lessons                map[string]learning.Lesson
	ids                    []string
	clock                  time.Time
	calls                  map[string]int
	rewrite                func(*learning.Lesson)      // what the router changes of what it is given
	refuse                 func(title string) error    // what it refuses
	refuseLevel            learning.Level              // and which level, as for one who is no captain
	failing                error                       // what every call answers
	occurred               map[string]int              // reports of what was there
	relevant               func() []learning.LessonHit // what Relevant answers
}

func newRouter() *router {
	return &router{
		lessons: map[string]learning.Lesson{}, calls: map[string]int{}, occurred: map[string]int{},
		clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	}
}

func (r *router) tick() time.Time { r.clock = r.clock.Add(time.Second); return r.clock }

func (r *router) Report(_ context.Context, draft learning.LessonDraft) (learning.Reported, error) {
	r.calls["report"]++
	if r.failing != nil {
		return learning.Reported{}, r.failing
	}
	if r.refuseLevel != "" && draft.Level == r.refuseLevel {
		return learning.Reported{}, &skillrouter.Error{Code: skillrouter.Forbidden, Field: "level", Message: "only a captain may"}
	}
	if r.refuse != nil {
		if err := r.refuse(draft.Title); err != nil {
			return learning.Reported{}, err
		}
	}
	for _, field := range [][2]string{{"title", draft.Title}, {"domain", draft.Domain}, {"category", draft.Category}} {
		if err := skillrouter.CheckRequired(field[0], field[1], 1<<20); err != nil {
			return learning.Reported{}, err
		}
	}
	for _, source := range draft.SourceCaseIDs {
		if _, ok := r.lessons[source]; !ok {
			return learning.Reported{}, skillrouter.InvalidField("source_case_ids", "names %s, which is not there", source)
		}
	}
	for _, id := range r.ids {
		if old := r.lessons[id]; strings.EqualFold(old.Title, draft.Title) && old.Domain == draft.Domain || id == draft.ID {
			r.occurred[id]++
			return learning.Reported{LessonID: id, Duplicate: true, Status: "recorded"}, nil
		}
	}
	now := r.tick()
	id := draft.ID
	if id == "" {
		id = fmt.Sprintf("given-%d", len(r.ids)+1)
	}
	lesson := learning.Lesson{
		ID: id, Number: int64(len(r.ids) + 1), Type: draft.Type, Domain: draft.Domain, Category: draft.Category, Title: draft.Title,
		Context: draft.Context, Action: draft.Action, Outcome: draft.Outcome, RootCause: draft.RootCause, Solution: draft.Solution, Body: draft.Body,
		Alternatives: draft.Alternatives, Severity: draft.Severity, Tags: draft.Tags, SourceAgent: draft.SourceAgent, RelatedFiles: draft.RelatedFiles,
		RelatedCommands: draft.RelatedCommands, Contexts: draft.Contexts, TriggerPattern: draft.TriggerPattern, BlockAction: draft.BlockAction,
		Project: draft.Project, Level: draft.Level, Status: draft.Status, Transferability: draft.Transferability, SourceCaseIDs: draft.SourceCaseIDs,
		LastValidatedAt: draft.LastValidatedAt, CreatedAt: now, UpdatedAt: now, Occurrences: 1,
	}
	lesson.InitialConfidence, lesson.ConfidenceAt = *draft.Confidence, now
	if r.rewrite != nil {
		r.rewrite(&lesson)
	}
	r.lessons[id] = lesson
	r.ids = append(r.ids, id)
	return learning.Reported{LessonID: id, Status: "recorded"}, nil
}

func (r *router) ReportAll(ctx context.Context, drafts []learning.LessonDraft) (learning.BulkReported, error) {
	var out learning.BulkReported
	if r.failing != nil {
		return out, r.failing
	}
	for i, draft := range drafts {
		reported, err := r.Report(ctx, draft)
		if err != nil {
			out.Refused = append(out.Refused, learning.Refusal{Index: i, Field: skillrouter.FieldOf(err), Error: skillrouter.MessageOf(err)})
			continue
		}
		out.Results = append(out.Results, learning.BulkOutcome{Index: i, Reported: reported})
	}
	return out, nil
}

func (r *router) Lesson(_ context.Context, ref string) (learning.Lesson, error) {
	lesson, ok := r.lessons[ref]
	if !ok {
		return lesson, skillrouter.Errorf(skillrouter.NotFound, "there is no lesson %s", ref)
	}
	return lesson, nil
}

func (r *router) List(_ context.Context, filter learning.LessonFilter) (learning.LessonPage, error) {
	if r.failing != nil {
		return learning.LessonPage{}, r.failing
	}
	if filter.Level == "" && len(filter.Statuses) != len(learning.LessonStatuses()) {
		return learning.LessonPage{}, skillrouter.InvalidField("status", "leaves out some")
	}
	const page = 3 // so that there are several
	newest := slices.Clone(r.ids)
	newest = slices.DeleteFunc(newest, func(id string) bool { return filter.Level != "" && r.lessons[id].Level != filter.Level })
	slices.Reverse(newest)
	begin := 0
	_, _ = fmt.Sscan(filter.Cursor, &begin)
	out := learning.LessonPage{}
	for i := begin; i < min(begin+page, len(newest)); i++ {
		out.Lessons = append(out.Lessons, r.lessons[newest[i]])
	}
	if begin+page < len(newest) {
		out.Next = fmt.Sprint(begin + page)
	}
	return out, nil
}

func (r *router) Edit(_ context.Context, ref string, p learning.LessonPatch) (learning.Lesson, error) {
	r.calls["edit"]++
	lesson := r.lessons[ref]
	if p.Expect != nil && !p.Expect.Equal(lesson.UpdatedAt) {
		return lesson, skillrouter.Errorf(skillrouter.Conflict, "the lesson changed meanwhile")
	}
	for _, s := range []struct{ to, from *string }{
		{&lesson.Category, p.Category},
		{&lesson.Title, p.Title},
		{&lesson.Context, p.Context},
		{&lesson.Action, p.Action},
		{&lesson.Outcome, p.Outcome},
		{&lesson.RootCause, p.RootCause},
		{&lesson.Solution, p.Solution},
		{&lesson.Body, p.Body},
		{&lesson.TriggerPattern, p.TriggerPattern},
	} {
		if s.from != nil {
			*s.to = *s.from
		}
	}
	for _, s := range []struct{ to, from *[]string }{
		{&lesson.Alternatives, p.Alternatives}, {&lesson.Tags, p.Tags}, {&lesson.RelatedFiles, p.RelatedFiles}, {&lesson.RelatedCommands, p.RelatedCommands},
	} {
		if s.from != nil {
			*s.to = *s.from
		}
	}
	if p.Severity != nil {
		lesson.Severity = *p.Severity
	}
	if p.BlockAction != nil {
		lesson.BlockAction = *p.BlockAction
	}
	if p.Transferability != nil {
		lesson.Transferability = *p.Transferability
	}
	if p.Confidence != nil {
		lesson.InitialConfidence = *p.Confidence
	}
	if p.LastValidatedAt != nil {
		lesson.LastValidatedAt = p.LastValidatedAt
	}
	return r.put(lesson), nil
}

func (r *router) put(lesson learning.Lesson) learning.Lesson {
	lesson.UpdatedAt = r.tick()
	if r.rewrite != nil {
		r.rewrite(&lesson)
	}
	r.lessons[lesson.ID] = lesson
	return lesson
}

func (r *router) Validate(_ context.Context, ref string, _ learning.ValidationDraft) (learning.Lesson, error) {
	lesson := r.lessons[ref]
	now := r.tick()
	lesson.Status, lesson.LastValidatedAt, lesson.InitialConfidence = learning.StatusValidated, &now, 0.95
	return r.put(lesson), nil
}

func (r *router) Promote(_ context.Context, ref string, _ learning.PromotionDraft) (learning.Lesson, error) {
	r.calls["promote"]++
	lesson := r.lessons[ref]
	lesson.Level = learning.LevelPrinciple
	return r.put(lesson), nil
}

func (r *router) Retire(_ context.Context, ref string, _ learning.RetirementDraft) (learning.Lesson, error) {
	r.calls["retire"]++
	lesson := r.lessons[ref]
	lesson.Status = learning.StatusRetired
	return r.put(lesson), nil
}

func (r *router) Relevant(context.Context, learning.LessonQuery) (learning.LessonResults, error) {
	r.calls["relevant"]++
	if r.failing != nil {
		return learning.LessonResults{}, r.failing
	}
	return learning.LessonResults{Results: r.relevant()}, nil
}

// change edits a lesson as somebody else would.
func (r *router) change(id string, by func(*learning.Lesson)) {
	lesson := r.lessons[id]
	by(&lesson)
	r.put(lesson)
}

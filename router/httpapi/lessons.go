package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter"
	"skillrouter/learning"
)

const lessonsPath = "/lessons"

// maxLesson bounds one lesson, in bytes of JSON. All its texts and lists at
// their longest are 4 MiB, and twice that with the escapes of any text that
// people write; the rest is room for one that is too long to be refused by name.
const maxLesson = 16 << 20

// lessonRef is the lesson in the path. Any id can be reached: "/" as %2F, "%" as %25.
type lessonRef struct {
	ID string `path:"id" doc:"The lesson's id, percent-encoded as one segment of the path, or its number"`
}

// lessonSelection selects a page of lessons.
type lessonSelection struct {
	Type          learning.LessonType     `query:"lesson_type"`
	Domain        string                  `query:"domain"`
	Category      string                  `query:"category"`
	Severity      learning.Severity       `query:"severity"`
	Level         learning.Level          `query:"level"`
	Status        []learning.LessonStatus `query:"status" doc:"Separated by commas; none: all but retired"`
	SourceAgent   string                  `query:"source_agent"`
	Project       string                  `query:"project"`
	Tag           string                  `query:"tag"`
	MinConfidence float64                 `query:"min_confidence" doc:"Of what is left of the confidence now"`
	Since         time.Time               `query:"since" doc:"Reported not before this time"`
	Cursor        string                  `query:"cursor" doc:"The answer's next of the page before"`
	Limit         int                     `query:"limit" doc:"1 to 200; 0: 50"`
}

// Validation is the body, or the query, of POST /lessons/{id}/validate: seed
// 000's three, and the judgement in more words than yes and no.
type Validation struct {
	Validated *bool                   `json:"validated,omitempty" doc:"true: confirmed; false: refuted. Required unless validation_type says it"`
	By        string                  `json:"validated_by,omitempty" doc:"Default: the token's agent"`
	Notes     string                  `json:"notes,omitempty"`
	Type      learning.ValidationType `json:"validation_type,omitempty" doc:"confirmed, refuted, partial or outdated"`
}

// validationInput takes the judgement from the query, as seed 000's clients
// send it, or from the body.
type validationInput struct {
	lessonRef
	Validated string                  `query:"validated" doc:"true or false"`
	By        string                  `query:"validated_by"`
	Notes     string                  `query:"notes"`
	Type      learning.ValidationType `query:"validation_type"`
	Body      *Validation
}

// Validated is the answer of POST /lessons/{id}/validate.
type Validated struct {
	Status     string          `json:"status" doc:"validated or invalidated"`
	LessonID   string          `json:"lesson_id"`
	Confidence float64         `json:"confidence" doc:"As the judgement left it"`
	Lesson     learning.Lesson `json:"lesson"`
}

// ReportedLesson is the answer of POST /lessons/report.
type ReportedLesson struct{ learning.Reported }

// AppliedLesson is the answer of POST /lessons/{id}/apply.
type AppliedLesson struct {
	ID string `json:"id" doc:"The lesson's id; lesson_id is its number"`
	learning.Applied
}

// LessonHistory is the answer of GET /lessons/{id}/history.
type LessonHistory struct {
	Changes []learning.LessonChange `json:"changes" doc:"Oldest first"`
	Count   int                     `json:"count"`
}

// Restoration is the body of POST /lessons/{id}/restore.
type Restoration struct {
	Note string `json:"note,omitempty" doc:"Why"`
}

func (s *Server) lessonRoutes() {
	lessons := s.services.Lessons
	if lessons == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation { return operation(method, path, "lessons", summary) }

	report := op(http.MethodPost, lessonsPath+"/report", "Report a lesson; the same again counts as another occurrence")
	report.MaxBodyBytes = maxLesson
	register(s, report,
		func(ctx context.Context, in *struct{ Body learning.LessonDraft }) (*answer[ReportedLesson], error) {
			reported, err := lessons.Report(ctx, in.Body)
			reported.EscalatedTo = emptied(reported.EscalatedTo)
			return reply(ReportedLesson{reported}), err
		})
	s.lessonBulkRoutes(lessons)
	register(s, op(http.MethodPost, "/query/relevant", "The lessons that fit a situation, best first, as a bare list"),
		func(ctx context.Context, in *explainInput[learning.LessonQuery]) (*answer[[]learning.LessonHit], error) {
			in.Body.Explain = in.Body.Explain || in.Explain
			found, err := lessons.Relevant(ctx, in.Body)
			return reply(emptied(found.Results)), err
		})
	register(s, op(http.MethodPost, lessonsPath+"/search", "The same as /query/relevant, and what was left out or searched otherwise"),
		func(ctx context.Context, in *explainInput[learning.LessonQuery]) (*answer[learning.LessonResults], error) {
			in.Body.Explain = in.Body.Explain || in.Explain
			found, err := lessons.Relevant(ctx, in.Body)
			found.Results = emptied(found.Results)
			return reply(found), err
		})
	register(s, op(http.MethodGet, lessonsPath, "List lessons, the newest first"),
		func(ctx context.Context, in *lessonSelection) (*answer[learning.LessonPage], error) {
			page, err := lessons.List(ctx, learning.LessonFilter{
				Type: in.Type, Domain: in.Domain, Category: in.Category, Severity: in.Severity, Level: in.Level, Statuses: in.Status,
				SourceAgent: in.SourceAgent, Project: in.Project, Tag: in.Tag, MinConfidence: in.MinConfidence, Since: in.Since,
				Cursor: in.Cursor, Limit: in.Limit,
			})
			page.Lessons = emptied(page.Lessons)
			return reply(page), err
		})
	register(s, op(http.MethodGet, lessonsPath+"/review", "What needs an eye: promotions that have their evidence, lessons not validated for long"),
		func(ctx context.Context, in *struct {
			StaleDays int    `query:"stale_days" doc:"0: 90"`
			Domain    string `query:"domain"`
			Limit     int    `query:"limit"`
		},
		) (*answer[learning.Review], error) {
			review, err := lessons.Review(ctx, learning.ReviewQuery{StaleDays: in.StaleDays, Domain: in.Domain, Limit: in.Limit})
			review.Promotions, review.Stale = emptied(review.Promotions), emptied(review.Stale)
			return reply(review), err
		})
	s.lessonChangeRoutes(lessons, op)
}

// lessonChangeRoutes mounts what is asked and done of one lesson.
func (s *Server) lessonChangeRoutes(lessons learning.LessonService, op func(method, path, summary string) huma.Operation) {
	const one = lessonsPath + "/{id}"
	register(s, op(http.MethodGet, one, "One lesson"),
		func(ctx context.Context, in *lessonRef) (*answer[learning.Lesson], error) {
			lesson, err := lessons.Lesson(ctx, in.ID)
			return reply(lesson), err
		})
	register(s, op(http.MethodPatch, one, "Change what a lesson says; what it said stays in its history"),
		func(ctx context.Context, in *lessonChange[learning.LessonPatch]) (*answer[learning.Lesson], error) {
			lesson, err := lessons.Edit(ctx, in.ID, given(in.Body))
			return reply(lesson), err
		})
	register(s, op(http.MethodPost, one+"/validate", "Judge a lesson, in the query or in the body; its confidence moves with it"),
		func(ctx context.Context, in *validationInput) (*answer[Validated], error) {
			draft, err := in.draft()
			if err != nil {
				return nil, err
			}
			lesson, err := lessons.Validate(ctx, in.ID, draft)
			status := "validated"
			if draft.Type == learning.ValidationRefuted || draft.Type == learning.ValidationOutdated {
				status = "invalidated"
			}
			return reply(Validated{Status: status, LessonID: lesson.ID, Confidence: lesson.Confidence, Lesson: lesson}), err
		})
	register(s, op(http.MethodPost, one+"/apply", "Say that a lesson was applied and how it went; its confidence moves with it"),
		func(ctx context.Context, in *lessonChange[learning.ApplicationDraft]) (*answer[AppliedLesson], error) {
			applied, err := lessons.Apply(ctx, in.ID, given(in.Body))
			return reply(AppliedLesson{ID: applied.LessonID, Applied: applied}), err
		})
	register(s, op(http.MethodPost, one+"/promote", "Draw a pattern from cases, or raise a pattern to a principle; a refusal says which evidence is missing"),
		func(ctx context.Context, in *lessonChange[learning.PromotionDraft]) (*answer[learning.Lesson], error) {
			lesson, err := lessons.Promote(ctx, in.ID, given(in.Body))
			return reply(lesson), err
		})
	register(s, op(http.MethodPost, one+"/retire", "Take a lesson out of use; it is kept with its history"),
		func(ctx context.Context, in *lessonChange[learning.RetirementDraft]) (*answer[learning.Lesson], error) {
			lesson, err := lessons.Retire(ctx, in.ID, given(in.Body))
			return reply(lesson), err
		})
	register(s, op(http.MethodPost, one+"/restore", "Take a retired lesson back into use"),
		func(ctx context.Context, in *lessonChange[Restoration]) (*answer[learning.Lesson], error) {
			lesson, err := lessons.Restore(ctx, in.ID, given(in.Body).Note)
			return reply(lesson), err
		})
	register(s, op(http.MethodGet, one+"/history", "What happened to a lesson, oldest first"),
		func(ctx context.Context, in *lessonRef) (*answer[LessonHistory], error) {
			changes, err := lessons.History(ctx, in.ID)
			return reply(LessonHistory{Changes: emptied(changes), Count: len(changes)}), err
		})
}

// lessonChange is a change of a lesson. The body may be left out where every member of it may be.
type lessonChange[Body any] struct {
	lessonRef
	Body *Body
}

// draft is the judgement that the call passes. What the body says outweighs the query.
func (in *validationInput) draft() (learning.ValidationDraft, error) {
	said := Validation{By: in.By, Notes: in.Notes, Type: in.Type}
	if in.Validated != "" {
		validated, err := truth("validated", in.Validated)
		if err != nil {
			return learning.ValidationDraft{}, err
		}
		said.Validated = &validated
	}
	if body := in.Body; body != nil {
		said = Validation{By: cmp.Or(body.By, said.By), Notes: cmp.Or(body.Notes, said.Notes), Type: cmp.Or(body.Type, said.Type), Validated: said.Validated}
		if body.Validated != nil {
			said.Validated = body.Validated
		}
	}
	if said.Validated == nil && said.Type == "" {
		return learning.ValidationDraft{}, skillrouter.InvalidField("validated", "is required: true or false")
	}
	switch {
	case said.Validated == nil:
	case said.Type == "" && *said.Validated:
		said.Type = learning.ValidationConfirmed
	case said.Type == "":
		said.Type = learning.ValidationRefuted
	case *said.Validated && said.Type == learning.ValidationRefuted, !*said.Validated && said.Type == learning.ValidationConfirmed:
		return learning.ValidationDraft{}, skillrouter.InvalidField("validation_type", "says the contrary of validated")
	}
	return learning.ValidationDraft{Type: said.Type, By: said.By, Notes: said.Notes}, nil
}

// truth reads a truth value as the queries of seed 000's clients spell it.
func truth(field, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on", "t", "y":
		return true, nil
	case "false", "0", "no", "off", "f", "n":
		return false, nil
	}
	return false, skillrouter.InvalidField(field, "must be true or false")
}

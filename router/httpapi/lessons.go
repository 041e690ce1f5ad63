package httpapi

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// maxLesson bounds one lesson, in bytes of JSON. All its texts and lists at
// their longest are 4 MiB, and twice that with the escapes of any text that
// people write; the rest is room for one that is too long to be refused by name.
const maxLesson = 16 << 20

// Validation is the body, or the query, of POST /lessons/{id}/validate: seed
// 000's three, and the judgement in more words than yes and no.
type Validation struct {
	Validated *bool                 `json:"validated,omitempty" query:"validated" enum:"true,false" doc:"true: confirmed; false: refuted. Required unless validation_type says it"`
	By        string                `json:"validated_by,omitempty" query:"validated_by" doc:"Default: the token's agent"`
	Notes     string                `json:"notes,omitempty" query:"notes"`
	Type      lesson.ValidationType `json:"validation_type,omitempty" query:"validation_type" doc:"confirmed, refuted, partial or outdated"`
}

// Validated is the answer of POST /lessons/{id}/validate.
type Validated struct {
	Status     string        `json:"status" doc:"validated or invalidated"`
	LessonID   string        `json:"lesson_id"`
	Confidence float64       `json:"confidence" doc:"As the judgement left it"`
	Lesson     lesson.Lesson `json:"lesson"`
}

// ReportedLesson is the answer of POST /lessons/report.
type ReportedLesson struct{ lesson.Reported }

// AppliedLesson is the answer of POST /lessons/{id}/apply.
type AppliedLesson struct {
	ID string `json:"id" doc:"The lesson's id; lesson_id is its number"`
	lesson.Applied
}

func (s *Server) lessonRoutes(lessons lesson.Service) {
	const id = "The lesson's id, percent-encoded as one segment of the path, or its number"
	s.offer(lessons, operation.Below("lessons", "/query/relevant",
		operation.Post("", "The lessons that fit a situation, best first, as a bare list",
			func(l lesson.Service, ctx context.Context, q lesson.Query) ([]lesson.Hit, error) {
				found, err := l.Relevant(ctx, q)
				return found.Results, err
			})))
	s.mount(operation.Find(lesson.Service.Report).As(func(l lesson.Service, ctx context.Context, d lesson.Draft) (ReportedLesson, error) {
		reported, err := l.Report(ctx, d)
		return ReportedLesson{reported}, err
	}).UpTo(maxLesson), lessons)
	s.lessonBulkRoutes(lessons)
	s.mount(operation.Find(lesson.Service.Validate).As(validate).Named(id), lessons)
	s.mount(operation.Find(lesson.Service.Apply).As(func(l lesson.Service, ctx context.Context, id string, d lesson.ApplicationDraft) (AppliedLesson, error) {
		applied, err := l.Apply(ctx, id, d)
		return AppliedLesson{ID: applied.LessonID, Applied: applied}, err
	}).Named(id), lessons)
}

func validate(lessons lesson.Service, ctx context.Context, id string, said Validation) (Validated, error) { //nolint:revive // as a method
	switch {
	case said.Validated == nil && said.Type == "":
		return Validated{}, errs.InvalidField("validated", "is required: true or false")
	case said.Validated == nil:
	case said.Type == "" && *said.Validated:
		said.Type = lesson.ValidationConfirmed
	case said.Type == "":
		said.Type = lesson.ValidationRefuted
	case *said.Validated && said.Type == lesson.ValidationRefuted, !*said.Validated && said.Type == lesson.ValidationConfirmed:
		return Validated{}, errs.InvalidField("validation_type", "says the contrary of validated")
	}
	l, err := lessons.Validate(ctx, id, lesson.ValidationDraft{Type: said.Type, By: said.By, Notes: said.Notes})
	status := "validated"
	if said.Type == lesson.ValidationRefuted || said.Type == lesson.ValidationOutdated {
		status = "invalidated"
	}
	return Validated{Status: status, LessonID: l.ID, Confidence: l.Confidence, Lesson: l}, err
}

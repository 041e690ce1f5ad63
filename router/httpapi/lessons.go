package httpapi

import (
	"cmp"
	"context"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/learning/lesson"
)

const lessonsPath = "/lessons"

// maxLesson bounds one lesson, in bytes of JSON. All its texts and lists at
// their longest are 4 MiB, and twice that with the escapes of any text that
// people write; the rest is room for one that is too long to be refused by name.
const maxLesson = 16 << 20

// Validation is the body, or the query, of POST /lessons/{id}/validate: seed
// 000's three, and the judgement in more words than yes and no.
type Validation struct {
	Validated *bool                 `json:"validated,omitempty" doc:"true: confirmed; false: refuted. Required unless validation_type says it"`
	By        string                `json:"validated_by,omitempty" doc:"Default: the token's agent"`
	Notes     string                `json:"notes,omitempty"`
	Type      lesson.ValidationType `json:"validation_type,omitempty" doc:"confirmed, refuted, partial or outdated"`
}

// validationInput takes the judgement from the query, as MNEMOSYNE's clients
// send it, or from the body.
type validationInput struct {
	ID        string                `path:"id"`
	Validated string                `query:"validated" doc:"true or false"`
	By        string                `query:"validated_by"`
	Notes     string                `query:"notes"`
	Type      lesson.ValidationType `query:"validation_type"`
	Body      *Validation
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
	offer(s, lesson.Operations.Lessons, lessons)
	explain := func(q *lesson.Query) *bool { return &q.Explain }
	s.at("lessons", "/query/relevant").post("", "The lessons that fit a situation, best first, as a bare list",
		explained(as(lessons.Relevant, func(r lesson.Results) []lesson.Hit { return r.Results }), explain))
	at := s.at("lessons", lessonsPath)
	at.post("/report", "Report a lesson; the same again counts as another occurrence",
		sent(as(lessons.Report, func(r lesson.Reported) ReportedLesson { return ReportedLesson{r} })).upTo(maxLesson))
	s.lessonBulkRoutes(lessons)
	at.post("/{id}/validate", "Judge a lesson, in the query or in the body; its confidence moves with it",
		typed(func(ctx context.Context, in *validationInput) (Validated, error) { return validate(ctx, lessons, in) }).saying(id))
	at.post("/{id}/apply", "Say that a lesson was applied and how it went; its confidence moves with it",
		changed(func(ctx context.Context, id string, draft lesson.ApplicationDraft) (AppliedLesson, error) {
			applied, err := lessons.Apply(ctx, id, draft)
			return AppliedLesson{ID: applied.LessonID, Applied: applied}, err
		}).saying(id))
}

func validate(ctx context.Context, lessons lesson.Service, in *validationInput) (Validated, error) {
	draft, err := in.draft()
	if err != nil {
		return Validated{}, err
	}
	l, err := lessons.Validate(ctx, in.ID, draft)
	status := "validated"
	if draft.Type == lesson.ValidationRefuted || draft.Type == lesson.ValidationOutdated {
		status = "invalidated"
	}
	return Validated{Status: status, LessonID: l.ID, Confidence: l.Confidence, Lesson: l}, err
}

// draft is the judgement that the call passes. What the body says outweighs the query.
func (in *validationInput) draft() (lesson.ValidationDraft, error) {
	said := Validation{By: in.By, Notes: in.Notes, Type: in.Type}
	if in.Validated != "" {
		validated, err := truth("validated", in.Validated)
		if err != nil {
			return lesson.ValidationDraft{}, err
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
		return lesson.ValidationDraft{}, errs.InvalidField("validated", "is required: true or false")
	}
	switch {
	case said.Validated == nil:
	case said.Type == "" && *said.Validated:
		said.Type = lesson.ValidationConfirmed
	case said.Type == "":
		said.Type = lesson.ValidationRefuted
	case *said.Validated && said.Type == lesson.ValidationRefuted, !*said.Validated && said.Type == lesson.ValidationConfirmed:
		return lesson.ValidationDraft{}, errs.InvalidField("validation_type", "says the contrary of validated")
	}
	return lesson.ValidationDraft{Type: said.Type, By: said.By, Notes: said.Notes}, nil
}

// truth reads a truth value as the queries of MNEMOSYNE's clients spell it.
func truth(field, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on", "t", "y":
		return true, nil
	case "false", "0", "no", "off", "f", "n":
		return false, nil
	}
	return false, errs.InvalidField(field, "must be true or false")
}

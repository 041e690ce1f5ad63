package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"skillrouter"
	"skillrouter/learning"
)

type recordExperience struct {
	OperationType string          `json:"operation_type"`
	ServerName    string          `json:"server_name"`
	Problem       json.RawMessage `json:"problem"` // this, solution and metadata are read with their own members' names
	Solution      json.RawMessage `json:"solution"`
	Outcome       learning.Result `json:"outcome"`
	Metadata      json.RawMessage `json:"metadata"`
	QualityScore  *float64        `json:"quality_score"`
	DurationMS    *int64          `json:"duration_ms"`
	Notes         string          `json:"notes"`
}

type recallByType struct {
	OperationType string          `json:"operation_type"`
	Outcome       learning.Result `json:"outcome_filter"`
	Limit         int             `json:"limit"`
}

type recallByOutcome struct {
	Outcome       learning.Result `json:"outcome"`
	OperationType string          `json:"operation_type"`
	Limit         int             `json:"limit"`
}

type getLessons struct {
	Context       map[string]any `json:"context"`
	OperationType string         `json:"operation_type"`
	MinConfidence float64        `json:"min_confidence"`
}

type applyLesson struct {
	LessonID int64           `json:"lesson_id"`
	Outcome  learning.Result `json:"outcome"`
	Notes    string          `json:"notes"`
}

// maxRecalledPatterns bounds the patterns that come with recalled experiences: an agent's context is dear, and
// as many as experiences come by default are enough.
const maxRecalledPatterns = learning.DefaultRecall

// experience is an experience, less what would not fit into the answer.
type experience struct {
	learning.Experience
	CutBytes int `json:"cut_bytes,omitempty"` // of its parts and notes, left out of this answer
}

type recalled struct {
	Episodes       []experience                 `json:"episodes"`
	Count          int                          `json:"count"`
	Patterns       []learning.ExperiencePattern `json:"patterns_detected"`
	AverageUtility float64                      `json:"avg_utility"`
	Notice         string                       `json:"notice,omitempty"`
}

type applicable struct {
	learning.Applicable
	Notice string `json:"notice,omitempty"`
}

// addExperienceTools offers seed 003's tools, in a toolset of their own.
func (s *Server) addExperienceTools() {
	add(s, tool{
		name: "record_experience", title: "Record an experience", set: ToolsetExperience, effect: adds,
		description: "Store how an operation went, so that what recurs becomes a pattern and a lesson.",
		input: arguments(
			required(text("operation_type", "build, search, verify, …")),
			text("server_name", ""),
			anObject("problem", "{query, constraints, context}"),
			anObject("solution", "{tool, params, approach}"),
			required(oneOf("outcome", "", learning.Results()...)),
			anObject("metadata", "{environment, dependencies, triggers}"),
			number("quality_score", "", 0, 1),
			whole("duration_ms", ""),
			text("notes", ""),
		),
		output: holds("episode_id", "recorded", "utility_score"),
	}, s.recordExperience)
	add(s, tool{
		name: "recall_by_type", title: "Recall by operation type", set: ToolsetExperience, effect: reads,
		description: "Past experiences of an operation type, newest first, and the patterns in them.",
		input: arguments(
			required(text("operation_type", "")),
			oneOf("outcome_filter", "", learning.Results()...),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("episodes", "count", "avg_utility"),
	}, func(ctx context.Context, in recallByType) (reply[recalled], error) {
		return s.recall(ctx, learning.ExperienceFilter{OperationType: in.OperationType, Outcome: in.Outcome, Limit: in.Limit})
	})
	add(s, tool{
		name: "recall_by_outcome", title: "Recall by outcome", set: ToolsetExperience, effect: reads,
		description: "Past experiences that went so, newest first.",
		input: arguments(
			required(oneOf("outcome", "", learning.Results()...)),
			text("operation_type", "Filter"),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("episodes", "count", "avg_utility"),
	}, func(ctx context.Context, in recallByOutcome) (reply[recalled], error) {
		return s.recall(ctx, learning.ExperienceFilter{OperationType: in.OperationType, Outcome: in.Outcome, ByOutcome: true, Limit: in.Limit})
	})
	add(s, tool{
		name: "get_lessons", title: "Lessons that apply", set: ToolsetExperience, effect: reads,
		description: "Lessons that hold in a context, the surest first, with their confidence now.",
		input: arguments(
			anObject("context", "Its names and texts are compared with the lessons' contexts, such as server:NAME, env:NAME"),
			text("operation_type", ""),
			number("min_confidence", "Default 0", 0, 1),
		),
		output: holds("lessons", "confidence_summary"),
	}, s.getLessons)
	add(s, tool{
		name: "apply_lesson", title: "A lesson was applied", set: ToolsetExperience, effect: adds,
		description: "Say that you applied a lesson and how it went; its confidence moves with it.",
		input: arguments(
			required(whole("lesson_id", "Its number")),
			required(oneOf("outcome", "", learning.Results()...)),
			text("notes", ""),
		),
		output: holds("applied", "lesson_id", "previous_confidence", "new_confidence", "total_applications", "success_rate"),
	}, s.applyLesson)
	add(s, tool{
		name: "learn_from_pattern", title: "Learn from a pattern", set: ToolsetExperience, effect: ensure,
		description: "Make a lesson of what at least three experiences show.",
		input: arguments(
			required(text("pattern_description", "What recurs")),
			required(integers("episode_ids", "At least three")),
			required(text("lesson_statement", "One line that says what to do")),
		),
		output: holds("lesson_id", "created", "initial_confidence"),
	}, s.learnFromPattern)
}

// integers is a list of whole numbers.
func integers(name, description string) field {
	f := value("array", name, description)
	f.schema.Items = &jsonschema.Schema{Type: "integer"}
	return f
}

// strictly reads a parameter that is an object, and refuses members that it does not have.
func strictly[T any](name string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	into := new(T)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && name != "metadata" { // in which everything may stand
		err = skillrouter.CheckJSON(raw, reflect.TypeFor[T]())
	}
	if err == nil {
		return into, nil
	}
	if skillrouter.CodeOf(err) == skillrouter.Invalid {
		return nil, skillrouter.InvalidField(strings.TrimSuffix(name+"."+skillrouter.FieldOf(err), "."), "%s", skillrouter.MessageOf(err))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		got, _, _ := strings.Cut(wrong.Value, " ")
		if wrong.Field == "" {
			return nil, skillrouter.InvalidField(name, "must be an object, not %s", article(got))
		}
		return nil, skillrouter.InvalidField(name+"."+wrong.Field, "may not be %s", article(got))
	}
	_, unknown, _ := strings.Cut(err.Error(), "unknown field ")
	return nil, skillrouter.InvalidField(name, "has no member %s", shown(unknown))
}

func (s *Server) recordExperience(ctx context.Context, in recordExperience) (reply[learning.Recorded], error) {
	problem, err1 := strictly[learning.ExperienceProblem]("problem", in.Problem)
	solution, err2 := strictly[learning.ExperienceSolution]("solution", in.Solution)
	metadata, err3 := strictly[learning.ExperienceMetadata]("metadata", in.Metadata)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return reply[learning.Recorded]{}, err
		}
	}
	recorded, err := s.services.Experiences.Record(ctx, learning.ExperienceDraft{
		OperationType: in.OperationType, ServerName: in.ServerName, Problem: problem, Solution: solution, Outcome: in.Outcome, Metadata: metadata,
		QualityScore: in.QualityScore, DurationMS: in.DurationMS, Notes: in.Notes, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.Recorded]{}, err
	}
	text := fmt.Sprintf("Recorded as episode %d, of utility %.2f.", recorded.EpisodeID, recorded.Utility)
	if len(recorded.Patterns) > 0 {
		text += " It belongs to a pattern; recall_by_type shows it, and learn_from_pattern makes a lesson of it."
	}
	if len(recorded.Redacted) > 0 {
		text += " Secrets were cut out of it before it was stored: " + strings.Join(recorded.Redacted, ", ") + "."
	}
	return reply[learning.Recorded]{recorded, text}, nil
}

func (s *Server) recall(ctx context.Context, filter learning.ExperienceFilter) (reply[recalled], error) {
	filter.Patterns = maxRecalledPatterns
	found, err := s.services.Experiences.Recall(ctx, filter)
	if err != nil {
		return reply[recalled]{}, err
	}
	out := recalled{Episodes: []experience{}, Count: found.Count, Patterns: found.Patterns, AverageUtility: found.AverageUtility}
	if found.Count == 0 && len(found.Patterns) == 0 {
		return reply[recalled]{out, "There is no such experience yet."}, nil
	}
	out.Notice = notice
	texts := make([][4]string, len(found.Episodes)) // problem, solution, metadata and notes
	items := make([][]*string, len(found.Episodes))
	for i, e := range found.Episodes {
		texts[i] = [4]string{string(e.Problem), string(e.Solution), string(e.Metadata), e.Notes}
		for part := range texts[i] {
			items[i] = append(items[i], &texts[i][part])
		}
	}
	for i, left := range fitTexts(items) {
		e := experience{Experience: found.Episodes[i], CutBytes: left}
		for part, whole := range []*json.RawMessage{&e.Problem, &e.Solution, &e.Metadata} {
			if len(texts[i][part]) < len(*whole) { // half an object is none
				e.CutBytes += len(texts[i][part])
				*whole, texts[i][part] = nil, ""
			}
		}
		e.Notes = texts[i][3]
		out.Episodes = append(out.Episodes, e)
	}
	f := newFence("Found %s, newest first, with a mean utility of %.2f.", count(found.Count, "experience", "experiences"), found.AverageUtility)
	f.explain()
	for _, p := range found.Patterns {
		f.add(fmt.Sprintf("Pattern %d: %s, seen %d times, confidence %.2f", p.Number, p.Type, p.Frequency, p.CurrentConfidence), p.Description)
	}
	for i, e := range out.Episodes {
		f.add(
			fmt.Sprintf("Episode %d: %s, utility %.2f, by %s", e.Number, e.Outcome, e.Utility, author(e.AgentID)),
			attributes("operation_type", e.OperationType, "server_name", e.ServerName, "project", e.Project),
			attributes("problem", texts[i][0]), attributes("solution", texts[i][1]), attributes("metadata", texts[i][2]), e.Notes, cutNote(e.CutBytes))
	}
	return reply[recalled]{out, f.String()}, nil
}

func (s *Server) getLessons(ctx context.Context, in getLessons) (reply[applicable], error) {
	found, err := s.services.Experiences.Applicable(ctx, learning.ApplicableQuery{Context: in.Context, OperationType: in.OperationType, MinConfidence: in.MinConfidence, Limit: learning.DefaultRecall})
	if err != nil {
		return reply[applicable]{}, err
	}
	out := applicable{Applicable: found}
	if len(found.Lessons) == 0 {
		return reply[applicable]{out, "No lesson holds there yet."}, nil
	}
	out.Notice = notice
	items := make([][]*string, len(found.Lessons))
	for i := range found.Lessons {
		l := &found.Lessons[i]
		l.Contexts = slices.Clone(l.Contexts)
		items[i] = []*string{&l.Statement}
		for c := range l.Contexts {
			items[i] = append(items[i], &l.Contexts[c])
		}
	}
	fitTexts(items)
	f := newFence("Found %s: %d of high confidence, %d of medium, %d of low. Say with apply_lesson how it went when you applied one.",
		count(found.Summary.High+found.Summary.Medium+found.Summary.Low, "lesson", "lessons"), found.Summary.High, found.Summary.Medium, found.Summary.Low)
	f.explain()
	for _, l := range found.Lessons {
		f.add(fmt.Sprintf("Lesson %d: confidence %.2f, applied %d times, %d of them well", l.Number, l.CurrentConfidence, l.TimesApplied, l.TimesSucceeded),
			attributes("contexts", strings.Join(l.Contexts, ", ")), l.Statement)
	}
	return reply[applicable]{out, f.String()}, nil
}

func (s *Server) applyLesson(ctx context.Context, in applyLesson) (reply[learning.Applied], error) {
	applied, err := s.services.Experiences.Apply(ctx, in.LessonID, learning.ApplicationDraft{Outcome: in.Outcome, Notes: in.Notes, Agent: s.actor(ctx, "")})
	if err != nil {
		return reply[learning.Applied]{}, err
	}
	text := fmt.Sprintf("Noted. Its confidence moved from %.2f to %.2f; it was applied %d times, %.0f %% of them well.",
		applied.PreviousConfidence, applied.NewConfidence, applied.TotalApplications, 100*applied.SuccessRate)
	if applied.Deprecated {
		text += " It is retired: it has failed too often."
	}
	return reply[learning.Applied]{applied, text}, nil
}

func (s *Server) learnFromPattern(ctx context.Context, in learning.LearnDraft) (reply[learning.Learned], error) {
	learned, err := s.services.Experiences.Learn(ctx, in)
	if err != nil {
		return reply[learning.Learned]{}, err
	}
	text := fmt.Sprintf("Learned as lesson %d, of confidence %.2f.", learned.LessonNumber, learned.InitialConfidence)
	if !learned.Created {
		text = fmt.Sprintf("It was learned before, as lesson %d: another occurrence of it was counted.", learned.LessonNumber)
	}
	return reply[learning.Learned]{learned, text}, nil
}

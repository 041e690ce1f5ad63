package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
	"skillrouter/learning"
	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
)

// maxRecalledPatterns bounds the patterns that come with recalled experiences: an agent's context is dear, and
// as many as experiences come by default are enough.
const maxRecalledPatterns = experience.DefaultRecall

// experienceView is an experience, less what would not fit into the answer.
type experienceView struct {
	experience.Experience
	CutBytes int `json:"cut_bytes,omitempty"` // of its parts and notes, left out of this answer
}

type recalled struct {
	Episodes       []experienceView     `json:"episodes"`
	Count          int                  `json:"count"`
	Patterns       []experience.Pattern `json:"patterns_detected"`
	AverageUtility float64              `json:"avg_utility"`
	Notice         string               `json:"notice,omitempty"`
}

type applicable struct {
	experience.Applicable
	Notice string `json:"notice,omitempty"`
}

// experienceDraft is what record_experience takes. Its three objects are read
// with their own members' names.
type experienceDraft struct {
	experience.Draft
	problem, solution, metadata json.RawMessage
}

// addExperienceTools offers the experience server's tools, in a toolset of their own.
func (s *Server) addExperienceTools() {
	experiences := s.services.Experiences
	add(s, tool{
		name: "record_experience", title: "Record an experience", set: ToolsetExperience, effect: adds, holds: "episode_id recorded utility_score",
		description: "Store how an operation went, so that what recurs becomes a pattern and a lesson.",
	}, func(p *params, d *experienceDraft) {
		p.must("operation_type", &d.OperationType, "build, search, verify, …")
		p.may("server_name", &d.ServerName, "")
		p.may("problem", &d.problem, "{query, constraints, context}", object)
		p.may("solution", &d.solution, "{tool, params, approach}", object)
		p.must("outcome", &d.Outcome, "", among(learning.Results()...))
		p.may("metadata", &d.metadata, "{environment, dependencies, triggers}", object)
		p.may("quality_score", &d.QualityScore, "", within(0, 1))
		p.may("duration_ms", &d.DurationMS, "", notNegative)
		p.may("notes", &d.Notes, "")
		p.actor(&d.AgentID)
	}, then(s.recordExperience, func(r experience.Recorded) (experience.Recorded, string) {
		text := fmt.Sprintf("Recorded as episode %d, of utility %.2f.", r.EpisodeID, r.Utility)
		if len(r.Patterns) > 0 {
			text += " It belongs to a pattern; recall_by_type shows it, and learn_from_pattern makes a lesson of it."
		}
		return r, text + redacted(r.Redacted)
	}))
	add(s, tool{
		name: "recall_by_type", title: "Recall by operation type", set: ToolsetExperience, effect: reads, holds: "episodes count avg_utility",
		description: "Past experiences of an operation type, newest first, and the patterns in them.",
	}, func(p *params, f *experience.Filter) {
		f.Patterns = maxRecalledPatterns
		p.must("operation_type", &f.OperationType, "")
		p.may("outcome_filter", &f.Outcome, "", among(learning.Results()...))
		p.limit(&f.Limit, experience.DefaultRecall, learning.MaxLimit)
	}, then(experiences.Recall, shownExperiences))
	add(s, tool{
		name: "recall_by_outcome", title: "Recall by outcome", set: ToolsetExperience, effect: reads, holds: "episodes count avg_utility",
		description: "Past experiences that went so, newest first.",
	}, func(p *params, f *experience.Filter) {
		f.Patterns, f.ByOutcome = maxRecalledPatterns, true
		p.must("outcome", &f.Outcome, "", among(learning.Results()...))
		p.may("operation_type", &f.OperationType, "Filter")
		p.limit(&f.Limit, experience.DefaultRecall, learning.MaxLimit)
	}, then(experiences.Recall, shownExperiences))
	add(s, tool{
		name: "get_lessons", title: "Lessons that apply", set: ToolsetExperience, effect: reads, holds: "lessons confidence_summary",
		description: "Lessons that hold in a context, the surest first, with their confidence now.",
	}, func(p *params, q *experience.ApplicableQuery) {
		q.Limit = experience.DefaultRecall
		p.may("context", &q.Context, "Its names and texts are compared with the lessons' contexts, such as server:NAME, env:NAME")
		p.may("operation_type", &q.OperationType, "")
		p.may("min_confidence", &q.MinConfidence, "Default 0", within(0, 1))
	}, then(experiences.Applicable, shownApplicable))
	add(s, tool{
		name: "apply_lesson", title: "A lesson was applied", set: ToolsetExperience, effect: adds,
		holds:       "applied lesson_id previous_confidence new_confidence total_applications success_rate",
		description: "Say that you applied a lesson and how it went; its confidence moves with it.",
	}, describedOne[int64, lesson.ApplicationDraft]("lesson_id!", "Its number", "outcome!", "notes"), then(changing(experiences.Apply), func(a lesson.Applied) (lesson.Applied, string) {
		text := fmt.Sprintf("Noted. Its confidence moved from %.2f to %.2f; it was applied %d times, %.0f %% of them well.",
			a.PreviousConfidence, a.NewConfidence, a.TotalApplications, 100*a.SuccessRate)
		if a.Deprecated {
			text += " It is retired: it has failed too often."
		}
		return a, text
	}))
	add(s, tool{
		name: "learn_from_pattern", title: "Learn from a pattern", set: ToolsetExperience, effect: ensure, holds: "lesson_id created initial_confidence",
		description: "Make a lesson of what at least three experiences show.",
	}, described[experience.LearnDraft]("pattern_description!", "episode_ids!", "lesson_statement!"), then(experiences.Learn, func(l experience.Learned) (experience.Learned, string) {
		if !l.Created {
			return l, fmt.Sprintf("It was learned before, as lesson %d: another occurrence of it was counted.", l.LessonNumber)
		}
		return l, fmt.Sprintf("Learned as lesson %d, of confidence %.2f.", l.LessonNumber, l.InitialConfidence)
	}))
}

// strictly reads a parameter that is an object, and refuses members that it does not have.
func strictly[T any](name string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	into := new(T)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && name != "metadata" { // in which everything may stand
		err = strictjson.Check(raw, reflect.TypeFor[T]())
	}
	if err == nil {
		return into, nil
	}
	if errs.CodeOf(err) == errs.Invalid {
		return nil, errs.InvalidField(strings.TrimSuffix(name+"."+errs.FieldOf(err), "."), "%s", errs.MessageOf(err))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		got, _, _ := strings.Cut(wrong.Value, " ")
		if wrong.Field == "" {
			return nil, errs.InvalidField(name, "must be an object, not %s", article(got))
		}
		return nil, errs.InvalidField(name+"."+wrong.Field, "may not be %s", article(got))
	}
	_, unknown, _ := strings.Cut(err.Error(), "unknown field ")
	return nil, errs.InvalidField(name, "has no member %s", shown(unknown))
}

func (s *Server) recordExperience(ctx context.Context, in experienceDraft) (experience.Recorded, error) {
	var errs [3]error
	in.Problem, errs[0] = strictly[experience.Problem]("problem", in.problem)
	in.Solution, errs[1] = strictly[experience.Solution]("solution", in.solution)
	in.Metadata, errs[2] = strictly[experience.Metadata]("metadata", in.metadata)
	if err := cmp.Or(errs[:]...); err != nil {
		return experience.Recorded{}, err
	}
	return s.services.Experiences.Record(ctx, in.Draft)
}

func shownExperiences(found experience.Recall) (recalled, string) {
	out := recalled{Count: found.Count, Patterns: found.Patterns, AverageUtility: found.AverageUtility}
	out.Episodes = views(found.Episodes, func(e experience.Experience) experienceView { return experienceView{Experience: e} })
	if found.Count == 0 && len(found.Patterns) == 0 {
		return out, "There is no such experience yet."
	}
	out.Notice = notice
	f := newFence("Found %s, newest first, with a mean utility of %.2f.", count(found.Count, "experience", "experiences"), found.AverageUtility)
	f.explain()
	for _, p := range found.Patterns {
		f.add(fmt.Sprintf("Pattern %d: %s, seen %d times, confidence %.2f", p.Number, p.Type, p.Frequency, p.CurrentConfidence), p.Description)
	}
	texts := make([][3]string, len(out.Episodes)) // problem, solution and metadata
	items := make([][]*string, len(out.Episodes))
	for i := range out.Episodes {
		e := &out.Episodes[i]
		texts[i] = [3]string{string(e.Problem), string(e.Solution), string(e.Metadata)}
		items[i] = append(each(texts[i][:]), &e.Notes)
	}
	for i, left := range fitTexts(items) {
		e := &out.Episodes[i]
		e.CutBytes = left
		for part, whole := range []*json.RawMessage{&e.Problem, &e.Solution, &e.Metadata} {
			if len(texts[i][part]) < len(*whole) { // half an object is none
				e.CutBytes += len(texts[i][part])
				*whole, texts[i][part] = nil, ""
			}
		}
		f.add(
			fmt.Sprintf("Episode %d: %s, utility %.2f, by %s", e.Number, e.Outcome, e.Utility, author(e.AgentID)),
			attributes("operation_type", e.OperationType, "server_name", e.ServerName, "project", e.Project),
			attributes("problem", texts[i][0]), attributes("solution", texts[i][1]), attributes("metadata", texts[i][2]), e.Notes, cutNote(e.CutBytes))
	}
	return out, f.String()
}

func shownApplicable(found experience.Applicable) (applicable, string) {
	out := applicable{Applicable: found}
	if len(found.Lessons) == 0 {
		return out, "No lesson holds there yet."
	}
	out.Notice = notice
	items := make([][]*string, len(found.Lessons))
	for i := range found.Lessons {
		l := &found.Lessons[i]
		l.Contexts = slices.Clone(l.Contexts)
		items[i] = append([]*string{&l.Statement}, each(l.Contexts)...)
	}
	fitTexts(items)
	f := newFence("Found %s: %d of high confidence, %d of medium, %d of low. Say with apply_lesson how it went when you applied one.",
		count(found.Summary.High+found.Summary.Medium+found.Summary.Low, "lesson", "lessons"), found.Summary.High, found.Summary.Medium, found.Summary.Low)
	f.explain()
	for _, l := range found.Lessons {
		f.add(fmt.Sprintf("Lesson %d: confidence %.2f, applied %d times, %d of them well", l.Number, l.CurrentConfidence, l.TimesApplied, l.TimesSucceeded),
			attributes("contexts", strings.Join(l.Contexts, ", ")), l.Statement)
	}
	return out, f.String()
}

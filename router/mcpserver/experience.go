package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
	"skillrouter/learning/experience"
)

// maxRecalledPatterns bounds the patterns that come with recalled experiences: an agent's context is dear, and
// as many as experiences come by default are enough.
const maxRecalledPatterns = experience.DefaultRecall

// experienceDraft is what record_experience takes. Its three objects are read
// with their own members' names.
type experienceDraft struct {
	experience.Draft
	Problem  json.RawMessage `json:"problem" object:"true" doc:"{query, constraints, context}"`
	Solution json.RawMessage `json:"solution" object:"true" doc:"{tool, params, approach}"`
	Metadata json.RawMessage `json:"metadata" object:"true" doc:"{environment, dependencies, triggers}"`
}

// experienceTools are the experience server's, in a toolset of their own.
func experienceTools() []tool {
	list := []tool{
		{
			name: "record_experience", title: "Record an experience", effect: adds, holds: "episode_id recorded utility_score",
			description: "Store how an operation went, so that what recurs becomes a pattern (recall_by_type shows it) and a lesson (learn_from_pattern makes it).",
			does:        (*Server).recordExperience, takes: "operation_type! server_name problem solution outcome! metadata quality_score duration_ms notes",
			about: words{"operation_type": "build, search, verify, …", "quality_score": "0 to 1", "notes": ""},
		},
		{
			name: "recall_by_type", title: "Recall by operation type", effect: reads, holds: "episodes count avg_utility",
			description: "Past experiences of an operation type, newest first, and the patterns in them.",
			does:        (*Server).recallByType, takes: "operation_type! outcome_filter=outcome limit",
		},
		{
			name: "recall_by_outcome", title: "Recall by outcome", effect: reads, holds: "episodes count avg_utility",
			description: "Past experiences that went so, newest first.",
			does:        (*Server).recallByOutcome, takes: "outcome! operation_type limit", about: words{"operation_type": "Filter"},
		},
		{
			name: "get_lessons", title: "Lessons that apply", effect: reads, holds: "lessons confidence_summary",
			description: "Lessons that hold in a context, the surest first, with their confidence now. Say with apply_lesson how it went when you applied one.",
			does:        (*Server).applicable, takes: "context operation_type min_confidence", none: "No lesson holds there yet",
			about: words{"context": "Its names and texts are compared with the lessons' contexts, such as server:NAME, env:NAME"},
		},
		{
			name: "apply_lesson", title: "A lesson was applied", effect: adds,
			holds:       "applied lesson_id previous_confidence new_confidence total_applications success_rate",
			description: "Say that you applied a lesson and how it went; its confidence moves with it.",
			does:        experience.Service.Apply, takes: "lesson_id! outcome! notes", about: words{"lesson_id": "Its number"},
		},
		{
			name: "learn_from_pattern", title: "Learn from a pattern", effect: ensure, holds: "lesson_id created initial_confidence",
			does: experience.Service.Learn, takes: "pattern_description! episode_ids! lesson_statement!",
		},
	}
	for i := range list {
		list[i].set = ToolsetExperience
		if strings.HasPrefix(list[i].name, "recall") {
			list[i].without, list[i].none = "total", "There is no such experience yet"
		}
	}
	return list
}

func (s *Server) recallByType(ctx context.Context, f experience.Filter) (experience.Recall, error) {
	f.Patterns = maxRecalledPatterns
	return s.services.Experiences.Recall(ctx, f)
}

func (s *Server) recallByOutcome(ctx context.Context, f experience.Filter) (experience.Recall, error) {
	f.ByOutcome = true
	return s.recallByType(ctx, f)
}

func (s *Server) applicable(ctx context.Context, q experience.ApplicableQuery) (experience.Applicable, error) {
	q.Limit = experience.DefaultRecall
	return s.services.Experiences.Applicable(ctx, q)
}

// strictly reads a parameter that is an object, and refuses members that it does not have.
func strictly[T any](name string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	into := new(T)
	if err := strictjson.Decode(raw, into); err != nil {
		return nil, errs.InvalidField(strings.TrimSuffix(name+"."+errs.FieldOf(err), "."), "%s", strings.TrimPrefix(errs.MessageOf(err), "the record "))
	}
	return into, nil
}

func (s *Server) recordExperience(ctx context.Context, in experienceDraft) (experience.Recorded, error) {
	var errs [3]error
	in.Draft.Problem, errs[0] = strictly[experience.Problem]("problem", in.Problem)
	in.Draft.Solution, errs[1] = strictly[experience.Solution]("solution", in.Solution)
	in.Draft.Metadata, errs[2] = strictly[experience.Metadata]("metadata", in.Metadata)
	if err := cmp.Or(errs[:]...); err != nil {
		return experience.Recorded{}, err
	}
	return s.services.Experiences.Record(ctx, in.Draft)
}

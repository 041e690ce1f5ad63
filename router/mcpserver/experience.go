package mcpserver

import (
	"context"
	"strings"

	"github.com/skillrouter/skillrouter/learning/experience"
)

// maxRecalledPatterns bounds the patterns that come with recalled experiences: an agent's context is dear, and
// as many as experiences come by default are enough.
const maxRecalledPatterns = experience.DefaultRecall

// experienceTools are the experience server's, in a toolset of their own.
func experienceTools() []tool {
	list := []tool{
		{
			name: "record_experience", title: "Record an experience", effect: adds, holds: "episode_id recorded utility_score",
			description: "Store how an operation went, so that what recurs becomes a pattern (recall_by_type shows it) and a lesson (learn_from_pattern makes it).",
			does:        experience.Service.Record, takes: "operation_type! server_name problem solution outcome! metadata quality_score duration_ms notes",
			about: words{
				"operation_type": "build, search, verify, …", "problem": "{query, constraints, context}", "solution": "{tool, params, approach}",
				"metadata": "{environment, dependencies, triggers}", "quality_score": "0 to 1", "notes": "",
			},
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

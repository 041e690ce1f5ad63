package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// agentMemory is what an agent should know. A lesson that stands in several of
// its lists is in the first of them alone: a model reads each once.
type agentMemory struct {
	Agent        string          `json:"agent"`
	Domain       string          `json:"domain,omitempty"`
	LessonsCount int             `json:"lessons_count"`
	Critical     []lesson.Lesson `json:"critical_lessons"`
	AntiPatterns []lesson.Lesson `json:"anti_patterns"`
	Recent       []lesson.Lesson `json:"recent_lessons"`
	LastUpdated  time.Time       `json:"last_updated"`
}

// lessonListing is what list_lessons takes: of the statuses that a filter may name one.
type lessonListing struct {
	Status lesson.Status `json:"status"`
	lesson.Filter
}

// unneeded are the members of a lesson that no model needs.
const unneeded = "related_files contexts trigger_pattern block_action proposed transferability source_case_ids pattern_id " +
	"initial_confidence decay_constant confidence_at last_occurred times_applied times_succeeded validated validated_by validation_notes " +
	"last_validated_at superseded_by retired_at retired_reason deprecated updated_at relevance"

const theLesson = "Its id or number"

// lessonTools are the two that every agent needs, and those that look after lessons.
func lessonTools() []tool {
	lessons := words{"lesson": theLesson}
	return []tool{
		{
			name: "report_lesson", title: "Report a lesson", effect: adds, walled: true, holds: "lesson_id",
			description: "Report what worked, what failed, or what nobody should do again (anti_pattern: its related_commands are stopped).",
			does:        (*Server).reportLesson, said: saidOfReport,
			takes: "lesson_type! domain! title! context! action_taken! outcome! category root_cause solution alternatives severity tags related_commands project",
		},
		{
			name: "get_relevant_lessons", title: "Relevant lessons", effect: reads, holds: "results",
			description: "The lessons that fit a task. Ask before you begin it.",
			does:        lesson.Service.Relevant, takes: "context! domain max_results explain", without: "count tried " + unneeded,
			about: words{"context": "The task", "domain": "", "max_results": upTo(learning.MaxLimit, lesson.DefaultLimit)},
			said: func(found lesson.Results) string {
				return searched(len(found.Results), "lesson", "No lesson fits. Once you have learned something here, use report_lesson.", "best first", found.LeftOut, found.Corrected, found.Notice)
			},
		},
		{
			name: "list_lessons", title: "List lessons", effect: reads, walled: true, holds: "lessons",
			description: "Lessons by what they are, newest first; retired ones only if asked for.",
			does:        (*Server).listLessons, takes: "lesson_type domain category severity level status tag project cursor limit", without: unneeded,
		},
		{
			name: "get_lesson", title: "One lesson", effect: reads, as: "lesson", without: unneeded,
			does: lesson.Service.Lesson, takes: "lesson!", about: lessons,
			resource: &resource{
				template: "memory://lessons/{id}", name: "lesson", description: "A lesson, by its id or number", arguments: []string{"lesson"},
				lists: lesson.Service.List, asks: lesson.Filter{Limit: listedPerKind}, members: "id", title: "title",
			},
		},
		{
			name: "validate_lesson", title: "Judge a lesson", effect: adds, as: "lesson", without: unneeded,
			description: "Say whether a lesson holds; its confidence moves with it.",
			does:        lesson.Service.Validate, takes: "lesson! validation_type! notes",
			about: words{"lesson": theLesson, "validation_type": oneOf(lesson.ValidationTypes()...), "notes": "Why"},
		},
		{name: "promote_lesson", title: "Promote a lesson", effect: adds, as: "lesson", without: unneeded, does: lesson.Service.Promote, takes: "lesson! source_case_ids title notes", about: lessons},
		{name: "retire_lesson", title: "Retire a lesson", effect: adds, as: "lesson", without: unneeded, does: lesson.Service.Retire, takes: "lesson! reason! superseded_by", about: lessons},
		{name: "restore_lesson", title: "Restore a lesson", effect: ensure, as: "lesson", without: unneeded, does: lesson.Service.Restore, takes: "lesson! note", about: words{"lesson": theLesson, "note": "Why"}},
		{
			name: "review_lessons", title: "Lessons to look at", effect: reads, holds: "promotions stale",
			does: lesson.Service.Review, takes: "stale_days domain limit", none: "Nothing needs an eye",
		},
		{name: "lesson_history", title: "What happened to a lesson", effect: reads, as: "changes", does: lesson.Service.History, takes: "lesson!", about: lessons},
	}
}

// memoryTools are what an agent should know.
func memoryTools() []tool {
	return []tool{{
		name: "get_agent_memory", title: "What an agent should know", effect: reads,
		holds:       "agent lessons_count critical_lessons anti_patterns recent_lessons last_updated",
		description: "What you should know before you work: critical lessons, what never to do, and what was learned lately in your domain.",
		does:        (*Server).agentMemory, takes: "agent_id", without: unneeded, none: "There is nothing to know yet",
	}}
}

// patternTools are what recurs.
func patternTools() []tool {
	judged := words{"pattern": "Its id or number"}
	return []tool{
		{
			name: "emerging_patterns", title: "Emerging patterns", effect: reads, as: "patterns",
			description: "What recurs in the team's lessons and experiences and nobody has confirmed, with why it was taken for a pattern.",
			does:        (*Server).emergingPatterns, takes: "pattern_type domain limit", about: words{"pattern_type": oneOf(lesson.PatternTypes()...)},
		},
		{
			name: "confirm_pattern", title: "Confirm a pattern", effect: ensure, as: "pattern",
			description: "Say that a pattern is real and should be enforced.",
			does:        lesson.PatternService.Confirm, takes: "pattern! notes", about: judged,
		},
		{name: "deprecate_pattern", title: "Deprecate a pattern", effect: ensure, as: "pattern", does: lesson.PatternService.Deprecate, takes: "pattern! notes", about: judged},
	}
}

func (s *Server) reportLesson(ctx context.Context, d lesson.Draft) (lesson.Reported, error) {
	d.Category = cmp.Or(d.Category, d.Domain)
	return s.services.Lessons.Report(ctx, d)
}

func (s *Server) listLessons(ctx context.Context, l lessonListing) (lesson.Page, error) {
	if l.Status != "" {
		l.Statuses = []lesson.Status{l.Status}
	}
	return s.services.Lessons.List(ctx, l.Filter)
}

func (s *Server) emergingPatterns(ctx context.Context, f lesson.PatternFilter) ([]lesson.Pattern, error) {
	f.Statuses = []lesson.PatternStatus{lesson.PatternEmerging}
	return s.services.Patterns.List(ctx, f)
}

// anAgent is what is asked of one agent, by default the caller.
type anAgent struct {
	AgentID string `json:"agent_id" actor:"true" doc:"Another agent than you"`
}

func (s *Server) agentMemory(ctx context.Context, of anAgent) (agentMemory, error) {
	found, err := s.services.Memory.Memory(ctx, of.AgentID)
	out := agentMemory{Agent: found.Agent, Domain: found.Domain, LessonsCount: found.LessonsCount, LastUpdated: found.LastUpdated}
	seen := map[string]bool{}
	gather := func(into *[]lesson.Lesson, l lesson.Lesson) {
		if !seen[l.ID] {
			seen[l.ID] = true
			*into = append(*into, l)
		}
	}
	for _, l := range found.Critical {
		gather(&out.Critical, l)
	}
	for _, l := range found.AntiPatterns {
		gather(&out.AntiPatterns, l.Lesson)
	}
	for _, l := range found.Recent {
		gather(&out.Recent, l)
	}
	return out, err
}

func saidOfReport(r lesson.Reported) string {
	var said strings.Builder
	if r.Duplicate {
		fmt.Fprintf(&said, "Known already as lesson %d (%s): occurrence %d was counted.", r.Number, visible(r.LessonID), r.Occurrences)
	} else {
		fmt.Fprintf(&said, "Recorded as lesson %d (%s).", r.Number, visible(r.LessonID))
	}
	if r.Patterns > 0 {
		fmt.Fprintf(&said, " It belongs to %s.", count(r.Patterns, "pattern", "patterns"))
	}
	if len(r.EscalatedTo) > 0 {
		fmt.Fprintf(&said, " Escalated to %s.", visible(strings.Join(r.EscalatedTo, ", ")))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&said, "\nNote: %s", visible(note))
	}
	return said.String()
}

package mcpserver

import (
	"time"

	"skillrouter/learning/lesson"
	"skillrouter/router"
)

// agentMemory is what an agent should know. A lesson that stands in several of
// its lists is in the first of them alone: a model reads each once.
type agentMemory struct {
	Agent        string       `json:"agent"`
	Domain       string       `json:"domain,omitempty"`
	LessonsCount int          `json:"lessons_count"`
	Critical     []lessonView `json:"critical_lessons"`
	AntiPatterns []lessonView `json:"anti_patterns"`
	Recent       []lessonView `json:"recent_lessons"`
	LastUpdated  time.Time    `json:"last_updated"`
	Notice       string       `json:"notice,omitempty"`
}

// addMemoryTools offers what an agent should know.
func (s *Server) addMemoryTools() {
	add(s, tool{
		name: "get_agent_memory", title: "What an agent should know", set: ToolsetLessons, effect: reads,
		holds:       "agent lessons_count critical_lessons anti_patterns recent_lessons last_updated",
		description: "What you should know before you work: critical lessons, what never to do, and what was learned lately in your domain.",
	}, func(p *params, agent *string) {
		p.may("agent_id", agent, "Another agent than you")
		p.actor(agent)
	}, then(s.services.Memory.Memory, shownMemory))
}

func shownMemory(found router.Memory) (agentMemory, string) {
	out := agentMemory{Agent: found.Agent, Domain: found.Domain, LessonsCount: found.LessonsCount, LastUpdated: found.LastUpdated}
	seen := map[string]bool{}
	all := []lessonView{}
	gather := func(l lesson.Lesson) {
		if !seen[l.ID] {
			seen[l.ID] = true
			all = append(all, shownLesson(l))
		}
	}
	for _, l := range found.Critical {
		gather(l)
	}
	critical := len(all)
	for _, l := range found.AntiPatterns {
		gather(l.Lesson)
	}
	both := len(all)
	for _, l := range found.Recent {
		gather(l)
	}
	f := listing(all, &out.Notice, lessonEntry, "There is nothing to know yet.", "%s for %s: %d critical, then %d more on what never to do, then what is recent.",
		count(found.LessonsCount, "lesson", "lessons"), author(found.Agent), critical, both-critical)
	out.Critical, out.AntiPatterns, out.Recent = all[:critical:critical], all[critical:both:both], all[both:]
	return out, f.String()
}

package mcpserver

import (
	"context"
	"time"

	"skillrouter/router"
)

type getAgentMemory struct {
	Agent string `json:"agent_id"`
}

// agentMemory is what an agent should know. A lesson that stands in several of
// its lists is in the first of them alone: a model reads each once.
type agentMemory struct {
	Agent        string    `json:"agent"`
	Domain       string    `json:"domain,omitempty"`
	LessonsCount int       `json:"lessons_count"`
	Critical     []lesson  `json:"critical_lessons"`
	AntiPatterns []lesson  `json:"anti_patterns"`
	Recent       []lesson  `json:"recent_lessons"`
	LastUpdated  time.Time `json:"last_updated"`
	Notice       string    `json:"notice,omitempty"`
}

func (s *Server) addMemoryTools() {
	add(s, tool{
		name: "get_agent_memory", title: "What an agent should know", set: ToolsetLessons, effect: reads,
		description: "What you should know before you work: critical lessons, what never to do, and what was learned lately in your domain or fits your past work.",
		input:       arguments(text("agent_id", "Another agent than you")),
		output:      holds("agent", "lessons_count", "critical_lessons", "anti_patterns", "recent_lessons", "last_updated"),
	}, s.getAgentMemory)
}

func (s *Server) getAgentMemory(ctx context.Context, in getAgentMemory) (reply[agentMemory], error) {
	found, err := s.services.Memory.Memory(ctx, s.actor(ctx, in.Agent))
	if err != nil {
		return reply[agentMemory]{}, err
	}
	out, text := shownMemory(found)
	return reply[agentMemory]{out, text}, nil
}

func shownMemory(found router.Memory) (agentMemory, string) {
	out := agentMemory{Agent: found.Agent, Domain: found.Domain, LessonsCount: found.LessonsCount, LastUpdated: found.LastUpdated}
	seen := map[string]bool{}
	var all []lesson
	gather := func(l lesson) int {
		if seen[l.ID] {
			return 0
		}
		seen[l.ID] = true
		all = append(all, l)
		return 1
	}
	critical, anti := 0, 0
	for _, l := range found.Critical {
		critical += gather(shownLesson(l))
	}
	for _, l := range found.AntiPatterns {
		anti += gather(shownLesson(l.Lesson))
	}
	for _, l := range found.Recent {
		gather(shownLesson(l))
	}
	if len(all) == 0 {
		out.Critical, out.AntiPatterns, out.Recent = []lesson{}, []lesson{}, []lesson{}
		return out, "There is nothing to know yet."
	}
	out.Notice = notice
	f := newFence("%s for %s: %d critical, then %d more on what never to do, then what is recent.",
		count(found.LessonsCount, "lesson", "lessons"), author(found.Agent), critical, anti)
	f.addLessons(all)
	out.Critical, out.AntiPatterns, out.Recent = all[:critical:critical], all[critical:critical+anti:critical+anti], all[critical+anti:]
	return out, f.String()
}

package router

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// MemoryService gives an agent what was learned. AgentMemory implements it beside the
// databases, router/client over HTTP.
type MemoryService interface {
	// Memory returns what an agent should know (GET /agent/{name}/memory).
	Memory(ctx context.Context, agent string) (Memory, error)
	// SessionContext returns what a coding agent is given at the start of a session (GET /claude-code/context).
	SessionContext(ctx context.Context, query SessionQuery) (SessionContext, error)
	// Figures returns the figures of the dashboard (GET /lessons/stats).
	Figures(ctx context.Context) (lesson.Figures, error)
}

// Memory is what an agent should know. Each lesson carries who wrote it and
// how far that may be trusted: it is what another agent wrote, and no instruction.
type Memory struct {
	Agent        string          `json:"agent"`
	Domain       string          `json:"domain"` // the one that it works in; empty if that is not known
	LessonsCount int             `json:"lessons_count"`
	Critical     []lesson.Lesson `json:"critical_lessons"` // newest first, as the others
	Recent       []lesson.Lesson `json:"recent_lessons"`
	AntiPatterns []AntiPattern   `json:"anti_patterns"`
	LastUpdated  time.Time       `json:"last_updated"`
}

// AntiPattern is a lesson on what never to do.
type AntiPattern struct {
	lesson.Lesson
	WhyBad  string `json:"why_bad"`
	Example string `json:"example"`
}

// SessionQuery asks for a session's context.
type SessionQuery struct {
	Agent   string   `query:"agent" doc:"Whose last session is told of; default CLAUDE_CODE"` // whose last session is told of; empty: SessionAgent
	Domains []string `query:"domains" doc:"Further domains, categories or tags, separated by commas"`
}

// SessionContext is what a coding agent is given at the start of a session.
type SessionContext struct {
	CriticalAntiPatterns []AntiPattern              `json:"critical_anti_patterns"`
	RecentFailures       []lesson.Lesson            `json:"recent_failures"` // of FailureHours
	ActiveWorkarounds    []lesson.Lesson            `json:"active_workarounds"`
	DomainLessons        map[string][]lesson.Lesson `json:"domain_lessons"` // by topic
	LastSessionLessons   []lesson.Lesson            `json:"last_session_lessons"`
	GeneratedAt          time.Time                  `json:"generated_at"`
}

// Bounds of memories and contexts.
const (
	RecentLessons = 20 // MNEMOSYNE: lessons[:20]
	// MemoryLessons bounds each other list: what is put before an agent at its start must leave room for its work.
	MemoryLessons = 50
	TopicLessons  = 10             // lessons of one topic
	MaxTopics     = 16             // further topics of a session's context
	FailureAge    = 72 * time.Hour // MNEMOSYNE: get_recent_failures(hours=72)
	// SessionAgent is whose session it is if nobody says: MNEMOSYNE's reporter.
	SessionAgent = "CLAUDE_CODE"
	// sessionGap is how long an agent may be silent within one session.
	sessionGap = 2 * time.Hour
)

// sessionTopics are MNEMOSYNE's domains of a session's context.
func sessionTopics() []string { return []string{"docker", "supabase", "n8n", "caddy", "aria"} }

// MemorySources are what an AgentMemory reads.
type MemorySources struct {
	Lessons lesson.RecallStore
	// Domains tells which domain an agent works in; propagation.Propagation does.
	Domains interface {
		DomainOf(ctx context.Context, agent string) (string, error)
	}
	// Pending counts the escalations that nobody has looked at; operational.Escalations does.
	Pending interface {
		Pending(ctx context.Context) (int, error)
	}
	// Crossing is waited for, so that what was just reported is there.
	Crossing interface {
		Settle(ctx context.Context) error
	}
}

// AgentMemory is the MemoryService beside the databases.
type AgentMemory struct {
	sources MemorySources
	now     clock.Clock
}

var _ MemoryService = (*AgentMemory)(nil)

// NewAgentMemory makes the service.
func NewAgentMemory(sources MemorySources, now clock.Clock) *AgentMemory {
	return &AgentMemory{sources: sources, now: now}
}

// enter checks the caller's right, and waits until what was reported has crossed.
func (m *AgentMemory) enter(ctx context.Context) error {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return err
	}
	return m.sources.Crossing.Settle(ctx)
}

// Memory implements MemoryService. It needs ScopeRead.
func (m *AgentMemory) Memory(ctx context.Context, agent string) (Memory, error) {
	if err := check.AgentID("agent", agent); err != nil {
		return Memory{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Memory{}, err
	}
	now := m.now().UTC()
	domain, err := m.sources.Domains.DomainOf(ctx, agent)
	if err != nil {
		return Memory{}, err
	}
	scope := lesson.RecallScope{Agent: agent, Domain: domain}
	memory := Memory{Agent: agent, Domain: domain, LastUpdated: now}
	if memory.LessonsCount, err = m.sources.Lessons.CountFor(ctx, scope); err != nil {
		return Memory{}, err
	}
	if memory.Recent, err = m.sources.Lessons.RecentFor(ctx, scope, RecentLessons); err != nil {
		return Memory{}, err
	}
	// What is critical is for everybody: there is no need to ask for the agent's.
	if memory.Critical, err = m.latest(ctx, lesson.Filter{Severity: learning.SeverityCritical}); err != nil {
		return Memory{}, err
	}
	anti, err := m.latest(ctx, lesson.Filter{Type: learning.LessonAntiPattern, Scope: &scope})
	if err != nil {
		return Memory{}, err
	}
	memory.AntiPatterns = antiPatterns(anti)
	present(memory.Recent, now)
	return memory, nil
}

// SessionContext implements MemoryService. It needs ScopeRead.
func (m *AgentMemory) SessionContext(ctx context.Context, query SessionQuery) (SessionContext, error) {
	query.Agent = cmp.Or(query.Agent, SessionAgent)
	if err := check.AgentID("agent", query.Agent); err != nil {
		return SessionContext{}, err
	}
	topics, err := topicsOf(query.Domains)
	if err != nil {
		return SessionContext{}, err
	}
	if err := m.enter(ctx); err != nil {
		return SessionContext{}, err
	}
	now := m.now().UTC()
	c := SessionContext{GeneratedAt: now, DomainLessons: map[string][]lesson.Lesson{}}
	anti, err := m.latest(ctx, lesson.Filter{Type: learning.LessonAntiPattern, Severity: learning.SeverityCritical})
	if err != nil {
		return SessionContext{}, err
	}
	c.CriticalAntiPatterns = antiPatterns(anti)
	if c.RecentFailures, err = m.latest(ctx, lesson.Filter{Type: learning.LessonFailure, OccurredSince: now.Add(-FailureAge)}); err != nil {
		return SessionContext{}, err
	}
	if c.ActiveWorkarounds, err = m.latest(ctx, lesson.Filter{Type: learning.LessonWorkaround}); err != nil {
		return SessionContext{}, err
	}
	written, err := m.latest(ctx, lesson.Filter{SourceAgent: query.Agent})
	if err != nil {
		return SessionContext{}, err
	}
	c.LastSessionLessons = lastSession(written)
	found, err := m.sources.Lessons.ByTopic(ctx, topics, TopicLessons)
	if err != nil {
		return SessionContext{}, err
	}
	for _, topic := range topics {
		present(found[topic], now)
		c.DomainLessons[topic] = append([]lesson.Lesson{}, found[topic]...) // a list even if it is empty
	}
	return c, nil
}

// Figures implements MemoryService. It needs ScopeRead.
func (m *AgentMemory) Figures(ctx context.Context) (lesson.Figures, error) {
	if err := m.enter(ctx); err != nil {
		return lesson.Figures{}, err
	}
	now := m.now()
	figures, err := m.sources.Lessons.LessonFigures(ctx, now.AddDate(0, 0, -1), now.AddDate(0, 0, -7))
	if err != nil {
		return lesson.Figures{}, err
	}
	figures.Pending, err = m.sources.Pending.Pending(ctx)
	return figures, err
}

func (m *AgentMemory) latest(ctx context.Context, filter lesson.Filter) ([]lesson.Lesson, error) {
	filter.Limit = MemoryLessons
	list, err := m.sources.Lessons.ListLessons(ctx, filter, 0, m.now())
	present(list, m.now())
	return list, err
}

// present sets what is left of the lessons' confidence.
func present(lessons []lesson.Lesson, now time.Time) {
	for i := range lessons {
		lessons[i].Confidence = lessons[i].At(now)
	}
}

func antiPatterns(lessons []lesson.Lesson) []AntiPattern {
	list := make([]AntiPattern, len(lessons))
	for i, l := range lessons {
		list[i] = AntiPattern{Lesson: l, WhyBad: l.Context, Example: l.Action}
	}
	return list
}

// lastSession returns the lessons, newest first, up to where their author was silent for long.
func lastSession(lessons []lesson.Lesson) []lesson.Lesson {
	for i := 1; i < len(lessons); i++ {
		if lessons[i-1].CreatedAt.Sub(lessons[i].CreatedAt) > sessionGap {
			return lessons[:i]
		}
	}
	return lessons
}

// topicsOf returns MNEMOSYNE's topics and further ones, in lower case, each once.
func topicsOf(further []string) ([]string, error) {
	topics := sessionTopics()
	if len(further) > MaxTopics {
		return nil, errs.InvalidField("domains", "may hold at most %d domains", MaxTopics)
	}
	for _, topic := range further {
		if err := check.Name("domains", topic); err != nil {
			return nil, err
		}
		if topic = strings.ToLower(strings.TrimSpace(topic)); topic != "" && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	return topics, nil
}

package router

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"skillrouter/operational"
	"skillrouter/router/classify"
)

// Bounds of what the operational source reads for one question.
const (
	readAgents   = operational.MaxLimit
	readTasks    = operational.MaxLimit
	readFinished = 200 // tasks of one agent
	readFitting  = 200 // tasks whose words are compared: those that hold the most of them
	// countedMailboxes bounds for how many agents waiting messages are counted: each is a query.
	countedMailboxes = 50
	// overdueAfter is how long a message that wants an acknowledgement may wait.
	overdueAfter = time.Minute
	// namedInSummary is how many things a summary names; the items list the rest.
	namedInSummary = 6
)

// operationalSource answers how things stand now: from filters that the
// question's words stand for, and only where it names a thing from text.
type operationalSource struct {
	agents Agents
	tasks  Tasks
	mail   Mail
}

func (s operationalSource) ask(ctx context.Context, q question) (found, error) {
	if s.agents == nil || s.tasks == nil {
		return found{}, nil
	}
	f, err := s.read(q).answer(ctx)
	project := func(n named) bool { return n.Kind == classify.MentionProject }
	if err == nil && len(f.items) == 0 && !f.settled && slices.ContainsFunc(q.names, project) {
		q.names = slices.DeleteFunc(slices.Clone(q.names), project)
		f, err = s.read(q).answer(ctx) // the project's name may be a word like others
	}
	if len(f.items) > q.limit {
		f.items = f.items[:q.limit]
	}
	for n := range f.items {
		if f.items[n].Score == 0 {
			f.items[n].Score = 1 / float64(n+1) // filters give an order and no degree
		}
	}
	return f, err
}

// read reads the question.
func (s operationalSource) read(q question) *asking {
	i := readInquiry(q.text, q.names, q.now)
	project := cmp.Or(i.Project, q.project)
	// "How do I …?" of another class asks nothing about the asker.
	if i.Mine && len(i.Agents) == 0 && q.agentID != "" && !q.fallback {
		i.Agents = []string{q.agentID}
	}
	return &asking{operationalSource: s, question: q, inquiry: i, project: project}
}

// asking is one question with what is needed to answer it.
type asking struct {
	operationalSource
	question
	inquiry
	project string
}

func (a *asking) answer(ctx context.Context) (found, error) {
	subject := a.subject()
	if a.fallback && !slices.Contains([]subjectOf{subjectText, subjectHolder, subjectAgent, subjectTask}, subject) {
		return found{}, nil
	}
	switch subject {
	case subjectAgents:
		return a.agentList(ctx)
	case subjectAgent:
		return a.namedAgents(ctx)
	case subjectTasks:
		return a.taskList(ctx)
	case subjectTask:
		return a.numberedTasks(ctx)
	case subjectHolder:
		return a.holders(ctx)
	case subjectNext:
		return a.next(ctx)
	case subjectLoad:
		return a.load(ctx)
	case subjectMail:
		return a.waiting(ctx)
	case subjectOverdue:
		return a.overdue(ctx)
	}
	return a.byText(ctx)
}

// everyAgent lists the agents, those of the project if there is one.
func (a *asking) everyAgent(ctx context.Context) ([]operational.Agent, error) {
	agents, err := a.agents.Agents(ctx, operational.AgentFilter{Limit: readAgents})
	if a.project == "" {
		return agents, err
	}
	return slices.DeleteFunc(slices.Clone(agents), func(one operational.Agent) bool {
		return !strings.EqualFold(one.Project, a.project)
	}), err
}

// heldTasks lists the unfinished tasks that agents hold, by agent.
func (a *asking) heldTasks(ctx context.Context) (map[string][]operational.Task, error) {
	tasks, err := a.tasks.List(ctx, operational.TaskFilter{
		Status: []operational.TaskStatus{operational.TaskClaimed, operational.TaskInProgress, operational.TaskBlocked}, Limit: readTasks,
	})
	held := map[string][]operational.Task{}
	for _, t := range tasks {
		held[t.AgentID] = append(held[t.AgentID], t)
	}
	return held, err
}

package router

import (
	"context"
	"time"

	"skillrouter"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/operational"
)

// Sources are the stores that the router asks. If one is nil, its class of questions finds
// nothing.
type Sources struct {
	Knowledge Knowledge
	Episodes  Episodes
	Agents    Agents
	Tasks     Tasks
	Recon     Recon
	Mail      Mail  // nil: questions on messages are not answered
	Names     Namer // nil: no name is recognised
}

// Knowledge is what the router asks of knowledge.Service.
type Knowledge interface {
	Search(ctx context.Context, query knowledge.Query) (knowledge.Results, error)
}

// Episodes is what the router asks of episode.Service.
type Episodes interface {
	Recent(ctx context.Context, filter episode.Filter) ([]episode.Episode, error)
	Search(ctx context.Context, query episode.Query) (episode.Results, error)
}

// Agents lists agents, as the presence does.
type Agents interface {
	Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error)
}

// Tasks is what the router asks of operational.TaskService.
type Tasks interface {
	Task(ctx context.Context, ref string) (operational.Task, error)
	List(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error)
	Summary(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error)
}

// Recon is what the router asks of operational.ReconService.
type Recon interface {
	Findings(ctx context.Context, filter operational.FindingFilter) ([]operational.Finding, error)
	Summary(ctx context.Context, filter operational.FindingFilter) (operational.FindingSummary, error)
	Environments(ctx context.Context, project string) ([]operational.Environment, error)
	Scans(ctx context.Context, filter operational.ScanFilter) ([]operational.Scan, error)
}

// Mail counts and lists messages that wait. It checks no right: the router
// asks only for what the caller may see.
type Mail interface {
	// Waiting counts the messages that each of the agents has not acknowledged.
	Waiting(ctx context.Context, agents []string, now time.Time) (map[string]int, error)
	// Awaited lists messages that want an acknowledgement and were sent before a time;
	// from, if not empty, is their sender.
	Awaited(ctx context.Context, from string, before, now time.Time, limit, agents int) ([]operational.Awaited, error)
}

// question is a query as a source is asked it.
type question struct {
	text    string
	agentID string // who asks, or for whom
	project string // only of this project; empty: of all
	prefer  string // what belongs to it goes first; empty: none is preferred
	limit   int
	names   []named
	now     time.Time
	caller  skillrouter.Principal
	// fallback is set where the question is of another class, whose source had
	// nothing. Then only what it names is of interest, and no list by state.
	fallback bool
	// subjects is set where no source has the question's words: knowledge is asked for what is about the same.
	subjects bool
}

// found is what a source has for a question.
type found struct {
	items   []Item
	summary string
	// settled means that the question was understood as one on state, so that
	// an empty list is the answer and no other source needs to be asked.
	settled bool
	note    string // what was looked for, for the answer's reasons
	missed  string // what was looked for first, without success; empty if the first look found something
	noMatch bool   // most of the question's words stand in nothing that the source has
}

// source answers the questions of one class.
type source interface {
	ask(ctx context.Context, q question) (found, error)
}

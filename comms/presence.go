package comms

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/operational"
)

// What presence assumes unless it is told otherwise.
const (
	// DefaultHeartbeatEvery is how often agents are expected to check in.
	DefaultHeartbeatEvery = 10 * time.Second
	// staleMissed and offlineMissed are how many heartbeats in a row may be missed:
	// two can be lost to a busy machine, twelve (two minutes) cannot.
	staleMissed   = 3
	offlineMissed = 12
	// seenEvery is how often last-seen times are written. A crash of the
	// router loses at most that much of them, which only makes an agent look older.
	seenEvery = 10 * time.Second
)

// Bounds on what an agent may say of itself, in bytes.
const (
	MaxTask = 1024
	MaxPath = 4096
)

// PresenceOptions says how presence is judged. The zero value is usable.
type PresenceOptions struct {
	HeartbeatEvery time.Duration // how often agents check in; 0: DefaultHeartbeatEvery
	StaleAfter     time.Duration // silence after which an agent is stale; 0: three heartbeats
	OfflineAfter   time.Duration // silence after which it is offline; 0: twelve heartbeats
}

func (o PresenceOptions) withDefaults() PresenceOptions {
	if o.HeartbeatEvery <= 0 {
		o.HeartbeatEvery = DefaultHeartbeatEvery
	}
	if o.StaleAfter <= 0 {
		o.StaleAfter = staleMissed * o.HeartbeatEvery
	}
	if o.OfflineAfter <= o.StaleAfter {
		o.OfflineAfter = max(offlineMissed*o.HeartbeatEvery, 2*o.StaleAfter)
	}
	return o
}

// OpenTasks lists the tasks that an agent has not finished.
type OpenTasks interface {
	OpenTasks(ctx context.Context, agentID string, limit int) ([]operational.Task, error)
}

// Presence knows which agents there are and in which state. A heartbeat that says nothing
// new is kept only in memory. Everything else is on disk before it is answered.
type Presence struct {
	roster  *roster
	tasks   OpenTasks
	now     clock.Clock
	log     *slog.Logger
	options PresenceOptions
	// started is where silence is counted from at the earliest: while the router was away,
	// not started yet or stopped for a while, nobody could check in.
	started time.Time
	mu      sync.RWMutex // guards started, which Run alone changes
	looked  time.Time    // when silence was looked for last; Run's own

	// handedOver is told which messages a shutdown check has handed to an agent.
	handedOver func(ctx context.Context, m *member, messages []operational.Message)
	// departed is told that an agent has said goodbye.
	departed func()
	// collect gives an agent what was sent to its groups.
	collect func(ctx context.Context, m *member) error
	// atWork gives an agent at work what waits for whoever works on its project.
	atWork func(ctx context.Context, agentID, project string) error
}

// NewPresence makes a Presence that knows the agents of the store. tasks may
// be nil if nothing keeps tasks. Run must be started for agents to become
// stale or offline and for last-seen times to be written.
func NewPresence(ctx context.Context, store AgentStore, tasks OpenTasks, now clock.Clock, log *slog.Logger, options PresenceOptions) (*Presence, error) {
	roster, err := newRoster(ctx, store, now)
	if err != nil {
		return nil, err
	}
	if roster.ahead > 0 {
		log.Warn("the clock was set back: agents were last seen in the future, and count as seen now", "agents", roster.ahead)
	}
	return &Presence{
		roster: roster, tasks: tasks, now: now, log: log, options: options.withDefaults(), started: now(),
		handedOver: func(context.Context, *member, []operational.Message) {}, departed: func() {}, collect: func(context.Context, *member) error { return nil },
		atWork: func(context.Context, string, string) error { return nil },
	}, nil
}

// Heartbeat checks an agent in, making it known if it was not. The caller
// must be that agent, or a Captain.
func (p *Presence) Heartbeat(ctx context.Context, beat Heartbeat) (HeartbeatAnswer, error) {
	if err := beat.check(); err != nil {
		return HeartbeatAnswer{}, err
	}
	now := p.now()
	m, redacted, err := p.takeIn(ctx, checkIn{Heartbeat: beat, at: now})
	if err != nil {
		return HeartbeatAnswer{}, err
	}
	if err := p.collect(ctx, m); err != nil {
		return HeartbeatAnswer{}, err
	}
	if r := m.snapshot(); r.Project != "" && !r.Gone && r.Status != statusIdle {
		if err := p.atWork(ctx, beat.AgentID, r.Project); err != nil {
			p.log.WarnContext(ctx, "what waits for an agent of the project could not be delivered", "project", r.Project, "error", err)
		}
	}
	count, err := p.roster.waiting(ctx, m)
	if err != nil {
		return HeartbeatAnswer{}, err
	}
	answer := HeartbeatAnswer{OK: true, Timestamp: plain(now), HasMessages: count > 0, MessageCount: count, Redacted: redacted}
	if r := m.snapshot(); stopInForce(r, now) {
		answer.ShouldStop, answer.StopReason = true, r.StopReason
	}
	return answer, nil
}

func (b Heartbeat) check() error {
	if err := check.AgentID("agent_id", b.AgentID); err != nil {
		return err
	}
	for _, named := range [...]struct{ field, value string }{
		{"config_name", b.ConfigName}, {"status", b.Status}, {"model", b.Model}, {"role", b.Role}, {"project", b.Project},
	} {
		if err := check.Line(named.field, named.value); err != nil {
			return err
		}
	}
	if err := check.Text("project_path", b.ProjectPath, MaxPath); err != nil {
		return err
	}
	if b.PID < 0 {
		return errs.InvalidField("pid", "must not be negative")
	}
	return check.Text("current_task", b.CurrentTask, MaxTask)
}

// redact cuts the secrets out of what an agent says of itself. What is known
// of it already has none: a heartbeat that brings nothing new costs nothing.
func (p *Presence) redact(beat *Heartbeat) []string {
	var known operational.Agent
	if m := p.roster.member(beat.AgentID); m != nil {
		known = m.snapshot().Agent
	}
	var redaction redact.Redaction
	for _, said := range [...]struct {
		text  *string
		known string
	}{
		{&beat.CurrentTask, known.CurrentTask},
		{&beat.Status, known.Status},
		{&beat.Role, known.Role},
		{&beat.Model, known.Model},
		{&beat.ProjectPath, known.ProjectPath},
		{&beat.ConfigName, known.ConfigName},
		{&beat.Project, known.Project},
	} {
		if *said.text != said.known {
			redaction.Text(said.text)
		}
	}
	return redaction.Kinds()
}

// Status records what an agent says of its work. It counts as a check-in. The
// caller must be that agent, or a Captain.
func (p *Presence) Status(ctx context.Context, report StatusReport) (StatusAnswer, error) {
	beat := Heartbeat{AgentID: report.AgentID, Status: report.Status}
	if report.CurrentTask != nil {
		beat.CurrentTask = *report.CurrentTask
	}
	if err := cmp.Or(beat.check(), check.Required("status", report.Status, check.MaxName)); err != nil {
		return StatusAnswer{}, err
	}
	if report.Progress != nil {
		if err := check.Range("progress", *report.Progress, 0, 100); err != nil {
			return StatusAnswer{}, err
		}
	}
	now := p.now()
	_, redacted, err := p.takeIn(ctx, checkIn{Heartbeat: beat, at: now, progress: report.Progress, dropTask: report.CurrentTask != nil && *report.CurrentTask == ""})
	return StatusAnswer{OK: err == nil, Timestamp: plain(now), Redacted: redacted}, err
}

// takeIn checks an agent in for a caller that may act as it, without the secrets of what it says, whose kinds it returns.
func (p *Presence) takeIn(ctx context.Context, c checkIn) (m *member, redacted []string, err error) {
	caller := principal.Of(ctx)
	if err := caller.ActAs(c.AgentID); err != nil {
		return nil, nil, err
	}
	if err := c.within(caller); err != nil {
		return nil, nil, err
	}
	redacted = p.redact(&c.Heartbeat)
	m, err = p.checkIn(ctx, c)
	return m, redacted, err
}

// checkIn takes in what an agent says. Only what changes something is written.
func (p *Presence) checkIn(ctx context.Context, c checkIn) (*member, error) {
	m := p.roster.member(c.AgentID)
	if m == nil {
		first := c.apply(operational.AgentRecord{Agent: newcomer(c.AgentID, c.at)})
		joined, made, err := p.roster.join(ctx, first.Agent, nil)
		if err != nil || made && !first.Gone {
			return joined, err
		}
		m = joined // somebody else made it known meanwhile, or it says goodbye at once
	}
	m.mu.Lock()
	if change := c.change(m.record); !change.any() {
		m.record.LastSeen, m.unsaved = c.at, true
		m.mu.Unlock()
		return m, nil
	}
	m.mu.Unlock()
	m.change.Lock()
	defer m.change.Unlock()
	m.mu.Lock()
	change := c.change(m.record)
	m.tells(&change, c.at)
	m.mu.Unlock()
	return m, p.roster.store.SaveAgents(committer.Essential(ctx), []operational.AgentChange{change.AgentChange}, func() {
		if m.changed(change.AgentChange) {
			p.departed()
		}
	})
}

// changed takes over into memory what was stored, and tells whether the agent has left by it.
func (m *member) changed(c operational.AgentChange) (left bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &m.record
	if slices.ContainsFunc(c.Events, func(e eventlog.Event) bool { return e.Type == "agent.status" }) {
		m.told, m.untold = c.Agent.LastSeen, false
	} else if r.Status != c.Agent.Status || r.CurrentTask != c.Agent.CurrentTask {
		m.untold = true
	}
	joined, seen := r.JoinedSeq, r.LastSeen
	reason := r.StopReason
	if left = c.Gone && !r.Gone; left {
		m.left = c.Agent.LastSeen
	}
	r.Agent, r.Gone = c.Agent, c.Gone
	r.JoinedSeq, r.StopReason = joined, reason
	if seen.After(r.LastSeen) {
		r.LastSeen = seen
	}
	switch {
	case c.ClearStop:
		r.StopSeq, r.StopPID, r.StopReason, r.StopExpires = 0, 0, "", nil
	case c.BindStop && r.StopSeq != 0 && r.StopPID <= 0:
		r.StopPID = c.Agent.Run()
	}
	return left
}

// OnLeave has f called after each goodbye that was stored; f may not wait. It must be called before anybody checks in.
func (p *Presence) OnLeave(f func()) { p.departed = f }

// OnWork has f called at each check-in of an agent that is at work on a project, before its messages are counted. It must be called before
// anybody checks in.
func (p *Presence) OnWork(f func(ctx context.Context, agentID, project string) error) { p.atWork = f }

// statusIdle is how an agent says that it has answered and waits for a person.
const statusIdle = "idle"

// ShutdownCheck tells an agent whether it should stop, and hands over what
// would be lost: what it has not acknowledged and not finished. The caller
// must be that agent, or a Captain.
func (p *Presence) ShutdownCheck(ctx context.Context, agentID string) (ShutdownAnswer, error) {
	if err := check.AgentID("agent_id", agentID); err != nil {
		return ShutdownAnswer{}, err
	}
	if err := principal.Of(ctx).ActAs(agentID); err != nil {
		return ShutdownAnswer{}, err
	}
	now := p.now()
	answer := ShutdownAnswer{Unacknowledged: []operational.Message{}, UnfinishedTasks: []operational.Task{}}
	m := p.roster.member(agentID)
	query := operational.MailQuery{AgentID: agentID, JoinedSeq: noBroadcasts, Unacked: true, Now: now}
	waiting := 1
	if m != nil {
		err := p.collect(ctx, m)
		if err != nil {
			return ShutdownAnswer{}, err
		}
		if waiting, err = p.roster.waiting(ctx, m); err != nil {
			return ShutdownAnswer{}, err
		}
		query = m.mailQuery(now)
		if r := m.snapshot(); stopInForce(r, now) {
			answer.ShouldStop, answer.Reason = true, r.StopReason
		}
	}
	if waiting > 0 {
		query.Limit = HandoverLimit
		messages, _, _, err := p.roster.mail(ctx, query)
		if err != nil {
			return ShutdownAnswer{}, err
		}
		answer.Unacknowledged = append(answer.Unacknowledged, messages...)
	}
	switch {
	case m != nil:
		p.handedOver(ctx, m, answer.Unacknowledged)
	case len(answer.Unacknowledged) > 0: // a stop may wait among it for an agent that has never checked in
		stop, waits, err := p.roster.store.WaitingStop(ctx, agentID, now)
		if err != nil {
			return ShutdownAnswer{}, err
		}
		if waits {
			answer.ShouldStop, answer.Reason = true, operational.StopReason(stop)
		}
	}
	if p.tasks != nil {
		tasks, err := p.tasks.OpenTasks(ctx, agentID, HandoverLimit)
		if err != nil {
			return ShutdownAnswer{}, err
		}
		for _, task := range tasks {
			if principal.Of(ctx).Sees(task.Project) {
				answer.UnfinishedTasks = append(answer.UnfinishedTasks, task)
			}
		}
	}
	return answer, nil
}

// shownTo is an agent as p may see it: why it was told to stop is what a message to it says.
func shownTo(p principal.Principal, a operational.Agent) operational.Agent {
	if p.ActAs(a.ID) != nil {
		a.StopReason = ""
	}
	return a
}

// Agents lists agents, the latest seen first. The caller needs ScopeRead.
func (p *Presence) Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error) {
	caller := principal.Of(ctx).Keeping()
	limit, err := check.Limit(filter.Limit, operational.DefaultLimit, operational.MaxLimit)
	if err := cmp.Or(caller.Need(principal.ScopeRead), err); err != nil {
		return nil, err
	}
	if filter.State != "" && !slices.Contains(operational.AgentStates(), filter.State) {
		return nil, errs.InvalidField("state", "must be starting, online, stale or offline")
	}
	now := p.now()
	agents := []operational.Agent{}
	for _, m := range p.roster.all() {
		if a := m.agent(now); caller.Sees(a.Project) && matches(filter, a) {
			agents = append(agents, shownTo(caller, a))
		}
	}
	if filter.Skip < 0 {
		return nil, errs.InvalidField("skip", "must not be negative")
	}
	byLastSeen(agents)
	agents = agents[min(filter.Skip, len(agents)):]
	return agents[:min(limit, len(agents))], nil
}

func matches(f operational.AgentFilter, a operational.Agent) bool {
	same := func(want, is string) bool { return want == "" || strings.EqualFold(want, is) }
	return (f.State == "" || f.State == a.State) && same(f.Status, a.Status) && same(f.Project, a.Project) && same(f.Role, a.Role) &&
		(f.Task == "" || strings.Contains(strings.ToLower(a.CurrentTask), strings.ToLower(f.Task)))
}

// Agent returns one agent. The caller needs ScopeRead.
func (p *Presence) Agent(ctx context.Context, id string) (operational.Agent, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), check.AgentID("agent_id", id)); err != nil {
		return operational.Agent{}, err
	}
	m, err := p.roster.known(id)
	if err != nil {
		return operational.Agent{}, err
	}
	a := m.agent(p.now())
	if !principal.Of(ctx).Sees(a.Project) {
		return operational.Agent{}, unknown(id)
	}
	return shownTo(principal.Of(ctx), a), nil
}

// Knows tells whether an agent ever checked in. It is the router's own, and asks for no right.
func (p *Presence) Knows(agentID string) bool { return p.roster.member(agentID) != nil }

// Standing is what is known of an agent's being there.
type Standing struct {
	// Since is when it was heard of last; while the router was away nobody could be heard of, so that it is the
	// router's start at the earliest, also of an agent that never checked in.
	Since time.Time
	Left  time.Time // when it said goodbye last; zero: it did not
	// Patience is the silence after which an agent is offline.
	Patience time.Duration
}

// Standing tells when an agent was heard of last. It is the router's own, and asks for no right.
func (p *Presence) Standing(agentID string) Standing {
	p.mu.RLock()
	s := Standing{Since: p.started, Patience: p.options.OfflineAfter}
	p.mu.RUnlock()
	m := p.roster.member(agentID)
	if m == nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record.LastSeen.After(s.Since) {
		s.Since = m.record.LastSeen
	}
	s.Left = m.left
	return s
}

package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/operational"
)

// Current stands, as a session's id, for the one that an agent is in.
const Current = episode.CurrentSession

// Sessions is the Service beside the databases.
type Sessions struct {
	ports Ports
	now   clock.Clock
	log   *slog.Logger
}

var _ Service = (*Sessions)(nil)

// Ports are what Sessions reads and writes. Of the last three a nil one has nothing open.
type Ports struct {
	Store operational.SessionStore
	// Episodes is told which session an agent's episodes belong to; episode.Episodes.
	Episodes interface {
		BeginSession(agent, id string)
		EndSession(agent, id string)
	}
	Tasks operational.TaskService
	// Mail lists what an agent has not acknowledged, and leaves it so; comms.Presence does.
	Mail interface {
		Unacked(ctx context.Context, agentID string, limit int) ([]operational.Message, int, error)
	}
	Procedures    procedure.Service
	Reminders     operational.ReminderService
	Consolidation history.ConsolidationService
}

// Options are the settings of Sessions. The zero value is the real thing.
type Options struct {
	Now clock.Clock // time.Now if nil
	Log *slog.Logger
}

// maxOpenSessions bounds the open sessions that are taken up at the start. Those
// of agents over it, the longest begun, go on when the agent starts again.
const maxOpenSessions = 10_000

// startTries is how often a start is tried that another one of the same agent came before.
const startTries = 5

// NewSessions makes the service, and tells the episodes which sessions are open.
func NewSessions(ctx context.Context, ports Ports, options Options) (*Sessions, error) {
	s := &Sessions{ports: ports, now: options.Now.Given(), log: defaults.Log(options.Log)}
	// An agent that ended its session shortly before is in none: its last episode would say that it is.
	ended, err := ports.Store.ListSessions(ctx, operational.SessionFilter{EndedSince: s.now().Add(-learning.SessionIdle), Limit: maxOpenSessions})
	if err != nil {
		return nil, err
	}
	for _, session := range ended {
		ports.Episodes.EndSession(session.AgentID, session.ID)
	}
	open, err := ports.Store.ListSessions(ctx, operational.SessionFilter{Status: operational.SessionOpen, Limit: maxOpenSessions})
	for _, session := range open {
		ports.Episodes.BeginSession(session.AgentID, session.ID)
	}
	return s, err
}

// Start implements Service.
func (s *Sessions) Start(ctx context.Context, draft Draft) (Started, error) {
	session, kinds, err := s.prepare(ctx, draft)
	if err != nil {
		return Started{}, err
	}
	var opened operational.SessionOpened
	for try := 1; ; try++ {
		former, err := s.former(ctx, session)
		if err != nil {
			return Started{}, err
		}
		opened, err = s.ports.Store.StartSession(ctx, session, former, func(o operational.SessionOpened) {
			if o.Former != nil {
				s.ports.Episodes.EndSession(o.Former.AgentID, o.Former.ID)
			}
			s.ports.Episodes.BeginSession(o.Session.AgentID, o.Session.ID)
		})
		if err == nil {
			break
		}
		if errs.CodeOf(err) != errs.Conflict || draft.ID != "" || try == startTries {
			return Started{}, err
		}
	}
	p := principal.Of(ctx)
	started := Started{Session: opened.Session, Resumed: opened.Resumed, Ended: opened.Former, Redacted: kinds}
	for i, left := range opened.Inherited {
		if i == 0 {
			left = left.For(p) // it may be another agent's, of the same persona and project
			started.Inherited = &left
		} else {
			started.AlsoInherited = append(started.AlsoInherited, left.ID)
		}
	}
	return started, nil
}

// prepare checks a draft and cuts its secrets out, whose kinds it returns.
func (s *Sessions) prepare(ctx context.Context, draft Draft) (session operational.Session, kinds []string, err error) {
	session = operational.Session{ID: draft.ID, Project: draft.Project, Status: operational.SessionOpen, StartedAt: s.now.Stamp()}
	if session.AgentID, err = s.actor(ctx, draft.AgentID); err != nil {
		return session, nil, err
	}
	if draft.ID == "" {
		session.ID = check.NewID()
	} else if err = operational.CheckSessionID("id", draft.ID); err != nil {
		return session, nil, err
	}
	if session.Persona, err = check.Persona(draft.Persona); err != nil {
		return session, nil, err
	}
	if err = cmp.Or(check.Name("project", draft.Project), check.Text("goal", draft.Goal, operational.MaxSessionGoal)); err != nil {
		return session, nil, err
	}
	var redaction redact.Redaction
	session.Goal = draft.Goal
	redaction.Text(&session.Goal)
	session.Data, err = episode.CleanObject(&redaction, "data", draft.Data, operational.MaxSessionData)
	redaction.Text(&session.Goal)
	return session, redaction.Kinds(), err
}

// actor is the agent that a call is made for.
func (s *Sessions) actor(ctx context.Context, named string) (string, error) {
	agent, err := principal.Of(ctx).ActingAs("agent_id", named)
	if err == nil && agent == "" {
		err = errs.InvalidField("agent_id", "is required: it says whose session it is")
	}
	return agent, err
}

// former is the session that the agent left open, as it ends when another
// begins; nil if there is none.
func (s *Sessions) former(ctx context.Context, next operational.Session) (*operational.Session, error) {
	open, ok, err := s.ports.Store.OpenSession(ctx, next.AgentID)
	if err != nil || !ok {
		return nil, err
	}
	left, err := s.gather(ctx, open)
	if err != nil {
		return nil, err
	}
	open.End(fmt.Sprintf("Ended without a summary, by the start of session %s.", next.ID), "", left, next.StartedAt)
	return &open, nil
}

// End implements Service.
func (s *Sessions) End(ctx context.Context, id string, end End) (Ended, error) {
	kinds, err := s.checkEnd(ctx, &end)
	if err != nil {
		return Ended{}, err
	}
	session, err := s.ending(ctx, id, end.AgentID)
	if err != nil {
		return Ended{}, err
	}
	stored := false
	if session.Status == operational.SessionOpen {
		left, err := s.gather(ctx, session)
		if err != nil {
			return Ended{}, err
		}
		at := s.now.Stamp()
		session, stored, err = s.ports.Store.EndSession(ctx, session.ID, func(session *operational.Session) {
			session.End(end.Summary, end.Successor, left, at)
		}, func(session operational.Session) { s.ports.Episodes.EndSession(session.AgentID, session.ID) })
		if err != nil {
			return Ended{}, err
		}
	}
	ended := Ended{Session: session, AlreadyEnded: !stored, Redacted: kinds}
	// What follows can be done again: a call that was cut off here is made once more.
	if end.Reassign {
		s.passOn(ctx, &ended)
	}
	if end.Transcript != nil {
		s.consolidate(ctx, *end.Transcript, &ended)
	}
	return ended, nil
}

// checkEnd checks what is said at an end and cuts its secrets out, whose kinds it returns.
func (s *Sessions) checkEnd(ctx context.Context, end *End) (kinds []string, err error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeAgent), check.Text("summary", end.Summary, operational.MaxSessionSummary)); err != nil {
		return nil, err
	}
	end.Summary, kinds = redact.Text(end.Summary)
	if err := check.OptionalAgent("successor", end.Successor); err != nil {
		return nil, err
	}
	if end.Reassign && end.Successor == "" {
		return nil, errs.InvalidField("successor", "is required to reassign tasks")
	}
	return kinds, nil
}

// ending returns the session to end, if the caller may.
func (s *Sessions) ending(ctx context.Context, id, agent string) (operational.Session, error) {
	if id != "" && id != Current {
		session, err := s.named(ctx, id, agent)
		if err != nil {
			return session, err
		}
		return session, principal.Of(ctx).ActAs(session.AgentID)
	}
	agent, err := s.actor(ctx, agent)
	if err != nil {
		return operational.Session{}, err
	}
	session, ok, err := s.ports.Store.OpenSession(ctx, agent)
	if err == nil && !ok {
		err = errs.Errorf(errs.NotFound, "%q is in no session that could be ended", agent)
	}
	return session, err
}

// Session implements Service.
func (s *Sessions) Session(ctx context.Context, id string) (operational.Session, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return operational.Session{}, err
	}
	session, err := s.named(ctx, id, "")
	return session.For(principal.Of(ctx)), err
}

// named returns the session of an id. Of two agents whose clients chose the
// same one, each means its own.
func (s *Sessions) named(ctx context.Context, id, agent string) (operational.Session, error) {
	if p := principal.Of(ctx); agent == "" || p.ActAs(agent) != nil {
		agent = p.AgentID
	}
	session, err := s.ports.Store.Session(ctx, id)
	if err != nil || agent == "" || session.AgentID == agent {
		return session, err
	}
	own, err := s.ports.Store.Session(ctx, check.OwnSessionID(id, agent))
	if errs.CodeOf(err) == errs.NotFound {
		return session, nil
	}
	return own, err
}

// List implements Service.
func (s *Sessions) List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	_, nobody := check.Persona(filter.Persona)
	limit, wide := check.Limit(filter.Limit, operational.DefaultLimit, operational.MaxLimit)
	filter.Limit = limit
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead),
		check.OptionalAgent("agent_id", filter.AgentID),
		check.OptionalAgent("successor", filter.Successor), nobody,
		check.Name("project", filter.Project), check.Optional("status", filter.Status, operational.SessionStatuses()), wide,
	); err != nil {
		return nil, err
	}
	list, err := s.ports.Store.ListSessions(ctx, filter)
	p := principal.Of(ctx)
	for i := range list {
		list[i] = list[i].For(p)
	}
	return list, err
}

// Handover implements Service.
func (s *Sessions) Handover(ctx context.Context, agentID string) (operational.Session, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeRead); err != nil {
		return operational.Session{}, err
	}
	agentID = cmp.Or(agentID, p.AgentID)
	if err := check.AgentID("agent_id", agentID); err != nil {
		return operational.Session{}, err
	}
	waiting, err := s.ports.Store.ListSessions(ctx, operational.SessionFilter{Successor: agentID, Waiting: true, Limit: 1})
	if err != nil || len(waiting) > 0 {
		return first(waiting).For(p), err
	}
	own, err := s.ports.Store.ListSessions(ctx, operational.SessionFilter{AgentID: agentID, Limit: 1})
	if err != nil {
		return operational.Session{}, err
	}
	if latest := first(own); latest.Previous != "" {
		previous, err := s.ports.Store.Session(ctx, latest.Previous)
		return previous.For(p), err
	}
	return operational.Session{}, errs.Errorf(errs.NotFound, "nothing was handed over to %q", agentID)
}

func first(sessions []operational.Session) operational.Session {
	if len(sessions) == 0 {
		return operational.Session{}
	}
	return sessions[0]
}

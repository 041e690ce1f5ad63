package comms

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// MaxAgents bounds how many agents may be known, because each is kept in
// memory (about 1 KB): a stranger on loopback must not be able to fill it.
const MaxAgents = 100_000

// AgentStore keeps agents. The callbacks run after the commit and in commit
// order, so that what is in memory changes in the order of the database.
type AgentStore interface {
	AgentRecords(ctx context.Context) ([]operational.AgentRecord, error)
	AgentRecord(ctx context.Context, id string) (record operational.AgentRecord, known bool, err error)
	CreateAgent(ctx context.Context, a operational.Agent, joined *int64, event eventlog.Event, created func(r operational.AgentRecord, made bool)) error
	SaveAgents(ctx context.Context, changes []operational.AgentChange, saved func()) error
	SaveSeen(ctx context.Context, seen []operational.Seen) error
	LowerJoined(ctx context.Context, agentID string, seq int64, lowered func()) error
	CountUnacked(ctx context.Context, q operational.MailQuery) (int, time.Time, error)
	Mail(ctx context.Context, q operational.MailQuery) ([]operational.Message, bool, error)
	// WaitingStop returns the latest stop to an agent that never checked in, if one waits for it.
	WaitingStop(ctx context.Context, agentID string, now time.Time) (stop operational.Message, waits bool, err error)
}

// roster is every known agent, in memory. Presence and Mailbox share it: what
// is asked at each heartbeat must not cost a query.
type roster struct {
	store AgentStore
	now   clock.Clock

	ahead int // agents that were last seen in the future, by the clock at the start

	mu      sync.RWMutex
	members map[string]*member

	broadcasts atomic.Uint64 // grows with each broadcast: counts made before it are out of date
}

// member is one known agent.
type member struct {
	id string
	// change is held by whoever makes a durable change of the agent's presence,
	// from the decision to the commit. It is taken before mu.
	change sync.Mutex
	mail   atomic.Uint64 // grows with each message to and each acknowledgement by the agent

	mu       sync.Mutex
	record   operational.AgentRecord // as stored, but for what is newer in memory
	left     time.Time               // when it said goodbye last; zero: it did not since the start
	unsaved  bool                    // LastSeen is newer than stored
	told     time.Time               // when an event told last what it says that it does
	untold   bool                    // it says something else since
	handed   bool                    // DeliveredSeq is newer than stored
	handedAt time.Time
	count    unacked
	groups   map[string]uint64 // for each of its groups, how often something had been sent to any group when it looked last
}

// unacked is a count of messages, and what it was counted at.
type unacked struct {
	valid            bool
	n                int
	mail, broadcasts uint64
	expires          time.Time // when the next counted message expires; zero: never
}

func newRoster(ctx context.Context, store AgentStore, now clock.Clock) (*roster, error) {
	records, err := store.AgentRecords(ctx)
	if err != nil {
		return nil, err
	}
	r := &roster{store: store, now: now, members: make(map[string]*member, len(records))}
	at := now()
	for _, record := range records {
		m := &member{id: record.ID, record: record}
		if record.Gone {
			m.left = record.LastSeen
		}
		if record.LastSeen.After(at) { // the clock was set back: nobody was heard of in the future
			m.record.LastSeen = at
			r.ahead++
		}
		r.members[record.ID] = m
	}
	return r, nil
}

// member returns a known agent, or nil.
func (r *roster) member(id string) *member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.members[id]
}

// known returns an agent, or a NotFound error.
func (r *roster) known(id string) (*member, error) {
	if m := r.member(id); m != nil {
		return m, nil
	}
	return nil, unknown(id)
}

func unknown(id string) error {
	return errs.Errorf(errs.NotFound, "no agent %q is known", id)
}

// all returns every member, in no order.
func (r *roster) all() []*member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.AppendSeq(make([]*member, 0, len(r.members)), maps.Values(r.members))
}

// join makes an agent known as it is given, unless it is known already, and
// tells whether this call did it. joined, if not nil, is the seq after which
// broadcasts are for it; otherwise it is the newest message there is.
func (r *roster) join(ctx context.Context, a operational.Agent, joined *int64) (*member, bool, error) {
	r.mu.RLock()
	full := len(r.members) >= MaxAgents
	r.mu.RUnlock()
	if full {
		return nil, false, errs.Errorf(errs.Unavailable, "%d agents are known: the router takes no more", MaxAgents)
	}
	var m *member
	var mine bool
	err := r.store.CreateAgent(ctx, a, joined, stateEvent(a, ""), func(record operational.AgentRecord, made bool) {
		record.LastSeen = a.LastSeen // the stored one has lost its monotonic reading
		mine = made
		r.mu.Lock()
		defer r.mu.Unlock()
		if m = r.members[a.ID]; m == nil {
			m = &member{id: a.ID, record: record}
			r.members[a.ID] = m
		}
	})
	return m, mine, err
}

// newcomer is an agent of which nothing is known but its id.
func newcomer(id string, now time.Time) operational.Agent {
	return operational.Agent{ID: id, State: operational.AgentStarting, StartedAt: now, LastSeen: now, CreatedAt: now}
}

// follow reads an agent as another router has stored it.
func (r *roster) follow(ctx context.Context, id string) (*member, error) {
	record, known, err := r.store.AgentRecord(ctx, id)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, unknown(id)
	}
	r.mu.Lock()
	m := r.members[id]
	if m == nil {
		m = &member{id: id, record: record}
		r.members[id] = m
	}
	r.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	record.DeliveredSeq = max(record.DeliveredSeq, m.record.DeliveredSeq) // what was delivered here is stored later
	m.record = record
	return m, nil
}

// visitor is an agent that could not be made known: it sees what it would see
// as a newcomer, and nothing of it is kept.
func visitor(id string, joined *int64) *member {
	record := operational.AgentRecord{Agent: operational.Agent{ID: id, JoinedSeq: math.MaxInt64}}
	if joined != nil {
		record.JoinedSeq = *joined
	}
	return &member{id: id, record: record}
}

// ensure makes an agent known that was never heard of.
func (r *roster) ensure(ctx context.Context, id string, joined *int64) (m *member, made bool, err error) {
	if m := r.member(id); m != nil {
		return m, false, nil
	}
	return r.join(ctx, newcomer(id, r.now()), joined)
}

// stop brings a stop signal into force in memory, or takes it back by a resume, as the store did in the database.
func (r *roster) stop(message operational.Message) {
	put := func(m *member) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if message.To == "" && m.record.Gone {
			return
		}
		if message.Signal == operational.SignalResume {
			m.record.StopSeq, m.record.StopPID, m.record.StopReason, m.record.StopExpires = 0, 0, "", nil
			return
		}
		m.record.StopSeq, m.record.StopPID = message.Seq, m.record.Run()
		if m.record.Gone || m.record.PID == 0 && m.record.State == operational.AgentOffline {
			m.record.StopPID = 0
		}
		m.record.StopReason, m.record.StopExpires = operational.StopReason(message), message.ExpiresAt
	}
	if message.To != "" {
		if m := r.member(message.To); m != nil {
			put(m)
		}
		return
	}
	for _, m := range r.all() {
		if m.id != message.From {
			put(m)
		}
	}
}

// unacked returns how many messages an agent has not acknowledged, at most MaxLimit.
func (r *roster) unacked(ctx context.Context, m *member) (int, error) {
	now := r.now()
	mail, broadcasts := m.mail.Load(), r.broadcasts.Load() // before the query, so that a later message makes the count stale
	query := m.mailQuery(now)
	m.mu.Lock()
	c := m.count
	m.mu.Unlock()
	if c.valid && c.mail == mail && c.broadcasts == broadcasts && (c.expires.IsZero() || now.Before(c.expires)) {
		return c.n, nil
	}
	query.Limit = MaxLimit
	n, expires, err := r.store.CountUnacked(ctx, query)
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	m.count = unacked{valid: true, n: n, mail: mail, broadcasts: broadcasts, expires: expires}
	m.mu.Unlock()
	return n, nil
}

// snapshot is what is known of the agent.
func (m *member) snapshot() operational.AgentRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record
}

// mailQuery selects what the agent has not acknowledged.
func (m *member) mailQuery(now time.Time) operational.MailQuery {
	record := m.snapshot()
	return operational.MailQuery{AgentID: m.id, JoinedSeq: record.JoinedSeq, AckedSeq: record.AckedSeq, Unacked: true, Now: now}
}

// agent returns the agent as it may be shown.
func (m *member) agent(now time.Time) operational.Agent {
	record := m.snapshot()
	a := record.Agent
	a.ShouldStop = stopInForce(record, now)
	if !a.ShouldStop {
		a.StopReason = ""
	}
	a.LastSeen, a.StartedAt, a.CreatedAt = plain(a.LastSeen), plain(a.StartedAt), plain(a.CreatedAt)
	return a
}

// plain is a time as every answer shows it: UTC, whole milliseconds, as it is stored.
func plain(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

func stopInForce(r operational.AgentRecord, now time.Time) bool {
	return r.StopSeq != 0 && (r.StopExpires == nil || now.Before(*r.StopExpires))
}

// stateEvent tells of a change of state.
func stateEvent(a operational.Agent, from operational.AgentState) eventlog.Event {
	return eventlog.Event{Type: "agent.state", Subject: a.ID, Agent: a.ID, Project: a.Project, At: a.LastSeen}.With(map[string]any{"from": from, "to": a.State, "status": a.Status})
}

// statusEvent tells of a change of what an agent says it does.
func statusEvent(a operational.Agent) eventlog.Event {
	return eventlog.Event{Type: "agent.status", Subject: a.ID, Agent: a.ID, Project: a.Project, At: a.LastSeen}.With(map[string]any{"status": a.Status, "current_task": a.CurrentTask, "progress": a.Progress})
}

// save stores what memory knows and the store does not: flag says of which members, and take gathers it from them. A write that
// failed is tried again next time.
func (r *roster) save(flag func(m *member) *bool, take func(m *member), write func() error) error {
	var members []*member
	for _, m := range r.all() {
		m.mu.Lock()
		if newer := flag(m); *newer {
			*newer, members = false, append(members, m)
			take(m)
		}
		m.mu.Unlock()
	}
	err := write()
	if err != nil {
		for _, m := range members {
			m.mu.Lock()
			*flag(m) = true
			m.mu.Unlock()
		}
	}
	return err
}

// byLastSeen sorts agents, the latest seen first.
func byLastSeen(agents []operational.Agent) {
	slices.SortFunc(agents, func(a, b operational.Agent) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID))
	})
}

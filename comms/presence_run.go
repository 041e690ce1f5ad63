package comms

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

const (
	// lookEvery is how often silence is looked for, as a part of a heartbeat's interval.
	lookEvery = 4
	// stateBatch is how many changes of state one transaction holds, so that a
	// thousand agents lost at once do not hold up the signals.
	stateBatch = 50
	// flushTimeout bounds the last writes at shutdown.
	flushTimeout = 2 * time.Second
)

// Run marks silent agents stale and offline and writes last-seen times, until
// ctx ends; then it writes what is left. The committer must outlive it.
func (p *Presence) Run(ctx context.Context) error {
	look := time.NewTicker(max(p.options.HeartbeatEvery/lookEvery, time.Millisecond))
	defer look.Stop()
	save := time.NewTicker(seenEvery)
	defer save.Stop()
	for {
		select {
		case <-look.C:
			if err := p.markSilent(ctx); err != nil && ctx.Err() == nil {
				p.log.Error("silent agents could not be marked", "error", err)
			}
		case <-save.C:
			if err := p.saveSeen(ctx); err != nil && ctx.Err() == nil {
				p.log.Error("last-seen times could not be written", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			return p.saveSeen(last)
		}
	}
}

// markSilent stores the change of state of each agent that has been silent for too long, and tells what agents said that was not told yet.
func (p *Presence) markSilent(ctx context.Context) error {
	now := p.now()
	// Who looks four times a heartbeat and comes late by half of what makes an agent stale
	// was stopped itself (SIGSTOP, a suspended machine), and heard nobody meanwhile.
	if away := now.Sub(p.looked); !p.looked.IsZero() && away >= max(p.options.StaleAfter/2, 2*p.options.HeartbeatEvery/lookEvery) {
		p.log.Warn("the router itself was stopped for a while: agents' silence is counted from now", "for", away)
		p.mu.Lock()
		p.started = now
		p.mu.Unlock()
	}
	p.looked = now
	var members []*member
	var changes []operational.AgentChange
	flush := func() error {
		defer func() {
			for _, m := range members {
				m.change.Unlock()
			}
			members, changes = nil, nil
		}()
		if len(changes) == 0 {
			return nil
		}
		return p.roster.store.SaveAgents(ctx, changes, func() {
			for i, m := range members {
				m.changed(changes[i])
			}
		})
	}
	for _, m := range p.roster.all() {
		if !m.change.TryLock() {
			continue // it is just checking in
		}
		m.mu.Lock()
		r := m.record
		late := m.untold && now.Sub(m.told) >= saysEvery
		m.mu.Unlock()
		since := r.LastSeen
		if since.Before(p.started) {
			since = p.started
		}
		state := p.options.silent(r.State, now.Sub(since))
		reader := r.State == operational.AgentStarting && r.Status == "" // it never checked in, as a person who reads mail
		if reader && state == operational.AgentStale {
			state = r.State
		}
		if state == r.State && !late {
			m.change.Unlock()
			continue
		}
		var events []eventlog.Event
		if late {
			events = append(events, statusEvent(r.Agent))
		}
		if from := r.State; state != from {
			r.State = state
			event := stateEvent(r.Agent, from)
			event.At = now
			events = append(events, event)
		}
		members = append(members, m)
		changes = append(changes, operational.AgentChange{Agent: r.Agent, Gone: r.Gone, Events: events})
		if len(members) == stateBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// saveSeen writes the last-seen times that are newer in memory.
func (p *Presence) saveSeen(ctx context.Context) error {
	var seen []operational.Seen
	return p.roster.save(func(m *member) *bool { return &m.unsaved }, func(m *member) {
		seen = append(seen, operational.Seen{AgentID: m.id, At: m.record.LastSeen})
	}, func() error { return p.roster.store.SaveSeen(ctx, seen) })
}

// Count returns how many agents are in each state, every state named.
func (p *Presence) Count() map[operational.AgentState]int {
	counts := map[operational.AgentState]int{}
	for _, state := range operational.AgentStates() {
		counts[state] = 0
	}
	now := p.now()
	for _, m := range p.roster.all() {
		counts[m.agent(now).State]++
	}
	return counts
}

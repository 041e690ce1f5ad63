package reminder

import (
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/operational"
)

// rosterAge is how old the knowledge of who is there may be when a reminder
// comes due. Whoever comes meanwhile is told at the next look.
const rosterAge = time.Second

// Present knows the agents that are there; comms.Presence does.
type Present interface {
	// Live visits them, in no order.
	Live(visit func(a operational.Agent))
}

// Roster knows whom a reminder is for. One that names an agent is that
// agent's. Any other is for its maker, if that is an agent that is there; else
// for the agent seen last whose role or configuration has the persona's name;
// and a reminder of the default persona, which is everybody's, goes into its
// maker's mailbox even while the maker is away. Otherwise it waits for the
// first who fits.
type Roster struct {
	present Present
	now     clock.Clock

	mu      sync.Mutex
	looked  time.Time
	agents  map[string]bool // that are there
	fitting map[string]seen // persona → the agent seen last
}

// seen is an agent, and when it was heard of.
type seen struct {
	id string
	at time.Time
}

var _ operational.ReminderRecipients = (*Roster)(nil)

// NewRoster makes a Roster.
func NewRoster(present Present, now clock.Clock) *Roster {
	return &Roster{present: present, now: now}
}

// Recipient implements operational.ReminderRecipients.
func (r *Roster) Recipient(reminder operational.Reminder) string {
	if reminder.AgentID != "" {
		return reminder.AgentID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if reminder.CreatedBy != "" && r.agents[reminder.CreatedBy] {
		return reminder.CreatedBy
	}
	if agent := r.fitting[reminder.Persona]; agent.id != "" {
		return agent.id
	}
	if reminder.Persona == check.DefaultPersona {
		return reminder.CreatedBy
	}
	return ""
}

// Look implements operational.ReminderRecipients.
func (r *Roster) Look() (came []string) {
	now := r.now()
	r.mu.Lock()
	age := now.Sub(r.looked)
	r.mu.Unlock()
	if age >= 0 && age < rosterAge {
		return nil
	}
	agents, fitting := map[string]bool{}, map[string]seen{}
	// Not under the lock: an agent that checks in may wait for the transaction that asks for a Recipient.
	r.present.Live(func(a operational.Agent) {
		agents[a.ID] = true
		for _, persona := range [...]string{a.Role, a.ConfigName} {
			last, known := fitting[persona]
			if later := a.LastSeen.Compare(last.at); persona != "" && (!known || later > 0 || later == 0 && a.ID < last.id) {
				fitting[persona] = seen{a.ID, a.LastSeen}
			}
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range agents {
		if !r.agents[id] {
			came = append(came, id)
		}
	}
	for persona := range fitting {
		if r.fitting[persona].id == "" {
			came = append(came, persona)
		}
	}
	r.agents, r.fitting, r.looked = agents, fitting, now
	return came
}

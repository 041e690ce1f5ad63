package reminder

import (
	"context"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/operational"
)

// rosterAge is how old the knowledge of who is there may be when a reminder
// comes due. Whoever comes meanwhile is told at the next look.
const rosterAge = time.Second

// Present lists the agents that are there, the latest seen first; comms.Presence does.
type Present interface {
	Live() []operational.Agent
}

// Roster knows whom a reminder is for. One that names an agent is that
// agent's. Any other is for its maker, if that is an agent that is there; else
// for the agent seen last whose role or configuration has the persona's name;
// and a reminder of the default persona, which is everybody's, goes into its
// maker's mailbox even while the maker is away. Otherwise it waits for the
// first who fits.
type Roster struct {
	present Present
	now     skillrouter.Clock

	mu      sync.RWMutex
	looked  time.Time
	agents  map[string]bool
	fitting map[string]string // persona → agent
}

var _ operational.ReminderRecipients = (*Roster)(nil)

// NewRoster makes a Roster.
func NewRoster(present Present, now skillrouter.Clock) *Roster {
	return &Roster{present: present, now: now, agents: map[string]bool{}, fitting: map[string]string{}}
}

// Recipient implements operational.ReminderRecipients.
func (r *Roster) Recipient(reminder operational.Reminder) string {
	if reminder.AgentID != "" {
		return reminder.AgentID
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if reminder.CreatedBy != "" && r.agents[reminder.CreatedBy] {
		return reminder.CreatedBy
	}
	if agent := r.fitting[reminder.Persona]; agent != "" {
		return agent
	}
	if reminder.Persona == skillrouter.DefaultPersona {
		return reminder.CreatedBy
	}
	return ""
}

// Look implements operational.ReminderRecipients.
func (r *Roster) Look(context.Context) (operational.ReminderWaiting, error) {
	var came operational.ReminderWaiting
	now := r.now()
	r.mu.RLock()
	age := now.Sub(r.looked)
	r.mu.RUnlock()
	if age >= 0 && age < rosterAge {
		return came, nil
	}
	agents, fitting := map[string]bool{}, map[string]string{}
	for _, a := range r.present.Live() {
		agents[a.ID] = true
		for _, persona := range []string{a.Role, a.ConfigName} {
			if persona != "" && fitting[persona] == "" {
				fitting[persona] = a.ID
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range agents {
		if !r.agents[id] {
			came.Makers = append(came.Makers, id)
		}
	}
	for persona := range fitting {
		if r.fitting[persona] == "" {
			came.Personas = append(came.Personas, persona)
		}
	}
	r.agents, r.fitting, r.looked = agents, fitting, now
	return came, nil
}

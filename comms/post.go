package comms

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// Compose makes the message that Send would store for a draft, for a writer
// that stores it in one transaction with what it is about, and then calls
// Announce. It is the router's own, and asks for no right. For a full mailbox
// there is none, and the message that was to be is counted as dropped.
func (b *Mailbox) Compose(draft operational.MessageDraft) (operational.Message, error) {
	message, _, err := compose(draft, b.now())
	if err == nil {
		message.ID, err = newID()
	}
	if err != nil {
		return message, err
	}
	settle, err := b.reserve(b.base, message, 1)
	if err != nil {
		if errs.CodeOf(err) == errs.RateLimited && b.boxes.dropped.Add(1)%dropsLogged == 1 {
			b.log.Warn("a message of the router's own was dropped: the mailbox is full", "agent_id", message.To, "signal", message.Signal, "dropped", b.boxes.dropped.Load())
		}
		return message, err
	}
	settle(false) // Announce counts it
	return message, nil
}

// dropsLogged: one in so many dropped messages is logged.
const dropsLogged = 1000

// Announce tells whoever is concerned of messages that were just stored
// elsewhere than in Send. It must be called after their commit, and in commit
// order, as Send's own are. It never waits.
func (b *Mailbox) Announce(messages []operational.Message) {
	letters := make([]*letter, 0, len(messages))
	for _, m := range messages {
		letters = append(letters, &letter{MessageAppend: operational.MessageAppend{Message: m}})
	}
	b.announce(letters)
}

// Live visits the agents that are there, in no order: those that are online, and those that
// were heard of lately and have not sent a heartbeat yet. It is the router's own, and asks for no right.
func (p *Presence) Live(visit func(a operational.Agent)) {
	now := p.now()
	for _, m := range p.roster.all() {
		if a := m.agent(now); a.State == operational.AgentOnline || a.State == operational.AgentStarting && now.Sub(a.LastSeen) < newcomerAge {
			visit(a)
		}
	}
}

// newcomerAge is how long ago an agent that has not sent a heartbeat yet may have been heard of.
const newcomerAge = 2 * time.Minute

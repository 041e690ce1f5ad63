package comms

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Compose makes the message that Send would store for a draft, for a writer
// that stores it in one transaction with what it is about, and then calls
// Announce. It is the router's own, and asks for no right. For a full mailbox
// there is none, and the message that was to be is counted as dropped.
func (b *Mailbox) Compose(draft operational.MessageDraft) (operational.Message, error) {
	message, _, err := compose(draft, b.now())
	if err != nil {
		return message, err
	}
	message.ID = check.NewID()
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

// logReach is how many seqs one page of the log looks through: what has no
// index is looked for among so many, and the next page goes on from there.
const logReach = 100_000

// boundLooks is how often a page for who is bound to projects is filled up behind what others told everybody: so that how much that
// is does not show by short pages, and no page reads all of the log.
const boundLooks = 20

// LogPage is a page of the log.
type LogPage struct {
	Messages []operational.Message `json:"messages"`
	Next     int64                 `json:"next,omitempty"` // ask again with Before = this for what is older; 0: there is no more
}

// Log reads the log of all messages. It marks none as delivered: whoever reads
// the log is not whom they are for. A Captain sees all of it, an agent what it
// sent, what is for it and what is for everybody.
func (b *Mailbox) Log(ctx context.Context, q operational.LogQuery) (LogPage, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), check.SetLimit(&q.Limit, DefaultLimit, MaxLimit)); err != nil {
		return LogPage{}, err
	}
	if q.Before < 0 {
		return LogPage{}, errs.InvalidField("before", "must not be negative")
	}
	if err := cmp.Or(check.OptionalAgent("agent", q.Agent), check.Name("thread", q.Thread), check.Name("signal", q.Signal)); err != nil {
		return LogPage{}, err
	}
	if !caller.Has(principal.ScopeCaptain) {
		if q.Agent != "" && !caller.Is(q.Agent) {
			return LogPage{}, caller.ActAs(q.Agent)
		}
		if q.Agent == "" {
			q.Agent, q.Kind = caller.AgentID, true
		}
	}
	q.Reach = logReach
	page, limit := LogPage{Messages: []operational.Message{}}, q.Limit
	for looks := 1; ; looks++ {
		messages, next, err := b.store.MessageLog(ctx, q)
		page.Messages, page.Next = append(page.Messages, b.roster.shown(caller, messages)...), next
		if q.Before, q.Limit = next, limit-len(page.Messages); err != nil || next == 0 || q.Limit == 0 || !caller.Walled() || looks == boundLooks {
			return page, err
		}
	}
}

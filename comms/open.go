package comms

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Unread returns how many messages the agent has not acknowledged, up to what a
// heartbeat counts. The caller must be that agent, or a Captain.
func (p *Presence) Unread(ctx context.Context, agentID string) (int, error) {
	if err := principal.Of(ctx).ActAs(agentID); err != nil {
		return 0, err
	}
	m, err := p.roster.known(agentID)
	if err != nil {
		return 0, err
	}
	return p.roster.waiting(ctx, m)
}

// Unacked returns the oldest messages that the agent has not acknowledged, at
// most limit of them, and how many there are, up to what a heartbeat counts.
// It marks none as delivered, because the agent does not see them by it. It is
// for the router's own use and asks for no right.
func (p *Presence) Unacked(ctx context.Context, agentID string, limit int) (messages []operational.Message, count int, err error) {
	query := operational.MailQuery{AgentID: agentID, JoinedSeq: noBroadcasts, Unacked: true, Now: p.now()}
	if m := p.roster.member(agentID); m != nil {
		if count, err = p.roster.unacked(ctx, m); err != nil || count == 0 {
			return nil, 0, err
		}
		query = m.mailQuery(query.Now)
	}
	query.Limit = limit
	messages, _, err = p.roster.store.Mail(ctx, query)
	return messages, max(count, len(messages)), err
}

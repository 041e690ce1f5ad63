package comms

import (
	"cmp"
	"context"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

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
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return LogPage{}, err
	}
	var err error
	if q.Limit, err = check.Limit(q.Limit, DefaultLimit, MaxLimit); err != nil {
		return LogPage{}, err
	}
	if q.Before < 0 {
		return LogPage{}, errs.InvalidField("before", "must not be negative")
	}
	if q.Agent != "" {
		if err := check.AgentID("agent", q.Agent); err != nil {
			return LogPage{}, err
		}
	}
	if err := cmp.Or(check.Name("thread", q.Thread), check.Name("signal", q.Signal)); err != nil {
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

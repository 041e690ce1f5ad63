// Package crossing carries events from one domain to the other: a lesson becomes an escalation or a
// message to the agents that need it, and a finished task or an ended session becomes an episode. It
// follows the event logs. Each step is made once, also after a crash.
package crossing

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/propagation"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/follow"
)

// Crossing carries what crosses between the domains: a lesson becomes an
// escalation and a message, and reaches the agents that it fits; a finished
// task becomes an episode. It follows the event logs of both databases from
// cursors that survive a kill. Each event is handled at least once, and what
// comes of it is there once: escalations are stored together with the cursor,
// messages have idempotency keys, episodes an id that follows from the event.
type Crossing struct {
	ports   Ports
	rules   *escalation.Rules
	log     *slog.Logger
	now     clock.Clock
	lessons follow.Follower // of learning.db
	tasks   follow.Follower // of operational.db
	notices notifier
}

// Sender puts a message into the mailboxes, as the caller of ctx.
type Sender func(ctx context.Context, draft operational.MessageDraft) error

// Escalations takes in escalations; operational.Escalations does.
type Escalations interface {
	operational.EscalationFollowing
	Raise(ctx context.Context, drafts []operational.EscalationDraft, cursor operational.Cursor) ([]operational.Escalation, error)
}

// Ports are what a Crossing reads and writes.
type Ports struct {
	Learning    follow.EventLog // learning.db
	Operational follow.EventLog // operational.db
	Escalations Escalations
	Send        Sender
	Episodes    *episode.Episodes
	Lessons     *propagation.Propagation // nil: no lesson is propagated
	Agents      router.Agents            // whom lessons are signalled to; nil: nobody
}

// Options are the settings of a Crossing. The zero value is the real thing.
type Options struct {
	Now clock.Clock // time.Now if nil
	Log *slog.Logger
	// Rules name the supervisors of domains; nil: the default ones.
	Rules *escalation.Rules
}

// SettleWait bounds how long Settle waits. Who asks for what was just reported
// rather gets an answer that lacks the last of it than none.
const SettleWait = 2 * time.Second

// announceBatch is how many escalations are announced together.
const announceBatch = 256

// couriers is how many messages are on their way at once: the mailbox stores
// those that wait together in one transaction.
const couriers = 64

// New makes a Crossing that stands where the last one ended. The first
// one of a data folder begins with the first lesson, and with the next task:
// tasks that were finished before are history.
func New(ctx context.Context, ports Ports, options Options) (*Crossing, error) {
	options.Now = options.Now.Given()
	options.Log = defaults.Log(options.Log)
	c := &Crossing{ports: ports, rules: cmp.Or(options.Rules, &escalation.Rules{}), log: options.Log, now: options.Now}
	c.notices.allowance = map[string]allowance{}
	c.lessons = follow.Follower{Name: "crossing.learning", Log: ports.Learning, Cursors: ports.Escalations, Logger: options.Log, Handle: c.learned, Resume: c.announce}
	c.tasks = follow.Follower{Name: "crossing.operational", Log: ports.Operational, Cursors: ports.Escalations, Logger: options.Log, Handle: c.operated}
	if err := c.lessons.Begin(ctx, func(context.Context) (int64, error) { return 0, nil }); err != nil {
		return nil, err
	}
	return c, c.tasks.Begin(ctx, ports.Operational.LastEvent)
}

// Run follows both logs until ctx ends, and returns nil.
func (c *Crossing) Run(ctx context.Context) error {
	ctx = principal.With(ctx, principal.System())
	var both errgroup.Group
	both.Go(func() error { return c.lessons.Run(ctx) })
	both.Go(func() error { return c.tasks.Run(ctx) })
	return both.Wait()
}

// Settle waits until everything that was learned before it was called has
// crossed, at most for SettleWait.
func (c *Crossing) Settle(ctx context.Context) error { return c.lessons.Settle(ctx, SettleWait) }

// learned handles events of learning.db. Agents are told of lessons first,
// by messages with keys; then agents hear what persons decided, by messages with keys; then escalations are raised with the cursor; then
// they are announced, now or after the next start.
func (c *Crossing) learned(ctx context.Context, events []eventlog.Event, cursor operational.Cursor) (bool, error) {
	drafts := c.escalations(events)
	if c.ports.Lessons != nil {
		notices, err := c.ports.Lessons.Take(ctx, events)
		if err != nil {
			return false, err
		}
		if err := c.notify(ctx, notices, drafts); err != nil {
			return false, err
		}
	}
	if err := c.tellDecided(ctx, events); err != nil {
		return false, err
	}
	if len(drafts) == 0 {
		return false, nil
	}
	if _, err := c.ports.Escalations.Raise(ctx, drafts, cursor); err != nil {
		return false, err
	}
	return true, c.announce(ctx)
}

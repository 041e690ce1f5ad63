package router

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/operational"
)

// Crossing carries what crosses between the domains: a lesson becomes an
// escalation and a message, and reaches the agents that it fits; a finished
// task becomes an episode. It follows the event logs of both databases from
// cursors that survive a kill. Each event is handled at least once, and what
// comes of it is there once: escalations are stored together with the cursor,
// messages have idempotency keys, episodes an id that follows from the event.
type Crossing struct {
	ports   CrossingPorts
	rules   *learning.EscalationRules
	log     *slog.Logger
	now     skillrouter.Clock
	lessons follower // of learning.db
	tasks   follower // of operational.db
	heralds heralds
}

// Courier puts a message into the mailboxes, as the caller of ctx.
type Courier func(ctx context.Context, draft operational.MessageDraft) error

// Desk takes in escalations; operational.Escalations does.
type Desk interface {
	Cursors
	Raise(ctx context.Context, drafts []operational.EscalationDraft, cursor operational.Cursor) ([]operational.Escalation, error)
	Unannounced(ctx context.Context, limit int) ([]operational.Escalation, error)
	Announced(ctx context.Context, numbers []int64) error
}

// Chronicle records what happened elsewhere; learning.Episodes does.
type Chronicle interface {
	RecordOnce(ctx context.Context, origin string, at time.Time, draft learning.EpisodeDraft) (learning.Episode, error)
}

// Spreader decides whom a lesson reaches; learning.Propagation does.
type Spreader interface {
	// Take takes in what happened, and returns the lessons that are news to somebody. The
	// same events again change nothing.
	Take(ctx context.Context, events []skillrouter.Event) ([]learning.Notice, error)
	// Worked takes in what an agent works on, from outside of learning.
	Worked(agent, text string)
	// Why says why the lesson of a notice reaches an agent, or "" if it does not.
	Why(notice learning.Notice, agent string) string
}

// CrossingPorts are what a Crossing reads and writes.
type CrossingPorts struct {
	Learning    EventLog // learning.db
	Operational EventLog // operational.db
	Desk        Desk
	Courier     Courier
	Episodes    Chronicle
	Lessons     Spreader // nil: no lesson is propagated
	Agents      Agents   // whom lessons are signalled to; nil: nobody
}

// CrossingOptions are the settings of a Crossing. The zero value is the real thing.
type CrossingOptions struct {
	Now skillrouter.Clock // time.Now if nil
	Log *slog.Logger
	// Rules name the supervisors of domains; nil: the default ones.
	Rules *learning.EscalationRules
}

// MailAgent is whom the router's own messages are from.
const MailAgent = "skillrouter"

// SettleWait bounds how long Settle waits. Who asks for what was just reported
// rather gets an answer that lacks the last of it than none.
const SettleWait = 2 * time.Second

// announceBatch is how many escalations are announced together.
const announceBatch = 256

// couriers is how many messages are on their way at once: the mailbox stores
// those that wait together in one transaction.
const couriers = 64

// NewCrossing makes a Crossing that stands where the last one ended. The first
// one of a data folder begins with the first lesson, and with the next task:
// tasks that were finished before are history.
func NewCrossing(ctx context.Context, ports CrossingPorts, options CrossingOptions) (*Crossing, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	c := &Crossing{ports: ports, rules: options.Rules, log: options.Log, now: options.Now}
	c.heralds.allowance = map[string]allowance{}
	c.lessons = follower{name: "crossing.learning", log: ports.Learning, cursors: ports.Desk, logger: options.Log, handle: c.learned, resume: c.announce}
	c.tasks = follower{name: "crossing.operational", log: ports.Operational, cursors: ports.Desk, logger: options.Log, handle: c.operated}
	if err := c.lessons.begin(ctx, func(context.Context) (int64, error) { return 0, nil }); err != nil {
		return nil, err
	}
	return c, c.tasks.begin(ctx, ports.Operational.LastEvent)
}

// Run follows both logs until ctx ends, and returns nil.
func (c *Crossing) Run(ctx context.Context) error {
	ctx = skillrouter.WithPrincipal(ctx, skillrouter.System())
	var both errgroup.Group
	both.Go(func() error { return c.lessons.run(ctx) })
	both.Go(func() error { return c.tasks.run(ctx) })
	return both.Wait()
}

// Settle waits until everything that was learned before it was called has
// crossed, at most for SettleWait.
func (c *Crossing) Settle(ctx context.Context) error { return c.lessons.settle(ctx, SettleWait) }

// learned handles events of learning.db. Lessons are spread first, because
// that can be done twice; then escalations are raised with the cursor; then
// they are announced, now or after the next start.
func (c *Crossing) learned(ctx context.Context, events []skillrouter.Event, cursor operational.Cursor) (bool, error) {
	if c.ports.Lessons != nil {
		notices, err := c.ports.Lessons.Take(ctx, events)
		if err != nil {
			return false, err
		}
		if err := c.herald(ctx, notices); err != nil {
			return false, err
		}
	}
	drafts := c.escalations(events)
	if len(drafts) == 0 {
		return false, nil
	}
	if _, err := c.ports.Desk.Raise(ctx, drafts, cursor); err != nil {
		return false, err
	}
	return true, c.announce(ctx)
}

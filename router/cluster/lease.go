package cluster

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// ErrLost is the error of a writer whose lease holds no longer.
var ErrLost = errs.Errorf(errs.Unavailable, "this node's lease has ended: another one writes now, or will")

// ErrDeserted is the error of a writer that gives the lease up because no other node reaches it.
var ErrDeserted = errs.Errorf(errs.Unavailable, "no other node reaches this one, and one at least has tried: it leaves the lease to them")

// Lease is a node's part in the lease of its cluster.
type Lease struct {
	base     context.Context
	register Register
	now      clock.Clock
	log      *slog.Logger
	alone    bool // a router without a cluster: nobody hands it anything

	mu      sync.Mutex
	self    Node            // with the epoch that it writes in
	until   time.Time       // when the lease ends that it has, by its own clock, unless it is renewed
	writer  Node            // the last one that was seen
	writes  context.Context // ends when another one does
	ends    context.CancelFunc
	spoke   time.Time       // when the node was announced last
	failing bool            // the register did not answer: it is said once
	heard   time.Time       // when another node asked this one something last, or this one began to write
	reach   reach           // the way to the writer
	patient time.Time       // until then this node asks no writer to give up
	reached context.Context // ends when the writer is not reached any more
	missed  context.CancelFunc
	ages    *time.Timer // looks at that
}

// reach is what a node knows of its way to the writer.
type reach struct {
	at    time.Time // when the writer answered last, or was seen first
	fails int       // tries since that it did not answer
}

// Open makes a node's part in the lease. A router that is alone has no name: it is no node of a cluster, and has a
// lease so that there is no second one beside it.
func Open(ctx context.Context, register Register, self Node, now clock.Clock, log *slog.Logger) *Lease {
	l := &Lease{base: context.WithoutCancel(ctx), register: register, self: self, now: now, log: log, alone: self.Name == ""}
	l.writes, l.ends = context.WithCancel(l.base)
	l.reached, l.missed = context.WithCancel(l.base)
	return l
}

// Self is the node, with the epoch that it writes in.
func (l *Lease) Self() Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.self
}

// Holds tells whether the node is the writer, as far as its own clock can tell: from its last renewal's beginning
// on, so that it knows of the end no later than the database.
func (l *Lease) Holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.self.Epoch > 0 && l.now().Before(l.until)
}

// Writer is the node that writes, as it was seen last, and a context that ends when another does.
func (l *Lease) Writer() (Node, context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer, l.writes
}

// Nodes are the nodes that were heard of lately, by name.
func (l *Lease) Nodes(ctx context.Context) ([]Node, error) { return l.register.Nodes(ctx) }

// sees notes who writes.
func (l *Lease) sees(writer Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if writer.ID != l.writer.ID || writer.Epoch != l.writer.Epoch || writer.URL != l.writer.URL {
		l.ends()
		l.writes, l.ends = context.WithCancel(l.base)
		l.met()
	}
	l.writer = writer
}

// met notes that the writer answered, or that there is another; l.mu is held.
func (l *Lease) met() {
	l.reach = reach{at: l.now()}
	if l.reached.Err() != nil {
		l.reached, l.missed = context.WithCancel(l.base)
	}
	if l.ages == nil {
		l.ages = time.AfterFunc(reachFor, func() { _ = l.Reached() })
	} else {
		l.ages.Reset(reachFor)
	}
}

// Asked notes whether the writer of an epoch answered.
func (l *Lease) Asked(epoch int64, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != l.writer.Epoch {
		return
	}
	if answered {
		l.met()
	} else {
		l.reach.fails++
	}
}

// Reached is a context that ends when the writer does not answer any more; it has ended while that does not.
func (l *Lease) Reached() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now().Sub(l.reach.at) >= reachFor {
		l.missed()
	}
	return l.reached
}

// Heard notes that another node asked this one something.
func (l *Lease) Heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.now()
}

// misses is what the node announces of the writer; l.mu is held.
func (l *Lease) misses() int64 {
	now := l.now()
	switch {
	case l.self.Epoch > 0 || l.writer.Epoch == 0 || l.reach.fails < 2 || now.Sub(l.reach.at) < beats:
		return 0
	case now.Before(l.patient):
		return -l.writer.Epoch
	}
	return l.writer.Epoch
}

// deserted tells whether another node misses this one, and none has asked it anything.
func (l *Lease) deserted(ctx context.Context) bool {
	l.mu.Lock()
	self, unheard := l.self, l.now().Sub(l.heard) >= beats
	l.mu.Unlock()
	if l.alone || !unheard {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	nodes, err := l.register.Nodes(ctx)
	return err == nil && slices.ContainsFunc(nodes, func(n Node) bool { return n.Misses == self.Epoch && n.Seen < beats+renewEvery })
}

// Acquire waits until the node has the lease. It takes none before notBefore: what failed as a writer lets others try first.
func (l *Lease) Acquire(ctx context.Context, notBefore time.Time) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := l.look(ctx, !l.now().Before(notBefore)); err != nil {
			return err
		}
		if l.Holds() {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look takes the lease if it is to be had, and else learns who has it. A register that does not answer is asked
// again; a conflict of names is an error.
func (l *Lease) look(ctx context.Context, take bool) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	begun := l.now()
	err := l.announce(ctx)
	if errs.CodeOf(err) == errs.Conflict {
		return err
	}
	var epoch int64
	if err == nil && take {
		epoch, err = l.register.Take(ctx, l.Self(), Term)
	}
	if err == nil && epoch > 0 {
		l.mu.Lock()
		l.self.Epoch, l.until, l.heard = epoch, begun.Add(Term), l.now()
		l.mu.Unlock()
		l.sees(l.Self())
		return nil
	}
	var writer Node
	if err == nil {
		writer, err = l.register.Writer(ctx)
	}
	if err == nil {
		l.sees(writer)
	}
	l.say(ctx, err)
	return nil
}

// say logs that the register does not answer, and that it does again, each once.
func (l *Lease) say(ctx context.Context, err error) {
	l.mu.Lock()
	failing := err != nil
	changed := failing != l.failing
	l.failing = failing
	l.mu.Unlock()
	switch {
	case changed && failing:
		l.log.WarnContext(ctx, "the database does not say who writes", "error", err)
	case changed:
		l.log.InfoContext(ctx, "the database says who writes again")
	}
}

// Join says for the first time that the node is there, and tells why it may not be.
func (l *Lease) Join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return l.announce(ctx)
}

// announce says that the node is there, as often as others want to hear of it.
func (l *Lease) announce(ctx context.Context) error {
	if l.alone || l.now().Sub(l.spoke) < renewEvery {
		return nil
	}
	l.mu.Lock()
	self := l.self
	self.Clock, self.Misses = l.now(), l.misses()
	l.mu.Unlock()
	if err := l.register.Announce(ctx, self); err != nil {
		return err
	}
	l.spoke = l.now()
	return nil
}

// Run renews the lease until ctx ends. It returns ErrLost once somebody else has it; a node of a cluster also if nobody could be
// asked until it ended, as another may have it then, and ErrDeserted if no other reaches it. A router that is alone waits for its database.
func (l *Lease) Run(ctx context.Context) error {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		held, err := l.renew(ctx)
		l.say(ctx, err)
		if ctx.Err() == nil && (err == nil && !held || !l.alone && !l.Holds()) {
			return ErrLost
		}
		if err == nil && l.deserted(ctx) {
			l.mu.Lock()
			l.patient = l.now().Add(patientFor)
			l.mu.Unlock()
			return ErrDeserted
		}
	}
}

func (l *Lease) renew(ctx context.Context) (held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	begun := l.now()
	if held, err = l.register.Renew(ctx, l.Self(), Term); err != nil || !held {
		return held, err
	}
	l.mu.Lock()
	l.until = begun.Add(Term)
	l.mu.Unlock()
	return true, l.announce(ctx)
}

// Leave gives back what the node has, so that another need not wait for its end.
func (l *Lease) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	l.mu.Lock()
	self := l.self
	l.self.Epoch, l.spoke = 0, time.Time{}
	l.mu.Unlock()
	return l.register.Leave(ctx, self)
}

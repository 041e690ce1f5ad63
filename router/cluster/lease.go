package cluster

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"skillrouter"
)

// ErrLost is the error of a writer whose lease holds no longer.
var ErrLost = skillrouter.Errorf(skillrouter.Unavailable, "this node's lease has ended: another one writes now, or will")

// Lease is a node's part in the lease of its cluster.
type Lease struct {
	base     context.Context
	register Register
	now      skillrouter.Clock
	log      *slog.Logger
	alone    bool // a router without a cluster: nobody hands it anything

	mu      sync.Mutex
	self    Node            // with the epoch that it writes in
	until   time.Time       // when the lease ends that it has, by its own clock, unless it is renewed
	writer  Node            // the last one that was seen
	writes  context.Context // ends when another one does
	ends    context.CancelFunc
	spoke   time.Time // when the node was announced last
	failing bool      // the register did not answer: it is said once
}

// Open makes a node's part in the lease. A router that is alone has no name: it is no node of a cluster, and has a
// lease so that there is no second one beside it.
func Open(ctx context.Context, register Register, self Node, now skillrouter.Clock, log *slog.Logger) *Lease {
	l := &Lease{base: context.WithoutCancel(ctx), register: register, self: self, now: now, log: log, alone: self.Name == ""}
	l.writes, l.ends = context.WithCancel(l.base)
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
	}
	l.writer = writer
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
	if skillrouter.CodeOf(err) == skillrouter.Conflict {
		return err
	}
	var epoch int64
	if err == nil && take {
		epoch, err = l.register.Take(ctx, l.Self(), Term)
	}
	if err == nil && epoch > 0 {
		l.mu.Lock()
		l.self.Epoch, l.until = epoch, begun.Add(Term)
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
	self := l.Self()
	self.Clock = l.now()
	if err := l.register.Announce(ctx, self); err != nil {
		return err
	}
	l.spoke = l.now()
	return nil
}

// Run renews the lease until ctx ends. It returns ErrLost once somebody else has it; a node of a cluster also if nobody could be
// asked until it ended, as another may have it then. A router that is alone waits for its database.
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

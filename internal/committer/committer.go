// Package committer joins waiting writes into one transaction, and wakes who waits for them.
package committer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Bounds of a Committer.
const (
	// MaxBatch is the most writes that one transaction holds: past a few hundred the
	// cost of the sync is shared out already, and the first writer waits only longer.
	MaxBatch = 256
	// writeQueue is how many writes may wait before Write blocks its caller.
	writeQueue = 1024
)

// Committer gathers the writes that wait for one database into one
// transaction, so that the cost of a durable commit is shared. Writes are
// applied one at a time, in the order in which they were queued, and what was
// to be announced is announced in that order too, after the commit.
//
// It knows no database: Tx is whatever the transaction function hands out.
type Committer[Tx any] struct {
	// Reserve may be set before Run; nil: nothing is kept for essential writes.
	Reserve Reserve
	// Span may be set, too: it begins the span of a write, which ends with what kept it from being stored. A hook links
	// this package, and should not link what makes spans.
	Span func(ctx context.Context) (finish func(err error))

	transact  func(fn func(tx Tx) error) error
	savepoint func(tx Tx, fn func(tx Tx) error) error
	queue     chan *write[Tx]
	announce  chan []*write[Tx]

	refusal error // of a Committer that takes no writes

	mu      sync.RWMutex // guards closed and stopped against Write's send
	closed  bool         // queue is closed
	stopped bool         // nobody reads queue any more
	broken  error        // why it is unknown what is on disk; Run's own
}

// Reserve is space on the disk that is used for essential writes when the disk is full.
type Reserve interface {
	// Admit tells why only essential writes are taken now; nil: all are.
	Admit() error
	// Release gives the room away, and tells whether there was some.
	Release() bool
}

type essentialKey struct{}

// Essential marks the writes of a context as essential: they must be stored even if the disk
// is full. They stop agents, keep them in touch, or delete what takes room.
func Essential(ctx context.Context) context.Context {
	return context.WithValue(ctx, essentialKey{}, true)
}

// ErrFenced is the error of a transaction of a router behind whose back another has written: nothing of it is stored, and
// it must write nothing more, as it knows of less.
var ErrFenced = errors.New("another router has written into the database since: this one knows of less, and ends")

// fencedOut is what a write is told that came too late.
func fencedOut(err error) error {
	return errs.Wrap(errs.Unavailable, err, "another router writes now: nothing of this was stored")
}

// errUnknown is what a write is told whose commit failed on the way to the disk.
const errUnknown = "the disk failed while this was being stored: it may be there or not once the router has been started again, so ask before you repeat it"

type write[Tx any] struct {
	ctx   context.Context
	apply func(tx Tx) error
	after func()
	err   error
	done  chan struct{}
}

// NewCommitter makes a Committer. transact runs fn in one durable transaction
// and rolls back if fn fails; savepoint runs fn inside tx so that its failure
// undoes its own work alone.
func New[Tx any](transact func(fn func(tx Tx) error) error, savepoint func(tx Tx, fn func(tx Tx) error) error) *Committer[Tx] {
	return &Committer[Tx]{
		transact: transact, savepoint: savepoint,
		queue: make(chan *write[Tx], writeQueue), announce: make(chan []*write[Tx], 2),
	}
}

// Refusing makes a Committer of a router that writes nothing: each write is answered with err. It is not run.
func Refusing[Tx any](err error) *Committer[Tx] { return &Committer[Tx]{refusal: err} }

// Write applies a write durably and returns when it is committed and after
// has run, or with the error that kept it from being stored. apply runs in a
// transaction that other writes share and may be run twice: it must set its
// results, not add to them. It must use tx and nothing else of the database.
// after, which may be nil, runs once, after the commit and before Write
// returns, in commit order across all writes: it indexes and announces, and
// must neither block nor write. A write whose ctx ends while it waits in the
// queue is not applied; one that has begun is always waited for.
func (c *Committer[Tx]) Write(ctx context.Context, apply func(tx Tx) error, after func()) error {
	return c.Queue(ctx, apply, after)()
}

// Queue is Write in two steps, for a caller that has several writes in flight
// and minds their order: it returns once the write has its place in the queue,
// and wait then returns as Write does.
func (c *Committer[Tx]) Queue(ctx context.Context, apply func(tx Tx) error, after func()) (wait func() error) {
	if c.refusal != nil {
		return func() error { return c.refusal }
	}
	finish := func(error) {}
	if c.Span != nil {
		finish = c.Span(ctx)
	}
	w := &write[Tx]{ctx: ctx, apply: apply, after: after, done: make(chan struct{})}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed || c.stopped {
		return func() error { return errs.Errorf(errs.Unavailable, "the router is stopping") }
	}
	select {
	case c.queue <- w:
	case <-ctx.Done():
		return func() error { return errs.Wrap(errs.Unavailable, ctx.Err(), "the write was given up before it began") }
	}
	return func() error {
		<-w.done
		finish(w.err)
		return w.err
	}
}

// Run commits what is written until ctx ends; then it commits what still
// waits, refuses further writes and returns nil.
//
// If a commit fails so that nobody knows whether it is on disk, as with a failed
// fsync, nothing is written after it: what was lost could no longer be told from what
// was kept. Run then refuses what waits and returns the error, and the process must end.
func (c *Committer[Tx]) Run(ctx context.Context) error {
	var announcer sync.WaitGroup
	announcer.Go(func() {
		for batch := range c.announce {
			for _, w := range batch {
				if w.err == nil && w.after != nil {
					w.after()
				}
				close(w.done)
			}
		}
	})
	defer announcer.Wait()
	defer close(c.announce)
	go func() {
		<-ctx.Done()
		c.mu.Lock() // waits for the sends under way, which this loop still receives
		c.closed = true
		close(c.queue)
		c.mu.Unlock()
	}()
	for w := range c.queue {
		batch := []*write[Tx]{w}
	gather:
		for len(batch) < MaxBatch {
			select {
			case w, open := <-c.queue:
				if !open {
					break gather
				}
				batch = append(batch, w)
			default:
				break gather
			}
		}
		if batch = c.admit(batch); len(batch) == 0 {
			continue
		}
		c.commit(batch)
		c.resort(batch)
		c.announce <- batch
		if c.broken != nil {
			c.refuse()
			return c.broken
		}
	}
	return nil
}

// admit refuses, while the disk is full, what must not take the room that is kept.
func (c *Committer[Tx]) admit(batch []*write[Tx]) []*write[Tx] {
	if c.Reserve == nil {
		return batch
	}
	full := c.Reserve.Admit()
	if full == nil {
		return batch
	}
	var admitted, refused []*write[Tx]
	for _, w := range batch {
		if w.ctx.Value(essentialKey{}) != nil {
			admitted = append(admitted, w)
		} else {
			w.err = full
			refused = append(refused, w)
		}
	}
	if len(refused) > 0 {
		c.announce <- refused
	}
	return admitted
}

// resort commits the essential writes of a batch for which the disk was full
// once more, in the room that is kept for them.
func (c *Committer[Tx]) resort(batch []*write[Tx]) {
	var again []*write[Tx]
	for _, w := range batch {
		if errs.CodeOf(w.err) == errs.StorageFull && w.ctx.Value(essentialKey{}) != nil {
			again = append(again, w)
		}
	}
	if len(again) > 0 && c.Reserve != nil && c.Reserve.Release() {
		c.commit(again)
	}
}

// refuse takes no more writes, and answers those that wait.
func (c *Committer[Tx]) refuse() {
	stopped := make(chan struct{})
	go func() {
		c.mu.Lock() // waits for the sends under way, which this loop still receives
		c.stopped = true
		c.mu.Unlock()
		close(stopped)
	}()
	for {
		select {
		case w, open := <-c.queue:
			if !open {
				return
			}
			if w.err = errs.Errorf(errs.Unavailable, "the disk failed and the router ends: nothing of this was stored"); errors.Is(c.broken, ErrFenced) {
				w.err = fencedOut(c.broken) // also where it is not known of the last batch what became of it: this was not begun
			}
			close(w.done)
			continue
		case <-stopped:
		}
		if len(c.queue) == 0 {
			return
		}
	}
}

// commit applies a batch in one transaction. If a write fails, the whole
// batch is rolled back and applied again with a savepoint around each write:
// failures are rare, and so the usual batch pays for no savepoints.
func (c *Committer[Tx]) commit(batch []*write[Tx]) {
	failed, err := c.attempt(batch, false)
	if failed && len(batch) > 1 && c.broken == nil { // else the commit itself failed, or nobody else is concerned
		_, err = c.attempt(batch, true)
	}
	setErr(batch, err)
}

// attempt applies a batch in one transaction. failed tells that a write failed and took all of it down; apart, with a savepoint
// around each, it takes down itself alone.
func (c *Committer[Tx]) attempt(batch []*write[Tx], apart bool) (failed bool, err error) {
	applied := false
	err = c.transact(func(tx Tx) error {
		for _, w := range batch {
			if w.err = w.ctx.Err(); w.err != nil {
				w.err = errs.Wrap(errs.Unavailable, w.err, "the write was given up before it began")
				continue
			}
			if apart {
				w.err = c.savepoint(tx, func(tx Tx) error { return guarded(tx, w.apply) })
			} else {
				w.err = guarded(tx, w.apply)
				failed = w.err != nil
			}
			if failed || errs.CodeOf(w.err) == errs.StorageFull {
				return w.err // a full disk may have ended the transaction, and the savepoints with it
			}
		}
		applied = true
		return nil
	})
	return failed, c.doubt(err, applied)
}

// doubt tells what the writers of a transaction are answered whose commit
// failed. What a full or a busy database refuses is not stored; of any other
// failure that is not known.
func (c *Committer[Tx]) doubt(err error, applied bool) error {
	code := errs.CodeOf(err)
	switch {
	case err == nil || !applied || code == errs.StorageFull || code == errs.Unavailable:
		return err
	case code == errs.OutcomeUnknown: // it says so itself
		c.broken = err
		return err
	case errors.Is(err, ErrFenced):
		c.broken = fencedOut(err)
		return c.broken
	}
	c.broken = fmt.Errorf("a commit failed and what is on disk is unknown: %w", err)
	return errs.Wrap(errs.Internal, err, errUnknown)
}

func setErr[Tx any](batch []*write[Tx], err error) {
	if err == nil {
		return
	}
	for _, w := range batch {
		if w.err == nil || !errors.Is(w.err, context.Canceled) {
			w.err = err
		}
	}
}

// guarded turns a panic in a write into an error, so that one bad write does
// not take the writer, and with it every other caller, down.
func guarded[Tx any](tx Tx, apply func(Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
	}()
	return apply(tx)
}

// Gather gathers what many callers want stored alike while the Committer is busy, so that one
// write takes all of it. Nobody lingers for more: the first of a group asks for the write at
// once, and the group takes in whoever comes until the write's turn.
type Gather[T any] struct {
	mu   sync.Mutex
	open *group[T] // it still takes in items; nil: none does
}

type group[T any] struct {
	items []T
	done  chan struct{}
	err   error
}

// Store adds an item to a group of at most most, and returns when it is stored, with how many
// items the write was of. The first of the group makes the write: it stores what take returns,
// which it calls when the write's turn has come. A group is not given up when a caller goes away.
func (g *Gather[T]) Store(item T, most int, write func(take func() []T) error) (items int, err error) {
	g.mu.Lock()
	mine, first := g.open, false
	if mine == nil || len(mine.items) == most {
		mine, first = &group[T]{done: make(chan struct{})}, true
		g.open = mine
	}
	mine.items = append(mine.items, item)
	g.mu.Unlock()
	if first {
		take := func() []T {
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.open == mine {
				g.open = nil
			}
			return mine.items
		}
		mine.err = write(take)
		take() // if it was refused before its turn, nobody joins it any more
		close(mine.done)
	}
	<-mine.done
	return len(mine.items), mine.err
}

// Numbers are the last numbers that the tables of a database gave to their rows, by table. The one writer of the database
// knows them: they are right as long as every transaction that took numbers is committed.
type Numbers map[string]int64

// Next takes the next number of a table.
func (n Numbers) Next(table string) int64 {
	n[table]++
	return n[table]
}

type numbersKey struct{}

// WithNumbers gives the transactions of a context the numbers of their database.
func WithNumbers(ctx context.Context, n Numbers) context.Context {
	return context.WithValue(ctx, numbersKey{}, n)
}

// NumbersOf returns the numbers of a transaction's database.
func NumbersOf(ctx context.Context) Numbers {
	n, _ := ctx.Value(numbersKey{}).(Numbers)
	return n
}

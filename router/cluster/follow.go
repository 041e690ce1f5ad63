package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
)

// Bounds of a node that follows.
const (
	// followEvery is how often it looks for what is new while nobody can ring; FollowLate is how often, while somebody may.
	followEvery = 10 * time.Millisecond
	FollowLate  = 250 * time.Millisecond
	// FreshFor is how long a node may answer by what it knows since it last saw that nothing is new. Beyond it asks the one that writes.
	FreshFor = 2 * time.Second
	// staleAfter is how long after its last look a node still waits for what it asked the database: a caller waits no longer than FreshFor.
	staleAfter = FreshFor * 3 / 4
	// waitAtMost is how long a read waits for what its caller wrote before.
	waitAtMost = 2 * time.Second
	// maxCallers bounds the callers of whom it is remembered what they wrote last, in two halves of which the older is forgotten.
	maxCallers = 16_384
)

// Headers by which callers read what they wrote, at whatever node.
const (
	// SeqHeader says in an answer how far the databases were when it was given.
	SeqHeader = "Skillrouter-Seq"
	// AfterHeader asks in a request for no older state than a SeqHeader said.
	AfterHeader = "Skillrouter-After"
)

// ErrBack is the error of a Follower whose databases are less far than they were: they were put back to an earlier state, and what was
// taken in is to be forgotten.
var ErrBack = errors.New("the databases are less far than they were")

// String is how a header says it.
func (h Heads) String() string { return fmt.Sprintf("l=%d,o=%d", h.Learning, h.Operational) }

// ParseHeads reads what String wrote; what is none is none.
func ParseHeads(text string) (h Heads, ok bool) {
	_, err := fmt.Sscanf(text, "l=%d,o=%d", &h.Learning, &h.Operational)
	if err != nil || h.Learning < 0 || h.Operational < 0 || h.String() != text {
		return Heads{}, false
	}
	return h, true
}

// join is how far both say together.
func (h Heads) join(other Heads) Heads {
	return Heads{max(h.Learning, other.Learning), max(h.Operational, other.Operational)}
}

// Follower keeps what a node knows in step with the databases that another writes.
type Follower struct {
	options FollowerOptions
	look    committer.Bell // something is said to be new
	step    committer.Bell // something was taken in, or nothing is new

	mu      sync.Mutex
	applied Heads
	at      time.Time       // when the databases were asked last, of what was taken in since; zero: never
	lag     time.Duration   // how long it took then
	fresh   context.Context // ends staleAfter after at
	stale   context.CancelFunc
	ages    *time.Timer // calls stale
}

// FollowerOptions are what a Follower is given.
type FollowerOptions struct {
	From Heads // what the node knows already
	// Heads asks the database how far it is.
	Heads func(ctx context.Context) (Heads, error)
	// Take takes in what was committed up to some place, at least; it is called at each look, also where nothing was. What it had taken in before it failed it may be given again.
	Take func(ctx context.Context, from, to Heads) error
	// Rung tells whether somebody may ring when there is something new: then it is looked for more seldom.
	Rung func() bool
	Now  clock.Clock
	Log  *slog.Logger
}

// NewFollower makes a Follower of a node that knows what was committed up to From.
func NewFollower(options FollowerOptions) *Follower {
	return &Follower{options: options, applied: options.From}
}

// Heard says that the databases may have grown.
func (f *Follower) Heard(h Heads) {
	if f.Applied().before(h) {
		f.look.Ring()
	}
}

// Applied is how far the node knows.
func (f *Follower) Applied() Heads {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

// Age is how long ago it was sure that nothing is new.
func (f *Follower) Age() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options.Now().Sub(f.at)
}

// Lag is how long the last look took that found something new, until that was taken in.
func (f *Follower) Lag() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lag
}

// WhileFresh is a context that ends, too, when the database has not answered for so long that what is asked of it may wait in vain.
func (f *Follower) WhileFresh(ctx context.Context) (context.Context, context.CancelFunc) {
	f.mu.Lock()
	fresh := f.fresh
	f.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	if fresh == nil || fresh.Err() != nil {
		cancel()
		return ctx, cancel
	}
	stop := context.AfterFunc(fresh, cancel)
	return ctx, func() { stop(); cancel() }
}

// Wait waits until the node knows what was committed up to after; false: that took too long.
func (f *Follower) Wait(ctx context.Context, after Heads) bool {
	if !f.Applied().before(after) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, waitAtMost)
	defer cancel()
	for f.look.Ring(); ; { // what the caller was told of is there: one look finds it
		step := f.step.Wait()
		if !f.Applied().before(after) {
			return true
		}
		select {
		case <-step:
		case <-ctx.Done():
			return false
		}
	}
}

// Run follows until ctx ends. It returns ErrBack where the node must begin anew. What fails is done again.
func (f *Follower) Run(ctx context.Context) error {
	failing := false
	for {
		rung := f.look.Wait()
		wait, err := followEvery, f.once(ctx)
		if f.options.Rung() {
			wait = FollowLate
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrBack):
			return err
		case err != nil:
			if wait = FollowLate; !failing {
				f.options.Log.WarnContext(ctx, "what is new cannot be read: calls are handed to the node that writes", "error", err)
			}
		case failing:
			f.options.Log.InfoContext(ctx, "what is new is read again")
		}
		failing = err != nil
		if committer.PauseUntil(ctx, wait, rung) != nil {
			return nil
		}
	}
}

// once looks for what is new, and takes it in.
func (f *Follower) once(ctx context.Context) error {
	begun := f.options.Now()
	asked, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	to, err := f.options.Heads(asked)
	if err != nil {
		return err
	}
	from := f.Applied()
	if to.before(from) {
		return ErrBack
	}
	if err := f.options.Take(ctx, from, to); err != nil {
		return err
	}
	f.mu.Lock()
	f.applied, f.at = to, begun
	if f.ages == nil || !f.ages.Stop() {
		f.fresh, f.stale = context.WithCancel(ctx)
	}
	f.ages = time.AfterFunc(staleAfter-f.options.Now().Sub(begun), f.stale)
	if to != from {
		f.lag = f.options.Now().Sub(begun)
	}
	f.mu.Unlock()
	f.step.Ring()
	return nil
}

// Callers remembers how far the databases were when each of a node's callers was answered last: who reads at the node sees what it wrote
// through it.
type Callers struct {
	mu       sync.Mutex
	now, old map[string]Heads
}

// Note notes the answer to a caller's request. What was refused was told to anybody.
func (c *Callers) Note(answer *http.Response) {
	r := answer.Request
	h, ok := ParseHeads(answer.Header.Get(SeqHeader))
	if !ok || answer.StatusCode/100 != 2 {
		return
	}
	key := callerOf(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || len(c.now) >= maxCallers/2 {
		c.old, c.now = c.now, map[string]Heads{}
	}
	c.now[key] = c.now[key].join(h)
}

// Forget forgets what every caller was told: the databases were put back, and will not be so far for long.
func (c *Callers) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.old = nil, nil
}

// After is the state that a request must not be answered before.
func (c *Callers) After(r *http.Request) Heads {
	key := callerOf(r)
	c.mu.Lock()
	after := c.now[key].join(c.old[key])
	c.mu.Unlock()
	asked, _ := ParseHeads(r.Header.Get(AfterHeader))
	return after.join(asked)
}

// callerOf tells callers apart: by what they show of themselves.
func callerOf(r *http.Request) string {
	return hashOf([]byte(r.Header.Get("Authorization") + "\x00" + r.Header.Get("Cookie")))
}

package fact

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"skillrouter"
)

// leases are the computations under way, one for a key at most. They live and end
// with the process: a lease from before a restart is refused, and whoever
// asks next is given another.
//
// Leases are timed by the machine's monotonic clock and not by the injected
// one: a clock that is set back must not keep the others waiting.
type leases struct {
	mu      sync.Mutex
	byID    map[string]*computation
	byToken map[string]*computation
	stats   CacheStats
	closing chan struct{}
	end     sync.Once
}

// computation is one key's computation.
type computation struct {
	id      string
	token   string
	author  string
	lasts   time.Duration
	ends    time.Time
	storing bool      // its result is on its way to the disk: it cannot run out now
	waiters []*waiter // the first come first
	// moved is closed, and made anew, when the lease will end at another time than those
	// who wait were told.
	moved chan struct{}
}

// waiter waits for a computation to end.
type waiter struct {
	author string
	lasts  time.Duration
	// granted receives a token when the lease passes to this waiter; it is closed when
	// there is something to look at instead.
	granted chan string
}

func newLeases() *leases {
	return &leases{byID: map[string]*computation{}, byToken: map[string]*computation{}, closing: make(chan struct{})}
}

// joinResult is the result of an attempt to join a computation: a token, a waiter to
// await, or neither.
type joinResult struct {
	token  string
	waiter *waiter
	left   time.Duration // how long the other's lease still lasts
}

// join takes the lease on a key or, if another has it and wait is set, a place among those who wait.
func (l *leases) join(id, author string, lasts time.Duration, wait bool) (joinResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runOut(l.byID[id])
	c := l.byID[id]
	if c == nil {
		if len(l.byID) >= MaxLeases {
			return joinResult{}, skillrouter.Errorf(skillrouter.RateLimited, "%d values are being computed at once: ask again when some are done", MaxLeases)
		}
		c = &computation{id: id, moved: make(chan struct{})}
		l.byID[id] = c
		l.lease(c, author, lasts)
		return joinResult{token: c.token}, nil
	}
	b := joinResult{left: max(time.Until(c.ends), 0)}
	if wait && len(c.waiters) < MaxLeaseWaiters {
		b.waiter = &waiter{author: author, lasts: lasts, granted: make(chan string, 1)}
		c.waiters = append(c.waiters, b.waiter)
	}
	return b, nil
}

// lease gives a computation a new holder.
func (l *leases) lease(c *computation, author string, lasts time.Duration) {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, see crypto/rand
	delete(l.byToken, c.token)
	c.token, c.author, c.lasts, c.ends, c.storing = hex.EncodeToString(bits[:]), author, lasts, time.Now().Add(lasts), false
	l.byToken[c.token] = c
	l.stats.Leases++
	c.move()
}

func (c *computation) move() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// runOut passes a lease on that has run out.
func (l *leases) runOut(c *computation) {
	if c != nil && l.byID[c.id] == c && !c.storing && !time.Now().Before(c.ends) {
		l.stats.RanOut++
		l.pass(c)
	}
}

// pass gives the lease to the first who waits, or ends the computation.
func (l *leases) pass(c *computation) {
	if len(c.waiters) == 0 {
		l.remove(c)
		return
	}
	next := c.waiters[0]
	c.waiters = c.waiters[1:]
	l.lease(c, next.author, next.lasts)
	next.granted <- c.token // it has room for the one that it is ever given
}

// remove ends a computation; all who wait look again.
func (l *leases) remove(c *computation) {
	delete(l.byID, c.id)
	delete(l.byToken, c.token)
	for _, w := range c.waiters {
		close(w.granted)
	}
	c.waiters = nil
}

// await waits until the lease passes to w, the computation ends, or the time is over.
// It returns the token; or again, if there is something to look at.
func (l *leases) await(ctx context.Context, id string, w *waiter, until time.Time) (token string, again bool, err error) {
	for {
		l.mu.Lock()
		c := l.byID[id]
		l.runOut(c)
		wake, moved := until, (chan struct{})(nil)
		if c != nil {
			moved = c.moved
			if !c.storing && c.ends.Before(until) {
				wake = c.ends
			}
		}
		l.mu.Unlock()
		timer := time.NewTimer(max(time.Until(wake), time.Millisecond))
		select {
		case token, ok := <-w.granted:
			timer.Stop()
			return token, !ok, nil
		case <-timer.C:
			if time.Now().Before(until) {
				continue
			}
		case <-moved:
			timer.Stop()
			continue
		case <-ctx.Done():
			err = skillrouter.Wrap(skillrouter.Unavailable, ctx.Err(), "the call was given up")
		case <-l.closing:
		}
		timer.Stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		if c := l.byID[id]; c != nil {
			c.waiters = slices.DeleteFunc(c.waiters, func(other *waiter) bool { return other == w })
		}
		select {
		case token, ok := <-w.granted: // in the last moment
			if err != nil && ok {
				l.pass(l.byToken[token]) // nobody is there to use it
				return "", false, err
			}
			return token, !ok, err
		default:
			return "", false, err
		}
	}
}

// begin says whose and for which key a lease is, and keeps it from running out while its result is stored.
func (l *leases) begin(token string) (id, author string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.held(token)
	if err != nil {
		return "", "", err
	}
	c.storing = true
	return c.id, c.author, nil
}

// failed undoes begin: nothing was stored. The lease goes on.
func (l *leases) failed(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.byToken[token]; c != nil {
		c.storing = false
		l.runOut(c)
		c.move()
	}
}

// renew lets a lease last for its whole time again.
func (l *leases) renew(token string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.held(token)
	if err == nil {
		c.ends = time.Now().Add(c.lasts)
	}
	return err
}

// release passes a lease on.
func (l *leases) release(token string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.held(token)
	if err == nil {
		l.stats.Released++
		l.pass(c)
	}
	return err
}

// held returns the computation whose lease is in force by that token.
func (l *leases) held(token string) (*computation, error) {
	l.runOut(l.byToken[token])
	c := l.byToken[token]
	if c == nil || c.storing {
		return nil, skillrouter.Errorf(skillrouter.Conflict, "this lease is not in force: it has ended or run out, or its key was written or deleted meanwhile")
	}
	return c, nil
}

// written ends the computation of a key that was written, and tells those who wait
// to look. By whom it was written does not matter: what somebody else has
// stored meanwhile is newer than what the lease's holder began to compute.
func (l *leases) written(id, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.byID[id]; c != nil {
		if c.token == token {
			l.stats.Stored++
		}
		l.remove(c)
	}
}

// dissolve ends the computation of a key whose fact is not wanted any more.
func (l *leases) dissolve(id string) { l.written(id, "") }

// tidy ends what has run out and nobody waits for.
func (l *leases) tidy() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.byID {
		l.runOut(c)
	}
}

// close has all who wait answered at once, from now on.
func (l *leases) close() { l.end.Do(func() { close(l.closing) }) }

// tell counts an answer.
func (l *leases) tell(counter func(*CacheStats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counter(&l.stats)
}

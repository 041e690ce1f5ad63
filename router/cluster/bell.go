package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
)

const (
	// ringEvery is how often a bell tells something at most: a writer commits thousands of times a second, and who hears of one commit
	// reads those before it too.
	ringEvery = 5 * time.Millisecond
	// doubtFor is how long what was heard last is taken for newer than what counts less. A database that was put back to an earlier
	// state counts less for good.
	doubtFor = Term
	// ringerID is how much tells the messages of one node from those of another, in bytes.
	ringerID = 8
	// said is the length of what a message says, in bytes: whose it is, and two counts.
	said = ringerID + 2*8
)

// Heads says how far the databases of a cluster are: the count of committed transactions of each, which holds the epoch of its writer in
// the upper half. A later one is greater.
type Heads struct{ Learning, Operational int64 }

// Bell tells nodes that the databases have grown. What it tells may be late, doubled or lost: who waits for it also looks for himself.
type Bell interface {
	// Ring tells how far the databases are. It never waits; only the newest is told, at most once in ringEvery (5 ms).
	Ring(Heads)
	// Run listens until ctx ends; heard is called with what others rang, and must not wait.
	Run(ctx context.Context, heard func(Heads)) error
}

// NoBell is the bell of a cluster that has none.
type NoBell struct{}

// Ring implements Bell.
func (NoBell) Ring(Heads) {}

// Run implements Bell.
func (NoBell) Run(ctx context.Context, _ func(Heads)) error {
	<-ctx.Done()
	return nil
}

// Ringer is a Bell without what carries its messages: whoever opens that calls Tell and Hear.
type Ringer struct {
	name string
	id   []byte
	key  []byte
	now  clock.Clock

	ringing, hearing committer.Bell // something is to be told; something was heard

	mu    sync.Mutex
	rung  Heads     // by this node
	heard Heads     // the newest of others
	at    time.Time // when that was heard

	told, came atomic.Int64
}

var _ Bell = (*Ringer)(nil)

// NewRinger makes the bell of a cluster: of those who have its secret, and its database.
func NewRinger(secret Secret, database string, now clock.Clock) *Ringer {
	r := &Ringer{name: hex.EncodeToString(secret.Derive("name of the bell of " + database)[:12]), id: make([]byte, ringerID), key: secret.Derive("bell of " + database), now: now}
	_, _ = rand.Read(r.id) // it never fails
	return r
}

// Name is what the bell is called among those of other clusters. It tells nothing of the secret.
func (r *Ringer) Name() string { return r.name }

// Counts tells how many messages were sent, and how many of others were heeded.
func (r *Ringer) Counts() (rung, heard int64) { return r.told.Load(), r.came.Load() }

// Ring implements Bell.
func (r *Ringer) Ring(h Heads) {
	r.mu.Lock()
	r.rung = h
	r.mu.Unlock()
	r.ringing.Ring()
}

// Again tells once more what was rung last: those who listen may have missed it.
func (r *Ringer) Again() { r.ringing.Ring() }

// Tell sends what is rung until ctx ends. What could not be sent is not sent later, unless Again is called.
func (r *Ringer) Tell(ctx context.Context, send func(message []byte) error) {
	for ctx.Err() == nil {
		rung := r.ringing.Wait()
		if message := r.message(); message != nil && send(message) == nil {
			r.told.Add(1)
		}
		_ = committer.Pause(ctx, ringEvery)
		select {
		case <-rung:
		case <-ctx.Done():
		}
	}
}

// message is what this node has to tell; nil: nothing, or others have told of more since.
func (r *Ringer) message() []byte {
	r.mu.Lock()
	rung, none := r.rung, r.rung == Heads{} || r.rung.before(r.heard)
	r.mu.Unlock()
	if none {
		return nil
	}
	m := append(make([]byte, 0, said+sha256.Size), r.id...)
	m = binary.BigEndian.AppendUint64(m, uint64(rung.Learning))
	m = binary.BigEndian.AppendUint64(m, uint64(rung.Operational))
	return append(m, r.mac(m)...)
}

// before tells whether a database was less far than another says.
func (h Heads) before(other Heads) bool {
	return h.Learning < other.Learning || h.Operational < other.Operational
}

func (r *Ringer) mac(message []byte) []byte {
	h := hmac.New(sha256.New, r.key)
	h.Write(message)
	return h.Sum(nil)
}

// Hear takes a message in. It ignores what is not of a node of this cluster, what this node sent itself, and what it knew.
func (r *Ringer) Hear(message []byte) {
	if len(message) != said+sha256.Size || !hmac.Equal(message[said:], r.mac(message[:said])) || string(message[:ringerID]) == string(r.id) {
		return
	}
	h := Heads{int64(binary.BigEndian.Uint64(message[ringerID:])), int64(binary.BigEndian.Uint64(message[ringerID+8:]))}
	now := r.now()
	r.mu.Lock()
	known := h == r.heard || h.before(r.heard) && now.Sub(r.at) < doubtFor
	if !known {
		r.heard, r.at = h, now
	}
	r.mu.Unlock()
	if !known {
		r.came.Add(1)
		r.hearing.Ring()
	}
}

// Run implements Bell. What was heard before is told at once.
func (r *Ringer) Run(ctx context.Context, heard func(Heads)) error {
	var told Heads
	for {
		news := r.hearing.Wait()
		r.mu.Lock()
		h := r.heard
		r.mu.Unlock()
		if h != told {
			heard(h)
			told = h
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil
		}
	}
}

package shelf

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/learning"
)

// Bounds of counting uses. The counts are an aid to ranking and tidying up:
// the last seconds of them may be lost with the process, and no search waits
// for the disk.
const (
	usesEvery = 5 * time.Second // how long counts stay in memory
	usesMost  = 1 << 16         // how many rows are counted while nothing can be written
	// usesLast is how long the last counts may take to be written when the process stops.
	usesLast = 500 * time.Millisecond
)

// Use is how often, and when last, a row was found.
type Use struct {
	Count int64
	Last  time.Time
}

// Uses gathers how often rows were found, until they are written.
type Uses struct {
	write func(ctx context.Context, uses map[string]Use) error
	log   *slog.Logger

	mu      sync.Mutex
	waiting map[string]Use
	writing map[string]Use // handed over, and not yet seen in the rows
}

// NewUses makes a counter of uses that hands what it gathered to write.
func NewUses(write func(ctx context.Context, uses map[string]Use) error, log *slog.Logger) *Uses {
	return &Uses{write: write, log: log, waiting: map[string]Use{}}
}

// Count notes one use of each row.
func (u *Uses) Count(at time.Time, ids ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		u.note(id, Use{Count: 1, Last: at})
	}
}

func (u *Uses) note(id string, use Use) {
	old, known := u.waiting[id]
	if !known && len(u.waiting) >= usesMost {
		return
	}
	old.Count += use.Count
	old.Last = learning.Later(old.Last, use.Last)
	u.waiting[id] = old
}

// Show adds to a row's figures what is counted and not written yet.
func (u *Uses) Show(id string, count *int64, last **time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, counted := range []map[string]Use{u.writing, u.waiting} {
		if use, ok := counted[id]; ok {
			*count += use.Count
			*last = &use.Last
		}
	}
}

// Forget drops what is counted of a row that is gone.
func (u *Uses) Forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.waiting, id)
	delete(u.writing, id)
}

// Run writes what is counted until ctx ends, and then the last counts.
func (u *Uses) Run(ctx context.Context) {
	for committer.Pause(ctx, usesEvery) == nil {
		u.flush(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usesLast)
	defer cancel()
	u.flush(last)
}

// flush writes the counts. Counts that it cannot write wait for the next time.
func (u *Uses) flush(ctx context.Context) {
	u.mu.Lock()
	taken := u.waiting
	if len(taken) == 0 {
		u.mu.Unlock()
		return
	}
	u.waiting, u.writing = make(map[string]Use, len(taken)), maps.Clone(taken)
	u.mu.Unlock()
	err := u.write(ctx, taken)
	u.mu.Lock()
	defer u.mu.Unlock()
	still := u.writing // without those that were forgotten meanwhile
	u.writing = nil
	if err == nil {
		return
	}
	for id, use := range still {
		u.note(id, use)
	}
	if !errors.Is(err, context.Canceled) {
		u.log.WarnContext(ctx, "use counts could not be written and wait", "error", err)
	}
}

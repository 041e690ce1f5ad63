package learning

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Bounds of counting uses. The counts are an aid to ranking and tidying up:
// the last seconds of them may be lost with the process, and no search waits
// for the disk.
const (
	usesEvery = 5 * time.Second // how long counts stay in memory
	usesSoon  = 4096            // from how many entries on they are written at once
	usesMost  = 1 << 16         // how many entries are counted while nothing can be written
	// usesLast is how long the last counts may take to be written when the process stops.
	usesLast = 500 * time.Millisecond
)

// uses gathers how often entries were found, until they are written.
type uses struct {
	mu      sync.Mutex
	waiting map[string]Use
	full    chan struct{}
}

func newUses() uses { return uses{waiting: map[string]Use{}, full: make(chan struct{}, 1)} }

// count notes one use of each entry.
func (u *uses) count(ids []string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		u.note(id, Use{Count: 1, Last: at})
	}
	if len(u.waiting) >= usesSoon {
		select {
		case u.full <- struct{}{}:
		default:
		}
	}
}

func (u *uses) note(id string, use Use) {
	old, known := u.waiting[id]
	if !known && len(u.waiting) >= usesMost {
		return
	}
	old.Count += use.Count
	if use.Last.After(old.Last) {
		old.Last = use.Last
	}
	u.waiting[id] = old
}

// add adds to an entry what is counted and not written yet.
func (u *uses) add(entry *Knowledge) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if use, ok := u.waiting[entry.ID]; ok {
		entry.UseCount += use.Count
		entry.LastUsed = &use.Last
	}
}

// flush writes what is counted. While it is being written, entries show the
// counts from before for a moment. What cannot be written waits on.
func (u *uses) flush(ctx context.Context, write func(context.Context, map[string]Use) error) error {
	u.mu.Lock()
	taken := u.waiting
	if len(taken) == 0 {
		u.mu.Unlock()
		return nil
	}
	u.waiting = make(map[string]Use, len(taken))
	u.mu.Unlock()
	err := write(ctx, taken)
	if err != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		for id, use := range taken {
			u.note(id, use)
		}
	}
	return err
}

// Run keeps the index and writes use counts until ctx ends; then it writes
// the last ones and returns nil. The store must take writes until it returns.
func (k *KnowledgeBase) Run(ctx context.Context) error {
	var tidying sync.WaitGroup
	tidying.Go(func() { _ = k.kept.Run(ctx) }) // it returns nil, when ctx ends
	defer tidying.Wait()
	ticker := time.NewTicker(usesEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
		case <-k.uses.full:
		case <-ctx.Done():
			continue
		}
		k.flush(ctx)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usesLast)
	defer cancel()
	k.flush(last)
	return nil
}

func (k *KnowledgeBase) flush(ctx context.Context) {
	if err := k.uses.flush(ctx, k.store.AddUse); err != nil && !errors.Is(err, context.Canceled) {
		k.log.WarnContext(ctx, "use counts could not be written and wait", "error", err)
	}
}

// one notes one use and returns what is counted and not written yet, this one included.
func (u *uses) one(id string, at time.Time) Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.note(id, Use{Count: 1, Last: at})
	if len(u.waiting) >= usesSoon {
		select {
		case u.full <- struct{}{}:
		default:
		}
	}
	if use, ok := u.waiting[id]; ok {
		return use
	}
	return Use{Count: 1, Last: at}
}

// waits returns what is counted of an entry and not written yet.
func (u *uses) waits(id string) (Use, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	use, ok := u.waiting[id]
	return use, ok
}

// forget drops what is counted of an entry that is gone.
func (u *uses) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.waiting, id)
}

package committer_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// ledger is a database for a Committer: what was applied, and what is committed.
type ledger struct {
	mu           sync.Mutex
	committed    []int
	pending      []int
	transactions int
	failCommit   error
}

func (l *ledger) transact(fn func(*ledger) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = nil
	l.transactions++
	if err := fn(l); err != nil {
		return err
	}
	if l.failCommit != nil {
		return l.failCommit
	}
	l.committed = append(l.committed, l.pending...)
	return nil
}

func (l *ledger) savepoint(_ *ledger, fn func(*ledger) error) error {
	mark := len(l.pending)
	if err := fn(l); err != nil {
		l.pending = l.pending[:min(mark, len(l.pending))]
		return err
	}
	return nil
}

func start(t *testing.T, l *ledger) (*committer.Committer[*ledger], func()) {
	c := committer.New(l.transact, l.savepoint)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	return c, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCommitterAppliesEachWriteOnceInOrder(t *testing.T) {
	l := &ledger{}
	c, stop := start(t, l)
	var announced []int // written by the announcer alone
	var writers sync.WaitGroup
	const n = 2000
	for i := range n {
		writers.Go(func() {
			var committed bool
			err := c.Write(t.Context(), func(tx *ledger) error {
				tx.pending = append(tx.pending, i)
				return nil
			}, func() { announced = append(announced, i); committed = true })
			if err != nil || !committed {
				t.Errorf("write %d: error %v, announced before it returned: %v", i, err, committed)
			}
		})
	}
	writers.Wait()
	stop()
	if len(l.committed) != n || len(announced) != n {
		t.Fatalf("%d committed, %d announced, want %d", len(l.committed), len(announced), n)
	}
	for i := range n {
		if l.committed[i] != announced[i] {
			t.Fatalf("place %d: committed %d, announced %d", i, l.committed[i], announced[i])
		}
	}
	if l.transactions >= n {
		t.Errorf("%d transactions for %d concurrent writes: nothing was gathered", l.transactions, n)
	}
}

func TestCommitterKeepsAFailureToItself(t *testing.T) {
	l := &ledger{}
	c, stop := start(t, l)
	bad := errors.New("refused")
	var writers sync.WaitGroup
	for i := range 300 {
		writers.Go(func() {
			err := c.Write(t.Context(), func(tx *ledger) error {
				tx.pending = append(tx.pending, i)
				switch i % 3 {
				case 1:
					return bad
				case 2:
					panic("bad write")
				}
				return nil
			}, nil)
			if (err == nil) != (i%3 == 0) || (i%3 == 1 && !errors.Is(err, bad)) {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	writers.Wait()
	stop()
	if len(l.committed) != 100 {
		t.Errorf("%d committed, want the 100 that did not fail", len(l.committed))
	}
	for _, i := range l.committed {
		if i%3 != 0 {
			t.Errorf("%d failed and is stored", i)
		}
	}
}

// TestCommitterTrustsNoTransactionOnAFullDisk: a database that is full may
// have ended the transaction by itself, and so nothing beside the write that
// met it may count as stored.
func TestCommitterTrustsNoTransactionOnAFullDisk(t *testing.T) {
	full := errs.Errorf(errs.StorageFull, "full")
	l := &ledger{}
	c, stop := start(t, l)
	var stored atomic.Int64
	var writers sync.WaitGroup
	for i := range 200 {
		writers.Go(func() {
			err := c.Write(t.Context(), func(tx *ledger) error {
				if i%20 == 7 {
					tx.pending = nil // as SQLite does it: what came before is rolled back
					return full
				}
				tx.pending = append(tx.pending, i)
				return nil
			}, func() { stored.Add(1) })
			if err != nil && !errors.Is(err, full) || i%20 == 7 && err == nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	writers.Wait()
	stop()
	if int(stored.Load()) != len(l.committed) {
		t.Errorf("%d were acknowledged and %d are stored", stored.Load(), len(l.committed))
	}
}

func TestCommitterTellsEveryWriterOfAFailedCommit(t *testing.T) {
	full := errs.Errorf(errs.StorageFull, "full")
	l := &ledger{failCommit: full}
	c, stop := start(t, l)
	var writers sync.WaitGroup
	for range 50 {
		writers.Go(func() {
			err := c.Write(t.Context(), func(*ledger) error { return nil }, func() { t.Error("announced without a commit") })
			if !errors.Is(err, full) {
				t.Errorf("%v", err)
			}
		})
	}
	writers.Wait()
	stop()
}

func TestCommitterStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		c, stop := start(t, l)
		if err := c.Write(t.Context(), func(*ledger) error { return nil }, nil); err != nil {
			t.Error(err)
		}
		stop()
		if err := c.Write(t.Context(), func(*ledger) error { return nil }, nil); errs.CodeOf(err) != errs.Unavailable {
			t.Errorf("a write after the end: %v", err)
		}
	})
}

func TestCommitterLeavesOutWhoGaveUp(t *testing.T) {
	l := &ledger{}
	c, stop := start(t, l)
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.Write(ctx, func(tx *ledger) error { tx.pending = append(tx.pending, 1); return nil }, nil)
	if errs.CodeOf(err) != errs.Unavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if len(l.committed) != 0 {
		t.Error("a write that was given up is stored")
	}
}

func TestBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b committer.Bell
		b.Ring() // nobody waits
		first := b.Wait()
		select {
		case <-first:
			t.Fatal("woken by a ring from before")
		default:
		}
		var woken sync.WaitGroup
		for range 10 {
			woken.Go(func() { <-b.Wait() })
		}
		synctest.Wait()
		b.Ring()
		woken.Wait()
		<-first
	})
}

// room is a Reserve: while it is used, only essential writes are admitted.
type room struct {
	mu       sync.Mutex
	left     int // how often it can be released
	used     bool
	released func()
}

func (r *room) Admit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used {
		return errs.Errorf(errs.StorageFull, "kept")
	}
	return nil
}

func (r *room) Release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used || r.left == 0 {
		return false
	}
	r.used = true
	r.left--
	r.released()
	return true
}

// TestCommitterKeepsRoomForWhatIsEssential (finding B9): on a full disk a stop,
// an acknowledgement or a heartbeat was refused as everything else is.
func TestCommitterKeepsRoomForWhatIsEssential(t *testing.T) {
	full := errs.Errorf(errs.StorageFull, "full")
	l := &ledger{failCommit: full}
	c := committer.New(l.transact, l.savepoint)
	r := &room{left: 1, released: func() { l.mu.Lock(); defer l.mu.Unlock(); l.failCommit = nil }}
	c.Reserve = r
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	put := func(ctx context.Context, i int) error {
		return c.Write(ctx, func(tx *ledger) error { tx.pending = append(tx.pending, i); return nil }, nil)
	}
	if err := put(t.Context(), 1); !errors.Is(err, full) {
		t.Errorf("an ordinary write: %v", err)
	}
	if err := put(committer.Essential(t.Context()), 2); err != nil {
		t.Errorf("an essential write: %v", err)
	}
	if err := put(t.Context(), 3); errs.CodeOf(err) != errs.StorageFull {
		t.Errorf("an ordinary write took the room that is kept: %v", err)
	}
	l.mu.Lock()
	l.failCommit = full // that is used up, too
	l.mu.Unlock()
	if err := put(committer.Essential(t.Context()), 4); !errors.Is(err, full) {
		t.Errorf("an essential write without room: %v", err)
	}
	l.mu.Lock()
	l.failCommit = nil
	l.mu.Unlock()
	r.mu.Lock()
	r.used = false
	r.mu.Unlock()
	if err := put(t.Context(), 5); err != nil {
		t.Errorf("once there is room: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !slices.Equal(l.committed, []int{2, 5}) {
		t.Errorf("%v are stored", l.committed)
	}
}

// TestCommitterEndsWhenItDoubtsTheDisk (finding B10): after a commit of which
// nobody knows whether it is on disk, writes went on as if nothing were.
func TestCommitterEndsWhenItDoubtsTheDisk(t *testing.T) {
	l := &ledger{}
	c := committer.New(l.transact, l.savepoint)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	put := func(i int) error {
		return c.Write(t.Context(), func(tx *ledger) error { tx.pending = append(tx.pending, i); return nil }, nil)
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("fsync: input/output error")
	l.mu.Lock()
	l.failCommit = bad
	l.mu.Unlock()
	if err := put(2); !errors.Is(err, bad) || errs.CodeOf(err) != errs.Internal || !strings.Contains(errs.MessageOf(err), "may be there or not") {
		t.Errorf("the write in doubt: %v", err)
	}
	if err := <-ended; !errors.Is(err, bad) {
		t.Errorf("it ended with %v", err)
	}
	l.mu.Lock()
	l.failCommit = nil
	l.mu.Unlock()
	var writers sync.WaitGroup
	for i := range 2000 { // more than the queue holds: none may wait for ever
		writers.Go(func() {
			if err := put(i + 3); errs.CodeOf(err) != errs.Unavailable {
				t.Errorf("a write after it: %v", err)
			}
		})
	}
	writers.Wait()
	if !slices.Equal(l.committed, []int{1}) {
		t.Errorf("%v are stored", l.committed)
	}
}

// TestCommitterAnswersWhoWaitsWhenItEnds (finding B10): the writes that wait
// behind the one in doubt, more than the queue holds, are all refused.
func TestCommitterAnswersWhoWaitsWhenItEnds(t *testing.T) {
	l := &ledger{failCommit: errors.New("fsync: input/output error")}
	c := committer.New(l.transact, l.savepoint)
	l.mu.Lock() // the first commit waits for it
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context()) }()
	var writers sync.WaitGroup
	var begun atomic.Int64
	for range 3000 {
		writers.Go(func() {
			begun.Add(1)
			if err := c.Write(t.Context(), func(*ledger) error { return nil }, nil); err == nil {
				t.Error("a write was acknowledged")
			}
		})
	}
	for begun.Load() < 3000 {
		runtime.Gosched()
	}
	l.mu.Unlock()
	writers.Wait()
	if err := <-ended; err == nil {
		t.Error("it ended without saying why")
	}
}

func TestGatherSharesWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g committer.Gather[int]
		turn := make(chan struct{})
		var mu sync.Mutex
		var written []int
		sizes := make(chan int, 5)
		for i := range 5 {
			go func() {
				items, err := g.Store(i, 3, func(take func() []int) error {
					<-turn
					mu.Lock()
					defer mu.Unlock()
					written = append(written, take()...)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				sizes <- items
			}()
		}
		synctest.Wait() // all have joined, and wait for their turn
		close(turn)
		sum := 0
		for range 5 {
			sum += <-sizes
		}
		slices.Sort(written)
		if !slices.Equal(written, []int{0, 1, 2, 3, 4}) || sum != 3*3+2*2 {
			t.Errorf("written %v; the groups' sizes sum up to %d, want 13", written, sum)
		}
	})
}

func TestGatherRefused(t *testing.T) {
	var g committer.Gather[int]
	full := errors.New("full")
	for i := range 2 { // the second joins no group that was refused
		if items, err := g.Store(i, 3, func(func() []int) error { return full }); items != 1 || !errors.Is(err, full) {
			t.Errorf("%d items, %v", items, err)
		}
	}
}

package learning_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// ledgerStore is a store of checks alone: a write waits while the gate is
// closed, and fails with what fail says of its checks.
type ledgerStore struct {
	lesson.PipelineStore
	gate chan struct{}
	fail func(checks []lesson.CheckRecord) error
	slow time.Duration // what reading takes

	mu     sync.Mutex
	checks []lesson.CheckRecord
	events []string // their subjects
}

type ledgerTx struct {
	lesson.PipelineTx
	checks []lesson.CheckRecord
	events []string
}

func (tx *ledgerTx) AddChecks(checks ...lesson.CheckRecord) error {
	tx.checks = append(tx.checks, checks...)
	return nil
}

func (tx *ledgerTx) AddEvents(events ...eventlog.Event) error {
	for _, e := range events {
		tx.events = append(tx.events, e.Subject)
	}
	return nil
}

func (tx *ledgerTx) ApprovalOf(string) (a lesson.Approval, ok bool, err error) { return a, false, nil }
func (tx *ledgerTx) PutApproval(*lesson.Approval) error                        { return nil }
func (tx *ledgerTx) BoundApprovals(string, int) error                          { return nil }

func (s *ledgerStore) Approval(context.Context, string) (a lesson.Approval, ok bool, err error) {
	<-time.After(s.slow)
	return a, false, nil
}

func (s *ledgerStore) ListPermissions(context.Context, time.Time, int) ([]lesson.Permission, error) {
	<-time.After(s.slow)
	return nil, nil
}

func (s *ledgerStore) Change(_ context.Context, apply func(lesson.PipelineTx) error, _ func()) func() error {
	return func() error {
		<-s.gate
		tx := &ledgerTx{}
		if err := apply(tx); err != nil {
			return err
		}
		if s.fail != nil {
			if err := s.fail(tx.checks); err != nil {
				return err
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.checks, s.events = append(s.checks, tx.checks...), append(s.events, tx.events...)
		return nil
	}
}

func (s *ledgerStore) ids() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.checks {
		ids = append(ids, c.ID)
	}
	return ids
}

// running starts a guard on a store, and returns what ends it.
func running(t *testing.T, store *ledgerStore) (g *guard.Guards, end func()) {
	t.Helper()
	g = guard.NewGuards(t.Context(), store, guard.GuardsOptions{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	return g, func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func judged(t *testing.T, g *guard.Guards, command string) guard.Checked {
	t.Helper()
	c, err := g.Check(asAgent(t, "a"), rule.Action{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestVerdictWaitsForNoWrite (finding B4): while a write of learning.db hung, a
// check of `rm -rf /` was answered after 10 seconds, and the agent's hook had
// let it pass after 2. In virtual time no verdict may take any.
func TestVerdictWaitsForNoWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &ledgerStore{gate: make(chan struct{})}
		g, end := running(t, store)
		var ids []string
		begin := time.Now()
		for _, command := range []string{"rm -rf /data", "ls", "rm -rf /data"} {
			c := judged(t, g, command)
			if c.Blocked != (command != "ls") || c.CheckID == "" || strings.Contains(strings.Join(c.Warnings, "\n"), "ledger") {
				t.Errorf("%s: %+v", command, c)
			}
			ids = append(ids, c.CheckID)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the verdicts waited %s", took)
		}
		<-time.After(2 * time.Second) // the first write hangs
		late := judged(t, g, "rm -rf /data")
		if !late.Blocked || late.CheckID == "" || !strings.Contains(strings.Join(late.Warnings, "\n"), "not in the ledger yet") {
			t.Errorf("while the ledger is late: %+v", late)
		}
		ids = append(ids, late.CheckID)
		if s := g.LedgerState(); s.Waiting != 4 || s.Well() || s.Late < 2*time.Second {
			t.Errorf("%+v", s)
		}
		full := guard.Checked{CheckID: "none yet"}
		for full.CheckID != "" && len(ids) < 10_000 {
			if full = judged(t, g, "rm -rf /data"); full.CheckID != "" {
				ids = append(ids, full.CheckID)
			}
		}
		if !full.Blocked || !strings.Contains(strings.Join(full.Warnings, "\n"), "not in the ledger") {
			t.Errorf("once too many wait: %+v", full)
		}
		if s := g.LedgerState(); s.Lost != 1 {
			t.Errorf("%+v", s)
		}
		close(store.gate)
		<-time.After(time.Second)
		if got := store.ids(); !slices.Equal(got, ids) {
			t.Errorf("%d checks are written, not the %d that were answered, or not in their order", len(got), len(ids))
		}
		if len(store.events) != len(ids)-1 {
			t.Errorf("%d events of %d checks that found something", len(store.events), len(ids)-1)
		}
		last := judged(t, g, "rm -rf /data")
		end()
		if got := store.ids(); got[len(got)-1] != last.CheckID {
			t.Error("a clean stop did not write what waited")
		}
		if s := g.LedgerState(); s.Waiting != 0 || s.Failing != "" {
			t.Errorf("%+v", s)
		}
	})
}

// TestVerdictOfASlowDisk: a check that is blocked asks several things of the database, and waits a second for all of them: its hook gives up
// after two.
func TestVerdictOfASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &ledgerStore{gate: make(chan struct{}), slow: 900 * time.Millisecond}
		close(store.gate)
		g, end := running(t, store)
		defer end()
		begin := time.Now()
		c := judged(t, g, "rm -rf /data")
		if took := time.Since(begin); !c.Blocked || took != time.Second || !strings.Contains(strings.Join(c.Warnings, "\n"), "could not be read") {
			t.Errorf("after %s: %+v", took, c)
		}
		<-time.After(store.slow) // until it has read what nobody waits for any more
	})
}

// TestLedgerOfAFailingDisk (finding B4): what cannot be written now is written
// later, in its order; a check that never can be takes no other with it; and
// what a stop leaves is counted.
func TestLedgerOfAFailingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &ledgerStore{gate: make(chan struct{})}
		close(store.gate)
		var full atomic.Bool
		full.Store(true)
		var bad atomic.Value
		bad.Store("")
		store.fail = func(checks []lesson.CheckRecord) error {
			switch {
			case full.Load():
				return errs.Errorf(errs.StorageFull, "the disk is full")
			case slices.ContainsFunc(checks, func(c lesson.CheckRecord) bool { return c.ID == bad.Load() }):
				return errors.New("no such column")
			}
			return nil
		}
		g, end := running(t, store)
		var ids []string
		for range 5 {
			ids = append(ids, judged(t, g, "rm -rf /data").CheckID)
		}
		bad.Store(ids[2])
		<-time.After(3 * time.Second)
		if s := g.LedgerState(); s.Waiting != 5 || s.Failing == "" || s.Lost != 0 {
			t.Errorf("%+v", s)
		}
		full.Store(false)
		<-time.After(3 * time.Second)
		if s := g.LedgerState(); s.Waiting != 0 || s.Lost != 1 {
			t.Errorf("%+v", s)
		}
		if got := store.ids(); !slices.Equal(got, slices.Delete(slices.Clone(ids), 2, 3)) {
			t.Errorf("%v are written of %v", got, ids)
		}
		full.Store(true)
		judged(t, g, "ls")
		end()
		if s := g.LedgerState(); s.Waiting != 0 || s.Lost != 2 {
			t.Errorf("after the end: %+v", s)
		}
	})
}

package history_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
)

// stalled is a store whose reads fail once the disk stands still.
type stalled struct {
	history.Store
	still bool
	reads int
}

func (s *stalled) Incidents(ctx context.Context, ids []int64) (map[int64]history.Incident, error) {
	if s.reads++; s.still {
		return nil, errors.New("the disk stands still")
	}
	return s.Store.Incidents(ctx, ids)
}

// A check asks for a warning, and waits for no disk: what may be warned of is in memory, and follows what is learned,
// accepted, taken back and forgotten.
func TestWarnReadsNothing(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Owner(true))
	store := &stalled{Store: emptyStore(t)}
	n := history.New(store, learning.Options{})
	for i := range 3 {
		_, err := n.Learn(ctx, history.Draft{Project: "shop", Session: fmt.Sprint(i), Begin: true, Steps: []history.Step{
			{ID: "a", Command: fmt.Sprintf("python -m pytest t%d.py", i), Outcome: history.Failed, Exit: 1, Output: "/opt/bin/python: No module named pytest"},
			{ID: "b", Command: fmt.Sprintf("bin/test t%d.py", i), Outcome: history.Worked, Digest: "ok"},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	const command = "python -m pytest other.py"
	if w := n.Warn("shop", command); w != nil {
		t.Errorf("nobody accepted it, and it warns: %+v", w)
	}
	decide := func(undo bool) {
		t.Helper()
		if _, err := n.Accept(ctx, history.Decision{Project: "shop", Seen: 2, Undo: undo}); err != nil {
			t.Fatal(err)
		}
	}
	decide(false)
	store.still = true
	reads := store.reads
	if w := n.Warn("shop", command); w == nil || store.reads != reads {
		t.Errorf("with a disk that stands still: %+v, %d reads", w, store.reads-reads)
	}
	if w := n.Warn("other", command); w != nil {
		t.Errorf("another project is warned: %+v", w)
	}
	store.still = false
	again := history.New(store, learning.Options{})
	if err := again.Load(ctx); err != nil || again.Warn("shop", command) == nil {
		t.Errorf("after a start nothing is warned of: %v", err)
	}
	decide(true)
	if w := n.Warn("shop", command); w != nil {
		t.Errorf("it was taken back, and warns: %+v", w)
	}
	decide(false)
	if _, err := n.Forget(ctx, "shop"); err != nil || n.Warn("shop", command) != nil {
		t.Errorf("it was forgotten, and warns: %v", err)
	}
}

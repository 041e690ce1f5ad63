package shelf_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/learning/shelf"
)

// TestUsesAreShownWhileTheyAreWritten: a slow disk made a row's count fall back to what it was before.
func TestUsesAreShownWhileTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored, fail := map[string]int64{}, false
		uses := shelf.NewUses(func(_ context.Context, counted map[string]shelf.Use) error {
			<-time.After(time.Minute)
			if fail {
				return errors.New("the disk is full")
			}
			for id, use := range counted {
				stored[id] += use.Count
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		shown := func(id string) int64 {
			n, last := stored[id], (*time.Time)(nil)
			uses.Show(id, &n, &last)
			return n
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); uses.Run(ctx) }()
		begin := time.Now()
		for round := range int64(3) {
			fail = round == 1
			uses.Count(time.Now(), "a", "b")
			for _, seconds := range []time.Duration{2, 15, 90} { // before, while and after it is written
				<-time.After(seconds * time.Second)
				if n := shown("a"); n != round+1 {
					t.Errorf("after %v a row that was found %d times shows %d", time.Since(begin), round+1, n)
				}
			}
		}
		uses.Count(time.Now(), "b")
		<-time.After(10 * time.Second)
		uses.Forget("b") // while it is being written
		if n := shown("b"); n != stored["b"] {
			t.Errorf("a row that is gone shows %d beside the %d that were written", n, stored["b"])
		}
		stop()
		<-done
	})
}

package app_test

import (
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
)

// TestHolderIsNeverUnnamed reads the lock file while its holder writes its
// address anew: a reader that found nobody there would take the folder for free.
func TestHolderIsNeverUnnamed(t *testing.T) {
	dir := t.TempDir()
	lock, err := app.Acquire(dir, locate.Holder{PID: 41, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	const writes = 2000
	done := make(chan error, 1)
	go func() {
		for i := range writes {
			if err := lock.SetHolder(locate.Holder{PID: 41 + i%2, Listen: "http://127.0.0.1:1", Started: time.Unix(int64(i), 0)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		holder, err := locate.ReadHolder(dir)
		if err != nil || holder.PID == 0 {
			t.Fatalf("holder %+v, %v", holder, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

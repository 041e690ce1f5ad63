package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"skillrouter"
)

// life starts components in order and stops them in reverse order, each only
// when the one started after it has ended. It rolls a half-finished start back
// in the same way.
type life struct {
	log   *slog.Logger
	parts []part
	// failed gets the error of the first component that ends by itself.
	failed chan error
	once   sync.Once
	// stopping ends when stop begins.
	stopping context.Context
	begin    context.CancelFunc
}

type part struct {
	name string
	stop func() error
}

func newLife(log *slog.Logger) *life {
	l := &life{log: log, failed: make(chan error, 1)}
	l.stopping, l.begin = context.WithCancel(context.Background())
	return l
}

// defers adds a clean-up.
func (l *life) defers(name string, stop func() error) { l.parts = append(l.parts, part{name, stop}) }

// run starts a component whose run blocks until its context ends.
func (l *life) run(ctx context.Context, name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it ends in its turn, not with the signal
	done := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil { // nobody asked it to end
			l.fail(name, err)
		}
		done <- err
	}()
	l.defers(name, func() error {
		cancel()
		err := <-done
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}

func (l *life) fail(name string, err error) {
	if err == nil {
		err = errors.New("ended by itself")
	}
	l.once.Do(func() { l.failed <- fmt.Errorf("%s: %w", name, err) })
}

// stop ends everything, the last started first, and returns what went wrong.
func (l *life) stop() error {
	l.begin()
	var errs []error
	for i := len(l.parts) - 1; i >= 0; i-- {
		p := l.parts[i]
		l.log.Debug("stopping", "component", p.name)
		if err := p.stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.name, err))
		}
	}
	l.parts = nil
	return errors.Join(errs...)
}

// What an idle router gives back.
const (
	// idleEvery is how often is looked whether the router is idle.
	idleEvery = 5 * time.Second
	// idleMakes is how many bytes an idle router makes at most in that time: a thousand
	// streams take 3 MB for their keep-alives, which come at once if they were opened at once.
	idleMakes = 8 << 20
	// idleGain is for how many bytes a collection of garbage is worth its while, and idleShare for which part
	// of what is in use: to look through that costs the more processor, the more it is.
	idleGain  = 8 << 20
	idleShare = 8
	// busyMakes is how many bytes a router makes in that time for which garbage is collected as seldom as usual. Below it the collector takes less than a
	// thirtieth of a core, and is run twice as often, for a third less memory.
	busyMakes = 320 << 20
	usualGC   = 100
	oftenGC   = 50
)

// heap is how much memory was made since the start, how much of it was in use
// when garbage was last collected, and what is garbage or free by now.
type heap struct{ made, used, idle uint64 }

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	made, used, objects, free := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()
	return heap{made, used, max(objects, used) - used + free}
}

// rests tells whether nothing much was made since before, and whether there is enough to give back.
func (h heap) rests(before heap) bool {
	return h.made-before.made <= idleMakes && h.idle >= max(idleGain, h.used/idleShare)
}

// percent is the growth of the heap, in percent of what is in use, after which garbage is collected (debug.SetGCPercent).
func (h heap) percent(before heap) int {
	if h.made-before.made > busyMakes {
		return usualGC
	}
	return oftenGC
}

// rest gives memory back: what only the start needed, and later what something
// that is over took, such as an import or a thousand streams that were opened.
// Garbage is otherwise collected when as much again was made, for which an idle router gives no reason.
func rest(ctx context.Context) error {
	before, percent := heap{}, usualGC
	_, given := os.LookupEnv("GOGC")
	for wait := settleAfter; skillrouter.Pause(ctx, wait) == nil; wait = idleEvery {
		now := readHeap()
		if before.made == 0 || now.rests(before) {
			settle()
		}
		if to := now.percent(before); to != percent && !given {
			debug.SetGCPercent(to)
			percent = to
		}
		before = now
	}
	return nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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

// beginWith has stopping end with ctx, until end is called: for what is waited for before anybody can call stop.
func (l *life) beginWith(ctx context.Context) (end func()) {
	stop := context.AfterFunc(ctx, l.begin)
	return func() { stop() }
}

// defers adds a clean-up.
func (l *life) defers(name string, stop func() error) { l.parts = append(l.parts, part{name, stop}) }

// run starts a component whose run blocks until its context ends.
func (l *life) run(ctx context.Context, name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it ends in its turn, not with the signal
	done := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil && l.fail(name, err) { // nobody asked it to end
			err = nil // it is told of already
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

// fail tells of a failure, and whether it was the first.
func (l *life) fail(name string, err error) (first bool) {
	if err == nil {
		err = errors.New("ended by itself")
	}
	l.once.Do(func() {
		first = true
		l.failed <- fmt.Errorf("%s: %w", name, err)
	})
	return first
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

package respond

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

// A router that is stalled takes connections and answers nothing. It costs an agent one hook's wait: then hooks leave it alone.
const (
	// patience is how long a call waits before the router is asked whether it lives, and lifeTime how long that may take: a router
	// that is busy says at once that it does. slowTime is after what a call that comes to no end has cost enough.
	patience = 400 * time.Millisecond
	lifeTime = 350 * time.Millisecond
	slowTime = 900 * time.Millisecond
	// aloneFor is how long hooks leave a stalled router alone, unless it has written its copy of the guard's rules since, as it does
	// when a person has given an approval.
	aloneFor   = time.Minute
	copyName   = "guard.copy" // offline.CopyName
	maxStalled = 64           // bytes
)

// leftAlone tells the model, once.
const leftAlone = "Skill Router does not answer. Its hooks leave it alone for a minute: until then memory and messages are not told, and the guard judges by the copy of its rules."

var errStalled = errs.Errorf(errs.Unavailable, "the router does not answer, and hooks leave it alone for a minute; `skillrouter doctor` says what is wrong with it")

// patient makes the calls of the router at a URL, which may be stalled. data is its folder, if it is this user's.
func (h *Hook) patient(call Call, url, data string) Call {
	name := cached("stalled-" + digest(url))
	since := h.stalledSince(name)
	if !since.IsZero() {
		if info, err := os.Stat(filepath.Join(data, copyName)); data == "" || err != nil || !info.ModTime().After(since) {
			h.alone.Store(h.process.now().Sub(since) < aloneFor)
		}
	}
	stalled := func() error {
		h.stalled.Do(func() { // all of this run's calls wait until it is written: the first to return may end the process
			h.noticed.Store(true)
			keep(name, h.process.now().UTC().Format(time.RFC3339Nano))
			h.alone.Store(true)
		})
		return errStalled
	}
	return func(ctx context.Context, method, path string, in, out any) error {
		if h.alone.Load() {
			return errStalled
		}
		begun := time.Now()
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- call(within, method, path, in, out) }()
		var err error
		select {
		case err = <-done:
		case <-time.After(patience):
			if !lives(ctx, call) {
				select {
				case err = <-done: // it answered meanwhile
				default:
					cancel()
					<-done // it writes to out
					return stalled()
				}
			} else {
				err = <-done
			}
		}
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded) && time.Since(begun) > slowTime:
			return stalled()
		case err == nil && !since.IsZero():
			_ = os.Remove(name)
		}
		return err
	}
}

// lives tells whether the router says anything.
func lives(ctx context.Context, call Call) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lifeTime)
	defer cancel()
	return call(ctx, "GET", "/health", nil, nil) == nil || ctx.Err() == nil
}

// stalledSince is when a hook found the router stalled; zero: none did, or nobody can read when. A time to come is nobody's.
func (h *Hook) stalledSince(name string) time.Time {
	text, err := file.ReadSmall(name, maxStalled)
	at, wrong := time.Parse(time.RFC3339Nano, string(text))
	if err != nil || wrong != nil || at.After(h.process.now()) {
		return time.Time{}
	}
	return at
}

package keep

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skillrouter/tfidf"
)

// When a snapshot is saved. It costs the writing of the whole index, and saves
// the next start reading again what changed since.
const (
	// saveLook is how often it is asked whether a snapshot is due.
	saveLook = 5 * time.Second
	// saveFew is how many changes make a snapshot due when nothing has changed for
	// saveLook, and savePart the part of a large index that must have changed besides:
	// so a large one is not written again for a handful of entries.
	saveFew  = 200
	savePart = 100
	// saveMany is how many changes make it due while more are coming, and saveShare the
	// part of the index besides: a long import writes it a few times in all, and a team that
	// never rests has a few megabytes of it in memory of its own, where it had all of it. The rest is mapped.
	saveMany  = 4000
	saveShare = 4
	// advanceEvery is how often it is looked whether an unchanged snapshot has fallen behind the log.
	advanceEvery = time.Minute
	// saveOld is after how long any change makes it due.
	saveOld = time.Hour
	// saveAgain is how long a failed attempt is not repeated: the disk may be full.
	saveAgain = time.Minute
	// stopBudget is how long the last saving may take; one that would take longer is
	// left out, and the next start reads what changed since the one before it.
	stopBudget = 1500 * time.Millisecond
	// saveRate is how many bytes a second a disk is taken to write before one was timed.
	saveRate = 100 << 20
)

// saver remembers when the index was saved, and what changed since.
type saver struct {
	saving sync.Mutex // held while a snapshot is being written

	mu       sync.Mutex
	changes  int           // since the newest snapshot
	last     time.Time     // when the latest of them came
	saved    time.Time     // when this process saved a snapshot
	failedAt time.Time     // when an attempt failed
	failed   string        // why
	took     time.Duration // how long the latest saving took
	due      bool
	from     Position // the newest snapshot's own
	at       Position // up to where it is written down to hold
	wake     chan struct{}
}

func (s *saver) count(changes int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes += changes
	s.last = at
}

// now makes a snapshot due at once.
func (s *saver) now() {
	s.mu.Lock()
	s.due = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *saver) tell(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved.After(state.Saved) {
		state.Saved = s.saved
	}
	state.Unsaved, state.SaveFailed = s.changes, s.failed
}

// isDue tells whether a snapshot of so many documents should be saved now.
func (s *saver) isDue(documents int, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.failedAt.IsZero() && at.Sub(s.failedAt) < saveAgain:
		return false
	case s.due:
		return true
	case s.changes == 0:
		return false
	case s.changes >= max(saveMany, documents/saveShare):
		return true
	case s.changes >= max(saveFew, documents/savePart) && at.Sub(s.last) >= saveLook:
		return true
	}
	return at.Sub(s.saved) >= saveOld && !s.saved.IsZero()
}

// keepSaving saves the index when it is due, and a last time when ctx ends.
func (k *Keeper) keepSaving(ctx context.Context) {
	if k.opts.Path == "" {
		<-ctx.Done()
		return
	}
	k.saver.mu.Lock()
	if k.saver.saved.IsZero() {
		k.saver.saved = k.opened // from then on the hour counts
	}
	k.saver.mu.Unlock()
	look, further := time.NewTicker(saveLook), time.NewTicker(advanceEvery)
	defer look.Stop()
	defer further.Stop()
	for ctx.Err() == nil {
		select {
		case <-look.C:
		case <-further.C:
			k.advance(ctx)
			continue
		case <-k.saver.wake:
		case <-ctx.Done():
			continue
		}
		if k.saver.isDue(k.Len(), k.opts.Now()) {
			k.Index().Compact()
			_ = k.Save(ctx) // it is logged, and tried again
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBudget)
	defer cancel()
	if k.worthLast() {
		_ = k.Save(last)
	}
	k.advance(last)
}

// worthLast tells whether a stop should wait for a last snapshot.
func (k *Keeper) worthLast() bool {
	k.saver.mu.Lock()
	defer k.saver.mu.Unlock()
	if k.saver.changes == 0 && !k.saver.due {
		return false
	}
	took := k.saver.took
	if info, err := os.Stat(k.opts.Path); err == nil && took == 0 {
		took = time.Duration(info.Size()) * time.Second / saveRate
	}
	return took <= stopBudget
}

// Save writes a snapshot of the index if it is whole. A failure is told once, by
// State and in the log, until an attempt succeeds; it harms nothing else.
func (k *Keeper) Save(ctx context.Context) error {
	if k.opts.Path == "" || !k.Complete() {
		return nil
	}
	k.saver.saving.Lock()
	defer k.saver.saving.Unlock()
	begin := k.opts.Now()
	at, changes, err := k.write(ctx)
	if ctx.Err() != nil && err != nil {
		return err // the process stops
	}
	s := &k.saver
	s.mu.Lock()
	first := s.failed == ""
	s.due = err != nil
	if err == nil {
		s.changes -= changes
		if at.Seq > 0 {
			s.from, s.at = at, at
		}
		s.saved, s.failedAt, s.failed, s.took = begin, time.Time{}, "", k.opts.Now().Sub(begin)
	} else {
		s.failedAt, s.failed = k.opts.Now(), err.Error()
	}
	s.mu.Unlock()
	if err != nil && first && !errors.Is(err, errors.ErrUnsupported) {
		k.opts.Log.WarnContext(ctx, "the search index cannot be saved: the next start will read it from the database again; trying again later", "path", k.opts.Path, "error", err)
	}
	return err
}

// write captures the index at a known position and writes that.
func (k *Keeper) write(ctx context.Context) (at Position, changes int, err error) {
	m := mark{Form: k.opts.Form, Time: k.opts.Now().UnixMilli()}
	var capture *tfidf.Capture
	err = k.settled(ctx, func(at Position) {
		m.At, capture = at, k.Index().Capture()
		k.saver.mu.Lock()
		changes = k.saver.changes
		k.saver.mu.Unlock()
	})
	if err != nil || m.At == (Position{}) {
		return m.At, changes, err // nothing was ever written: there is nothing to save
	}
	text, err := json.Marshal(m)
	if err != nil {
		return m.At, 0, err
	}
	if err := os.MkdirAll(filepath.Dir(k.opts.Path), 0o700); err != nil {
		return m.At, 0, err
	}
	return m.At, changes, capture.Save(k.opts.Path, text)
}

package runbooks

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// When the folder is looked at.
const (
	// settleFor is how long nothing must happen before what did is looked at: an editor
	// writes a file in several steps. settleMost bounds that where something always happens.
	settleFor  = 150 * time.Millisecond
	settleMost = 2 * time.Second
	// rescanEvery is how often the whole folder is looked at besides: the system loses
	// news when there is too much, and has none of network drives. rescanUnwatched holds where it has none at all.
	rescanEvery     = time.Minute
	rescanUnwatched = 5 * time.Second
)

// Run keeps the folder in step until ctx ends, and returns nil. Folders are
// watched and not files, because editors put a new file in the old one's place.
func (f *Folder) Run(ctx context.Context) error {
	every := rescanEvery
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		f.log.WarnContext(ctx, "the folder of procedures cannot be watched, and is looked at again and again", "error", err, "every", rescanUnwatched)
		watcher, every = &fsnotify.Watcher{}, rescanUnwatched // its channels are nil and never ready
	} else {
		defer watcher.Close()
	}
	watched := map[string]bool{}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	due := time.NewTimer(0) // at once: something may have changed since the last Sync
	defer due.Stop()
	var first time.Time // when what waits first happened
	wait := func() {
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		due.Reset(max(min(settleFor, settleMost-now.Sub(first)), 0))
	}
	changed := f.procedures.Changed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if matters(event.Name) {
				wait()
			}
			if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
				delete(watched, event.Name) // its watch is gone with it, should it be a folder
			}
			continue
		case err := <-watcher.Errors: // most likely, news were lost
			f.log.DebugContext(ctx, "the folder of procedures is looked at as a whole", "error", err)
			wait()
			continue
		case <-changed:
			changed = f.procedures.Changed()
			wait()
			continue
		case <-ticker.C:
		case <-due.C:
		}
		first = time.Time{}
		if every == rescanEvery {
			f.watch(ctx, watcher, watched) // before the look, so that nothing falls in between
		}
		if err := f.Sync(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "the folder of procedures could not be brought in step and is tried again", "error", err)
		}
		if every == rescanEvery && f.watch(ctx, watcher, watched) {
			wait() // a folder is watched from now on, in which something may have happened meanwhile
		}
	}
}

// watch watches the folder and those in it; it tells whether one is new.
func (f *Folder) watch(ctx context.Context, watcher *fsnotify.Watcher, watched map[string]bool) (more bool) {
	f.mu.Lock()
	folders := append([]string{"."}, f.folders...)
	f.mu.Unlock()
	for _, folder := range folders {
		name := filepath.Join(f.name, filepath.FromSlash(folder))
		if watched[name] {
			continue
		}
		if err := watcher.Add(name); err != nil {
			f.log.DebugContext(ctx, "a folder of procedures cannot be watched", "folder", name, "error", err)
			continue
		}
		watched[name] = true
		more = true
	}
	return more
}

// matters tells whether a change of that file or folder is looked at: the
// temporary files of editors, and our own, are hidden or have other names.
func matters(name string) bool {
	base := filepath.Base(name)
	ext := filepath.Ext(base)
	return !strings.HasPrefix(base, ".") && (ext == ".yaml" || ext == ".yml" || ext == "") || base == markerName
}

package runbooks

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
)

// When the folder is looked at.
const (
	// lookEvery is how often names, sizes and times of files are looked at. What changed is read when two looks see the same: an
	// editor writes a file in several steps.
	lookEvery = time.Second / 2
	// settleFor is how long after a procedure was saved the folder is written.
	settleFor = 150 * time.Millisecond
	// rescanEvery is how often the whole folder is read besides: a file may change and keep its size and time.
	rescanEvery = time.Minute
)

// Run keeps the folder in step until ctx ends, and returns nil. Systems differ in the news that they give of files, and network
// drives give none: so it looks.
func (f *Folder) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	changed := f.procedures.Changed()
	var read, before uint64
	var last time.Time
	for {
		now := f.glance()
		if settled := now == before && now != read; settled || time.Since(last) >= rescanEvery {
			if err := f.Sync(ctx); err != nil && ctx.Err() == nil {
				f.log.WarnContext(ctx, "the folder of procedures could not be brought in step and is tried again", "error", err)
			}
			read, last = now, time.Now()
		}
		before = now
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			_ = committer.Pause(ctx, settleFor) // more is saved at once, as by an import
			changed, last = f.procedures.Changed(), time.Time{}
		case <-tick.C:
		}
	}
}

// glance is the same as long as the names, sizes and times of the folder's files are.
func (f *Folder) glance() uint64 {
	seen, count := fnv.New64a(), 0
	_ = fs.WalkDir(os.DirFS(f.name), ".", func(name string, entry fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(path.Base(name), "."); {
		case err != nil:
			return nil //nolint:nilerr // Sync says what cannot be read
		case entry.IsDir() && (hidden || strings.Count(name, "/") >= maxFolders):
			return fs.SkipDir
		case hidden:
			return nil
		}
		if count++; count > MaxFiles {
			return fs.SkipAll
		}
		if info, err := entry.Info(); err == nil {
			fmt.Fprintln(seen, name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return seen.Sum64()
}

package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// BallastName is the file whose room is given back when the disk is full.
const BallastName = "ballast"

// Bounds of the ballast.
const (
	// ballastSize is its size in bytes: some hundred stops, acknowledgements and
	// heartbeats, each of which writes a few pages of 4 KiB.
	ballastSize uint64 = 4 << 20
	// ballastShare is the part of what is free that it takes at most, and ballastLeast the
	// size in bytes below which it is not worth having: the disk may be small.
	ballastShare = 8
	ballastLeast = 256 << 10
	// ballastEvery is how often a full disk is tried again where its free space does not
	// tell (quotas); a write that finds room in between does so at once.
	ballastEvery = time.Second
)

// ballast is room on the disk that is kept for the writes that must get
// through when there is no other: it implements committer.Reserve for both databases.
type ballast struct {
	path string
	log  *slog.Logger

	mu        sync.Mutex
	size      int64 // of the file; 0: there is none
	used      bool  // its room was given away and is not back yet
	attempted time.Time
}

// openBallast makes the file, or takes the one that is there. A disk without room for it is no error.
func openBallast(dir string, log *slog.Logger) *ballast {
	b := &ballast{path: filepath.Join(dir, BallastName), log: log}
	if info, err := os.Stat(b.path); err == nil && info.Size() >= ballastLeast {
		b.size = info.Size()
		return b
	}
	free, err := freeDisk(dir)
	size := int64(min(ballastSize, free/ballastShare))
	if err == nil && size < ballastLeast {
		err = errs.Errorf(errs.StorageFull, "only %d KiB are free", free>>10)
	}
	if err == nil {
		err = b.fill(size)
	}
	if err != nil {
		log.Warn("no room is kept for the time when the disk is full", "error", err)
	}
	return b
}

// fill writes the file, with what takes its room on a disk that compresses too. The lock is held, or nobody else has b yet.
func (b *ballast) fill(size int64) error {
	file, err := os.OpenFile(b.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, rand.NewChaCha8([32]byte{}), size)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(b.path))
	}
	b.size, b.used = size, false
	return nil
}

// Admit implements committer.Reserve. While the room is in use it looks
// whether there is some again, and then takes its own back first.
func (b *ballast) Admit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.used {
		return nil
	}
	free, err := freeDisk(filepath.Dir(b.path))
	if err == nil && free >= 2*uint64(b.size) || time.Since(b.attempted) >= ballastEvery {
		b.attempted = time.Now()
		if b.fill(b.size) == nil {
			b.log.Info("the disk has room again", "free", free)
			return nil
		}
	}
	return errs.Errorf(errs.StorageFull, "the disk is full: nothing was stored, reading goes on; what is left is kept for stops, acknowledgements, heartbeats and deletions")
}

// Release implements committer.Reserve.
func (b *ballast) Release() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used || b.size == 0 {
		return false
	}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		b.log.Error("the room kept for a full disk cannot be given back", "error", err)
		return false
	}
	b.used, b.attempted = true, time.Now()
	b.log.Warn("the disk is full: only stops, acknowledgements, heartbeats and deletions are stored", "kept", b.size)
	return true
}

// said tells doctor how the ballast is.
func (b *ballast) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.size == 0:
		return "none is kept for stops on a full disk"
	case b.used:
		return "the disk is full, and what was kept for stops is in use"
	}
	return fmt.Sprintf("%d KiB are kept for stops on a full disk", b.size>>10)
}

// reserve is the ballast as one database's committer uses it.
type reserve struct {
	*ballast
	db *database.DB
}

// Release implements committer.Reserve. What the log holds is folded into the
// database as far as that goes, so that the log's room is used again before the ballast's.
func (r reserve) Release() bool {
	if !r.ballast.Release() {
		return false
	}
	_ = r.db.Checkpoint() // on a full disk it may well fail
	return true
}

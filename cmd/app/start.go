package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/operational"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/feed"
)

// refuseLost refuses a data folder that lost a database, before any is opened. A database gets its name once it is whole and on disk,
// and the owner's token and the rest are made after both. So what lacks one, and has no trace of anybody who was answered, is new, or
// its first start was cut off. Beside a trace it was lost, and is never made anew by itself: an empty operational.db knows no token, and
// lets everybody in.
func refuseLost(ctx context.Context, data string, createMissing bool, log *slog.Logger) error {
	missing, traces := Missing(ctx, data)
	if len(missing) == 0 || len(traces) == 0 {
		return nil
	}
	if !createMissing {
		return lostDatabase(data, missing, traces)
	}
	log.Warn("missing databases are made anew, as was asked for: what they held is given up", "missing", missing)
	return nil
}

// lostDatabase says what is missing, how that is known, and the two ways out.
func lostDatabase(data string, missing, traces []string) error {
	message := fmt.Sprintf("%s: %s is missing. It was lost, as there is still %s, and it is not made anew by itself. Put it back, or restore a backup (skillrouter restore BACKUP --data %s --force). To give up what it held, start once with skillrouter serve --create-missing",
		data, strings.Join(missing, " and "), strings.Join(traces, ", "), data)
	if slices.Contains(missing, "operational.db") {
		message += "; every token is given up too, and until one is issued no caller on this machine needs any"
	}
	return &errs.Error{Code: errs.Unavailable, Message: message + ". Nothing was changed."}
}

// Missing names the databases that a data folder lacks, and the traces in it of somebody who was answered; a folder without traces is a new one.
func Missing(ctx context.Context, data string) (missing, traces []string) {
	for _, name := range database.Names() {
		file := name + ".db"
		switch there := fileThere(filepath.Join(data, file)); {
		case there && told(ctx, filepath.Join(data, file)):
			traces = append(traces, file)
		case !there:
			missing = append(missing, file)
			for _, suffix := range []string{"-wal", "-journal"} {
				if info, err := os.Stat(filepath.Join(data, file+suffix)); err == nil && info.Size() > 0 {
					traces = append(traces, file+suffix)
				}
			}
		}
		entries, _ := os.ReadDir(data)
		for _, entry := range entries {
			if copied := entry.Name(); strings.HasPrefix(copied, name+".db.v") && strings.HasSuffix(copied, database.CopySuffix) {
				traces = append(traces, copied)
				break
			}
		}
	}
	for _, name := range []string{locate.OwnerTokenName, highWaterName, lossesName} {
		if fileThere(filepath.Join(data, name)) {
			traces = append(traces, name)
		}
	}
	return missing, traces
}

// told tells whether a database holds an event: then somebody was answered out of it, or it took in procedures that a person put there,
// after both databases were there. One that cannot be read may hold some.
func told(ctx context.Context, path string) bool {
	db, err := database.OpenForReading(path)
	if err != nil {
		return true
	}
	defer db.Close()
	var n int64
	err = number(ctx, db, "SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)", &n)
	return err != nil || n > 0
}

const (
	// highWaterName is the file in the data folder that says how far each log had come.
	highWaterName = "high-water"
	// highWaterWidth is the length of its one line, in bytes: always the same, so that it is
	// replaced by one write in place, which takes no room on a full disk.
	highWaterWidth = 256
	// highWaterSync is how often it is synced at most. A kill loses nothing of it; a power cut
	// what is younger than this, and then less of a damage is known.
	highWaterSync = 5 * time.Second
	// lossesName is the file in the data folder that says which stored writes turned out to be
	// gone. It stays until a person removes it.
	lossesName = "lost-writes.log"
	// maxLosses bounds how much of that file is read, in bytes: some hundred lines.
	maxLosses = 64 << 10
)

// highWater is how far the logs had come when somebody was last told of them.
// It stands in a file beside the databases and not in the other database: it
// costs no sync there, it is at most a gathering of the feed behind, and a
// backup, whose databases are copied one after the other, never looks torn by it.
type highWater struct {
	Learning    int64 `json:"learning"`    // seq of learning.db's newest event
	Operational int64 `json:"operational"` // seq of operational.db's newest event
	Messages    int64 `json:"messages"`    // seq of the newest message
	Tokens      bool  `json:"tokens"`      // a token was issued, so that every call needs one
}

// readHighWater returns the zero value where there is none, or none that can be read.
func readHighWater(data string) (h highWater) {
	text, err := file.ReadHead(filepath.Join(data, highWaterName), highWaterWidth)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return highWater{}
	}
	return h
}

// keepHighWater writes how far the logs have come, after each gathering of the
// feed, until ctx ends.
func keepHighWater(ctx context.Context, data string, feed *feed.Feed, tokens *operational.Tokens, log *slog.Logger) error {
	const unseen = "how far the logs have come cannot be noted: a damage after a crash may go unseen"
	file, err := os.OpenFile(filepath.Join(data, highWaterName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		log.Warn(unseen, "error", err) // a full disk stops no reading
		<-ctx.Done()
		return nil
	}
	defer file.Close()
	written := highWater{Learning: -1} // none: what a former start noted is replaced
	var synced time.Time
	failed := false
	feed.FeedBell().Follow(ctx, 0, time.Second, func() error {
		ends := feed.Ends()
		now := highWater{Learning: ends[operational.FeedLearning], Operational: ends[operational.FeedOperational], Messages: ends[operational.FeedMessages]}
		if now.Tokens, err = tokens.Issued(ctx); err == nil && now != written {
			text, _ := json.Marshal(now) // numbers cannot fail
			if _, err = file.WriteAt(fmt.Appendf(nil, "%-*s\n", highWaterWidth-1, text), 0); err == nil {
				written = now
				if at := time.Now(); at.Sub(synced) >= highWaterSync {
					err, synced = file.Sync(), at
				}
			}
		}
		failed = failed && err != nil
		return err
	}, func(err error) {
		if !failed {
			log.Warn(unseen, "error", err)
		}
		failed = true
	})
	return nil
}

// reached is how far the open databases are.
func reached(ctx context.Context, learning, operational querier) (h highWater, err error) {
	one := func(db querier, query string, into *int64) {
		if err == nil {
			err = number(ctx, db, query, into)
		}
	}
	var issued int64
	one(learning, "SELECT coalesce(max(seq), 0) FROM events", &h.Learning)
	one(operational, "SELECT coalesce(max(seq), 0) FROM events", &h.Operational)
	one(operational, "SELECT coalesce({last messages}, 0)", &h.Messages)
	one(operational, "SELECT count(*) FROM (SELECT 1 FROM tokens LIMIT 1) AS one", &issued)
	h.Tokens = issued > 0
	return h, err
}

// toldOfLearning is how far operational.db knows learning.db to have come: its
// feed has numbered its events, and its followers have handled them.
func toldOfLearning(ctx context.Context, operational querier) (seq int64, err error) {
	err = number(ctx, operational, `SELECT {greatest}(
		coalesce((SELECT start + count - 1 FROM feed_runs WHERE source = 'learning' ORDER BY first DESC LIMIT 1), 0),
		coalesce((SELECT max(seq) FROM cursors WHERE name LIKE '%.learning'), 0))`, &seq)
	return seq, err
}

// behind says what the databases lack of what had been stored, one line for each log.
func (h highWater) behind(now highWater) (lost []string) {
	for _, log := range []struct {
		file, what string
		was, is    int64
	}{
		{"learning.db", "event", h.Learning, now.Learning},
		{"operational.db", "event", h.Operational, now.Operational},
		{"operational.db", "message", h.Messages, now.Messages},
	} {
		if log.is < log.was {
			lost = append(lost, fmt.Sprintf("%s ends at %s %d, and %s %d had been stored: the %d after it are gone", log.file, log.what, log.is, log.what, log.was, log.was-log.is))
		}
	}
	return lost
}

// noteLosses looks whether the databases that were opened hold what had been
// stored, and says loudly what they don't: in the log, and in a file that
// health and doctor read until a person removes it. Where even the knowledge
// that calls need a token is gone, it refuses the start.
func (a *App) noteLosses(ctx context.Context) error {
	learning, operations := a.learning.Read.ConnPool, a.operational.Read.ConnPool
	now, err := reached(ctx, learning, operations)
	if err != nil {
		return err
	}
	was := readHighWater(a.config.Data)
	toldOf, err := toldOfLearning(ctx, operations)
	if err != nil {
		return err
	}
	was.Learning = max(was.Learning, toldOf)
	var lost []string
	if !a.options.CreateMissing { // whoever asked for that has given it up
		lost = was.behind(now)
	}
	if toldOf > now.Learning {
		// What comes next has the numbers of what is gone: followers would take it for what they have handled.
		if err := operationalstore.New(a.operational.Read, a.operational.Commit).TakeBack(ctx, "learning", now.Learning); err != nil {
			return err
		}
	}
	for _, db := range []*database.DB{a.learning, a.operational} {
		switch torn := db.Torn; {
		case torn.Sure:
			lost = append(lost, fmt.Sprintf("%s.db-wal was damaged: %s", db.Name, torn))
		case torn.Frame != 0:
			a.log.Warn("the last transaction of a write-ahead log was not whole, and is not there: if the power failed, nobody had been told that it was stored; else it is damaged",
				"database", db.Name, "frame", torn.Frame, "frames", torn.Behind+1)
		}
	}
	for _, line := range lost {
		a.log.Error("writes that had been stored are gone: restore a backup, or see what is missing and remove "+filepath.Join(a.config.Data, lossesName), "what", line)
	}
	if err := recordLosses(a.config.Data, a.now(), lost); err != nil {
		a.log.Error("what is gone cannot be kept for health and doctor to tell", "error", err)
	}
	if was.Tokens && !now.Tokens && !a.options.CreateMissing {
		return errs.Errorf(errs.Unavailable,
			"%s: tokens had been issued, and operational.db knows of none: it is an older one, or lost its write-ahead log. Starting with it would let everybody on this machine in. Restore a backup, or start once with skillrouter serve --create-missing to go on without tokens",
			a.config.Data)
	}
	return nil
}

// recordLosses adds lines to the file of losses. One that is there already is
// not added again: a start that is refused is tried again and again.
func recordLosses(data string, now time.Time, lost []string) error {
	known, err := Losses(data)
	if err != nil {
		return err
	}
	lost = slices.DeleteFunc(lost, func(line string) bool {
		return slices.ContainsFunc(known, func(old string) bool { return strings.HasSuffix(old, " "+line) })
	})
	if len(lost) == 0 {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(data, lossesName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, line := range lost {
		fmt.Fprintf(&text, "%s %s\n", now.UTC().Format(time.RFC3339), line)
	}
	_, err = file.Write(text.Bytes())
	return errors.Join(err, file.Sync(), file.Close())
}

// Losses are the lines of a data folder's file of losses, the oldest first.
func Losses(data string) (lines []string, err error) {
	text, err := file.ReadHead(filepath.Join(data, lossesName), maxLosses)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, err
}

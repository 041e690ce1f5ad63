package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/cmd/locate"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
)

// A first start makes firstStartName before anything else and removes it last,
// before it answers anybody. So whatever half-made state a kill or a power cut
// leaves with the marker beside it, nobody was told of, and the next start goes
// on. Without the marker a database that is missing beside traces of one was
// lost, and is never made anew by itself: an empty operational.db knows no
// token, and lets everybody in.
const (
	firstStartName = "first-start"
	// unfinishedSuffix names what a first start left that no database can be read from.
	unfinishedSuffix = ".unfinished"
)

// firstStart is the start of a data folder.
type firstStart struct {
	data   string
	marked bool
}

// beginStart looks at what a held data folder has before its databases are
// opened, marks a first start, and refuses a folder that lost a database.
func beginStart(ctx context.Context, data string, createMissing bool, log *slog.Logger) (firstStart, error) {
	start := firstStart{data: data}
	if _, err := os.Lstat(filepath.Join(data, firstStartName)); err == nil {
		start.marked = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		return start, err
	}
	if start.marked && told(ctx, data) {
		// Its removal did not outlive a power cut: the start that it marks had ended.
		if err := start.end(); err != nil {
			return start, err
		}
	}
	if start.marked {
		log.Info("a first start that was cut off goes on", "data", data)
		return start, setUnfinishedAside(ctx, data, log)
	}
	missing, traces := Missing(data)
	switch {
	case len(missing) == 0:
		return start, nil
	case len(traces) == 0:
		start.marked = true
		return start, errors.Join(database.WriteSynced(filepath.Join(data, firstStartName), []byte("The first start of this folder has not ended.\n")), database.SyncFolder(data))
	case createMissing:
		log.Warn("missing databases are made anew, as was asked for: what they held is given up", "missing", missing)
		return start, nil
	}
	return start, lostDatabase(data, missing, traces)
}

// end removes the marker for good. Nobody may be answered before.
func (s *firstStart) end() error {
	if !s.marked {
		return nil
	}
	s.marked = false
	return unmark(s.data)
}

// unmark ends a first start: what was made must be on disk.
func unmark(data string) error {
	if err := os.Remove(filepath.Join(data, firstStartName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return database.SyncFolder(data)
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

// Missing names the databases that a data folder lacks, and the traces in it of
// there having been one; a folder without traces is a new one.
func Missing(data string) (missing, traces []string) {
	for _, name := range database.Names() {
		if file := name + ".db"; fileThere(filepath.Join(data, file)) {
			traces = append(traces, file)
		} else {
			missing = append(missing, file)
		}
		for _, suffix := range []string{"-wal", "-journal"} {
			if info, err := os.Stat(filepath.Join(data, name+".db"+suffix)); err == nil && info.Size() > 0 {
				traces = append(traces, name+".db"+suffix)
			}
		}
		if copies, _ := filepath.Glob(filepath.Join(globEscape(data), name+".db.v*"+database.CopySuffix)); len(copies) > 0 {
			traces = append(traces, filepath.Base(copies[0]))
		}
	}
	for _, name := range []string{locate.OwnerTokenName, indexesFolder, highWaterName, lossesName} {
		if fileThere(filepath.Join(data, name)) {
			traces = append(traces, name)
		}
	}
	if len(missing) > 0 && fileThere(filepath.Join(data, firstStartName)) {
		return missing, nil // what is there is what a first start has made so far
	}
	return missing, traces
}

// globEscape makes a path match itself alone.
func globEscape(path string) string {
	if os.PathSeparator == '\\' {
		return path // Windows has no escape in patterns, and no such characters in most names
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// told tells whether a database of the folder holds an event or a token: then
// somebody was answered out of it, or a person put procedures there that it
// took in, which it did after both databases were there.
func told(ctx context.Context, data string) bool {
	for _, name := range database.Names() {
		path := filepath.Join(data, name+".db")
		if !fileThere(path) || database.RollBack(ctx, path) != nil {
			continue
		}
		db, err := database.OpenForReading(path)
		if err != nil {
			continue
		}
		var n int64
		err = db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)").Scan(&n)
		if db.Close(); err == nil && n > 0 {
			return true
		}
	}
	return false
}

// setUnfinishedAside moves away, in a folder whose first start was cut off, what
// cannot be opened. Nobody was told of anything in it; it is kept all the same,
// one of each name, and an empty file goes.
func setUnfinishedAside(ctx context.Context, data string, log *slog.Logger) error {
	for _, name := range database.Names() {
		path := filepath.Join(data, name+".db")
		_, err := os.Lstat(path)
		if err == nil {
			if err = database.RollBack(ctx, path); err == nil {
				err = database.Inspect(ctx, name, path)
			}
			if err == nil {
				continue
			}
			log.Warn("a database of an unfinished first start cannot be used, and is made anew", "database", name, "error", err)
		}
		for _, suffix := range []string{"-shm", "-wal", "-journal", ""} {
			from := path + suffix
			info, err := os.Lstat(from)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err == nil && (info.Size() == 0 || suffix == "-shm"):
				err = os.Remove(from)
			case err == nil:
				err = os.Rename(from, from+unfinishedSuffix)
			}
			if err != nil {
				return err
			}
		}
	}
	return database.SyncFolder(data)
}

// Command memory measures the learning memory: bulk import over HTTP, start
// with a full database, resident memory and search in the process. It starts
// the sidecar as a process of its own (this program again, with "serve"), so
// that its memory is its own, and talks to 127.0.0.1 only. It prints a table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

func main() { sidecar.Main(measure, sidecar.Serve) }

func measure(ctx context.Context) error {
	entries := flag.Int("entries", 100_000, "how many entries")
	words := flag.Int("words", 60, "words of an entry's content")
	searches := flag.Int("searches", 2000, "how many searches")
	named := flag.Bool("ids", true, "give each entry an id of its own; without, entries are compared by what they say")
	flag.Parse()
	dir, err := os.MkdirTemp("", "skillrouter-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	texts := newTexts(42, *words, *named)
	body := texts.lines(*entries)
	sidecar.Report("entries", "%d of %d words, %.1f MB of JSON, ids %v", *entries, *words, float64(len(body))/1e6, *named)

	side, err := sidecar.Start(ctx, dir)
	if err != nil {
		return err
	}
	defer side.Stop()
	sidecar.Report("empty: start to first answer", "%v", side.Took.Round(time.Millisecond))
	sidecar.Report("empty: resident, idle", "%.1f MB", side.Resident())
	for i, part := range []string{"first", "again, the same"} {
		began, used := time.Now(), side.CPU()
		answer, err := side.Bulk(ctx, body)
		if err != nil {
			return err
		}
		took := time.Since(began)
		sidecar.Report("import, "+part, "%.0f entries/s in %v (stored %v, duplicates %v, refused %v), %v of processor an entry",
			float64(*entries)/took.Seconds(), took.Round(time.Millisecond), answer.Stored, answer.Duplicates, answer.RefusedCount,
			((side.CPU() - used) / time.Duration(*entries)).Round(time.Microsecond/10))
		if i == 0 {
			sidecar.Report("resident, after the import", "%.1f MB, at its peak %.1f MB", side.Resident(), side.Peak())
		}
	}
	if err := timed("search over HTTP", *searches, texts, func(query string) error { return search(ctx, side, query) }); err != nil {
		return err
	}
	side.Stop()

	if side, err = sidecar.Start(ctx, dir); err != nil {
		return err
	}
	defer side.Stop()
	began := time.Now()
	if err := search(ctx, side, texts.Query()); err != nil {
		return err
	}
	sidecar.Report("full: start to first search answered", "%v, %v of processor", (side.Took + time.Since(began)).Round(time.Millisecond), side.CPU())
	sidecar.Report("full: resident, at once", "%.1f MB", side.Resident())
	time.Sleep(5 * time.Second) // idle
	sidecar.Report("full: resident, idle", "%.1f MB", side.Resident())
	side.Stop()
	return inProcess(ctx, dir, texts, *searches)
}

// inProcess measures the services without a transport.
func inProcess(ctx context.Context, dir string, texts *texts, searches int) (err error) {
	db, err := database.Open(ctx, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- db.Commit.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done, db.Close())
	}()
	base := knowledge.NewBase(store.New(db.Read, db.Commit), learning.Options{})
	began := time.Now()
	if err := base.Rebuild(ctx); err != nil {
		return err
	}
	sidecar.Report("index rebuilt from the database", "%v", time.Since(began).Round(time.Millisecond))
	ctx = principal.With(ctx, principal.Open())
	if err := timed("search in the process, rows included", searches, texts, func(query string) error {
		_, err := base.Search(ctx, knowledge.Query{Query: query})
		return err
	}); err != nil {
		return err
	}
	check, err := base.Check(ctx)
	if err != nil || !check.OK() {
		return errors.Join(err, fmt.Errorf("index and database differ: %+v", check))
	}
	size, err := os.Stat(filepath.Join(dir, "learning.db"))
	if err == nil {
		sidecar.Report("learning.db", "%.1f MB", float64(size.Size())/1e6)
	}
	return err
}

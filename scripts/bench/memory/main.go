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
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/learning"
	"skillrouter/learning/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		err = serve(ctx, os.Args[2], os.Args[3])
	} else {
		err = measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// serve is the sidecar: dir is its data folder, address where it listens.
func serve(ctx context.Context, dir, address string) error {
	cfg := config.Default()
	cfg.Data, cfg.Listen = dir, address
	a, err := app.New(ctx, cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

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
	report("entries", "%d of %d words, %.1f MB of JSON, ids %v", *entries, *words, float64(len(body))/1e6, *named)

	side, err := start(ctx, dir)
	if err != nil {
		return err
	}
	defer side.stop()
	report("empty: start to first answer", "%v", side.took.Round(time.Millisecond))
	report("empty: resident, idle", "%.1f MB", side.resident())
	for i, part := range []string{"first", "again, the same"} {
		began, used := time.Now(), side.cpu()
		answer, err := side.bulk(ctx, body)
		if err != nil {
			return err
		}
		took := time.Since(began)
		report("import, "+part, "%.0f entries/s in %v (stored %v, duplicates %v, refused %v), %v of processor an entry",
			float64(*entries)/took.Seconds(), took.Round(time.Millisecond), answer.Stored, answer.Duplicates, answer.RefusedCount,
			((side.cpu() - used) / time.Duration(*entries)).Round(time.Microsecond/10))
		if i == 0 {
			report("resident, after the import", "%.1f MB, at its peak %.1f MB", side.resident(), side.peak())
		}
	}
	if err := side.overHTTP(ctx, texts, *searches); err != nil {
		return err
	}
	side.stop()

	if side, err = start(ctx, dir); err != nil {
		return err
	}
	defer side.stop()
	began := time.Now()
	if err := side.search(ctx, texts.query()); err != nil {
		return err
	}
	report("full: start to first search answered", "%v, %v of processor", (side.took + time.Since(began)).Round(time.Millisecond), side.cpu())
	report("full: resident, at once", "%.1f MB", side.resident())
	time.Sleep(5 * time.Second) // idle
	report("full: resident, idle", "%.1f MB", side.resident())
	side.stop()
	return inProcess(ctx, dir, texts, *searches)
}

// inProcess measures the services without a transport.
func inProcess(ctx context.Context, dir string, texts *texts, searches int) (err error) {
	db, err := app.OpenDatabase(ctx, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
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
	base := learning.NewKnowledgeBase(store.New(db.Read, db.Commit), learning.Options{})
	began := time.Now()
	if err := base.Rebuild(ctx); err != nil {
		return err
	}
	report("index rebuilt from the database", "%v", time.Since(began).Round(time.Millisecond))
	ctx = skillrouter.WithPrincipal(ctx, skillrouter.Open())
	took := make([]time.Duration, 0, searches)
	for range searches {
		query := texts.query()
		began := time.Now()
		if _, err := base.Search(ctx, learning.KnowledgeQuery{Query: query}); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	report("search in the process, rows included", "%s", percentiles(took))
	check, err := base.Check(ctx)
	if err != nil || !check.OK() {
		return errors.Join(err, fmt.Errorf("index and database differ: %+v", check))
	}
	size, err := os.Stat(filepath.Join(dir, "learning.db"))
	if err == nil {
		report("learning.db", "%.1f MB", float64(size.Size())/1e6)
	}
	return err
}

func percentiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(p float64) time.Duration {
		return took[min(len(took)-1, int(p*float64(len(took))))].Round(time.Microsecond)
	}
	return fmt.Sprintf("p50 %v, p99 %v, worst %v", at(.5), at(.99), took[len(took)-1].Round(time.Microsecond))
}

func report(what, format string, args ...any) {
	fmt.Printf("%-38s %s\n", strings.TrimSpace(what), fmt.Sprintf(format, args...))
}

// Command scale fills a router over HTTP's bulk door up to a million entries
// and searches all the while: how much is stored a second as it grows, what a
// search costs before, beside and after the import, and what memory it takes.
// It runs the built program (or this one again, to be profiled) as a process
// of its own, talks to 127.0.0.1 only, and prints a table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"skillrouter/scripts/bench/sidecar"
)

// settling is how long the router may rest until its memory is read: longer
// than it takes to merge what the import left, and to give memory back.
const settling = 15 * time.Second

func main() { sidecar.Main(measure, sidecar.Serve) }

func measure(ctx context.Context) (err error) {
	entries := flag.Int("entries", 1_000_000, "how many entries")
	step := flag.Int("step", 100_000, "how many entries a bulk call sends, and a line of the table stands for")
	binary := flag.String("binary", "", "the built skillrouter; empty: this program itself")
	profile := flag.String("profile", "", "write the router's processor profile to this file; not with -binary")
	temp := flag.String("dir", "/var/tmp", "where the data folder is made and removed: a disk, for what is durable to be durable")
	every := flag.Duration("pause", 20*time.Millisecond, "how long a searcher rests between two searches")
	flag.Parse()
	dir, err := os.MkdirTemp(*temp, "scale-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var side *sidecar.Sidecar
	if *binary != "" {
		side, err = sidecar.StartBinary(ctx, *binary, dir)
	} else {
		if err := os.Setenv(sidecar.Profiled, *profile); err != nil {
			return err
		}
		side, err = sidecar.Start(ctx, dir)
	}
	if err != nil {
		return err
	}
	defer side.Stop()
	return side.Profile(func() error { return fill(ctx, side, *entries, *step, *every) })
}

// fill stores entries, a step at a time, searches beside it and after it, and prints the table.
func fill(ctx context.Context, side *sidecar.Sidecar, entries, step int, every time.Duration) error {
	fmt.Println("| entries | stored a second | processor an entry | search beside it, p50 / p99 ms | worst | resident MB | peak MB |\n|---|---|---|---|---|---|---|")
	words := sidecar.NewWords(42)
	for done := 0; done < entries; done += step {
		body := lines(words, done, min(step, entries-done))
		beside := searchBeside(ctx, side, every)
		began, used := time.Now(), side.CPU()
		if err := bulk(ctx, side, body, min(step, entries-done)); err != nil {
			return err
		}
		took := time.Since(began)
		searched, err := beside()
		if err != nil {
			return err
		}
		n := min(step, entries-done)
		fmt.Printf("| %d | %.0f | %.0f µs | %s | %.0f | %.0f |\n", done+n, float64(n)/took.Seconds(),
			float64((side.CPU()-used).Microseconds())/float64(n), searched, side.Resident(), side.Peak())
	}
	time.Sleep(settling)
	fmt.Printf("\nafter %v: %.0f MB resident, %.0f MB at its peak\n", settling, side.Resident(), side.Peak())
	beside := searchBeside(ctx, side, every)
	time.Sleep(settling)
	searched, err := beside()
	if err != nil {
		return err
	}
	fmt.Printf("search while nothing is imported: %s ms\n", strings.ReplaceAll(searched.String(), " | ", ", worst "))
	return nil
}

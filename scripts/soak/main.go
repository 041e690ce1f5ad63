// Command soak runs the built router as a process and breaks it from outside:
// it is killed under load, its power is cut, its disk fails, its files are
// damaged, thousands of streams hang on it. What it acknowledged is kept in a
// model, and each start afterwards is compared with that. Each harness has a
// negative control: a fault that it must catch.
//
//	go run ./scripts/soak -time 10m -only kill,power
//
// See docs/contributing.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	lasts := flag.Duration("time", 10*time.Minute, "how long all harnesses run together; each runs one round at least")
	only := flag.String("only", "", "which harnesses, separated by commas: "+strings.Join(names(), ", ")+" (default: all)")
	binary := flag.String("binary", "", "the router to run (default: build it)")
	sources := flag.String("sources", "scripts/soak", "where this program's sources are: powerdisk is built from there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sound, err := run(ctx, *lasts, *only, *binary, *sources)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || !sound {
		stop()
		os.Exit(1)
	}
}

// run gives each harness its share of the time, and says whether all was well.
func run(ctx context.Context, lasts time.Duration, only, binary, sources string) (sound bool, err error) {
	chosen, err := choose(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(ctx, dir, binary, sources)
	if err != nil {
		return false, err
	}
	sound = true
	for i, h := range chosen {
		share := lasts / time.Duration(len(chosen)-i)
		began := time.Now()
		out := newResult()
		for err = h.round(ctx, b, long, out); err == nil && time.Since(began) < share && !out.faulty(); {
			err = h.round(ctx, b, long, out)
		}
		if lasts -= time.Since(began); errors.Is(err, errSkipped) {
			fmt.Printf("%s: %v\n", h.name, err)
			continue
		}
		fmt.Printf("%s: %s, %v\n%v", h.name, h.what, time.Since(began).Round(time.Second), out)
		if err != nil {
			return false, fmt.Errorf("%s: %w", h.name, err)
		}
		sound = sound && !out.faulty()
		for _, c := range h.controls {
			caught, err := c.caught(ctx, b)
			if err != nil {
				return false, fmt.Errorf("%s, control %q: %w", h.name, c.name, err)
			}
			fmt.Printf("  control: %-31s %s\n", c.name, map[bool]string{true: "caught", false: "NOT CAUGHT"}[caught])
			sound = sound && caught
		}
	}
	return sound, nil
}

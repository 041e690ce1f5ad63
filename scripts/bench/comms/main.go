// Command comms measures heartbeats, signals, broadcasts, replays, what a
// subscriber that never reads does to the others, and the feed of events, against floors that it runs
// itself, in turns, in the same process: a gin handler that only binds the
// JSON, and hubs that keep everything in memory. What it prints is a
// ratio, so that the machine and its load matter little.
//
//	go run ./scripts/bench/comms [-rounds 5] [-only heartbeat,signal,…] [-cpuprofile FILE]
//
// SKILLROUTER_DATABASE=postgres://…/team?sslmode=disable measures a router on PostgreSQL, and leaves its schemas there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// The shape of the load, as the targets name it.
const (
	senders     = 64
	subscribers = 1000
	replayed    = 6000
	pace        = 200 // signals a second
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds; the median counts")
	only := flag.String("only", "heartbeat,signal,pace,broadcast,replay,slow,feed", "what to measure")
	profile := flag.String("cpuprofile", "", "write a CPU profile here")
	flag.Parse()
	if err := run(*rounds, strings.Split(*only, ","), *profile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(rounds int, only []string, profile string) error {
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%-34s %12s %12s %8s %8s\n", "", "router", "floor", "ratio", "target")
	for _, m := range []struct {
		name    string
		measure func(rounds int) error
	}{
		{"heartbeat", heartbeats}, {"signal", signals}, {"pace", paced}, {"broadcast", broadcasts}, {"replay", replay}, {"slow", slowReader}, {"feed", feeds},
	} {
		if slices.Contains(only, m.name) {
			if err := m.measure(rounds); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// side is the real router on a fresh data folder.
type side struct {
	address string
	dir     string
	stop    func() error
}

func start(dir string) (*side, error) {
	var err error
	if dir == "" {
		if dir, err = os.MkdirTemp("", "skillrouter-bench-"); err != nil {
			return nil, err
		}
	}
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", dir
	if server := os.Getenv("SKILLROUTER_DATABASE"); server != "" { // it ends in its parameters; each folder has schemas of its own there
		cfg.Database = server + "&schema_prefix=" + strings.ReplaceAll(filepath.Base(dir), "-", "_") + "_"
	}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := app.New(ctx, cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		cancel()
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return &side{
		address: strings.TrimPrefix(a.URL(), "http://"), dir: dir,
		stop: func() error { cancel(); return <-done },
	}, nil
}

// end stops the sidecar and removes its data.
func (s *side) end() error { return errors.Join(s.stop(), os.RemoveAll(s.dir)) }

// floor serves a handler as the sidecar is served.
func floor(handler http.Handler) (*side, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	return &side{address: listener.Addr().String(), stop: server.Close}, nil
}

// versus measures both sides in turns and returns their medians and the median ratio.
func versus(rounds int, ours, theirs func() (float64, error)) (us, them, ratio float64, err error) {
	var a, b, r []float64
	for range rounds {
		y, err := theirs()
		if err != nil {
			return 0, 0, 0, err
		}
		x, err := ours()
		if err != nil {
			return 0, 0, 0, err
		}
		a, b, r = append(a, x), append(b, y), append(r, x/y)
	}
	return sidecar.Quantile(a, 0.5), sidecar.Quantile(b, 0.5), sidecar.Quantile(r, 0.5), nil
}

func milliseconds(list []time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, d := range list {
		out[i] = float64(d) / float64(time.Millisecond)
	}
	return out
}

func line(name string, ours, theirs, ratio float64, target string) {
	fmt.Printf("%-34s %12.0f %12.0f %8.2f %8s\n", name, ours, theirs, ratio, target)
}

func figure(name string, value float64, unit, target string) {
	fmt.Printf("%-34s %12.2f %-12s %8s %8s\n", name, value, unit, "", target)
}

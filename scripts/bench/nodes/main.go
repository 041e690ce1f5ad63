// Command nodes measures what nodes add to a cluster on one PostgreSQL server: searches and checks a second of one node and of several, each held to a part of
// a processor, over the same memory in turns; the lag of a node behind the one that writes; and streams spread over all.
//
//	make build && scripts/postgres.sh go run ./scripts/bench/nodes [-nodes 3] [-quota 0.5] [-seconds 15] [-rounds 3] [-entries 20000] [-streams 10000]
//
// With -events 5000 it measures instead how late nodes are while the logs grow by so many events a second, with a bell if -nats-server names
// the program, and after that was killed: -quota 0 -events 5000 -nats-server "$(cd scripts/nats && go tool -n github.com/nats-io/nats-server/v2)"
//
// With -cold it measures instead how soon a node answers searches that is started while there are -entries: on an empty folder, and again on that folder.
//
// It needs Linux and the right to make control groups (cgroups, version 1 or 2), unless -quota is 0. Streams need `ulimit -n` to be above twice their number.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter/scripts/bench/sidecar"
)

const (
	// callers ask each node at the same time, enough to keep it busy.
	callers = 4
	// startWithin bounds a node's start.
	startWithin = 30 * time.Second
	period      = 100_000 // of the quota, in microseconds
)

var (
	nodes   = flag.Int("nodes", 3, "how many nodes are compared with one")
	quota   = flag.Float64("quota", 0.5, "processors that each node may use; 0: as many as there are")
	seconds = flag.Int("seconds", 15, "of each measurement")
	rounds  = flag.Int("rounds", 3, "turns")
	entries = flag.Int("entries", 20_000, "knowledge entries")
	streams = flag.Int("streams", 0, "streams over all nodes")
	program = flag.String("program", "bin/skillrouter", "the router")

	eventRate  = flag.Int("events", 0, "a second, while it is measured how late nodes are, and nothing else")
	cold       = flag.Bool("cold", false, "measure starts, and nothing else")
	natsServer = flag.String("nats-server", "", "the program that rings for -events; without it nobody does")
)

func main() { sidecar.Main(run, sidecar.Serve) }

// node is a running router.
type node struct {
	*sidecar.Sidecar
	folder, group string
}

type team struct {
	dir, token string
	nodes      []*node
	nats       *exec.Cmd // nil: none runs
	bell       string    // its address
}

func run(ctx context.Context) (err error) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "skillrouter-nodes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &team{dir: dir}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(strings.Repeat("s3cret-", 8)), 0o600); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	if *natsServer != "" {
		if err := t.startNATS(*natsServer); err != nil {
			return err
		}
		defer t.endNATS()
	}
	first := *nodes
	if *cold {
		first = 1
	}
	for i := range first {
		if err := t.start(ctx, i); err != nil {
			return err
		}
	}
	if err := t.fill(ctx); err != nil {
		return err
	}
	switch {
	case *cold:
		return t.starts(ctx)
	case *eventRate > 0:
		return t.late(ctx)
	}
	fmt.Printf("%d entries; each node may use %.2f processors; the load, PostgreSQL and %d nodes share this machine\n\n", *entries, *quota, *nodes)
	fmt.Printf("%-28s %10s %10s %8s %10s %10s\n", "", "one node", "all nodes", "ratio", "p99, one", "p99, all")
	for _, what := range []struct {
		name string
		ask  func(ctx context.Context, n *node) error
	}{{"searches a second", t.search}, {"checks a second", t.check}} {
		var one, all, ratios []float64
		var slowOne, slowAll time.Duration
		for range *rounds {
			a, slow, err := t.ask(ctx, t.nodes[:1], what.ask) // the one that writes, as a cluster of one
			if err != nil {
				return err
			}
			slowOne = max(slowOne, slow)
			b, slow, err := t.ask(ctx, t.nodes, what.ask)
			if err != nil {
				return err
			}
			slowAll = max(slowAll, slow)
			one, all, ratios = append(one, a), append(all, b), append(ratios, b/a)
		}
		fmt.Printf("%-28s %10.0f %10.0f %8.2f %10v %10v\n", what.name, sidecar.Quantile(one, .5), sidecar.Quantile(all, .5), sidecar.Quantile(ratios, .5), slowOne.Round(100*time.Microsecond), slowAll.Round(100*time.Microsecond))
	}
	if err := t.lag(ctx); err != nil {
		return err
	}
	return t.listen(ctx)
}

func (t *team) start(ctx context.Context, i int) error {
	n, err := t.begin(ctx, i)
	if err != nil {
		return err
	}
	t.nodes = append(t.nodes, n)
	for deadline := time.Now().Add(startWithin); ; time.Sleep(50 * time.Millisecond) {
		if token, err := os.ReadFile(filepath.Join(n.folder, "owner.token")); err == nil {
			t.token = strings.TrimSpace(string(token))
			n.Token = t.token
		}
		text, err := n.get(ctx, "/metrics")
		if err == nil && (bytes.Contains(text, []byte("\nskillrouter_node_writes 1\n")) || bytes.Contains(text, []byte("\nskillrouter_node_behind_seconds "))) {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("n%d did not start: see %s.log: %w", i, n.folder, err)
		}
	}
}

// begin starts the process of a node, in the folder that it had before, if it had one.
func (t *team) begin(ctx context.Context, i int) (*node, error) {
	n := &node{folder: filepath.Join(t.dir, fmt.Sprint("n", i))}
	log, err := os.Create(n.folder + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if n.Sidecar, err = sidecar.Begin(ctx, *program, log, func(address string) []string {
		return []string{
			"serve", "--node", fmt.Sprint("n", i), "--listen", address, "--data", n.folder, "--cluster-secret-file", filepath.Join(t.dir, "secret"),
			"--database", os.Getenv("SKILLROUTER_TEST_POSTGRES"), "--nats", t.bell,
		}
	}); err != nil {
		return nil, err
	}
	n.Token = t.token
	return n, n.hold(i)
}

// hold puts the node into a control group of its own.
func (n *node) hold(i int) error {
	if *quota == 0 {
		return nil
	}
	name := fmt.Sprintf("skillrouter-nodes-%d-%d", os.Getpid(), i)
	put := func(file, text string) error {
		return os.WriteFile(filepath.Join(n.group, file), []byte(text), 0o600)
	}
	most := int(*quota * period)
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		n.group = filepath.Join("/sys/fs/cgroup", name)
		return errors.Join(os.Mkdir(n.group, 0o755), put("cpu.max", fmt.Sprintf("%d %d", most, period)), put("cgroup.procs", fmt.Sprint(n.PID())))
	}
	n.group = filepath.Join("/sys/fs/cgroup/cpu", name)
	return errors.Join(os.Mkdir(n.group, 0o755), put("cpu.cfs_period_us", fmt.Sprint(period)), put("cpu.cfs_quota_us", fmt.Sprint(most)), put("cgroup.procs", fmt.Sprint(n.PID())))
}

func (t *team) stop() error {
	var errs []error
	for _, n := range t.nodes {
		n.Kill()
		if n.group != "" {
			errs = append(errs, os.Remove(n.group))
		}
	}
	return errors.Join(errs...)
}

func (n *node) get(ctx context.Context, path string) ([]byte, error) {
	return n.Call(ctx, http.MethodGet, path, nil)
}

// post sends JSON by a format.
func (n *node) post(ctx context.Context, path, format string, args ...any) ([]byte, error) {
	return n.Call(ctx, http.MethodPost, path, fmt.Appendf(nil, format, args...))
}

// words are as rare as words are: each the more so the longer it is.
func words(n int) string {
	var text strings.Builder
	for range n {
		k := int(3000 * rand.Float64() * rand.Float64() * rand.Float64())
		fmt.Fprintf(&text, "word%d ", k)
	}
	return text.String()
}

func (t *team) fill(ctx context.Context) error {
	const batch = 1000
	for from := 0; from < *entries; from += batch {
		lines := sidecar.Lines(batch, func(i int) any {
			return map[string]string{"category": "notes", "title": fmt.Sprintf("%s%d", words(4), from+i), "content": words(60)}
		})
		if _, err := t.nodes[0].Bulk(ctx, lines); err != nil {
			return err
		}
	}
	return nil
}

func (t *team) search(ctx context.Context, n *node) error {
	_, err := n.get(ctx, "/api/search?q="+url.QueryEscape(words(3)))
	return err
}

func (t *team) check(ctx context.Context, n *node) error {
	_, err := n.post(ctx, "/check/anti-pattern", `{"agent":"bench","proposed_action":"git log --oneline -n 5 --grep %s"}`, strings.TrimSpace(words(1)))
	return err
}

// ask has callers ask nodes for some seconds, and returns how many answers a second there were, and the 99th percentile of their times.
func (t *team) ask(ctx context.Context, of []*node, ask func(ctx context.Context, n *node) error) (rate float64, slow time.Duration, err error) {
	var mu sync.Mutex
	var times []time.Duration
	var group errgroup.Group
	begun := time.Now()
	for _, n := range of {
		for range callers {
			group.Go(func() error {
				for time.Since(begun) < time.Duration(*seconds)*time.Second {
					from := time.Now()
					if err := ask(ctx, n); err != nil {
						return err
					}
					mu.Lock()
					times = append(times, time.Since(from))
					mu.Unlock()
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	took := time.Since(begun)
	return float64(len(times)) / took.Seconds(), sidecar.Quantile(times, .99), nil
}

// lag measures from the answer to a write at one node until another finds it, while others write.
func (t *team) lag(ctx context.Context) error {
	going, stop := context.WithCancel(ctx)
	var writing errgroup.Group
	var written atomic.Int64
	for range callers {
		writing.Go(func() error {
			for k := 0; going.Err() == nil; k++ {
				if _, err := t.nodes[0].post(ctx, "/signal", `{"from_agent_id":"captain","to_agent_id":"sink%d","signal":"note"}`, k%1000); err != nil {
					return err
				}
				written.Add(1)
			}
			return nil
		})
	}
	begun := time.Now()
	var lags []time.Duration
	for k := 0; time.Since(begun) < time.Duration(*seconds)*time.Second; k++ {
		word := fmt.Sprintf("marker%dx%d", k, rand.IntN(1_000_000))
		if _, err := t.nodes[0].post(ctx, "/api/knowledge", `{"category":"notes","title":"%s","content":"It is %s."}`, word, word); err != nil {
			stop()
			return errors.Join(err, writing.Wait())
		}
		from := time.Now()
		for {
			text, err := t.nodes[len(t.nodes)-1].get(ctx, "/api/search?q="+word)
			if err != nil {
				stop()
				return errors.Join(err, writing.Wait())
			}
			if bytes.Contains(text, []byte(`"title":"`+word)) {
				break
			}
		}
		lags = append(lags, time.Since(from))
	}
	stop()
	err := writing.Wait()
	fmt.Printf("\na write is found at another node after %v (median), %v (p99 of %d), the question included, beside %.0f signals a second\n",
		sidecar.Quantile(lags, .5).Round(100*time.Microsecond), sidecar.Quantile(lags, .99).Round(100*time.Microsecond), len(lags), float64(written.Load())/time.Since(begun).Seconds())
	return err
}

// listen opens streams at all nodes, and sends one message to all of them.
func (t *team) listen(ctx context.Context) error {
	if *streams == 0 {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(64)
	arrived := make(chan time.Duration, *streams)
	var sent atomic.Int64
	begun := time.Now()
	for k := range *streams {
		group.Go(func() error {
			n := t.nodes[k%len(t.nodes)]
			return n.listen(ctx, fmt.Sprint("listener", k), func([]byte) {
				arrived <- time.Duration(time.Now().UnixNano() - sent.Load())
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d streams over %d nodes opened in %v\n", *streams, len(t.nodes), time.Since(begun).Round(time.Second))
	for _, n := range t.nodes {
		fmt.Printf("%s holds %.0f MB\n", filepath.Base(n.folder), n.Resident())
	}
	for round := range *rounds {
		sent.Store(time.Now().UnixNano())
		if _, err := t.nodes[round%len(t.nodes)].post(ctx, "/signal", `{"from_agent_id":"captain","signal":"all"}`); err != nil {
			return err
		}
		var times []time.Duration
		for late := time.After(30 * time.Second); len(times) < *streams; {
			select {
			case took := <-arrived:
				times = append(times, took)
			case <-late:
				return fmt.Errorf("a message to all reached %d of %d", len(times), *streams)
			}
		}
		fmt.Printf("a message to all of %d: median %v, last after %v\n", *streams, sidecar.Quantile(times, .5).Round(time.Millisecond), sidecar.Quantile(times, 1).Round(time.Millisecond))
	}
	return nil
}

// listen has an agent listen to the node.
func (n *node) listen(ctx context.Context, agent string, each func(data []byte)) error {
	if _, err := n.post(ctx, "/heartbeat", `{"agent_id":"%s"}`, agent); err != nil {
		return err
	}
	_, err := n.Follow(ctx, agent, each)
	return err
}

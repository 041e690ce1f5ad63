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
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
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

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// node is a running router.
type node struct {
	url, folder, group string
	process            *exec.Cmd
}

type team struct {
	dir, token string
	nodes      []*node
	client     *http.Client
	nats       *exec.Cmd // nil: none runs
	bell       string    // its address
}

func run() (err error) {
	dir, err := os.MkdirTemp("", "skillrouter-nodes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &team{dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8 * callers}}}
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
		if err := t.start(i); err != nil {
			return err
		}
	}
	if err := t.fill(); err != nil {
		return err
	}
	switch {
	case *cold:
		return t.starts()
	case *eventRate > 0:
		return t.late()
	}
	fmt.Printf("%d entries; each node may use %.2f processors; the load, PostgreSQL and %d nodes share this machine\n\n", *entries, *quota, *nodes)
	fmt.Printf("%-28s %10s %10s %8s %10s %10s\n", "", "one node", "all nodes", "ratio", "p99, one", "p99, all")
	for _, what := range []struct {
		name string
		ask  func(n *node) error
	}{{"searches a second", t.search}, {"checks a second", t.check}} {
		var one, all, ratios []float64
		var slowOne, slowAll time.Duration
		for range *rounds {
			a, slow, err := t.ask(t.nodes[:1], what.ask) // the one that writes, as a cluster of one
			if err != nil {
				return err
			}
			slowOne = max(slowOne, slow)
			b, slow, err := t.ask(t.nodes, what.ask)
			if err != nil {
				return err
			}
			slowAll = max(slowAll, slow)
			one, all, ratios = append(one, a), append(all, b), append(ratios, b/a)
		}
		fmt.Printf("%-28s %10.0f %10.0f %8.2f %10v %10v\n", what.name, median(one), median(all), median(ratios), slowOne.Round(100*time.Microsecond), slowAll.Round(100*time.Microsecond))
	}
	if err := t.lag(); err != nil {
		return err
	}
	return t.listen()
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func (t *team) start(i int) error {
	n, err := t.begin(i)
	if err != nil {
		return err
	}
	t.nodes = append(t.nodes, n)
	for deadline := time.Now().Add(startWithin); ; time.Sleep(50 * time.Millisecond) {
		if token, err := os.ReadFile(filepath.Join(n.folder, "owner.token")); err == nil {
			t.token = strings.TrimSpace(string(token))
		}
		text, err := t.call(n, http.MethodGet, "/metrics", nil)
		if err == nil && (bytes.Contains(text, []byte("\nskillrouter_node_writes 1\n")) || bytes.Contains(text, []byte("\nskillrouter_node_behind_seconds "))) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("n%d did not start: see %s.log: %w", i, n.folder, err)
		}
	}
}

// begin starts the process of a node, in the folder that it had before, if it had one.
func (t *team) begin(i int) (*node, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	n := &node{url: "http://" + address, folder: filepath.Join(t.dir, fmt.Sprint("n", i))}
	database := os.Getenv("SKILLROUTER_TEST_POSTGRES")
	n.process = exec.Command(*program, "serve", "--node", fmt.Sprint("n", i), "--listen", address, "--data", n.folder, "--cluster-secret-file", filepath.Join(t.dir, "secret"), "--database", database, "--nats", t.bell)
	log, err := os.Create(n.folder + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	n.process.Stderr = log
	if err := n.process.Start(); err != nil {
		return nil, err
	}
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
		return errors.Join(os.Mkdir(n.group, 0o755), put("cpu.max", fmt.Sprintf("%d %d", most, period)), put("cgroup.procs", fmt.Sprint(n.process.Process.Pid)))
	}
	n.group = filepath.Join("/sys/fs/cgroup/cpu", name)
	return errors.Join(os.Mkdir(n.group, 0o755), put("cpu.cfs_period_us", fmt.Sprint(period)), put("cpu.cfs_quota_us", fmt.Sprint(most)), put("cgroup.procs", fmt.Sprint(n.process.Process.Pid)))
}

func (t *team) stop() error {
	var errs []error
	for _, n := range t.nodes {
		_ = n.process.Process.Kill()
		_ = n.process.Wait()
		if n.group != "" {
			errs = append(errs, os.Remove(n.group))
		}
	}
	return errors.Join(errs...)
}

func (t *team) request(n *node, method, path string, body []byte) (*http.Request, error) {
	r, err := http.NewRequest(method, n.url+path, bytes.NewReader(body))
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+t.token)
		r.Header.Set("Content-Type", "application/json")
	}
	return r, err
}

func (t *team) call(n *node, method, path string, body []byte) ([]byte, error) {
	r, err := t.request(n, method, path, body)
	if err != nil {
		return nil, err
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %.200s", method, path, answer.StatusCode, text)
	}
	return text, err
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

func (t *team) fill() error {
	const batch = 1000
	for from := 0; from < *entries; from += batch {
		var lines bytes.Buffer
		for k := range batch {
			line, _ := json.Marshal(map[string]string{"category": "notes", "title": fmt.Sprintf("%s%d", words(4), from+k), "content": words(60)})
			lines.Write(append(line, '\n'))
		}
		if err := t.bulk(t.nodes[0], lines.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// bulk stores entries, one a line.
func (t *team) bulk(n *node, lines []byte) error {
	r, err := t.request(n, http.MethodPost, "/api/knowledge/bulk", lines)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := t.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode/100 != 2 {
		return fmt.Errorf("bulk: %d %.200s", answer.StatusCode, text)
	}
	return nil
}

func (t *team) search(n *node) error {
	_, err := t.call(n, http.MethodGet, "/api/search?q="+url.QueryEscape(words(3)), nil)
	return err
}

func (t *team) check(n *node) error {
	body, _ := json.Marshal(map[string]string{"agent": "bench", "proposed_action": "git log --oneline -n 5 --grep " + strings.TrimSpace(words(1))})
	_, err := t.call(n, http.MethodPost, "/check/anti-pattern", body)
	return err
}

// ask has callers ask nodes for some seconds, and returns how many answers a second there were, and the 99th percentile of their times.
func (t *team) ask(of []*node, ask func(n *node) error) (rate float64, slow time.Duration, err error) {
	var mu sync.Mutex
	var times []time.Duration
	var group errgroup.Group
	begun := time.Now()
	for _, n := range of {
		for range callers {
			group.Go(func() error {
				for time.Since(begun) < time.Duration(*seconds)*time.Second {
					from := time.Now()
					if err := ask(n); err != nil {
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
	slices.Sort(times)
	return float64(len(times)) / took.Seconds(), times[len(times)*99/100], nil
}

// lag measures from the answer to a write at one node until another finds it, while others write.
func (t *team) lag() error {
	ctx, stop := context.WithCancel(context.Background())
	var writing errgroup.Group
	var written atomic.Int64
	for range callers {
		writing.Go(func() error {
			for k := 0; ctx.Err() == nil; k++ {
				if _, err := t.call(t.nodes[0], http.MethodPost, "/signal", fmt.Appendf(nil, `{"from_agent_id":"captain","to_agent_id":"sink%d","signal":"note"}`, k%1000)); err != nil {
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
		if _, err := t.call(t.nodes[0], http.MethodPost, "/api/knowledge", fmt.Appendf(nil, `{"category":"notes","title":"%s","content":"It is %s."}`, word, word)); err != nil {
			stop()
			return errors.Join(err, writing.Wait())
		}
		from := time.Now()
		for {
			text, err := t.call(t.nodes[len(t.nodes)-1], http.MethodGet, "/api/search?q="+word, nil)
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
	slices.Sort(lags)
	fmt.Printf("\na write is found at another node after %v (median), %v (p99 of %d), the question included, beside %.0f signals a second\n",
		lags[len(lags)/2].Round(100*time.Microsecond), lags[len(lags)*99/100].Round(100*time.Microsecond), len(lags), float64(written.Load())/time.Since(begun).Seconds())
	return err
}

// listen opens streams at all nodes, and sends one message to all of them.
func (t *team) listen() error {
	if *streams == 0 {
		return nil
	}
	var group errgroup.Group
	group.SetLimit(64)
	opened := make(chan *http.Response, *streams)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableKeepAlives: true}}
	begun := time.Now()
	for k := range *streams {
		group.Go(func() error {
			n := t.nodes[k%len(t.nodes)]
			if _, err := t.call(n, http.MethodPost, "/heartbeat", fmt.Appendf(nil, `{"agent_id":"listener%d"}`, k)); err != nil {
				return err
			}
			r, err := t.request(n, http.MethodGet, fmt.Sprint("/messages?agent_id=listener", k), nil)
			if err != nil {
				return err
			}
			answer, err := client.Do(r)
			if err != nil {
				return err
			}
			if answer.StatusCode != http.StatusOK {
				text, _ := io.ReadAll(answer.Body)
				return fmt.Errorf("stream %d: %d %.200s", k, answer.StatusCode, text)
			}
			opened <- answer
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	close(opened)
	fmt.Printf("%d streams over %d nodes opened in %v\n", *streams, len(t.nodes), time.Since(begun).Round(time.Second))
	var got atomic.Int64
	arrived := make(chan time.Duration, *streams)
	var sent atomic.Int64
	for answer := range opened {
		go func() {
			defer answer.Body.Close()
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "data: ") {
					got.Add(1)
					arrived <- time.Duration(time.Now().UnixNano() - sent.Load())
				}
			}
		}()
	}
	for _, n := range t.nodes {
		fmt.Printf("%s holds %d MB\n", filepath.Base(n.folder), n.resident()>>20)
	}
	for round := range *rounds {
		sent.Store(time.Now().UnixNano())
		if _, err := t.call(t.nodes[round%len(t.nodes)], http.MethodPost, "/signal", []byte(`{"from_agent_id":"captain","signal":"all"}`)); err != nil {
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
		slices.Sort(times)
		fmt.Printf("a message to all of %d: median %v, last after %v\n", *streams, times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	}
	return nil
}

// resident is the memory of a node, in bytes.
func (n *node) resident() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.process.Process.Pid))
	var size, resident int64
	if err == nil {
		_, _ = fmt.Sscan(string(text), &size, &resident)
	}
	return resident * int64(os.Getpagesize())
}

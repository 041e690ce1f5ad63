// Command team measures a router beside a team at work: fifty agents make calls of twelve kinds, at a steady rate and each when its time
// has come, thirty of them hold a stream of messages and acknowledge each, and what is remembered grows all the while. It prints resident memory and how long each kind
// took, part by part of the time, beside a call that reads nothing and judges nothing: what a part is slower than the one before it, the router or the
// machine became, and the floor says which.
//
//	go run -tags nomsgpack ./scripts/bench/team -binary bin/skillrouter -for 40m -parts 8
//	go run -tags nomsgpack ./scripts/bench/team -binary bin/skillrouter -for 2h -rate 85 -parts 4
//	go run -tags nomsgpack ./scripts/bench/team -binary bin/skillrouter -for 1m -growth 1000,10000,100000,1000000 -svg docs/benchmarks-team.svg
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"skillrouter/scripts/bench/plot"
	"skillrouter/scripts/bench/sidecar"
)

const (
	agents  = 50
	streams = 30
	// waiting is how many calls may be under way: beyond it the machine does not reach the rate, which the table says.
	waiting = 256
	// bulkSize is how many entries are stored with one call, before the team begins.
	bulkSize = 50_000
)

func main() { sidecar.Main(measure, sidecar.Serve) }

// kind is one kind of call: its share of all, and what is sent. A body of nil is a GET.
type kind struct {
	name   string
	share  int
	writes bool
	make   func(t *team, agent string, n int64) (method, path string, body any)
}

var kinds = []kind{
	{"floor", 5, false, func(*team, string, int64) (string, string, any) { return http.MethodGet, "/api/whoami", nil }},
	{"changing heartbeat", 40, true, func(_ *team, agent string, n int64) (string, string, any) {
		return http.MethodPost, "/heartbeat", map[string]any{"agent_id": agent, "status": "working", "current_task": fmt.Sprint("step ", n)}
	}},
	{"same heartbeat", 25, true, func(_ *team, agent string, _ int64) (string, string, any) {
		return http.MethodPost, "/heartbeat", map[string]any{"agent_id": "idle-" + agent, "status": "working", "current_task": "waits for the build"}
	}},
	{"fact stored", 15, true, func(t *team, agent string, n int64) (string, string, any) {
		return http.MethodPut, fmt.Sprintf("/api/facts/default/%s.build.%d", agent, n%40), map[string]any{"value": t.phrase(6), "ttl": 3600}
	}},
	{"fact read", 20, false, func(_ *team, agent string, n int64) (string, string, any) {
		return http.MethodGet, fmt.Sprintf("/api/facts/default/%s.build.%d", agent, n%40), nil
	}},
	{"signal", 15, true, func(t *team, agent string, n int64) (string, string, any) {
		return http.MethodPost, "/signal", map[string]any{"from_agent_id": agent, "to_agent_id": fmt.Sprintf("agent-%02d", n%streams), "signal": "message", "context": map[string]any{"message": t.phrase(10)}}
	}},
	{"entry stored", 10, true, func(t *team, agent string, n int64) (string, string, any) {
		return http.MethodPost, "/api/knowledge", map[string]any{"category": "gotcha", "title": t.phrase(6), "content": t.phrase(50) + ".", "source": agent, "project": fmt.Sprint("project-", n%5)}
	}},
	{"search", 10, false, func(t *team, _ string, _ int64) (string, string, any) {
		return http.MethodPost, "/api/knowledge/search", map[string]any{"query": t.phrase(5)}
	}},
	{"context", 4, false, func(t *team, _ string, n int64) (string, string, any) {
		return http.MethodPost, "/api/context", map[string]any{"task": t.phrase(12), "budget": 1000, "include_untrusted": true, "project": fmt.Sprint("project-", n%5)}
	}},
	{"check", 15, false, func(t *team, agent string, _ int64) (string, string, any) {
		return http.MethodPost, "/check/anti-pattern", map[string]any{"agent": agent, "proposed_action": "make " + t.phrase(1) + " && ls -l " + t.phrase(1)}
	}},
	{"question", 4, false, func(t *team, _ string, _ int64) (string, string, any) {
		return http.MethodPost, "/query", map[string]any{"query": "how do we " + t.phrase(5)}
	}},
	{"lesson reported", 2, true, func(t *team, agent string, n int64) (string, string, any) {
		return http.MethodPost, "/lessons/report", map[string]any{
			"lesson_type": "failure", "domain": fmt.Sprint("domain-", n%10), "category": t.phrase(1), "title": t.phrase(8), "context": t.phrase(20),
			"action_taken": t.phrase(10), "outcome": t.phrase(10), "solution": t.phrase(12), "source_agent": agent,
		}
	}},
	{"episode", 5, true, func(t *team, agent string, _ int64) (string, string, any) {
		return http.MethodPost, "/api/episodes", map[string]any{"agent_id": agent, "event_type": "action", "title": t.phrase(6), "content": t.phrase(30)}
	}},
}

// team is what the calls share.
type team struct {
	side *sidecar.Sidecar

	mu    sync.Mutex
	words *sidecar.Words
	took  [][]time.Duration // of each kind, in this part

	heard, missed atomic.Int64 // what streams heard; calls that could not be made in their time
	failed        atomic.Pointer[error]
}

func (t *team) phrase(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.words.Phrase(n)
}

func measure(ctx context.Context) error {
	binary := flag.String("binary", "", "measure this skillrouter, as it was built; empty: this program, with BENCH_CPUPROFILE")
	long := flag.Duration("for", 40*time.Minute, "how long in all")
	parts := flag.Int("parts", 8, "parts of the time that are told apart")
	rate := flag.Float64("rate", 170, "calls a second, in all")
	entries := flag.Int("entries", 0, "entries that are there before")
	growth := flag.String("growth", "", "numbers of entries that are there before, with commas between: a router of its own for each, and one part")
	svg := flag.String("svg", "", "draw -growth into this file")
	without := flag.String("without", "", "kinds that are left out, with commas between: so it is seen what slows the others")
	flag.Parse()
	for i := range kinds {
		if slices.Contains(strings.Split(*without, ","), kinds[i].name) {
			kinds[i].share = 0
		}
	}
	if *parts < 1 || *rate <= 0 {
		return errors.New("-parts and -rate are at least 1")
	}
	if *growth == "" {
		_, err := beside(ctx, *binary, *entries, *long, *parts, *rate)
		return err
	}
	var sizes []int
	var all []figures
	for text := range strings.SplitSeq(*growth, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			return fmt.Errorf("-growth: %q is no number of entries", text)
		}
		f, err := beside(ctx, *binary, size, *long, 1, *rate)
		if err != nil {
			return err
		}
		sizes, all = append(sizes, size), append(all, f)
	}
	if *svg == "" {
		return nil
	}
	return os.WriteFile(*svg, drawing(sizes, all), 0o644)
}

// beside has a team work beside a router of its own, and returns the figures of the last part.
func beside(ctx context.Context, binary string, entries int, long time.Duration, parts int, rate float64) (f figures, err error) {
	side, err := sidecar.FreshOf(ctx, binary)
	if err != nil {
		return f, err
	}
	defer side.Stop()
	t := &team{side: side, words: sidecar.NewWords(11)}
	began := time.Now()
	if err := t.fill(ctx, entries); err != nil {
		return f, err
	}
	if entries > 0 {
		sidecar.Report("entries that are there before", "%s, stored at %.0f/s; resident %.0f MB", plot.Thousands(entries), float64(entries)/time.Since(began).Seconds(), side.Resident())
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := t.settle(ctx); err != nil {
		return f, err
	}
	err = side.Profile(func() error {
		f, err = t.work(ctx, long, parts, rate)
		return err
	})
	return f, err
}

// figures are those of one part of the time: milliseconds of each kind of call, MB, and of one core.
type figures struct {
	p50, p99            []float64
	resident, processor float64
}

// drawing draws how the figures grow with what is remembered.
func drawing(sizes []int, all []figures) []byte {
	panels := []plot.Panel{{Title: "p50 of reads, ms"}, {Title: "p99 of reads, ms"}, {Title: "p50 of writes, ms"}, {Title: "p99 of writes, ms"}, {Title: "resident memory, MB"}, {Title: "processor, % of a core"}}
	line := func(at int, name string, value func(figures) float64) {
		l := plot.Line{Name: name}
		for _, f := range all {
			l.Values = append(l.Values, value(f))
		}
		panels[at].Lines = append(panels[at].Lines, l)
	}
	for i, k := range kinds {
		if k.share == 0 {
			continue
		}
		at := 0
		if k.writes {
			at = 2
		}
		line(at, k.name, func(f figures) float64 { return f.p50[i] })
		line(at+1, k.name, func(f figures) float64 { return f.p99[i] })
	}
	line(4, "the router", func(f figures) float64 { return f.resident })
	line(5, "the router", func(f figures) float64 { return f.processor })
	return plot.Draw("A team at work, by how many entries are remembered", sizes, panels)
}

// fill stores what is there before the team begins.
func (t *team) fill(ctx context.Context, entries int) error {
	for from := 0; from < entries; from += bulkSize {
		lines := sidecar.Lines(min(bulkSize, entries-from), func(i int) any {
			return map[string]any{"category": "gotcha", "title": t.phrase(6), "content": t.phrase(50) + ".", "project": fmt.Sprint("project-", i%5)}
		})
		if _, err := t.side.Bulk(ctx, lines); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the agents known and their streams open, and each fact be there.
func (t *team) settle(ctx context.Context) error {
	for i := range agents {
		agent := fmt.Sprintf("agent-%02d", i)
		for _, id := range []string{agent, "idle-" + agent} {
			if err := t.side.Send(ctx, http.MethodPost, "/heartbeat", map[string]any{"agent_id": id, "status": "working"}, nil); err != nil {
				return err
			}
		}
		for n := range 40 {
			if err := t.side.Send(ctx, http.MethodPut, fmt.Sprintf("/api/facts/default/%s.build.%d", agent, n), map[string]any{"value": "unknown", "ttl": 0}, nil); err != nil {
				return err
			}
		}
		if i < streams {
			if err := t.follow(ctx, agent); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow opens an agent's stream of messages, counts what it hears, and acknowledges it.
func (t *team) follow(ctx context.Context, agent string) error {
	_, err := t.side.Follow(ctx, agent, func(data []byte) {
		var message struct {
			ID string `json:"message_id"`
		}
		if json.Unmarshal(data, &message) != nil || message.ID == "" {
			return
		}
		t.heard.Add(1)
		if err := t.side.Send(ctx, http.MethodPost, "/messages/ack", map[string]any{"agent_id": agent, "message_ids": []string{message.ID}}, nil); err != nil && ctx.Err() == nil {
			t.fail(err)
		}
	})
	return err
}

func (t *team) fail(err error) { t.failed.CompareAndSwap(nil, &err) }

// work makes the calls, and prints what each part of the time came to.
func (t *team) work(ctx context.Context, long time.Duration, parts int, rate float64) (f figures, err error) {
	all := 0
	for _, k := range kinds {
		all += k.share
	}
	order := make([]int, 0, all)
	for i, k := range kinds {
		for range k.share {
			order = append(order, i)
		}
	}
	t.took = make([][]time.Duration, len(kinds))
	entry := slices.IndexFunc(kinds, func(k kind) bool { return k.name == "entry stored" })
	free := make(chan struct{}, waiting)
	began, made := time.Now(), int64(0)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	head := "part\tentries\tcalls/s\tprocessor\tresident"
	for _, k := range kinds {
		head += "\t" + k.name
	}
	fmt.Fprintln(table, head)
	for part := range parts {
		until, used, first := began.Add(long*time.Duration(part+1)/time.Duration(parts)), t.side.CPU(), made
		from := time.Now()
		for time.Now().Before(until) && ctx.Err() == nil {
			if made%int64(all) == 0 {
				rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			}
			which, n := order[made%int64(all)], made
			made++
			time.Sleep(time.Until(began.Add(time.Duration(float64(made) / rate * float64(time.Second)))))
			select {
			case free <- struct{}{}:
			default:
				t.missed.Add(1)
				continue
			}
			go func() {
				defer func() { <-free }()
				t.call(ctx, which, n)
			}()
		}
		if failed := t.failed.Load(); failed != nil {
			return f, *failed
		}
		if err := ctx.Err(); err != nil {
			return f, err
		}
		t.mu.Lock()
		f = figures{p50: make([]float64, len(kinds)), p99: make([]float64, len(kinds)), resident: t.side.Resident(), processor: 100 * (t.side.CPU() - used).Seconds() / time.Since(from).Seconds()}
		row := fmt.Sprintf("%d\t%d\t%.0f\t%.0f %%\t%.0f MB", part+1, made*int64(kinds[entry].share)/int64(all), float64(made-first)/time.Since(from).Seconds(), f.processor, f.resident)
		for i := range kinds {
			if len(t.took[i]) == 0 {
				row += "\t"
				continue
			}
			f.p50[i], f.p99[i] = sidecar.Milliseconds(sidecar.Quantile(t.took[i], .5)), sidecar.Milliseconds(sidecar.Quantile(t.took[i], .99))
			row += fmt.Sprintf("\t%.1f / %.1f", f.p50[i], f.p99[i])
			t.took[i] = t.took[i][:0]
		}
		t.mu.Unlock()
		fmt.Fprintln(table, row)
		if err := table.Flush(); err != nil {
			return f, err
		}
	}
	sidecar.Report("in all", "%d calls, no error, %d not made in their time; streams heard and acknowledged %d; resident %.0f MB, at its peak %.0f", made, t.missed.Load(), t.heard.Load(), t.side.Resident(), t.side.Peak())
	sidecar.Report("load average", "%s", sidecar.Load())
	return f, nil
}

// call makes one call and notes how long it took.
func (t *team) call(ctx context.Context, which int, n int64) {
	method, path, body := kinds[which].make(t, fmt.Sprintf("agent-%02d", n%agents), n)
	if body == nil {
		body = json.RawMessage{}
	}
	sent := time.Now()
	if err := t.side.Send(ctx, method, path, body, nil); err != nil && ctx.Err() == nil {
		t.fail(err)
		return
	}
	took := time.Since(sent)
	t.mu.Lock()
	t.took[which] = append(t.took[which], took)
	t.mu.Unlock()
}

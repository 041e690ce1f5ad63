// Command context measures the context builder over HTTP with a large memory:
// how long a context takes, and how much of the processor, beside a call that
// goes the same way and is refused before anything is built.
//
//	go run ./scripts/bench/context [-entries 100000] [-others 10000] [-calls 1000] [-budget 2000] [-only start]
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// sizes say how much is measured.
type sizes struct{ entries, others, calls, budget int }

func main() { sidecar.Main(measure, sidecar.Serve) }

func measure(ctx context.Context) error {
	var n sizes
	flag.IntVar(&n.entries, "entries", 100_000, "knowledge entries")
	flag.IntVar(&n.others, "others", 10_000, "lessons, episodes and facts, of each")
	flag.IntVar(&n.calls, "calls", 1000, "contexts that are built")
	flag.IntVar(&n.budget, "budget", 2000, "tokens of each")
	only := flag.String("only", "", "one kind of context: task, start or prompt; with BENCH_CPUPROFILE its profile is written")
	flag.Parse()
	side, err := sidecar.Fresh(ctx)
	if err != nil {
		return err
	}
	defer side.Stop()
	sidecar.Report("resident, empty", "%.0f MB", side.Resident())
	words := sidecar.NewWords(1)
	began := time.Now()
	if err := fill(ctx, side, words, n); err != nil {
		return err
	}
	sidecar.Report("filled", "%d entries, %d of each other, in %v; resident %.0f MB", n.entries, n.others, time.Since(began).Round(time.Second), side.Resident())

	first, _, err := build(ctx, side, task(words, n.budget))
	if err != nil {
		return err
	}
	sidecar.Report("the first context", "%v; resident %.0f MB", first.Round(time.Millisecond), side.Resident())
	for range n.calls / 20 {
		if _, _, err := build(ctx, side, task(words, n.budget)); err != nil {
			return err
		}
	}
	for _, kind := range []struct {
		key, name string
		make      func() contexts.Request
	}{
		{"task", "a context", func() contexts.Request { return task(words, n.budget) }},
		{"start", "a session's start", func() contexts.Request {
			return contexts.Request{Start: true, Budget: n.budget, IncludeUntrusted: true, Project: "project-1"}
		}},
		{"prompt", "a prompt", func() contexts.Request {
			return contexts.Request{Prompt: true, Task: "run the tests of " + words.Phrase(8), Budget: n.budget, IncludeUntrusted: true, Project: "project-1"}
		}},
	} {
		if *only != "" && *only != kind.key {
			continue
		}
		if err := side.Profile(func() error { return compare(ctx, side, kind.name, n.calls, kind.make) }); err != nil {
			return err
		}
	}
	sidecar.Report("resident", "%.0f MB", side.Resident())
	return nil
}

// task is the request for a task of twelve words.
func task(words *sidecar.Words, budget int) contexts.Request {
	return contexts.Request{Task: words.Phrase(12), Budget: budget, IncludeUntrusted: true, Project: "project-1"}
}

// compare measures calls in turns with the same ones that are refused.
func compare(ctx context.Context, side *sidecar.Sidecar, name string, calls int, request func() contexts.Request) error {
	took, refused := make([]time.Duration, calls), make([]time.Duration, calls)
	items, tokens, cpu := 0, 0, time.Duration(0)
	for i := range calls {
		asked, used := request(), side.CPU()
		var answer contexts.Context
		var err error
		if took[i], answer, err = build(ctx, side, asked); err != nil {
			return err
		}
		cpu += side.CPU() - used
		items, tokens = items+len(answer.Items), tokens+answer.Tokens
		asked.Budget = 0 // too small
		refused[i], _, _ = build(ctx, side, asked)
	}
	sidecar.Report(name, "%s; processor %v; %.1f items, %d tokens", sidecar.Percentiles(took), (cpu / time.Duration(calls)).Round(10*time.Microsecond),
		float64(items)/float64(calls), tokens/calls)
	sidecar.Report("floor: the same call, refused", "%s", sidecar.Percentiles(refused))
	return nil
}

// build asks for one context.
func build(ctx context.Context, side *sidecar.Sidecar, request contexts.Request) (time.Duration, contexts.Context, error) {
	var answer contexts.Context
	began := time.Now()
	err := side.Send(ctx, http.MethodPost, "/api/context", request, &answer)
	return time.Since(began), answer, err
}

// fill stores what contexts are built from.
func fill(ctx context.Context, side *sidecar.Sidecar, words *sidecar.Words, n sizes) error {
	entries := sidecar.Lines(n.entries, func(i int) any {
		return knowledge.Draft{
			Category: knowledge.CategoryGotcha, Title: words.Phrase(6), Content: words.Phrase(60) + ". " + words.Phrase(20) + ".", Project: fmt.Sprintf("project-%d", i%20),
		}
	})
	if _, err := side.Bulk(ctx, entries); err != nil {
		return err
	}
	const part = 500
	for i := 0; i < n.others; i += part {
		var lessons []lesson.Draft
		for range min(part, n.others-i) {
			lessons = append(lessons, lesson.Draft{
				Type: learning.LessonDiscovery, Domain: "bench", Category: words.Phrase(1), Title: words.Phrase(8), Context: words.Phrase(30), Action: words.Phrase(10), Outcome: words.Phrase(10),
			})
		}
		if err := side.Send(ctx, http.MethodPost, "/lessons/bulk", lessons, nil); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range n.others {
		episode := episode.Draft{AgentID: "bench", EventType: episode.EventOutcome, Title: words.Phrase(6), Content: words.Phrase(50)}
		fact := map[string]any{"value": words.Phrase(8), "ttl": 0}
		group.Go(func() error { return side.Send(ctx, http.MethodPost, "/api/episodes", episode, nil) })
		group.Go(func() error {
			return side.Send(ctx, http.MethodPut, fmt.Sprintf("/api/facts/default/bench.%d", i), fact, nil)
		})
	}
	return group.Wait()
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"skillrouter/learning/knowledge"
	"skillrouter/scripts/bench/sidecar"
)

// lines is n entries of 60 words, the title's included, from the number from on, one JSON object a line.
func lines(words *sidecar.Words, from, n int) []byte {
	return sidecar.Lines(n, func(i int) any {
		i += from
		return knowledge.Draft{
			ID: fmt.Sprintf("entry-%07d", i), Category: []string{"error_solution", "pattern", "best_practice", "gotcha"}[i%4],
			Title: words.Phrase(5), Content: words.Phrase(55), Project: fmt.Sprintf("project-%d", i%20),
		}
	})
}

func bulk(ctx context.Context, s *sidecar.Sidecar, lines []byte, n int) error {
	result, err := s.Bulk(ctx, lines)
	if err == nil && result.Stored != n {
		err = fmt.Errorf("%d of %d entries were stored: %+v", result.Stored, n, result.Refused)
	}
	return err
}

// searches are how long searches took.
type searches []time.Duration

// String is p50 / p99 and the worst, in milliseconds, for a table.
func (s searches) String() string {
	if len(s) == 0 {
		return "none | none"
	}
	ms := func(part float64) float64 { return float64(sidecar.Quantile(s, part).Microseconds()) / 1000 }
	return fmt.Sprintf("%.1f / %.1f (%d) | %.1f", ms(.5), ms(.99), len(s), ms(1))
}

// searchBeside searches one after the other, with pauses, until what it
// returns is called, which returns how long each took. Before the first entry
// there is nothing to find; from then on an empty answer is a failure.
func searchBeside(ctx context.Context, s *sidecar.Sidecar, pause time.Duration) func() (searches, error) {
	ctx, stop := context.WithCancel(ctx)
	type outcome struct {
		took searches
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		words := sidecar.NewWords(42) // the same vocabulary
		seen := false
		for ctx.Err() == nil && o.err == nil {
			query := knowledge.Query{Query: words.Query(), Limit: 10}
			var found knowledge.Results
			began := time.Now()
			o.err = s.Send(context.WithoutCancel(ctx), http.MethodPost, "/api/knowledge/search", query, &found)
			o.took = append(o.took, time.Since(began))
			if o.err == nil && found.Count == 0 && seen {
				o.err = fmt.Errorf("nothing found for %q", query.Query)
			}
			seen = seen || found.Count > 0
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		done <- o
	}()
	return func() (searches, error) {
		stop()
		o := <-done
		return o.took, o.err
	}
}

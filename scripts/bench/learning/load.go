package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// figure is what a run of calls came to.
type figure struct {
	perSecond     float64
	p50, p99, max time.Duration
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// call is one call of a load: a POST of the body, or a GET where there is none.
type call struct {
	path string
	body json.RawMessage
}

// load makes the calls over a number of connections, each sending its next as
// soon as its last is answered, and returns how long each took.
func load(ctx context.Context, side *sidecar.Sidecar, calls []call, connections int) ([]time.Duration, error) {
	took := make([]time.Duration, len(calls))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range connections {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(calls) {
					return nil
				}
				method := http.MethodPost
				if calls[i].body == nil {
					method = http.MethodGet
				}
				sent := time.Now()
				if err := side.Send(ctx, method, calls[i].path, calls[i].body, nil); err != nil {
					return err
				}
				took[i] = time.Since(sent)
			}
		})
	}
	return took, group.Wait()
}

// posts is load for bodies of one path.
func posts(ctx context.Context, side *sidecar.Sidecar, path string, bodies []json.RawMessage, connections int) (figure, error) {
	calls := make([]call, len(bodies))
	for i, body := range bodies {
		calls[i] = call{path, body}
	}
	began := time.Now()
	took, err := load(ctx, side, calls, connections)
	return figureOf(took, time.Since(began)), err
}

// figureOf is what calls came to that took so long, all together and each.
func figureOf(took []time.Duration, all time.Duration) figure {
	if len(took) == 0 {
		return figure{}
	}
	at := func(part float64) time.Duration { return sidecar.Quantile(took, part) }
	return figure{float64(len(took)) / all.Seconds(), at(.5), at(.99), at(1)}
}

// encoded is each value as JSON.
func encoded[T any](values []T) []json.RawMessage {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i], _ = json.Marshal(v) // plain values
	}
	return out
}

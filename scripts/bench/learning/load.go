package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter/scripts/bench/sidecar"
)

// figure is what a run of calls came to.
type figure struct {
	perSecond     float64
	p50, p99, max time.Duration
}

func (f figure) String() string {
	return fmt.Sprintf("%.0f/s, p50 %v, p99 %v, worst %v", f.perSecond, round(f.p50), round(f.p99), round(f.max))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// load makes the calls over a number of connections, each sending its next as
// soon as its last is answered. The bodies are ready before the clock starts.
func load(ctx context.Context, side *sidecar.Sidecar, path string, bodies []json.RawMessage, connections int) (figure, error) {
	took := make([]time.Duration, len(bodies))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range connections {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(bodies) {
					return nil
				}
				sent := time.Now()
				if err := side.Send(ctx, http.MethodPost, path, bodies[i], nil); err != nil {
					return err
				}
				took[i] = time.Since(sent)
			}
		})
	}
	if err := group.Wait(); err != nil {
		return figure{}, err
	}
	all := time.Since(began)
	slices.Sort(took)
	at := func(p float64) time.Duration { return took[min(len(took)-1, int(p*float64(len(took))))] }
	return figure{float64(len(bodies)) / all.Seconds(), at(.5), at(.99), took[len(took)-1]}, nil
}

// encoded is each value as JSON.
func encoded[T any](values []T) []json.RawMessage {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i], _ = json.Marshal(v) // plain values
	}
	return out
}

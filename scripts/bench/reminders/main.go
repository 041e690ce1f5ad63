// Command reminders measures how late reminders arrive that come due all at
// once: 100,000 of them, spread over a minute, for agents that listen on
// GET /messages, while more are being scheduled. Beside them stands how long a plain
// signal takes from being sent to arriving there, one at a time: the floor.
//
//	go run ./scripts/bench/reminders [-count 100000] [-over 1m] [-lead 2m] [-agents 20]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter/internal/committer"
	"skillrouter/scripts/bench/sidecar"
)

const (
	writers = 16 // that schedule at once
	signals = 300
	// beside is how often another reminder is scheduled while the others come due.
	beside = 20 * time.Millisecond
)

func main() {
	b := bench{}
	flag.IntVar(&b.count, "count", 100_000, "reminders")
	flag.DurationVar(&b.over, "over", time.Minute, "time over which they come due")
	flag.DurationVar(&b.lead, "lead", 2*time.Minute, "time for scheduling them before")
	flag.IntVar(&b.agents, "agents", 20, "agents that listen")
	sidecar.Main(b.measure, sidecar.Serve)
}

type bench struct {
	count, agents int
	over, lead    time.Duration
	sidecar       *sidecar.Sidecar

	mu       sync.Mutex
	late     []time.Duration
	seen     map[int64]bool
	doubled  int
	arrived  chan time.Time // of plain signals
	complete chan struct{}
}

func (b *bench) measure(ctx context.Context) error {
	flag.Parse()
	var err error
	if b.sidecar, err = sidecar.Fresh(ctx); err != nil {
		return err
	}
	defer b.sidecar.Stop()
	b.seen, b.arrived, b.complete = map[int64]bool{}, make(chan time.Time, signals), make(chan struct{})
	listening, stop := context.WithCancel(ctx)
	defer stop()
	for i := range b.agents {
		ended, err := b.sidecar.Follow(listening, agent(i), b.message)
		if err != nil {
			return err
		}
		defer func() { stop(); <-ended }()
	}
	if err := b.floor(ctx); err != nil {
		return err
	}
	first := time.Now().Add(b.lead)
	begin := time.Now()
	if err := b.schedule(ctx, first); err != nil {
		return err
	}
	took := time.Since(begin)
	sidecar.Report("scheduling", "%d in %.1f s: %.0f/s from %d connections", b.count, took.Seconds(), float64(b.count)/took.Seconds(), writers)
	if time.Now().After(first) {
		return errors.New("scheduling took longer than -lead: the first were due before the last was scheduled")
	}
	if err := committer.Pause(ctx, time.Until(first)); err != nil {
		return err
	}
	before := b.sidecar.CPU()
	more, stopMore := context.WithCancel(ctx)
	var scheduling sync.WaitGroup
	scheduling.Go(func() { b.beside(more) })
	limit := time.NewTimer(b.over + time.Minute)
	defer limit.Stop()
	select {
	case <-b.complete:
	case <-limit.C:
	case <-ctx.Done():
	}
	stopMore()
	scheduling.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	sidecar.Report("reminders", "%d of %d arrived, %d twice, over %s to %d agents", len(b.late), b.count, b.doubled, b.over, b.agents)
	sidecar.Report("lateness, due to received", "%s (target: at most 2 s)", sidecar.Percentiles(b.late))
	sidecar.Report("processor time", "%.1f s of the router for them", (b.sidecar.CPU() - before).Seconds())
	if len(b.late) != b.count || b.doubled > 0 {
		return errors.New("not each of them arrived once")
	}
	return nil
}

func agent(i int) string { return fmt.Sprint("agent-", i) }

// floor sends plain signals one at a time.
func (b *bench) floor(ctx context.Context) error {
	var took []time.Duration
	for range signals {
		begin := time.Now()
		if err := b.sidecar.Send(ctx, http.MethodPost, "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": agent(0), "signal": "plain"}, nil); err != nil {
			return err
		}
		select {
		case at := <-b.arrived:
			took = append(took, at.Sub(begin))
		case <-time.After(10 * time.Second):
			return errors.New("a plain signal did not arrive")
		}
	}
	sidecar.Report("floor: a plain signal, sent to received", "%s", sidecar.Percentiles(took))
	return nil
}

// schedule schedules the reminders, evenly over the time from first on.
func (b *bench) schedule(ctx context.Context, first time.Time) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range writers {
		group.Go(func() error {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.count) {
					return nil
				}
				at := first.Add(b.over * time.Duration(i) / time.Duration(b.count))
				if err := b.one(ctx, "time:"+at.UTC().Format("2006-01-02T15:04:05.000Z"), agent(int(i)%b.agents)); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

func (b *bench) one(ctx context.Context, trigger, whom string) error {
	return b.sidecar.Send(ctx, http.MethodPost, "/api/reminders", map[string]any{
		"task": "verify payment-service stability after deployment", "trigger": trigger, "agent_id": whom,
		"context": map[string]string{"version": "v2.4.0", "metric": "error_rate"},
	}, nil)
}

// beside goes on scheduling what is due another day.
func (b *bench) beside(ctx context.Context) {
	every := time.NewTicker(beside)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			_ = b.one(ctx, "time:+1day", agent(0)) // it is stopped in the middle of one
		case <-ctx.Done():
			return
		}
	}
}

// message reads a message that came.
func (b *bench) message(data []byte) {
	now := time.Now()
	var message struct {
		Signal  string `json:"signal"`
		Context struct {
			ID           int64     `json:"id"`
			ScheduledFor time.Time `json:"scheduled_for"`
		} `json:"context"`
	}
	switch {
	case json.Unmarshal(data, &message) != nil:
	case message.Signal == "plain":
		b.arrived <- now
	default:
		b.take(message.Context.ID, now.Sub(message.Context.ScheduledFor))
	}
}

func (b *bench) take(id int64, late time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[id] {
		b.doubled++
		return
	}
	b.seen[id] = true
	b.late = append(b.late, late)
	if len(b.late) == b.count {
		close(b.complete)
	}
}

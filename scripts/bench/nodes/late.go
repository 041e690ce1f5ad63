package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter/scripts/bench/sidecar"
)

// What makes the events of a steady rate: of each 25, a message, nine changes of what an agent says it does, and fifteen entries.
const (
	shareMessages, shareChanges, shares = 1, 9, 25
	// entriesAtOnce are stored by one call.
	entriesAtOnce = 50
	// askersOf is how many calls of a kind may be under way.
	askersOf = 8
	// listenersOf is how many agents listen to each node that follows; theirs are the messages.
	listenersOf = 20
	// settleFor is how long the rate is there before anything is measured.
	settleFor = 3 * time.Second
)

// lateness notes when messages were answered to their senders, and when they came to streams.
type lateness struct {
	mu         sync.Mutex
	sent, came map[string]time.Time
}

// startNATS starts a server for the bell of the nodes.
func (t *team) startNATS(server string) error {
	address, err := sidecar.FreeAddress()
	if err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(address)
	t.nats = exec.Command(server, "-a", host, "-p", port, "-js", "-sd", filepath.Join(t.dir, "nats"))
	t.bell = "nats://" + address
	return t.nats.Start()
}

func (t *team) endNATS() {
	if t.nats != nil {
		_ = t.nats.Process.Kill()
		_ = t.nats.Wait()
		t.nats = nil
	}
}

// late measures how late nodes are that follow, while the logs grow by a steady number of events a second: from a sender's answer until the stream
// of a node has the message. A node hands a message out after all that was committed before it.
func (t *team) late(ctx context.Context) error {
	going, stop := context.WithCancel(ctx)
	defer stop()
	l := &lateness{sent: map[string]time.Time{}, came: map[string]time.Time{}}
	var names []string
	for i, n := range t.nodes[1:] {
		for k := range listenersOf {
			name := fmt.Sprintf("listener-%d-%d", i, k)
			names = append(names, name)
			if err := n.listen(going, name, l.arrived); err != nil {
				return err
			}
		}
	}
	var events atomic.Int64
	var load errgroup.Group
	steady := func(calls float64, ask func(k int) (int, error)) {
		work := make(chan int, askersOf) // what nobody is there for is not made up for: the rate that was reached is said
		go func() {
			defer close(work)
			begun := time.Now()
			every := time.NewTicker(time.Millisecond)
			defer every.Stop()
			for k := 0; going.Err() == nil; <-every.C {
				for due := int(calls * time.Since(begun).Seconds()); k < due; k++ {
					select {
					case work <- k:
					default:
					}
				}
			}
		}()
		for range askersOf {
			load.Go(func() error {
				for k := range work {
					n, err := ask(k)
					if err != nil {
						stop()
						return err
					}
					events.Add(int64(n))
				}
				return nil
			})
		}
	}
	rate := float64(*eventRate)
	steady(rate*shareMessages/shares, func(k int) (int, error) {
		text, err := t.nodes[0].post(ctx, "/signal", `{"from_agent_id":"captain","to_agent_id":"%s","signal":"note"}`, names[k%len(names)])
		var answer struct {
			ID string `json:"message_id"`
		}
		if err := errors.Join(err, json.Unmarshal(text, &answer)); err != nil {
			return 0, err
		}
		l.mu.Lock()
		l.sent[answer.ID] = time.Now()
		l.mu.Unlock()
		return 1, nil
	})
	steady(rate*shareChanges/shares, func(k int) (int, error) {
		_, err := t.nodes[0].post(ctx, "/heartbeat", `{"agent_id":"worker-%d","status":"step %d"}`, k%1000, k)
		return 1, err
	})
	steady(rate*(shares-shareMessages-shareChanges)/shares/entriesAtOnce, func(k int) (int, error) {
		var lines bytes.Buffer
		for i := range entriesAtOnce {
			fmt.Fprintf(&lines, "{\"category\":\"notes\",\"title\":\"%s%dx%d\",\"content\":\"%s\"}\n", words(3), k, i, words(12))
		}
		_, err := t.nodes[0].Bulk(ctx, lines.Bytes())
		return entriesAtOnce, err
	})
	measure := func(name string) {
		begun, before := time.Now(), events.Load()
		used := t.processor()
		select {
		case <-time.After(time.Duration(*seconds) * time.Second):
		case <-going.Done():
		}
		ended, made := time.Now(), events.Load()-before
		for i, now := range t.processor() {
			used[i] = (now - used[i]) / time.Duration(max(1, made/1000))
		}
		<-time.After(time.Second) // what is late comes yet
		late, lost := l.between(begun, ended)
		if len(late) == 0 {
			return
		}
		fmt.Printf("%-16s %6.0f events/s  p50 %8v  p99 %8v  longest %8v  of %d messages, %d not there a second later; processor of each node per 1,000 events %v; load %.4s\n", name, float64(made)/ended.Sub(begun).Seconds(),
			sidecar.Quantile(late, .5).Round(100*time.Microsecond), sidecar.Quantile(late, .99).Round(100*time.Microsecond), sidecar.Quantile(late, 1).Round(100*time.Microsecond), len(late), lost, used, sidecar.Load())
	}
	select {
	case <-time.After(settleFor):
	case <-going.Done():
	}
	for range *rounds {
		if t.nats == nil {
			measure("without a bell")
			continue
		}
		measure("with the bell")
	}
	if t.nats != nil {
		t.endNATS()
		measure("NATS killed")
	}
	stop()
	return load.Wait()
}

// processor is the processor time that each node has used.
func (t *team) processor() (used []time.Duration) {
	for _, n := range t.nodes {
		used = append(used, n.CPU())
	}
	return used
}

// between is how late messages were that were answered in a time, and how many have not come.
func (l *lateness) between(from, to time.Time) (late []time.Duration, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, sent := range l.sent {
		if sent.Before(from) || !sent.Before(to) {
			continue
		}
		if came, ok := l.came[id]; ok {
			late = append(late, max(0, came.Sub(sent)))
		} else {
			lost++
		}
	}
	return late, lost
}

// arrived notes a message of a stream.
func (l *lateness) arrived(data []byte) {
	var message struct {
		ID string `json:"message_id"`
	}
	at := time.Now()
	if json.Unmarshal(data, &message) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[message.ID] = at
}

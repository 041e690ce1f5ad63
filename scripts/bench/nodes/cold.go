package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// readWithin bounds the reading of a memory into a node's index.
	readWithin = 15 * time.Minute
	// rest is how long a node is left alone before its memory is looked at: what its start leaves is collected by then.
	rest = 20 * time.Second
)

// starts measures how soon a node answers searches that is started while there are many entries, and what it holds then: one alone, and one that follows it.
func (t *team) starts(ctx context.Context) error {
	fmt.Printf("%d entries\n", *entries)
	t.nodes[0].Stop()
	t.nodes = nil
	for i, alone := range []bool{true, true, false, false} {
		name, figure, empty := "one node", "skillrouter_node_writes", i%2 == 0
		if !alone {
			name, figure = "a node that follows it", "skillrouter_node_answered_total"
		}
		begun := time.Now()
		n, err := t.begin(ctx, 1+i/2)
		if err != nil {
			return err
		}
		t.nodes = append(t.nodes, n)
		var took, complete time.Duration
		answers, err := t.until(ctx, begun, func() bool {
			from := time.Now()
			err := t.search(ctx, n)
			took = time.Since(from)
			return err == nil && t.figure(ctx, n, figure) > 0
		})
		if err != nil {
			return err
		}
		most := 0.0
		if complete, err = t.until(ctx, begun, func() bool {
			most = max(most, n.Resident())
			text, err := os.ReadFile(n.folder + ".log")
			return err != nil || !empty || bytes.Contains(text, []byte("search index is whole"))
		}); err != nil {
			return err
		}
		for deadline := time.Now().Add(rest); time.Now().Before(deadline); time.Sleep(time.Second) {
			most = max(most, n.Resident())
		}
		fmt.Printf("%-24s on an empty folder: %5t  answers a search itself after %v (in %v), knows all entries after %v; it holds %.0f MB, at most %.0f before\n", name, empty,
			answers.Round(time.Millisecond), took.Round(time.Millisecond), complete.Round(time.Millisecond), n.Resident(), most)
		if empty {
			t.nodes = t.nodes[:len(t.nodes)-1]
			n.Stop()
		}
	}
	return nil
}

// until waits for something to be so, and returns how long after begun it was.
func (t *team) until(ctx context.Context, begun time.Time, so func() bool) (time.Duration, error) {
	for !so() {
		if ctx.Err() != nil || time.Since(begun) > readWithin {
			return 0, errors.New("a node does not come up")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun), nil
}

// figure is one of a node's metrics; 0: it has none of the name.
func (t *team) figure(ctx context.Context, n *node, name string) float64 {
	text, err := n.get(ctx, "/metrics")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+" ")
	digits, _, _ := strings.Cut(rest, "\n")
	value, _ := strconv.ParseFloat(digits, 64) // 0 where there is none
	return value
}

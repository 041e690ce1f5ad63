package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// wholeWithin bounds the reading of a memory into a node's index.
	wholeWithin = 15 * time.Minute
	// rest is how long a node is left alone before its memory is looked at: what its start leaves is collected by then.
	rest = 20 * time.Second
)

// starts measures how soon a node answers searches that is started beside one that writes, and what it holds then. First the one that writes is started anew
// on the folder that it has, alone: the measure of the others.
func (t *team) starts() error {
	fmt.Printf("%d entries\n", *entries)
	if err := t.end(t.nodes[0]); err != nil {
		return err
	}
	for _, one := range []struct {
		name  string
		node  int
		reads bool // all entries, into an index
	}{{"the one that writes, alone", 0, false}, {"a node, on an empty folder", 1, true}, {"a node, on that folder", 1, false}} {
		begun := time.Now()
		n, err := t.begin(one.node)
		if err != nil {
			return err
		}
		t.nodes = append(t.nodes[:one.node], n)
		listens, err := t.until(begun, func() bool { _, err := t.call(n, http.MethodGet, "/health", nil); return err == nil })
		if err != nil {
			return err
		}
		figure := "skillrouter_node_answered_total"
		if one.node == 0 {
			figure = "skillrouter_node_writes"
		}
		var took time.Duration
		answers, err := t.until(begun, func() bool {
			from := time.Now()
			err := t.search(n)
			took = time.Since(from)
			return err == nil && t.figure(n, figure) > 0
		})
		if err != nil {
			return err
		}
		peak := int64(0)
		whole, err := t.until(begun, func() bool {
			peak = max(peak, n.resident())
			text, err := os.ReadFile(n.folder + ".log")
			return err != nil || !one.reads || bytes.Contains(text, []byte("search index is whole"))
		})
		if err != nil {
			return err
		}
		time.Sleep(rest)
		fmt.Printf("%-28s listens after %v, answers a search itself after %v (in %v), knows all entries after %v; it holds %d MB, at most %d meanwhile\n", one.name,
			listens.Round(time.Millisecond), answers.Round(time.Millisecond), took.Round(time.Millisecond), whole.Round(time.Millisecond), n.resident()>>20, peak>>20)
		if one.node == 1 {
			if err := t.end(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// end stops a node as a person does.
func (t *team) end(n *node) error {
	return errors.Join(n.process.Process.Signal(syscall.SIGTERM), n.process.Wait())
}

// until waits for something to be so, and returns how long after begun it was.
func (t *team) until(begun time.Time, so func() bool) (time.Duration, error) {
	for !so() {
		if time.Since(begun) > wholeWithin {
			return 0, errors.New("a node does not come up")
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun), nil
}

// figure is one of a node's metrics; 0: it has none of the name.
func (t *team) figure(n *node, name string) float64 {
	text, err := t.call(n, http.MethodGet, "/metrics", nil)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+" ")
	digits, _, _ := strings.Cut(rest, "\n")
	value, _ := strconv.ParseFloat(digits, 64) // 0 where there is none
	return value
}

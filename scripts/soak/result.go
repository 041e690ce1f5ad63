package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// shownFaults is how many faults of a harness are printed; their number is always said.
const shownFaults = 20

// result is what a harness tried, and what was wrong.
type result struct {
	mu     sync.Mutex
	counts map[string]int
	times  map[string][]time.Duration
	faults []string
	notes  []string // what was skipped, and why
}

func newResult() *result {
	return &result{counts: map[string]int{}, times: map[string][]time.Duration{}}
}

func (r *result) count(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what] += n
}

func (r *result) time(what string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[what] = append(r.times[what], took)
}

func (r *result) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *result) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *result) faulty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.faults) > 0
}

func (r *result) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(&text, "  %-40s %d\n", what, r.counts[what])
	}
	for _, what := range slices.Sorted(maps.Keys(r.times)) {
		took := slices.Sorted(slices.Values(r.times[what]))
		at := func(p float64) time.Duration {
			return took[min(len(took)-1, int(p*float64(len(took))))].Round(100 * time.Microsecond)
		}
		fmt.Fprintf(&text, "  %-40s p50 %v, p99 %v, most %v\n", what, at(.5), at(.99), at(1))
	}
	for _, note := range r.notes {
		fmt.Fprintf(&text, "  %s\n", note)
	}
	fmt.Fprintf(&text, "  %-40s %d\n", "FAULTS", len(r.faults))
	for _, fault := range r.faults[:min(len(r.faults), shownFaults)] {
		fmt.Fprintf(&text, "    %s\n", fault)
	}
	return text.String()
}

package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// reader follows an agent's messages as a plain SSE client does: it knows
// nothing but the id of the last whole event, names it when it comes back, and
// keeps whatever it is given, also what it was given before.
type reader struct {
	agent string

	mu          sync.Mutex
	url         string
	token       string        // shown if there is one
	moved       chan struct{} // closed when url changes
	got         []received
	signals     map[string]bool
	came        chan struct{} // closed when something is got
	connections int
}

// received is a message as it was given.
type received struct {
	seq int64
	id  string
	at  time.Time
}

func newReader(agent string) *reader {
	return &reader{agent: agent, moved: make(chan struct{}), came: make(chan struct{}), signals: map[string]bool{}}
}

// at tells where the router is now.
func (r *reader) at(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.url = url
	close(r.moved)
	r.moved = make(chan struct{})
}

// follow reads until ctx ends. When a connection breaks, it waits until the
// router is somewhere else.
func (r *reader) follow(ctx context.Context) {
	last := "0"
	for {
		r.mu.Lock()
		url, moved := r.url, r.moved
		r.mu.Unlock()
		if url != "" {
			last = r.read(ctx, url, last)
		}
		select {
		case <-ctx.Done():
			return
		case <-moved:
		}
	}
}

// read reads one connection to its end and returns the id of the last whole event.
func (r *reader) read(ctx context.Context, url, last string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/messages?agent_id="+r.agent, nil)
	if err != nil {
		return last
	}
	request.Header.Set("Last-Event-ID", last)
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return last
	}
	defer answer.Body.Close()
	r.mu.Lock()
	r.connections++
	r.mu.Unlock()
	var id, name, data string
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "" && data != "":
			r.take(id, name, data)
			last, data = id, ""
		case field == "id":
			id = value
		case field == "event":
			name = value
		case field == "data":
			data = value
		}
	}
	return last
}

func (r *reader) take(id, name, data string) {
	var message struct {
		ID string `json:"message_id"`
	}
	_ = json.Unmarshal([]byte(data), &message) // a message without an id is a fault that compare finds
	seq, _ := strconv.ParseInt(id, 10, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, received{seq, message.ID, time.Now()})
	r.signals[name] = true
	close(r.came)
	r.came = make(chan struct{})
}

// waitFor waits until a signal of the name was given.
func (r *reader) waitFor(ctx context.Context, signal string, atMost time.Duration) bool {
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	for {
		r.mu.Lock()
		there, came := r.signals[signal], r.came
		r.mu.Unlock()
		if there {
			return true
		}
		select {
		case <-came:
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// compare holds what was given against the stored log and what was acknowledged.
func (r *reader) compare(log []string, stored *acknowledged) (faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	given := map[string]bool{}
	for i, m := range r.got {
		if i > 0 && m.seq <= r.got[i-1].seq {
			faults = append(faults, fmt.Sprintf("message %d came after message %d", m.seq, r.got[i-1].seq))
		}
		if given[m.id] {
			faults = append(faults, fmt.Sprintf("message %s (seq %d) came twice", m.id, m.seq))
		}
		if seq, ok := stored.signals[m.id]; ok && seq != m.seq {
			faults = append(faults, fmt.Sprintf("message %s was acknowledged as seq %d and came as %d", m.id, seq, m.seq))
		}
		given[m.id] = true
		ids = append(ids, m.id)
	}
	for id, seq := range stored.signals {
		if !given[id] {
			faults = append(faults, fmt.Sprintf("message %s (seq %d) was acknowledged to its sender and never came", id, seq))
		}
	}
	if !slices.Equal(ids, log) {
		missing := slices.DeleteFunc(slices.Clone(log), func(id string) bool { return given[id] })
		faults = append(faults, fmt.Sprintf("the reader was given %d messages, and the log holds %d, or others; it was not given %q, at %d of the log", len(ids), len(log), missing, slices.Index(log, append(missing, "")[0])))
	}
	if len(faults) > 10 {
		faults = append(faults[:10], fmt.Sprintf("… and %d faults more", len(faults)-10))
	}
	return faults
}

package main

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

// follower reads a stream as a plain SSE client does: it knows nothing but the
// id of the last whole event, names it when it comes back, and keeps whatever
// it is given, also what it was given before.
type follower struct {
	path string
	what func(data []byte) string // what tells an event from others, besides its number

	mu          sync.Mutex
	got         []event
	came        chan struct{} // closed when something is got
	connections int
}

// event is one event of a stream.
type event struct {
	seq  int64
	what string
}

func newFollower(path string, what func(data []byte) string) *follower {
	return &follower{path: path, what: what, came: make(chan struct{})}
}

// messagesOf follows what an agent is sent.
func messagesOf(agent string) *follower {
	return newFollower("/messages?agent_id="+agent, func(data []byte) string {
		var message struct {
			ID string `json:"message_id"`
		}
		_ = json.Unmarshal(data, &message) // a message without an id fits no row
		return message.ID
	})
}

// feed follows everything that happens.
func feed() *follower { return newFollower("/events", feedEvent) }

func feedEvent(data []byte) string {
	var e struct{ Type, Subject, Source string }
	_ = json.Unmarshal(data, &e)
	return e.Source + " " + e.Type + " " + e.Subject
}

// last is the id of the last whole event; "0" asks for all from the beginning.
func (f *follower) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.got) == 0 {
		return "0"
	}
	return strconv.FormatInt(f.got[len(f.got)-1].seq, 10)
}

// follow reads one connection until the router is gone or ctx ends.
func (f *follower) follow(ctx context.Context, r *router) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+f.path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Last-Event-ID", f.last())
	answer, err := (&http.Client{Transport: r.client.Transport}).Do(request) // no time limit
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is answered with %s", f.path, answer.Status)
	}
	f.mu.Lock()
	f.connections++
	f.mu.Unlock()
	var id, data string
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field, text, _ := strings.Cut(lines.Text(), ":")
		text = strings.TrimPrefix(text, " ")
		switch {
		case lines.Text() == "" && data != "":
			f.take(id, data)
			data = ""
		case field == "id":
			id = text
		case field == "data":
			data += text
		}
	}
	return nil
}

func (f *follower) take(id, data string) {
	seq, _ := strconv.ParseInt(id, 10, 64)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, event{seq, f.what([]byte(data))})
	close(f.came)
	f.came = make(chan struct{})
}

// reach waits until an event with the number, or a later one, was got.
func (f *follower) reach(ctx context.Context, seq int64, atMost time.Duration) bool {
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	for {
		f.mu.Lock()
		is, came := len(f.got) > 0 && f.got[len(f.got)-1].seq >= seq, f.came
		f.mu.Unlock()
		if is {
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

// compare compares what was got with what there is: the same, in the same order, each once.
func (f *follower) compare(want []event, out *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out.count("events of streams", len(f.got))
	out.count("connections of streams", f.connections)
	for i := range f.got {
		if i > 0 && f.got[i].seq <= f.got[i-1].seq {
			out.fault("%s: event %d comes after %d", f.path, f.got[i].seq, f.got[i-1].seq)
			return
		}
	}
	if slices.Equal(f.got, want) {
		return
	}
	for i := range max(len(f.got), len(want)) {
		if i >= len(f.got) || i >= len(want) || f.got[i] != want[i] {
			out.fault("%s: %d events were got and %d are there; the first that differ: %v and %v", f.path, len(f.got), len(want), at(f.got, i), at(want, i))
			return
		}
	}
}

func at(events []event, i int) any {
	if i < len(events) {
		return events[i]
	}
	return "none"
}

// storedMessages are the messages for the agent, as the database has them.
func storedMessages(ctx context.Context, data, agent string) (messages []event, err error) {
	db, err := openDatabase(data, "operational")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT seq, id FROM messages WHERE to_agent = ? OR to_agent = '' AND seq > (SELECT joined_seq FROM agents WHERE id = ?) ORDER BY seq", agent, agent)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e event
		if err := rows.Scan(&e.seq, &e.what); err != nil {
			return nil, err
		}
		messages = append(messages, e)
	}
	return messages, rows.Err()
}

// storedFeed is the whole feed, as pages give it.
func storedFeed(ctx context.Context, r *router) (events []event, err error) {
	var seen int64
	for {
		status, raw, err := r.call(ctx, http.MethodGet, fmt.Sprintf("/api/events?limit=500&after=%d", seen), nil)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("/api/events answers %d %w", status, err)
		}
		var page struct {
			Events []json.RawMessage
			Seen   int64
			More   bool
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			var numbered struct{ Seq int64 }
			if err := json.Unmarshal(e, &numbered); err != nil {
				return nil, err
			}
			events = append(events, event{numbered.Seq, feedEvent(e)})
		}
		if seen = page.Seen; !page.More {
			return events, nil
		}
	}
}

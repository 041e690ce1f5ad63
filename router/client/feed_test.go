package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/feed"
)

// shears cuts the first streams of events after some bytes each, wherever in
// an event that is.
type shears struct {
	cuts    []int64
	streams atomic.Int64
}

func (s *shears) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.URL.Path != "/events" {
		return answer, err
	}
	if n := s.streams.Add(1); n <= int64(len(s.cuts)) {
		answer.Body = &sheared{ReadCloser: answer.Body, left: s.cuts[n-1]}
	}
	return answer, nil
}

var errSheared = errors.New("the connection is cut")

type sheared struct {
	io.ReadCloser
	left int64
}

func (b *sheared) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errSheared
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// TestFeedFollowResumes follows a router over connections that break: each
// event comes once and in order, as the pages of the feed have them, and the
// end of the context is no error.
func TestFeedFollowResumes(t *testing.T) {
	address, owner := serve(t)
	cut := &shears{cuts: []int64{1, 3001, 700, 2222}}
	c := dial(t, address, client.Options{Token: owner, HTTPClient: &http.Client{Transport: cut}})
	const before, total = 30, 60
	add := func(i int) {
		if _, err := client.Send(t.Context(), c, operational.TaskService.Create, operational.TaskDraft{Title: fmt.Sprint("task ", i)}); err != nil {
			t.Error(err)
		}
	}
	for i := range before {
		add(i)
	}
	query := feed.Query{Types: []string{operational.EventTaskCreated}}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var got []feed.Event
	ups, downs := 0, 0
	err := c.Feed.Follow(ctx, client.FeedFollower{Query: query, Up: func() { ups++ }, Down: func(error, time.Duration) { downs++ }}, func(e feed.Event) error {
		if got = append(got, e); len(got) <= total-before {
			add(before + len(got)) // while it is followed
		}
		if len(got) == total {
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Fatalf("the context's end is told as %v", err)
	}
	query.Limit = feed.MaxLimit
	page, err := client.Send(t.Context(), c, feed.Service.Feed, query)
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Events) != total {
		t.Fatalf("the feed has %d events, want %d", len(page.Events), total)
	}
	if diff := cmp.Diff(page.Events, got); diff != "" {
		t.Errorf("what was followed is not what the feed has (-feed +followed):\n%s", diff)
	}
	if streams := cut.streams.Load(); downs != len(cut.cuts) || streams != int64(downs+1) || ups > downs+1 {
		t.Errorf("%d streams for %d cuts: %d ups, %d downs", streams, len(cut.cuts), ups, downs)
	}
}

// TestFeedFollowFromNow breaks the first connection before it bears anything:
// what happened meanwhile is not lost, and what was before does not come.
func TestFeedFollowFromNow(t *testing.T) {
	address, owner := serve(t)
	c := dial(t, address, client.Options{Token: owner, HTTPClient: &http.Client{Transport: &shears{cuts: []int64{0}}}})
	var last string
	add := func(title string) {
		task, err := client.Send(t.Context(), c, operational.TaskService.Create, operational.TaskDraft{Title: title})
		if err != nil {
			t.Error(err)
		}
		last = task.ID
	}
	query := feed.Query{Types: []string{operational.EventTaskCreated}}
	add("early")
	for page, err := client.Send(t.Context(), c, feed.Service.Feed, query); len(page.Events) == 0; page, err = client.Send(t.Context(), c, feed.Service.Feed, query) {
		if err != nil {
			t.Fatal(err)
		}
	}
	query.After = feed.Now
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	enough := errors.New("enough")
	var got []string
	err := c.Feed.Follow(ctx, client.FeedFollower{Query: query, Down: func(error, time.Duration) { add("between") }}, func(e feed.Event) error {
		got = append(got, e.Subject)
		return enough
	})
	if !errors.Is(err, enough) {
		t.Fatalf("the function's error is told as %v", err)
	}
	if diff := cmp.Diff([]string{last}, got); diff != "" {
		t.Error(diff)
	}
}

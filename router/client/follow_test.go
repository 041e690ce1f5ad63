package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

func frame(seq int64) string {
	message, _ := json.Marshal(operational.Message{Seq: seq, ID: fmt.Sprintf("m%d", seq), From: "captain", To: "a", Signal: "message"})
	return fmt.Sprintf("id: %d\nevent: message\ndata: %s\n\n", seq, message)
}

func dial(t *testing.T, address string, options client.Options) *client.Client {
	t.Helper()
	c, err := client.New(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestFollowResumes breaks the stream after every few messages, in the middle
// of a frame, and repeats some: each must still come once and in order.
func TestFollowResumes(t *testing.T) {
	const total = 200
	connections := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections++
		if r.URL.Query().Get("agent_id") != "a" {
			t.Errorf("query is %q", r.URL.RawQuery)
		}
		last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
		if connections == 1 {
			if r.Header.Get("Last-Event-ID") != "" {
				t.Errorf("the first connection names the id %s", r.Header.Get("Last-Event-ID"))
			}
		} else if err != nil {
			t.Errorf("connection %d names no id: %v", connections, err)
		}
		if connections%5 == 4 {
			http.Error(w, `{"code":"unavailable","detail":"starting"}`, http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\n\n")
		from := max(last-2, 1) // some are repeated
		for seq := from; seq <= total && seq < last+8; seq++ {
			fmt.Fprint(w, frame(seq))
		}
		if next := last + 8; next <= total {
			fmt.Fprint(w, frame(next)[:20]) // and one is cut off
		}
	}))
	defer server.Close()
	var got []int64
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ups, downs := 0, 0
	follower := client.Follower{
		AgentID: "a", After: client.FromCursor,
		Up: func() { ups++ }, Down: func(error, time.Duration) { downs++ },
	}
	err := dial(t, server.URL, client.Options{}).Mailbox.Follow(ctx, follower, func(m operational.Message) error {
		got = append(got, m.Seq)
		if m.Seq == total {
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != total {
		t.Fatalf("got %d messages over %d connections, want %d", len(got), connections, total)
	}
	for i, seq := range got {
		if seq != int64(i+1) {
			t.Fatalf("message %d has the seq %d", i, seq)
		}
	}
	if ups == 0 || downs < ups || connections != ups+connections/5+connections%5/4 {
		t.Errorf("%d connections, %d ups, %d downs", connections, ups, downs)
	}
}

func TestFollowEnds(t *testing.T) {
	mine := errors.New("mine")
	tests := []struct {
		name    string
		status  int
		body    string
		fn      func(operational.Message) error
		code    errs.Code
		is      error
		message string
	}{
		{name: "the function fails", status: 200, body: frame(1), fn: func(operational.Message) error { return mine }, is: mine},
		{name: "no token", status: 401, body: `{"code":"unauthenticated","detail":"needs a token"}`, code: errs.Unauthenticated, message: "needs a token"},
		{name: "another's mailbox", status: 403, body: `{"code":"forbidden","detail":"no"}`, code: errs.Forbidden},
		{name: "bad agent", status: 400, body: `{"code":"invalid","field":"agent_id","detail":"agent_id is bad"}`, code: errs.Invalid, message: "is bad"},
		{name: "not a message", status: 200, body: "id: 1\ndata: nonsense\n\n", code: errs.Internal},
		{name: "another's seq", status: 200, body: "id: 9\ndata: {\"seq\":3}\n\n", code: errs.Internal},
		{name: "too large", status: 200, body: "id: 1\ndata: " + strings.Repeat("x", client.MaxEvent) + "\n\n", code: errs.TooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			fn := test.fn
			if fn == nil {
				fn = func(operational.Message) error { return nil }
			}
			err := dial(t, server.URL, client.Options{}).Mailbox.Follow(t.Context(), client.Follower{AgentID: "a"}, fn)
			if test.is != nil && !errors.Is(err, test.is) || test.is == nil && errs.CodeOf(err) != test.code {
				t.Errorf("ended with %v", err)
			}
			if test.message != "" && errs.MessageOf(err) != test.message {
				t.Errorf("message is %q, want %q", errs.MessageOf(err), test.message)
			}
		})
	}
}

// transport answers requests without a network, so that time can be virtual.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFollowBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		refuse := transport(func(*http.Request) (*http.Response, error) {
			at = append(at, time.Since(start))
			return nil, errors.New("away")
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := dial(t, "http://router", client.Options{HTTPClient: &http.Client{Transport: refuse}}).
			Mailbox.Follow(ctx, client.Follower{AgentID: "a"}, func(operational.Message) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		// 0.25, 0.5, 1, 2, 4 and then 5 s, each shaken down to no less than half.
		if len(at) < 14 || len(at) > 30 {
			t.Errorf("%d attempts in a minute: %v", len(at), at)
		}
		want := 250 * time.Millisecond
		for i := 1; i < len(at); i++ {
			if wait := at[i] - at[i-1]; wait < want/2 || wait > want {
				t.Errorf("wait %d is %s, want between %s and %s", i, wait, want/2, want)
			}
			want = min(2*want, 5*time.Second)
		}
	})
}

// TestFollowNoticesSilence has a connection that bears nothing, not even the
// comments that keep it alive: it must be given up and made again.
func TestFollowNoticesSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		mute := transport(func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Since(start))
			reader, writer := io.Pipe()
			context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
			if len(at) == 1 {
				go func() { // alive for three minutes, by a comment every 15 s
					for range 12 {
						select {
						case <-time.After(15 * time.Second):
							fmt.Fprint(writer, ": alive\n\n")
						case <-r.Context().Done():
						}
					}
				}()
			}
			return &http.Response{StatusCode: 200, Body: reader, Header: http.Header{}}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := dial(t, "http://router", client.Options{HTTPClient: &http.Client{Transport: mute}}).
			Mailbox.Follow(ctx, client.Follower{AgentID: "a"}, func(operational.Message) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if len(at) != 3 {
			t.Fatalf("connections at %v, want three", at)
		}
		if at[1] < 225*time.Second || at[1] > 226*time.Second {
			t.Errorf("the silence was noticed at %s, want 45 s after the last comment", at[1])
		}
	})
}

// TestFollowSlowReader: a function that takes its time must not make a healthy stream look dead.
func TestFollowSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		body := transport(func(r *http.Request) (*http.Response, error) {
			connections++
			reader, writer := io.Pipe()
			context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
			go func() {
				fmt.Fprint(writer, frame(1))
				fmt.Fprint(writer, frame(2))
			}()
			return &http.Response{StatusCode: 200, Body: reader, Header: http.Header{}}, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := dial(t, "http://router", client.Options{HTTPClient: &http.Client{Transport: body}}).
			Mailbox.Follow(ctx, client.Follower{AgentID: "a"}, func(m operational.Message) error {
			<-time.After(2 * time.Minute)
			if m.Seq == 2 {
				cancel()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if connections != 1 {
			t.Errorf("%d connections, want one", connections)
		}
	})
}

package comms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// TestConcurrentSends sends from many goroutines, so that batches form, with
// keys that repeat inside them and some that contradict. Each accepted message
// is stored once, in an order that every subscriber sees alike.
func TestConcurrentSends(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	var subscriptions []*comms.Subscription
	for range 2 {
		s, err := h.Mailbox.Subscribe(ctx, "a1", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		subscriptions = append(subscriptions, s)
	}
	const senders, each = 40, 25
	var mu sync.Mutex
	seqs, keys := []int64{}, map[string]int64{}
	duplicates, conflicts := 0, 0
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			for i := range each {
				d := operational.MessageDraft{From: fmt.Sprint("s", sender), To: "a1", Signal: "x"}
				if i%5 == 0 { // all senders share one name and key for these
					d.From, d.IdempotencyKey = "shared", fmt.Sprint("k", i)
					if sender%10 == 9 {
						d.Context = json.RawMessage(`{"other":true}`)
					}
				}
				sent, err := h.Mailbox.Send(ctx, d)
				mu.Lock()
				switch {
				case errs.CodeOf(err) == errs.Conflict:
					conflicts++
				case err != nil:
					t.Error(err)
				case sent.Duplicate:
					duplicates++
					if known, ok := keys[d.IdempotencyKey]; ok && known != sent.Seq {
						t.Errorf("key %s stands for %d and %d", d.IdempotencyKey, known, sent.Seq)
					}
					keys[d.IdempotencyKey] = sent.Seq
				default:
					seqs = append(seqs, sent.Seq)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(seqs)
	if want := senders*each*4/5 + each/5; len(seqs) != want || len(slices.Compact(slices.Clone(seqs))) != want {
		t.Errorf("%d messages were stored, want %d", len(seqs), want)
	}
	if want := (senders - 1) * each / 5; duplicates+conflicts != want || conflicts == 0 || duplicates == 0 {
		t.Errorf("%d duplicates and %d conflicts, together want %d", duplicates, conflicts, want)
	}
	for _, s := range subscriptions {
		var got []int64
		for len(got) < len(seqs) {
			posts, err := s.Take(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(posts) == 0 {
				<-s.Ready()
			}
			for _, p := range posts {
				got = append(got, p.Seq)
			}
		}
		if !slices.Equal(got, seqs) {
			t.Errorf("a subscriber got %d messages that are not those in order", len(got))
		}
	}
}

// TestLaggingSubscriberReadsTheLog lets a subscriber take nothing while more
// is sent than its queue holds.
func TestLaggingSubscriberReadsTheLog(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	s, err := h.Mailbox.Subscribe(ctx, "a1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if posts, err := s.Take(ctx); err != nil || len(posts) != 0 {
		t.Fatalf("the empty log gives %d messages (%v)", len(posts), err)
	}
	const count = 9000
	var handed int
	var mu sync.Mutex
	var all sync.WaitGroup
	for sender := range 50 {
		all.Go(func() {
			for i := range count / 50 {
				d := operational.MessageDraft{From: "b", To: "a1", Signal: "x"}
				if (sender+i)%3 == 0 {
					d.To = ""
				}
				sent, err := h.Mailbox.Send(ctx, d)
				if err != nil {
					t.Error(err)
				}
				if sent.Delivered {
					mu.Lock()
					handed++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if handed == 0 || handed > 300 {
		t.Errorf("%d messages count as delivered to a subscriber that takes none", handed)
	}
	var last int64
	for got := 0; got < count; {
		posts, err := s.Take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(posts) == 0 {
			t.Fatalf("after %d of %d messages there are no more", got, count)
		}
		for _, p := range posts {
			if p.Seq != last+1 {
				t.Fatalf("message %d follows %d", p.Seq, last)
			}
			last = p.Seq
			got++
		}
	}
}

// TestFollowerHandsOnWhatItKnows: a router that follows another reads no further in the log than it was told of, and misses nothing then.
func TestFollowerHandsOnWhatItKnows(t *testing.T) {
	writer := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx, log := captain(t), slog.New(slog.DiscardHandler)
	send := func() int64 {
		t.Helper()
		sent, err := writer.Mailbox.Send(ctx, operational.MessageDraft{From: "s", To: "a1", Signal: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return sent.Seq
	}
	if _, err := writer.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1"}); err != nil {
		t.Fatal(err)
	}
	first := send()
	presence, err := comms.NewPresence(t.Context(), writer.Store, nil, time.Now, log, comms.PresenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	follower, err := comms.NewMailbox(t.Context(), presence, writer.Store, log, comms.MailboxOptions{Listens: func(context.Context, string) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := follower.Subscribe(ctx, "a1", &comms.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	second := send()
	taken := func() (seqs []int64) {
		t.Helper()
		for {
			posts, err := s.Take(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(posts) == 0 {
				return seqs
			}
			for _, p := range posts {
				seqs = append(seqs, p.Seq)
			}
		}
	}
	if got := taken(); !slices.Equal(got, []int64{first}) {
		t.Errorf("it handed on %v, and was told of %d", got, first)
	}
	if err := follower.Follow(ctx, second); err != nil {
		t.Fatal(err)
	}
	if got := taken(); !slices.Equal(got, []int64{second}) {
		t.Errorf("told of %d it handed on %v", second, got)
	}
}

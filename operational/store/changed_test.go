package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// TestWhatWaitsIsNumbered makes each write after which another number of messages waits for an
// agent: its row gets a number above all others', and no other write gives it one.
func TestWhatWaitsIsNumbered(t *testing.T) {
	s, db := openStore(t)
	now := testClock()
	numbers := func() map[string]int64 {
		var rows []struct {
			ID      string
			Changed int64
		}
		if err := db.Read.Raw("SELECT id, changed FROM agents").Scan(&rows).Error; err != nil {
			t.Fatal(err)
		}
		found := map[string]int64{}
		for _, r := range rows {
			found[r.ID] = r.Changed
		}
		return found
	}
	for _, id := range []string{"a", "b"} {
		agent := operational.Agent{ID: id, State: operational.AgentOnline, StartedAt: now(), LastSeen: now(), CreatedAt: now()}
		if err := s.CreateAgent(t.Context(), agent, nil, eventlog.Event{Type: "agent.created", Subject: id, At: now()}, func(operational.AgentRecord, bool) {}); err != nil {
			t.Fatal(err)
		}
	}
	var batch []*operational.MessageAppend
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		batch = append(batch, &operational.MessageAppend{Message: operational.Message{ID: id, From: "b", To: "a", Signal: "hello", CreatedAt: now()}})
	}
	if err := s.AppendMessages(t.Context(), func() []*operational.MessageAppend { return batch }, nil); err != nil {
		t.Fatal(err)
	}
	mark := func(kind operational.MarkKind, seq int64, ids ...string) func() error {
		return func() error {
			return s.Mark(t.Context(), operational.MarkRequest{AgentID: "a", Kind: kind, Seq: seq, IDs: ids, At: now()}, func(operational.Marked) {})
		}
	}
	for _, c := range []struct {
		name  string
		write func() error
		moves bool
	}{
		{"acknowledged up to one", mark(operational.MarkAcked, batch[0].Message.Seq), true},
		{"acknowledged again", mark(operational.MarkAcked, batch[0].Message.Seq), false},
		{"one by itself, behind a gap", mark(operational.MarkAcked, 0, "m3"), true},
		{"that one again", mark(operational.MarkAcked, 0, "m3"), false},
		{"the one in the gap", mark(operational.MarkAcked, 0, "m2"), true},
		{"read", mark(operational.MarkRead, batch[3].Message.Seq), false},
		{"delivered", func() error {
			return s.SaveDeliveries(t.Context(), []operational.Delivery{{AgentID: "a", Seq: batch[3].Message.Seq, Through: true, At: now()}})
		}, false},
		{"seen", func() error { return s.SaveSeen(t.Context(), []operational.Seen{{AgentID: "a", At: now()}}) }, false},
		{"joined earlier", func() error { return s.LowerJoined(t.Context(), "a", -1, func() {}) }, true},
		{"joined no earlier", func() error { return s.LowerJoined(t.Context(), "a", 5, func() {}) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := numbers()
			if err := c.write(); err != nil {
				t.Fatal(err)
			}
			after := numbers()
			if moved := after["a"] > slices.Max(slices.Collect(maps.Values(before))); moved != c.moves || !moved && after["a"] != before["a"] {
				t.Errorf("the numbers were %v and are %v", before, after)
			}
			if after["b"] != before["b"] {
				t.Errorf("the other agent's number moved from %d to %d", before["b"], after["b"])
			}
		})
	}
}

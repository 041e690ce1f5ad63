package comms_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// FuzzSignal decodes a signal as it comes over the wire. What is accepted must
// make a sound server-sent event, and the same JSON as the message itself.
func FuzzSignal(f *testing.F) {
	for _, seed := range []string{
		`{"from_agent_id":"a","signal":"stop"}`,
		`{"from_agent_id":"a","to_agent_id":"b","signal":"message","context":{"reason":"x\ny","n":[1,2,{"a":null}]},"ttl_seconds":5,"priority":-3}`,
		`{"from_agent_id":"a","signal":"x\ndata: y"}`,
		`{"from_agent_id":"a","signal":"pause\r"}`,
		`{"from_agent_id":"a","signal":"\u2028"}`,
		`{"from_agent_id":"a","signal":"x","context":[1]}`,
		`{"from_agent_id":"a","signal":"x","context":"{}"}`,
		`{"from_agent_id":"a","signal":"x","context": { } }`,
		`{"from_agent_id":"a","signal":"x","context":{"a":"\u0000\ud800<&>"}}`,
		`{"from_agent_id":"агент","signal":"сигнал"}`,
		`{"from_agent_id":"a","signal":"x","ttl_seconds":9223372036854775807}`,
	} {
		f.Add([]byte(seed), int64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seq int64) {
		var draft operational.MessageDraft
		if json.Unmarshal(text, &draft) != nil {
			return
		}
		m, body, err := comms.Frame(draft, seq, time.UnixMilli(1_700_000_000_000))
		if err != nil {
			if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge {
				t.Fatalf("the draft is refused as %s: %v", code, err)
			}
			return
		}
		if m.Signal == "" || bytes.ContainsAny([]byte(m.Signal), "\r\n\x00") || !utf8.ValidString(m.Signal) {
			t.Errorf("the event would be named %q", m.Signal)
		}
		if bytes.ContainsAny(body, "\r\n") {
			t.Errorf("the data would hold a line break: %q", body)
		}
		if m.ExpiresAt != nil && !m.ExpiresAt.After(m.CreatedAt) {
			t.Errorf("the message expires at %v", m.ExpiresAt)
		}
	})
}

var agentID = regexp.MustCompile(`\A[A-Za-z0-9._:-]{1,64}\z`)

func FuzzAgentID(f *testing.F) {
	for _, seed := range []string{"", "a", "agent-1", "a b", "a\n", "\x00", "агент", "a/../b", string(bytes.Repeat([]byte("x"), 65))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		err := check.AgentID("agent_id", id)
		if got, want := err == nil, agentID.MatchString(id); got != want {
			t.Errorf("%q: accepted %v, want %v", id, got, want)
		}
	})
}

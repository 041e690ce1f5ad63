package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/client"
)

const (
	// demoSignals is how many signals are sent over the router's death.
	demoSignals = 200
	// demoPatience bounds the wait for what takes milliseconds on a machine that is not overloaded.
	demoPatience = 30 * time.Second
)

// signalling: one agent follows its messages, another sends one.
func (t *tour) signalling(ctx context.Context) {
	t.chapter("3. Signalling")
	t.say("Two agents. The reviewer follows its messages over a stream that stays open:")
	t.follow(ctx, "reviewer")
	t.say("The builder tells it something:")
	said := t.run(ctx, exitDone, "signal", "reviewer", "review", "--from", "builder", "--text", "branch cache is ready")
	t.claim(strings.Contains(said, "delivered"), "a listening agent is handed the signal at once")
	if !t.until(ctx, "the reviewer has the signal", func() bool { return len(t.received()) == 1 }) {
		return
	}
	t.say("The reviewer's stream printed:")
	t.indented(t.received()[0].line)
	t.rest(ctx)
}

// resuming: the router is killed while signals are sent. What was acknowledged
// to the sender arrives, once and in order, and what was learned is still there.
func (t *tour) resuming(ctx context.Context) {
	t.chapter("4. Resuming")
	t.say(fmt.Sprintf("The builder sends %d signals. In the midst of them the router is killed, as by a power cut:", demoSignals))
	c, err := t.client()
	if t.fail(err) {
		return
	}
	acknowledged, refused := []int64{t.received()[0].seq}, 0
	for n := range demoSignals {
		if n == demoSignals/2 {
			t.indented(fmt.Sprintf("$ kill -9 %d      # after %d signals", t.router.Process.Pid, n))
			if t.fail(t.kill()) {
				return
			}
			_, err := t.send(ctx, c, n)
			t.claim(skillrouter.CodeOf(err) == skillrouter.Unavailable, "a router that was killed acknowledges nothing")
			refused++
			t.indented("$ skillrouter serve &   # at the same address, on the same folder")
			t.start(ctx, t.address())
		}
		seq, err := t.send(ctx, c, n)
		if t.fail(err) {
			return
		}
		acknowledged = append(acknowledged, seq)
	}
	if !t.until(ctx, "the reviewer's stream has resumed and has every signal", func() bool { return len(t.received()) >= len(acknowledged) }) {
		return
	}
	var got []int64
	for _, message := range t.received() {
		got = append(got, message.seq)
	}
	t.indented(fmt.Sprintf("acknowledged to the builder: %d, refused while the router was away: %d", len(acknowledged), refused))
	t.indented(fmt.Sprintf("received by the reviewer:    %d, lost: %d, repeated: %d, in order: %t", len(got), lost(acknowledged, got), repeated(got), slices.IsSorted(got)))
	t.claim(slices.Equal(acknowledged, got), "every acknowledged signal arrives once and in order")
	t.rest(ctx)
	t.say("What was learned is there too, and the rule holds:")
	said := t.run(ctx, exitRefused, "check", "--agent", "dana", "--", demoMistake)
	t.claim(strings.Contains(said, "BLOCKED"), "the rule outlives the router")
}

// send sends the reviewer a signal and returns its number.
func (t *tour) send(ctx context.Context, c *client.Client, n int) (int64, error) {
	text, err := json.Marshal(map[string]int{"n": n})
	if err != nil {
		return 0, err
	}
	sent, err := c.Mailbox.Send(ctx, operational.MessageDraft{From: "builder", To: "reviewer", Signal: "tick", Context: text})
	return sent.Seq, err
}

// lost counts the numbers that did not arrive.
func lost(sent, got []int64) (n int) {
	for _, seq := range sent {
		if !slices.Contains(got, seq) {
			n++
		}
	}
	return n
}

// repeated counts the numbers that arrived more than once.
func repeated(got []int64) int {
	return len(got) - len(slices.Compact(slices.Sorted(slices.Values(got))))
}

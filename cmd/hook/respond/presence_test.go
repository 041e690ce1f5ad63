package respond

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/operational"
)

// TestHeardAsTimeIsUp has a check-in answered when the time for it is up too: what it brought is told.
func TestHeardAsTimeIsUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		a := &attendance{begun: time.Now().Add(-toldTime), done: make(chan struct{})}
		close(a.done)
		if err := a.wait(ctx, toldTime); err != nil || !a.heard {
			t.Fatalf("heard: %t, %v", a.heard, err)
		}
	}
}

// TestOneHookTellsAMessage has two hooks run at once: the second tells nothing until the first has told, or did not come to its end.
func TestOneHookTellsAMessage(t *testing.T) {
	path, h := filepath.Join(t.TempDir(), "agent"), new(Hook)
	if !h.claims(path) || h.claims(path) {
		t.Fatal("both hooks tell it")
	}
	h.release(path)
	if !h.claims(path) {
		t.Fatal("nobody tells what comes next")
	}
	before := time.Now().Add(-tellTime - time.Second)
	if err := os.Chtimes(path+".telling", before, before); err != nil {
		t.Fatal(err)
	}
	if !h.claims(path) {
		t.Error("a hook that was killed keeps all others silent")
	}
	if !h.claims("") || !h.claims(filepath.Join(t.TempDir(), "no", "folder")) {
		t.Error("without a folder nothing is told")
	}
}

// TestRoutersMailIsASentence: of the router's own mail a model is told the text, and of an agent's all that it says.
func TestRoutersMailIsASentence(t *testing.T) {
	message := func(from string) comms.InboxMessage {
		return comms.InboxMessage{Message: operational.Message{Seq: 1, From: from, To: "a", Signal: "reminder", Context: json.RawMessage(`{"fired":1,"task":"check the canary"}`)}}
	}
	for from, want := range map[string]string{operational.RouterName: "signal reminder: check the canary\n", "bob": `signal reminder: {"fired":1,`} {
		a := &attendance{heard: true, h: new(Hook), messages: []comms.InboxMessage{message(from)}}
		if _, mail := a.spoken(); !strings.Contains(mail, want) {
			t.Errorf("from %s: %s", from, mail)
		}
	}
}

package llm

import (
	"encoding/json"
	"testing"
)

// FuzzConversation: what is put into a body leaves it valid, and takes nothing away.
func FuzzConversation(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"system","content":"a\""},{"role":"user","content":"hi"}]}`), "memory \"x\"\n\xff")
	f.Add([]byte(`{"messages":[{"role":"system","content":[ ]},{"role":"user","content":[{"type":"text","text":"hi"}]}],"messages":[]}`), "")
	f.Add([]byte(`{"messages":[{"role":"developer"}], "tools":[1]}`), "a")
	f.Fuzz(func(t *testing.T, body []byte, text string) {
		c, err := parseConversation(body)
		if err != nil {
			return
		}
		_, _, _ = c.question(), c.lastSaid(), c.tokens()
		with := c.with(text)
		if !json.Valid(with) {
			t.Fatalf("%s\nbecame\n%s", body, with)
		}
		if len(with) < len(body) {
			t.Fatal("something is gone")
		}
		again, err := parseConversation(with)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(again.turns) - len(c.turns); n < 0 || n > 1 {
			t.Errorf("%d turns became %d", len(c.turns), len(again.turns))
		}
		if again.question() != c.question() {
			t.Errorf("the question %q became %q", c.question(), again.question())
		}
	})
}

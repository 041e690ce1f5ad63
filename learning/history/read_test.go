package history_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/history"
)

// TestReaderIgnoresOtherTypes: a member that an agent writes in another form costs no step, and a line beyond the bound is passed over.
func TestReaderIgnoresOtherTypes(t *testing.T) {
	call := func(more, id string) string {
		return `{"type":"assistant","sessionId":"s",` + more + `"message":{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"make ` + id + `"}}]}}` + "\n" +
			`{"type":"user","sessionId":"s",` + more + `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"ok"}]}}` + "\n"
	}
	text := call("", "a") + call(`"id":7,"at":12,"role":{},`, "b") + `{"x":"` + strings.Repeat("y", history.MaxLine) + `"}` + "\n" + "no JSON\n" + strings.TrimSuffix(call("", "c"), "\n")
	var commands []string
	reader := history.NewReader(func(f history.Found) error {
		commands = append(commands, f.Command)
		return nil
	})
	if err := reader.Read(strings.NewReader(text)); err != nil || strings.Join(commands, ", ") != "make a, make b, make c" {
		t.Errorf("read %q, %v", commands, err)
	}
}

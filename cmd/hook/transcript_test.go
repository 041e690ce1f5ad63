package hook_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

// TestTranscriptCalls reads uses of tools in the order in which they ended, and passes over all else.
func TestTranscriptCalls(t *testing.T) {
	lines := []byte(`{"message":{"content":[{"type":"tool_result","tool_use_id":"before","content":"its beginning is not here"}]}}
{"message":{"role":"user","content":"say \"tool_use\" to me"}}
{"message":{"content":[{"type":"text","text":"I run two."},{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"b","name":"Read","input":{"file_path":"/x"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"text"}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"}]}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"a second end of the same"}]}}
{"message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"still runs"}}]}}
{"message":{"content":[{"type":"tool_use","id":`)
	calls := hook.TranscriptCalls(lines)
	if len(calls) != 2 || calls[0].ToolUse != "b" || calls[0].Failed || calls[1].ToolUse != "a" || !calls[1].Failed || calls[1].Args["command"] != "make" {
		t.Errorf("%+v", calls)
	}
}

func FuzzTranscriptCalls(f *testing.F) {
	f.Add([]byte(`{"message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}},{"type":"tool_result","tool_use_id":"a","is_error":true}]}}`))
	f.Add([]byte("{\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":null,\"input\":[]}]}}\n\x00\xff"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		seen := map[string]bool{}
		for _, call := range hook.TranscriptCalls(lines) {
			if seen[call.ToolUse] {
				t.Errorf("%q ended twice", call.ToolUse)
			}
			seen[call.ToolUse] = true
		}
	})
}

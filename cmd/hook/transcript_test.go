package hook_test

import (
	"slices"
	"testing"

	"skillrouter/cmd/hook"
)

// TestTranscriptUses reads which uses of tools went well, by their first end, and passes over all else.
func TestTranscriptUses(t *testing.T) {
	lines := []byte(`{"message":{"role":"user","content":"say \"tool_result\" to me"}}
{"message":{"content":[{"type":"text","text":"I run two."},{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"b","name":"Read","input":{"file_path":"/x"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"text"}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"}]}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"a second end of the same"}]}}
{"message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"still runs"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":`)
	if uses := hook.TranscriptUses(lines); !slices.Equal(uses, []string{"b"}) {
		t.Errorf("%q", uses)
	}
}

func FuzzTranscriptUses(f *testing.F) {
	f.Add([]byte(`{"message":{"content":[{"type":"tool_use","id":"a","name":"Bash"},{"type":"tool_result","tool_use_id":"a","is_error":true}]}}`))
	f.Add([]byte("{\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":null}]}}\n\x00\xff"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		uses := hook.TranscriptUses(lines)
		if slices.Sort(uses); len(slices.Compact(slices.Clone(uses))) != len(uses) {
			t.Errorf("one ended twice: %q", uses)
		}
	})
}

package history_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/history"
)

// TestAgentsTranscripts reads what Claude Code 2.1.330, Codex 0.169 and Gemini CLI
// 0.61 themselves keep of a session (shortened). Of what their programs put into
// it, reminders, instructions, copies of what was sent to the model, nobody said
// anything: Claude's named its model as a fact of the project at each session (D10).
func TestAgentsTranscripts(t *testing.T) {
	t.Parallel()
	const listens = "The API listens on port 8080."
	const missing = "cat: no-such-file-xyz.txt: No such file or directory"
	for _, tc := range []struct {
		file string
		want []history.Turn
	}{
		{"claude", []history.Turn{
			{Role: "user", Content: "Look at the API"},
			{Role: "assistant", Content: "Let me look."},
			{Role: "assistant", Content: "$ cat no-such-file-xyz.txt; exit 3"},
			{Role: "tool", Content: "[the tool failed]\nExit code 3\n" + missing},
			{Role: "assistant", Content: listens},
		}},
		{"codex", []history.Turn{
			{Role: "user", Content: "go"},
			{Role: "assistant", Content: "Let me look."},
			{Role: "assistant", Content: "$ cat no-such-file-xyz.txt; exit 3"},
			{Role: "tool", Content: "[the tool failed]\n" + missing},
			{Role: "assistant", Content: "$ echo fine"},
			{Role: "tool", Content: "fine"},
			{Role: "assistant", Content: "$ false"},
			{Role: "tool", Content: "[the tool failed]"},
			{Role: "assistant", Content: "$ sh -c 'echo boom >&2; exit 7'"},
			{Role: "tool", Content: "[the tool failed]\nboom"},
			{Role: "assistant", Content: listens},
		}},
		{"gemini", []history.Turn{
			{Role: "user", Content: "Look at the API"},
			{Role: "assistant", Content: "Let me look."},
			{Role: "assistant", Content: "$ cat no-such-file-xyz.txt; exit 3"},
			{Role: "tool", Content: "<untrusted_context>\nOutput: " + missing + "\nExit Code: 3\nProcess Group PGID: 30025\n</untrusted_context>"},
			{Role: "assistant", Content: "$ kill -9 $$"},
			{Role: "tool", Content: "<untrusted_context>\nOutput: (empty)\nSignal: 9\nProcess Group PGID: 30036\n</untrusted_context>"},
			{Role: "assistant", Content: listens},
		}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "agents", tc.file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := history.ReadTranscript(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].At = nil
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", tc.file, diff)
		}
		facts := ""
		for _, draft := range extract(t, string(text)) {
			line, err := json.Marshal(draft)
			if err != nil {
				t.Fatal(err)
			}
			facts += string(line) + "\n"
		}
		if !strings.Contains(facts, "8080") {
			t.Errorf("%s: what was said is not proposed:\n%s", tc.file, facts)
		}
		for _, nobodys := range []string{"model", "window", "200000"} {
			if strings.Contains(facts, nobodys) {
				t.Errorf("%s: what nobody said is proposed:\n%s", tc.file, facts)
			}
		}
	}
}

package history_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/history"
)

// TestRulesEndOnHostileTranscripts gives the rules what is large in each way in
// which something is repeated. It is held to ending at all: a pass that is not
// linear would take minutes.
func TestRulesEndOnHostileTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much of it")
	}
	for name, line := range map[string]string{
		"statements": "The port of x is 8080 and the y is not 5; it's 9.\n", "commands": "$ make a\nError: no\n", "fences": "```bash\nls\n```\n",
		"prompts": "user@host:~ $ \n", "braces": "{\"command\":\n", "backticks": "`", "spaces": strings.Repeat(" ", 100) + "\n", "labels": "**User:** a\n",
	} {
		t.Run(name, func(t *testing.T) {
			turn := history.Turn{Role: "user", Content: strings.Repeat(line, (1<<18)/len(line))}
			drafts, err := history.Rules{}.Extract(t.Context(), history.Transcript{Turns: []history.Turn{turn, {Role: "assistant", Content: turn.Content}}})
			if err != nil || len(drafts) > 1000 {
				t.Errorf("%d drafts, %v", len(drafts), err)
			}
		})
	}
}

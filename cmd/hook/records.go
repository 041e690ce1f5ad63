package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// transcriptLine is a line of the file in which Claude Code keeps a session, as far as uses of tools go.
type transcriptLine struct {
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// transcriptBlock is a use of a tool, or what came of one.
type transcriptBlock struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"` // of a use
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`

	ToolUse string `json:"tool_use_id"` // of what came of one
	Failed  bool   `json:"is_error"`
}

// TranscriptCalls are the uses of tools that came to their end by Claude Code's own record of its session, in the order
// in which they ended. A use that a person refused counts as failed. Lines of other kinds, and uses whose beginning is not
// among the lines, are passed over.
func TranscriptCalls(lines []byte) (ended []Call) {
	begun, done := map[string]Call{}, map[string]bool{} // a record that was resumed may have a line twice
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, []byte(`"tool_use`)) { // most lines are of other kinds
			continue
		}
		var l transcriptLine
		var blocks []transcriptBlock
		if json.Unmarshal(line, &l) != nil || json.Unmarshal(l.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				begun[b.ID] = Call{ToolUse: b.ID, Tool: b.Name, Args: b.Input}
			case "tool_result":
				if call, found := begun[b.ToolUse]; found && !done[b.ToolUse] {
					done[b.ToolUse] = true
					call.Failed = b.Failed
					ended = append(ended, call)
				}
			}
		}
	}
	return ended
}

// rolloutLine is a line of the file in which Codex keeps a session. Of its many
// kinds those count that say how something ended.
type rolloutLine struct {
	Type    string `json:"type"`
	Payload struct {
		Type string `json:"type"`
		Item struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			Status string `json:"status"`

			Command  []string `json:"command"` // of a command, as it was started: a shell, -lc, the words
			Dir      string   `json:"cwd"`     // a URL
			Output   string   `json:"aggregated_output"`
			ExitCode *int     `json:"exit_code"`
		} `json:"item"`
	} `json:"payload"`
}

// RolloutFailures are the commands that failed by Codex's own record of its
// session: its hooks are given what a command wrote and not how it ended. Lines that are
// none are passed over; what a hook or a person refused did not fail.
func RolloutFailures(lines []byte) []Call {
	var failed []Call
	for line := range bytes.Lines(lines) {
		// Most lines are long and of other kinds.
		if !bytes.Contains(line, []byte(`"item_completed"`)) || !bytes.Contains(line, []byte(`"failed"`)) {
			continue
		}
		var l rolloutLine
		if json.Unmarshal(line, &l) != nil || l.Type != "event_msg" || l.Payload.Type != "item_completed" {
			continue
		}
		item := l.Payload.Item
		if item.Status != "failed" || item.Type != "CommandExecution" || item.ExitCode == nil || *item.ExitCode == 0 {
			continue
		}
		dir := strings.TrimPrefix(item.Dir, "file://")
		failed = append(failed, Call{ToolUse: item.ID, Tool: "Bash", Dir: dir, Args: map[string]any{"command": typed(item.Command), "cwd": dir}, Failed: true, Failure: item.Output})
	}
	return failed
}

// typed is a command as it was asked for: what a shell was started with is that
// shell's.
func typed(words []string) string {
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

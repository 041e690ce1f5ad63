package hook

import (
	"bytes"
	"encoding/json"
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
// in which they ended. What a person refused stands there as failed. Lines that are none, and uses whose beginning is not
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

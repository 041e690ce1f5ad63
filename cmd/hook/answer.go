package hook

import (
	"bytes"
	"encoding/json"
)

// Verdict is what the guard says of a tool's use.
type Verdict int

// The verdicts.
const (
	Pass  Verdict = iota // nothing is said: what the agent and its person decide holds
	Warn                 // it is let through, with a note to whoever can read one
	Block                // it is not let through
)

// Answer is what a hook writes and exits with. The zero Answer says nothing.
type Answer struct {
	Out, Err string // for standard output and standard error
	Code     int
}

// exitBlocked tells an agent that the use of a tool is refused.
const exitBlocked = 2

// Judge is the answer to PreToolUse. The reason stands on lines of its own and
// is meant for the model; a Pass needs none.
func (d Dialect) Judge(verdict Verdict, reason string) Answer {
	if verdict == Pass {
		return Answer{}
	}
	block := verdict == Block
	switch d {
	case ClaudeCode, Codex, OpenCode:
		said := map[string]any{"hookEventName": "PreToolUse"}
		if block {
			said["permissionDecision"], said["permissionDecisionReason"] = "deny", reason
			return written(map[string]any{"hookSpecificOutput": said})
		}
		// No decision: a warning must not take the place of the person's permission.
		said["additionalContext"] = reason
		return written(map[string]any{"hookSpecificOutput": said, "systemMessage": reason})
	case Gemini:
		if block {
			return written(map[string]any{"decision": "deny", "reason": reason})
		}
		return written(map[string]any{"systemMessage": reason})
	case Cursor:
		if block {
			return written(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason})
		}
		// "allow" would skip the person's own list; a warning is for them to weigh.
		return written(map[string]any{"permission": "ask", "user_message": reason, "agent_message": reason})
	}
	if block {
		return Answer{Err: reason + "\n", Code: exitBlocked}
	}
	return Answer{Err: reason + "\n"}
}

// Inject is the answer to SessionStart and UserPrompt: a text for the model. An
// empty one says nothing.
func (d Dialect) Inject(event Event, text string) Answer {
	if text == "" {
		return Answer{}
	}
	switch d {
	case ClaudeCode, Codex, Gemini, OpenCode:
		name := "SessionStart"
		if event == UserPrompt {
			name = "UserPromptSubmit"
			if d == Gemini {
				name = "BeforeAgent"
			}
		}
		return written(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": name, "additionalContext": text}})
	case Cursor:
		if event == UserPrompt {
			return Answer{} // Cursor takes no context there
		}
		return written(map[string]any{"additional_context": text})
	}
	return Answer{Out: text}
}

// written is an answer of one JSON object on one line.
func written(object map[string]any) Answer {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // the marks of the fence stay readable
	if err := encoder.Encode(object); err != nil {
		return Answer{}
	}
	return Answer{Out: out.String()}
}

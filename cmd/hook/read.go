package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Call is what an agent told its hook, whatever its dialect.
type Call struct {
	Session    string         // the agent's own id of its session; may be empty
	Dir        string         // the folder that the agent works in; may be empty
	Transcript string         // file of the session's transcript; may be empty
	Tool       string         // the tool's name
	ToolUse    string         // the agent's own id of this use; empty in most dialects
	Args       map[string]any // what the tool is called with
	Unread     string         // the words of what was left out of the arguments, because they are too long
	Prompt     string         // what a person asked
	Source     string         // how a session began: startup, resume, clear or compact; empty in most messages
	Model      string         // the model that the agent uses; empty in most messages
	Failed     bool           // the tool's use failed
	Stopped    bool           // a person stopped it: no failure of the tool's
	Failure    string         // what was said of it
	Subagent   string         // the agent's own id of the subagent that it happens in; empty: in the agent itself
	Kind       string         // what the agent calls that kind of subagent
	Continued  bool           // this turn was given to the agent by a hook at the end of the one before

	// Messages are the session's transcript itself, a list of messages in JSON, from
	// agents that keep none in a file; nil in all other messages.
	Messages json.RawMessage
	Partial  bool // earlier messages are left out of them
}

// message holds the fields of every dialect's messages.
type message struct {
	Session      string          `json:"session_id"`
	Conversation string          `json:"conversation_id"` // Cursor
	Dir          string          `json:"cwd"`
	Roots        []string        `json:"workspace_roots"` // Cursor
	Transcript   *string         `json:"transcript_path"`
	Tool         string          `json:"tool_name"`
	ToolUse      string          `json:"tool_use_id"`
	Input        json.RawMessage `json:"tool_input"`
	Response     json.RawMessage `json:"tool_response"`
	Output       json.RawMessage `json:"tool_output"` // Cursor, opencode
	Command      string          `json:"command"`     // Cursor's shell events
	ShellOutput  string          `json:"output"`
	Prompt       string          `json:"prompt"`
	Subagent     string          `json:"agent_id"`
	Kind         string          `json:"agent_type"`
	Source       string          `json:"source"`
	Model        json.RawMessage `json:"model"`
	Error        json.RawMessage `json:"error"`
	ErrorMessage string          `json:"error_message"` // Cursor
	FailureType  string          `json:"failure_type"`
	Interrupted  bool            `json:"is_interrupt"`
	Continued    bool            `json:"stop_hook_active"`
	Messages     json.RawMessage `json:"transcript"` // opencode, at the end of a session
	Partial      bool            `json:"transcript_partial"`
}

// shellTool is the name that a command has as a tool where the dialect gives it none.
const shellTool = "Shell"

// Read reads an agent's message on an event, as Message gives it. What it cannot understand is an
// error, which a hook lets pass; before the use of a tool, the words of the message are still judged.
func Read(event Event, text []byte) (Call, error) {
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return Call{}, fmt.Errorf("the message is not understood: %w", err)
	}
	c := Call{Session: m.Session, Dir: m.Dir, Tool: m.Tool, ToolUse: m.ToolUse, Prompt: safetext.Said(m.Prompt), Source: m.Source, Model: word(m.Model), Stopped: m.Interrupted, Continued: m.Continued, Subagent: m.Subagent, Kind: m.Kind}
	if event == SessionEnd || event == PreCompact {
		c.Messages, c.Partial = m.Messages, m.Partial
	}
	c.Session = cmp.Or(c.Session, m.Conversation)
	if c.Dir == "" && len(m.Roots) > 0 {
		c.Dir = m.Roots[0]
	}
	if m.Transcript != nil {
		c.Transcript = *m.Transcript
	}
	c.Args = object(m.Input)
	c.Unread = shorten(c.Args)
	if c.Tool == "" && m.Command != "" {
		c.Tool, c.Args = shellTool, map[string]any{"command": m.Command}
	}
	if c.Tool != "" && c.Dir != "" && c.Args != nil {
		if _, has := c.Args["command"]; has && c.Args["cwd"] == nil {
			c.Args["cwd"] = c.Dir
		}
	}
	switch event {
	case PostFailure:
		c.Failed = true
		c.Failure = first(m.ErrorMessage, plain(m.Error), plain(m.Response), plain(m.Output))
		c.Stopped = c.Stopped || m.FailureType == "permission_denied"
	case PostToolUse:
		for _, response := range []json.RawMessage{m.Response, m.Output} {
			if failed, said := failure(response, 0); failed {
				c.Failed, c.Failure = true, said
				break
			}
		}
		if _, shell := c.Args["command"]; shell && !c.Failed {
			c.Failed, c.Failure = geminiFailure(m.Response)
		}
	}
	return c, nil
}

// object reads an object, or a string that holds one.
func object(raw json.RawMessage) map[string]any {
	var args map[string]any
	if json.Unmarshal(raw, &args) == nil {
		return args
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if json.Unmarshal([]byte(text), &args) == nil {
			return args
		}
		return map[string]any{"input": text}
	}
	return nil
}

// word is a value that is a string, or empty.
func word(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// maxNesting is how deep a failure is looked for: codes stand in the answer
// itself or in its metadata.
const maxNesting = 3

// failure tells whether a tool's answer says that it failed, by the marks that
// agents have for it: an error, an exit code, "success": false.
func failure(raw json.RawMessage, depth int) (failed bool, said string) {
	if len(raw) == 0 || depth > maxNesting {
		return false, ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for _, name := range []string{"error", "is_error", "isError", "success", "exit_code", "exitCode", "metadata"} {
			value, has := fields[name]
			if !has {
				continue
			}
			switch name {
			case "error":
				failed = !slices.Contains([]string{"null", `""`, "false", "{}", "0"}, string(value))
			case "is_error", "isError":
				failed = string(value) == "true"
			case "success":
				failed = string(value) == "false"
			case "exit_code", "exitCode":
				code, err := strconv.Atoi(string(value))
				failed = err == nil && code != 0
			default:
				failed, _ = failure(value, depth+1)
			}
			if failed {
				return true, first(plain(fields["error"]), plain(fields["stderr"]), plain(fields["output"]), plain(fields["stdout"]), plain(fields["llmContent"]), plain(fields["content"]))
			}
		}
		return false, ""
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return false, ""
	}
	if strings.HasPrefix(text, "{") {
		return failure(json.RawMessage(text), depth+1)
	}
	// Codex gives the model "Exit code: 1", and so its hooks.
	line, _, _ := strings.Cut(text, "\n")
	for _, mark := range []string{"Exit code: ", "Process exited with code "} {
		if code, ok := strings.CutPrefix(line, mark); ok {
			n, err := strconv.Atoi(strings.TrimSpace(code))
			return err == nil && n != 0, text
		}
	}
	return false, ""
}

// geminiFailure tells whether the answer of Gemini CLI's shell tool says that the
// command failed. It has no field for that: behind the command's output stand lines
// of the tool's own, "Exit Code: 3" or "Signal: 9" among them if it failed.
func geminiFailure(raw json.RawMessage) (failed bool, said string) {
	var response struct {
		Content json.RawMessage `json:"llmContent"`
	}
	if json.Unmarshal(raw, &response) != nil {
		return false, ""
	}
	said = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(word(response.Content)), "</untrusted_context>"))
	said = strings.TrimSpace(strings.TrimPrefix(said, "<untrusted_context>"))
	for rest := said; rest != ""; {
		at := strings.LastIndexByte(rest, '\n') + 1
		name, value, _ := strings.Cut(rest[at:], ": ")
		switch name {
		case "Exit Code":
			code, err := strconv.Atoi(value)
			return err == nil && code != 0, said
		case "Signal":
			return true, said
		case "Process Group PGID", "Background PIDs":
			rest = strings.TrimSuffix(rest[:at], "\n")
		default: // the command's own output begins here
			return false, ""
		}
	}
	return false, ""
}

// plain is a value as a person would read it: a string itself, an error's
// message, anything else as JSON.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "true" || string(raw) == "false" {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &said) == nil && said.Message != "" {
		return said.Message
	}
	return string(raw)
}

func first(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

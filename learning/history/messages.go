package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning/decision"
)

// readMessages reads JSON; read is false for a text that is none, such as one that begins with a bracket.
func readMessages(text string) (turns []Turn, read bool, err error) {
	var list []record
	if text[0] == '[' && json.Valid([]byte(text)) {
		if json.Unmarshal([]byte(text), &list) != nil {
			return nil, true, errs.InvalidField("text", "is JSON, and no list of messages with role and content")
		}
		turns, err = turnsOf(list)
		return turns, true, err
	}
	if text[0] != '{' {
		return nil, false, nil
	}
	var whole struct {
		record
		Turns []record `json:"turns"`
	}
	if json.Unmarshal([]byte(text), &whole) == nil {
		if list = whole.Messages; list == nil {
			list = whole.Turns
		}
		if list == nil {
			list = []record{whole.record}
		}
		turns, err = turnsOf(list)
		return turns, true, err
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var m record
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			if number == 1 {
				return nil, false, nil
			}
			return nil, true, errs.InvalidField("text", "is JSON by lines, and line %d is no message", number)
		}
		if list = append(list, m); len(list) > MaxTurns {
			return nil, true, tooManyTurns()
		}
	}
	turns, err = turnsOf(list)
	return turns, true, err
}

func turnsOf(list []record) ([]Turn, error) {
	var turns []Turn
	last := map[string]int{} // where Gemini CLI wrote a message for the last time
	for i, m := range list {
		if m.ID != "" {
			last[m.ID] = i
		}
	}
	for i, m := range list {
		at := timeOf(m.At, m.Timestamp)
		var said []Turn
		switch {
		case m.Message != nil: // Claude Code's
			if m.Meta || m.Type != "" && m.Type != "user" && m.Type != "assistant" {
				continue // nobody said it
			}
			m.recordMessage = *m.Message
			m.Role = cmp.Or(m.Role, m.Type)
		case m.Payload != nil && m.Type == "event_msg" && m.Payload.Type == "item_completed" && m.Payload.Item != nil:
			said = m.Payload.Item.turns()
		case m.Role == "" && m.ID != "" && m.Content != nil && (m.Type == "user" || m.Type == "gemini"):
			if last[m.ID] != i {
				continue
			}
			said = m.geminiTurns()
		case m.Role == "":
			continue // a line of a log that is no message: a summary, a snapshot
		}
		if m.Role != "" {
			role, known := speakers[strings.ToLower(m.Role)]
			if !known {
				return nil, errs.InvalidField("text", "has a message, number %d, whose role is none of user, assistant, tool and system", i+1)
			}
			said = m.turns(role)
		}
		for _, turn := range said {
			if turn.Content = strings.TrimSpace(turn.Content); turn.Content == "" {
				continue
			}
			if len(turns) == MaxTurns {
				return nil, tooManyTurns()
			}
			turn.At = at
			turns = append(turns, turn)
		}
	}
	if len(turns) == 0 {
		return nil, errs.InvalidField("text", "is JSON that holds no message with role and content")
	}
	return turns, nil
}

// turns are what was said or done, as Codex records it. What it tells the model by
// itself, instructions and its surroundings, is recorded otherwise.
func (item *codexPayload) turns() []Turn {
	switch item.Type {
	case "UserMessage":
		return recordMessage{Content: item.Content}.turns(roleUser)
	case "AgentMessage":
		return recordMessage{Content: item.Content}.turns(roleAssistant)
	case "CommandExecution":
		output := item.All
		if item.ExitCode != nil && *item.ExitCode != 0 {
			output = toolFailed + "\n" + output
		}
		if command := object("command", item.Command); command != nil {
			return called("", command, output)
		}
	case "McpToolCall":
		return []Turn{{Role: roleAssistant, Content: toolCallLine(item.Tool, nil)}}
	}
	return nil
}

// geminiTurns are those of a line of Gemini CLI's record.
func (m record) geminiTurns() []Turn {
	if m.Type == "user" {
		return m.turns(roleUser)
	}
	turns := m.turns(roleAssistant)
	for _, call := range m.Calls {
		output, wrong := call.said()
		turns = append(turns, called(call.Name, call.Args, wrong+output)...)
	}
	return turns
}

// called are a tool's call and its answer.
func called(name string, arguments json.RawMessage, output string) []Turn {
	if strings.TrimSpace(output) == "" {
		output = noOutput
	}
	return []Turn{{Role: roleAssistant, Content: toolCallLine(name, arguments)}, {Role: roleTool, Content: output}}
}

// noOutput is the turn of a tool that said nothing.
const noOutput = "(no output)"

// aside tells whether a text is what an agent's program adds to what a person says:
// reminders and surroundings, which nobody said.
func aside(text string) bool {
	for _, mark := range []string{"<system-reminder>", "<session_context>", "<environment_context>"} {
		if strings.HasPrefix(strings.TrimSpace(text), mark) {
			return true
		}
	}
	return false
}

func timeOf(texts ...string) *time.Time {
	for _, text := range texts {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			at = at.UTC()
			return &at
		}
	}
	return nil
}

// turns are those of one message: what tools answer is turns of its own.
func (m recordMessage) turns(role string) []Turn {
	var own []string
	var turns []Turn
	say := func() {
		if len(own) > 0 {
			turns = append(turns, Turn{Role: role, Content: strings.Join(own, "\n")})
			own = nil
		}
	}
	hear := func(text string) {
		if said := safetext.Said(text); said != "" && !aside(said) || text == "" {
			own = append(own, said)
		}
	}
	var parts []recordPart
	var text string
	switch {
	case json.Unmarshal(m.Content, &text) == nil:
		hear(text)
	case json.Unmarshal(m.Content, &parts) == nil:
		for _, p := range parts {
			switch p.Type {
			case "tool_use":
				own = append(own, toolCallLine(p.Name, p.Input))
			case "tool_result":
				say()
				result := textOf(p.Content)
				if p.Failed {
					result = toolFailed + "\n" + result
				}
				if strings.TrimSpace(result) == "" {
					result = noOutput
				}
				turns = append(turns, Turn{Role: roleTool, Content: result})
			default:
				hear(p.Text)
			}
		}
	}
	for _, call := range m.ToolCalls {
		arguments := call.Function.Arguments
		if json.Unmarshal(arguments, &text) == nil {
			arguments = json.RawMessage(text)
		}
		own = append(own, toolCallLine(call.Function.Name, arguments))
	}
	say()
	return turns
}

// toolFailed is the line by which a turn says that the tool itself failed.
const toolFailed = "[the tool failed]"

// toolCallLine is a tool's call as a turn says it: a command as a person would have typed it, an edit by the file's name,
// anything else by the tool's.
func toolCallLine(name string, arguments json.RawMessage) string {
	switch command, edited := ReadCall(name, arguments); {
	case edited:
		return "[edited " + check.OneLine(command) + "]"
	case strings.Contains(command, "\n"):
		return "```bash\n" + command + "\n```"
	case command != "":
		return "$ " + command
	}
	return "[called " + check.OneLine(name) + "]"
}

// ReadTranscript reads turns from a text: JSON messages as OpenAI's API has them (an
// array, an object that holds one, or one object a line), Claude Code's own
// JSONL, lines that begin with who speaks ("User: …"), or Markdown headings
// ("## Assistant"). A text that names nobody is one turn of the assistant's,
// which is who hands in its log. What is no transcript is Invalid.
func ReadTranscript(text string) ([]Turn, error) {
	if len(text) > MaxTranscript {
		return nil, &errs.Error{Code: errs.TooLarge, Field: "text", Message: fmt.Sprintf("is longer than %d bytes: cut the outputs of tools", MaxTranscript)}
	}
	if err := check.Required("text", text, MaxTranscript); err != nil {
		return nil, err
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if trimmed := strings.TrimSpace(text); trimmed[0] == '{' || trimmed[0] == '[' {
		turns, read, err := readMessages(trimmed)
		if err != nil || read {
			return turns, err
		}
	}
	return readLabelled(text)
}

// speakers are the names that those who speak have in transcripts.
var speakers = map[string]string{
	"user": roleUser, "human": roleUser, "me": roleUser, "you": roleUser, "customer": roleUser,
	"assistant": roleAssistant, "ai": roleAssistant, "bot": roleAssistant, "agent": roleAssistant, "claude": roleAssistant, "model": roleAssistant, "chatgpt": roleAssistant,
	"tool": roleTool, "function": roleTool, "tool result": roleTool, "tool output": roleTool, "output": roleTool, "result": roleTool,
	"system": roleSystem, "developer": roleSystem,
}

var (
	labelled = lazyregexp.New(`^\s{0,3}(?:\*\*|__)?\[?([A-Za-z]+(?: [A-Za-z]+)?)\]?(?: \([^)]{0,40}\))?(?:\*\*|__)?:(?:\*\*|__)?(?:[ \t]+|$)`)
	headed   = lazyregexp.New(`^#{1,6}[ \t]+(?:\*\*)?([A-Za-z]+(?: [A-Za-z]+)?)(?:\*\*)?:?[ \t]*$`)
)

// readLabelled reads a text whose lines or headings say who speaks. A label
// within a fenced block is part of what is said.
func readLabelled(text string) ([]Turn, error) {
	var turns []Turn
	var said []string
	role := ""
	end := func() error {
		content := strings.TrimSpace(strings.Join(said, "\n"))
		said = said[:0]
		if content == "" {
			return nil
		}
		role = cmp.Or(role, roleAssistant)
		if len(turns) == MaxTurns {
			return tooManyTurns()
		}
		turns = append(turns, Turn{Role: role, Content: content})
		return nil
	}
	fenced := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if mark := decision.Fence(line); mark != "" && (fenced == "" || strings.HasPrefix(mark, fenced)) {
			if fenced == "" {
				fenced = mark
			} else {
				fenced = ""
			}
		}
		if fenced == "" {
			if who, rest := spokenBy(line); who != "" {
				if err := end(); err != nil {
					return nil, err
				}
				role, line = who, rest
			}
		}
		said = append(said, line)
	}
	return turns, end()
}

// spokenBy tells whose turn a line begins, if it begins one, and what stands after that.
func spokenBy(line string) (role, rest string) {
	if m := headed.FindStringSubmatch(line); m != nil {
		return speakers[strings.ToLower(m[1])], ""
	}
	m := labelled.Compiled().FindStringSubmatchIndex(line)
	if m == nil {
		return "", ""
	}
	name := strings.ToLower(line[m[2]:m[3]])
	// "Output:" and the like begin a part of what somebody says as often as a turn.
	if name == "output" || name == "result" || name == "me" || name == "you" {
		return "", ""
	}
	return speakers[name], line[m[1]:]
}

func tooManyTurns() error {
	return &errs.Error{Code: errs.TooLarge, Field: "text", Message: fmt.Sprintf("holds more than %d turns", MaxTurns)}
}

package history

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/decision"
)

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

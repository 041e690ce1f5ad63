package hook

import (
	"slices"

	"github.com/skillrouter/skillrouter/internal/strictjson"
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

// ExitBlocked is the exit code that tells most agents that the use of a tool is refused.
const ExitBlocked = 2

// Note is what an agent is told besides an answer. The zero Note says nothing.
type Note struct {
	Text   string // for the model
	Person string // for whoever sits before the agent
}

// tellable are the events, besides a session's start, at which an agent's hook can tell the model something. Claude Code does not
// wait for what follows a tool that went well; opencode alone sums up with what it is told.
var tellable = map[Dialect][]Event{
	ClaudeCode: {UserPrompt, PreToolUse, PostFailure, Subagent, TurnEnd},
	Codex:      {UserPrompt, PreToolUse, PostToolUse, Subagent, TurnEnd},
	Gemini:     {UserPrompt, PostToolUse, TurnEnd},
	OpenCode:   {UserPrompt, PreToolUse, PostToolUse, PreCompact, Subagent},
	Generic:    {UserPrompt, PreToolUse, PostToolUse, PostFailure, Subagent},
}

// Tells tells whether the agent's hook on an event can carry a Note's text to the model.
func (d Dialect) Tells(event Event) bool {
	return event == SessionStart || slices.Contains(tellable[d], event)
}

// Judge is the answer to PreToolUse. The reason stands on lines of its own and
// is meant for the model; a Pass needs none. The note goes with it where Tells says so.
func (d Dialect) Judge(verdict Verdict, reason string, note Note) Answer {
	if !d.Tells(PreToolUse) {
		note = Note{}
	}
	if verdict == Pass {
		return d.Tell(PreToolUse, note)
	}
	block := verdict == Block
	switch d {
	case ClaudeCode, Codex, OpenCode:
		said := map[string]any{"hookEventName": "PreToolUse"}
		whole := map[string]any{"hookSpecificOutput": said}
		if block {
			said["permissionDecision"], said["permissionDecisionReason"] = "deny", joined(reason, note.Text)
			if note.Person != "" {
				whole["systemMessage"] = note.Person
			}
			return written(whole)
		}
		// No decision: a warning must not take the place of the person's permission.
		said["additionalContext"], whole["systemMessage"] = joined(reason, note.Text), joined(reason, note.Person)
		return written(whole)
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
	reason = joined(reason, note.Text)
	if block {
		return Answer{Err: reason + "\n", Code: ExitBlocked}
	}
	return Answer{Err: reason + "\n"}
}

// Tell is the answer to an event about a tool that decides nothing: a note, or
// nothing if the dialect has no room for one there. It never says that the
// agent must end ("continue": false): that would cut it off between two steps.
// At a turn's end a note gives the agent a further turn, in which it reads it.
func (d Dialect) Tell(event Event, note Note) Answer {
	switch {
	case note.Text == "" || !d.Tells(event):
		return Answer{}
	case event == TurnEnd && d == Gemini:
		return written(map[string]any{"decision": "deny", "reason": note.Text})
	case event == TurnEnd:
		return written(map[string]any{"decision": "block", "reason": note.Text})
	case d == Cursor:
		return written(map[string]any{"additional_context": note.Text})
	case d == Generic:
		return Answer{Out: note.Text + "\n"}
	}
	name := eventNames[event]
	if own, has := geminiNames[event]; has && d == Gemini {
		name = own
	}
	whole := map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": name, "additionalContext": note.Text}}
	if note.Person != "" {
		whole["systemMessage"] = note.Person
	}
	return written(whole)
}

// eventNames are how Claude Code names the events at which it can be told something; those who took its protocol over do as
// well, Gemini CLI with names of its own for some.
var (
	eventNames = map[Event]string{
		SessionStart: "SessionStart", UserPrompt: "UserPromptSubmit", Subagent: "SubagentStart", PreCompact: "PreCompact",
		PreToolUse: "PreToolUse", PostToolUse: "PostToolUse", PostFailure: "PostToolUseFailure",
	}
	geminiNames = map[Event]string{UserPrompt: "BeforeAgent", PostToolUse: "AfterTool"}
)

func joined(reason, more string) string {
	if more == "" {
		return reason
	}
	return reason + "\n\n" + more
}

// Inject is the answer to an event at which the model is told a text: a session's or a
// subagent's start, a prompt, a compaction; person is what whoever sits before it is told besides. An empty text says nothing.
func (d Dialect) Inject(event Event, text, person string) Answer {
	if d == Generic && d.Tells(event) {
		return Answer{Out: text}
	}
	return d.Tell(event, Note{Text: text, Person: person})
}

// written is an answer of one JSON object on one line.
func written(object map[string]any) Answer {
	text, err := strictjson.Plain(object) // the marks of the fence stay readable
	if err != nil {
		return Answer{}
	}
	return Answer{Out: string(text) + "\n"}
}

// Package hook reads what coding agents tell their hooks on standard input and
// writes what they expect to be told: one form inside, one dialect for each
// agent outside. It owns the dialects and their bounds. It must know no router,
// open nothing and decide nothing: what is asked and answered is the caller's.
package hook

import (
	"slices"
	"strings"
)

// Event is what happens in the agent, under the name that the command line has for it.
type Event string

// The events.
const (
	SessionStart Event = "session-start"         // a session begins: what it should know is injected
	UserPrompt   Event = "user-prompt"           // a person asks for something: the same, for what is asked
	PreToolUse   Event = "pre-tool-use"          // a tool is about to be used: the guard is asked
	PostToolUse  Event = "post-tool-use"         // it was used
	PostFailure  Event = "post-tool-use-failure" // it was used, and failed
	PreCompact   Event = "pre-compact"           // the conversation is about to be summed up: what was decided, forbidden and left open is kept
	Subagent     Event = "subagent-start"        // a subagent begins: the rules, and what belongs to its task
	TurnEnd      Event = "turn-end"              // the agent has answered and waits: what came meanwhile may give it a further turn
	SessionEnd   Event = "session-end"           // the session is over: its transcript is consolidated
)

// Events lists every event.
func Events() []Event {
	return []Event{SessionStart, UserPrompt, PreToolUse, PostToolUse, PostFailure, PreCompact, Subagent, TurnEnd, SessionEnd}
}

// Dialect is the protocol of an agent's hooks.
type Dialect string

// The dialects. docs/setup.md names the documents that they were read from.
const (
	ClaudeCode Dialect = "claude-code"
	Codex      Dialect = "codex"
	Gemini     Dialect = "gemini"
	Cursor     Dialect = "cursor"
	OpenCode   Dialect = "opencode" // spoken by the plugin that setup writes
	// Generic is for what has no dialect of its own: Claude Code's fields come in,
	// a context goes out as bare text, and a block as exit code 2 with the reason on
	// standard error, which most agents understand.
	Generic Dialect = "generic"
)

// ownTools is how each agent begins the names of the tools of this program's own
// MCP server, which setup calls "skillrouter" in every configuration. Cursor's
// hooks name a tool without its server.
var ownTools = map[Dialect]string{
	ClaudeCode: "mcp__skillrouter__", Codex: "mcp__skillrouter__", Generic: "mcp__skillrouter__",
	Gemini: "mcp_skillrouter_", OpenCode: "skillrouter_",
}

// pluginTools is how Claude Code begins them where the server comes with our plugin.
const pluginTools = "mcp__plugin_skillrouter_skillrouter__"

// Own tells whether a tool is one of this program's own, by the agent's name for
// it: asking whether something may be done is no doing of it.
func (d Dialect) Own(tool string) bool {
	prefix := ownTools[d]
	return prefix != "" && strings.HasPrefix(tool, prefix) || d == ClaudeCode && strings.HasPrefix(tool, pluginTools)
}

// Delegates is the task that a tool gives to a subagent, and the subagent's kind; both are
// empty for any other tool. Codex tells of the task as of a prompt.
func (c Call) Delegates(d Dialect) (task, kind string) {
	if d != ClaudeCode || c.Tool != "Agent" && c.Tool != "Task" {
		return "", ""
	}
	task, _ = c.Args["prompt"].(string)
	kind, _ = c.Args["subagent_type"].(string)
	return task, kind
}

// Dialects lists every dialect.
func Dialects() []Dialect { return []Dialect{ClaudeCode, Codex, Gemini, Cursor, OpenCode, Generic} }

// Known tells whether the dialect is one of Dialects.
func (d Dialect) Known() bool { return slices.Contains(Dialects(), d) }

// Known tells whether the event is one of Events.
func (e Event) Known() bool { return slices.Contains(Events(), e) }

package setup

import (
	"encoding/json"
	"runtime"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/internal/strictjson"
)

// Times after which agents end a hook, in seconds. They are far above what one
// takes (milliseconds): they are for a machine that stands still.
const (
	hookSeconds  = 10
	startSeconds = 15 // the first of a day may start the router
	// codexEndSeconds is the most that Codex gives a hook at a session's end; more it
	// cuts, and warns of at each session.
	codexEndSeconds = 3
)

// ourHook tells a hook that setup wrote, whatever the program's path and name.
var ourHook = lazyregexp.New(`(?:^|[\s"'/\\])hook (?:session-start|user-prompt|pre-tool-use|post-tool-use|post-tool-use-failure|pre-compact|subagent-start|turn-end|session-end) --for [a-z-]+`)

// commandLine is a hook's command as a shell takes it.
func (c Content) commandLine(goos string, agent Agent, event string) string {
	line := shellWord(goos, c.HookProgram()) + " hook " + event + " --for " + string(agent)
	if goos == "windows" && agent == Gemini && strings.HasPrefix(line, `"`) {
		line = "& " + line // PowerShell, in which Gemini CLI runs hooks, takes a quoted word for a text
	}
	if c.Name != "" {
		line += " --agent " + shellWord(goos, c.Name)
	}
	if c.Server != "" {
		line += " --server " + shellWord(goos, c.Server)
	}
	if event == "session-start" {
		line += " --start"
	}
	if event == "pre-tool-use" && c.Strict {
		line += " --strict"
	}
	return line
}

// IsHook tells whether a command is a hook that setup wrote.
func IsHook(command string) bool { return ourHook.MatchString(command) }

// shellWord quotes a word for a POSIX shell or, on Windows, for cmd.exe.
func shellWord(goos, word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@+=") == "" {
		return word
	}
	if goos == "windows" {
		return `"` + word + `"` // no path holds a quotation mark there
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// wired is one of an agent's events, and ours for it.
type wired struct {
	theirs  string // the agent's name of the event
	ours    string
	matcher string // of tools; empty: every one
	seconds int
}

// groups are Claude Code's form of hooks, which Codex and Gemini took over:
// {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}.
func (c Content) groups(agent Agent, events []wired) []element {
	elements := make([]element, 0, len(events))
	for _, e := range events {
		type handler struct {
			Name    string `json:"name,omitempty"`
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
			// Claude Code's alone: what it does if the hook fails.
			OnFailure string `json:"onFailure,omitempty"`
		}
		h := handler{Type: "command", Command: c.commandLine(runtime.GOOS, agent, e.ours), Timeout: e.seconds}
		if agent == Gemini {
			h.Name, h.Timeout = "skillrouter-"+e.ours, e.seconds*1000 // Gemini counts milliseconds
		}
		if agent == ClaudeCode && c.Strict && e.ours == "pre-tool-use" {
			h.OnFailure = "block" // a program that is gone must not open the guard either
		}
		elements = append(elements, element{path: []string{"hooks", e.theirs}, ours: oursAlone, value: asJSON(struct {
			Matcher string    `json:"matcher,omitempty"`
			Hooks   []handler `json:"hooks"`
		}{e.matcher, []handler{h}})})
	}
	return elements
}

// flat are Cursor's hooks: {"hooks": {EVENT: [{"command": …}]}}.
func (c Content) flat(agent Agent, events []wired) []element {
	elements := make([]element, 0, len(events))
	for _, e := range events {
		elements = append(elements, element{path: []string{"hooks", e.theirs}, ours: oursAlone, value: asJSON(struct {
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
			// What Cursor does if the hook fails: a program that is gone must not open the guard.
			FailClosed bool `json:"failClosed,omitempty"`
		}{c.commandLine(runtime.GOOS, agent, e.ours), e.seconds, c.Strict && e.ours == "pre-tool-use"})})
	}
	return elements
}

// oursAlone tells whether every command in a hook, or in a group of hooks, is ours.
func oursAlone(text []byte) bool {
	var found struct {
		Command string `json:"command"`
		Hooks   []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if json.Unmarshal(standard(text), &found) != nil {
		return false
	}
	if found.Command != "" {
		return ourHook.MatchString(found.Command)
	}
	for _, h := range found.Hooks {
		if !ourHook.MatchString(h.Command) {
			return false
		}
	}
	return len(found.Hooks) > 0
}

// server is how an agent starts our MCP server.
func (c Content) server(agent Agent) []string {
	args := []string{"mcp", "--for", string(agent)}
	if c.Name != "" {
		args = []string{"mcp", "--agent", c.Name}
	}
	if c.Server != "" {
		args = append(args, "--server", c.Server)
	}
	return args
}

// vars are Vars as an object.
func (c Content) vars() map[string]string {
	if len(c.Vars) == 0 {
		return nil
	}
	vars := map[string]string{}
	for _, v := range c.Vars {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}

func asJSON(value any) string {
	text, err := strictjson.Plain(value)
	if err != nil {
		panic("setup: " + err.Error()) // strings and numbers
	}
	return string(text)
}

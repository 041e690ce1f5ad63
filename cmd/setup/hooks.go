package setup

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/strictjson"
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

// hooks are the elements of an agent's events, in Claude Code's form, which Codex and Gemini took over:
// {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}, or in Cursor's, which is flat:
// {"hooks": {EVENT: [{"command": …}]}}.
func (c Content) hooks(agent Agent, flat bool) (elements []element) {
	type handler struct {
		Name    string `json:"name,omitempty"`
		Type    string `json:"type,omitempty"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		// What Claude Code and Cursor do if the hook fails: a program that is gone must not open the guard either.
		OnFailure  string `json:"onFailure,omitempty"`
		FailClosed bool   `json:"failClosed,omitempty"`
	}
	type group struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []handler `json:"hooks"`
	}
	for _, e := range c.events(agent) {
		el := element{path: []string{"hooks", e.theirs}, ours: oursAlone}
		h, strict := handler{Command: c.commandLine(runtime.GOOS, agent, e.ours), Timeout: e.seconds}, c.Strict && e.ours == "pre-tool-use"
		switch {
		case e.ours == "":
		case flat:
			h.FailClosed = strict
			el.value = asJSON(h)
		default:
			h.Type = "command"
			if agent == Gemini {
				h.Name, h.Timeout = "skillrouter-"+e.ours, e.seconds*1000 // Gemini counts milliseconds
			}
			if strict && agent == ClaudeCode {
				h.OnFailure = "block"
			}
			el.value = asJSON(group{e.matcher, []handler{h}})
		}
		elements = append(elements, el)
	}
	return elements
}

// oursAlone tells whether every command in a hook, or in a group of hooks, is ours.
func oursAlone(text []byte) bool {
	type hook struct {
		Command string `json:"command"`
	}
	var found struct {
		hook
		Hooks []hook `json:"hooks"`
	}
	if json.Unmarshal(standard(text), &found) != nil {
		return false
	}
	if found.Command != "" {
		return ourHook.MatchString(found.Command)
	}
	return len(found.Hooks) > 0 && !slices.ContainsFunc(found.Hooks, func(h hook) bool { return !ourHook.MatchString(h.Command) })
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

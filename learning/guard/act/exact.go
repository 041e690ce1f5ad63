package act

import (
	"encoding/json"
	"slices"
)

// besides are the arguments of a tool that runs commands which change nothing of what the command does.
var besides = []string{"description", "explanation", "timeout", "timeout_ms", "run_in_background", "is_background"}

// others are words of tools whose commands are none of the usual shell, or run elsewhere.
var others = []string{"powershell", "power", "cmd", "ssh", "process", "subprocess", "python", "python3", "node", "javascript"}

// Exact is the form by which two actions are the same one: of a command its text, byte by byte, and the directory that
// a tool is told to run it in; of another call the tool with all its arguments. It is empty where an argument is none of JSON.
func Exact(command, tool string, args map[string]any) string {
	if tool == "" {
		return "command\x00\x00" + command
	}
	if p, ok := commandCall(command, tool, args); ok {
		return "command\x00" + p.Dir + "\x00" + p.Text
	}
	text, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return "call\x00" + tool + "\x00" + string(text) + "\x00" + command
}

// CommandOf is the command that an action runs in the working directory, which is folder, if it is nothing but that.
func CommandOf(command, tool string, args map[string]any, folder string) (text string, ok bool) {
	if tool == "" {
		return command, true
	}
	p, ok := commandCall(command, tool, args)
	return p.Text, ok && (p.Dir == "" || p.Dir == folder)
}

// commandCall is the one command of a call of a tool that only runs commands in a shell.
func commandCall(command, tool string, args map[string]any) (Proposal, bool) {
	if slices.ContainsFunc(SplitName(camel(tool)), func(word string) bool { return slices.Contains(others, word) }) {
		return Proposal{}, false
	}
	for name := range args {
		if !slices.Contains(besides, name) && !slices.Contains(commandArgs, name) && !slices.Contains(dirArgs, name) {
			return Proposal{}, false
		}
	}
	proposals, rest := Proposals("", tool, args, "")
	if command != "" || rest != "" || len(proposals) != 1 || !proposals[0].told || proposals[0].effects != nil {
		return Proposal{}, false
	}
	return proposals[0], true
}

package setup

import (
	_ "embed"
	"strings"
)

// pluginText is opencode's plugin, in which PROGRAM, ARGS, PROMPTS and STRICT are JSON and OWNMARK is ownMark. It
// speaks to opencode 1, runs a hook for each event and lets the agent go on whatever fails.
//
//go:embed opencode.js
var pluginText string

func (c Content) plugin() string {
	more := []string{}
	if c.Name != "" {
		more = append(more, "--agent", c.Name)
	}
	if c.Server != "" {
		more = append(more, "--server", c.Server)
	}
	return strings.NewReplacer("OWNMARK", ownMark, "PROGRAM", asJSON(c.HookProgram()), "ARGS", asJSON(more), "PROMPTS", asJSON(c.Prompts), "STRICT", asJSON(c.Strict)).Replace(pluginText)
}

package setup

import (
	_ "embed"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// rules is what agents with our tools are told, and shellRules those without tools: the same by commands. They stand in every
// prompt, so that each of their words is paid each time.
var (
	//go:embed rules.txt
	rules string
	//go:embed shell.txt
	shellRules string
)

// toolName is one of our tools as the rules name it.
var toolName = lazyregexp.New("`(route_query|store_knowledge|record_episode)`")

// rulesOf are the rules with our tools named as the agent sees them. AGENTS.md
// names them as the server does, because several agents read it.
func rulesOf(prefix string) string {
	return strings.TrimSuffix(toolName.ReplaceAllString(rules, "`"+prefix+"$1`"), "\n")
}

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

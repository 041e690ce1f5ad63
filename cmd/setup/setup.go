// Package setup writes this program into the configuration of coding agents,
// and takes it out again: it plans every change before it makes one, shows it
// as a diff, keeps what was there, and undoes exactly what it did. It owns the
// formats and places that each agent reads, and how a file is edited without
// losing what people wrote in it. It must not know the router, ask anybody, or
// start anything.
package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"skillrouter/internal/errs"
)

// Agent is a coding agent that can be set up.
type Agent string

// The agents.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	Gemini     Agent = "gemini"
	OpenCode   Agent = "opencode"
	Cursor     Agent = "cursor"
	Aider      Agent = "aider"
	// These are given the MCP server and the rules; their hooks, where they have some, are not written.
	VSCode      Agent = "vscode" // GitHub Copilot in VS Code
	Windsurf    Agent = "windsurf"
	Zed         Agent = "zed"
	Amp         Agent = "amp"
	Kiro        Agent = "kiro"
	Antigravity Agent = "antigravity"
	Generic     Agent = "generic" // whoever reads AGENTS.md
)

// profile is an agent: what is written for it, and where one that is installed can be seen.
type profile struct {
	agent  Agent
	parts  func(t Target, c Content) (parts []part, notes []string)
	hooked bool // hooks are written for it
	// local tells that its files name no program, or are in the user's home: a clone of the project shares nothing of this machine.
	local    bool
	programs []string // names of its programs
	files    []string // in the user's home
}

var profiles = []profile{
	{ClaudeCode, Target.claudeCode, true, false, []string{"claude"}, []string{".claude.json"}},
	{Codex, Target.codex, true, false, []string{"codex"}, []string{".codex/config.toml"}},
	{Gemini, Target.gemini, true, false, []string{"gemini"}, []string{".gemini/settings.json"}},
	{OpenCode, Target.openCode, true, false, []string{"opencode"}, []string{".config/opencode"}},
	{Cursor, Target.cursor, true, false, []string{"cursor", "cursor-agent"}, []string{".cursor"}},
	{Aider, Target.aider, false, true, []string{"aider"}, nil},
	{VSCode, Target.serverAndRules, false, false, []string{"code"}, []string{".vscode/extensions"}},
	{Windsurf, Target.serverAndRules, false, true, []string{"windsurf"}, []string{".codeium/windsurf"}},
	{Zed, Target.serverAndRules, false, false, []string{"zed", "zeditor"}, []string{".config/zed"}},
	{Amp, Target.serverAndRules, false, false, []string{"amp"}, []string{".config/amp"}},
	{Kiro, Target.serverAndRules, false, false, []string{"kiro", "kiro-cli"}, []string{".kiro"}},
	{Antigravity, Target.serverAndRules, false, false, []string{"agy", "antigravity"}, []string{".gemini/antigravity", ".gemini/config/mcp_config.json"}},
	{Generic, Target.generic, false, true, nil, nil},
}

// profile is the agent's; the zero value of one that is not known.
func (a Agent) profile() profile {
	if at := slices.IndexFunc(profiles, func(p profile) bool { return p.agent == a }); at >= 0 {
		return profiles[at]
	}
	return profile{}
}

// Agents lists every agent.
func Agents() (agents []Agent) {
	for _, p := range profiles {
		agents = append(agents, p.agent)
	}
	return agents
}

// Known tells whether the agent is one of Agents.
func (a Agent) Known() bool { return a.profile().agent == a && a != "" }

// Target says who is set up, and where.
type Target struct {
	Agent Agent
	// Dir is the project's folder; empty means the user, for all projects.
	Dir string
	// Shared means the project's files that everybody has who clones it, also for an agent
	// that reads files of a project that are one person's alone. Those are meant otherwise.
	Shared bool
	// Home is the user's folder, and Env the environment, in which some agents name
	// folders of their own.
	Home string
	Env  func(string) string
}

// Content is what is written into the configuration.
type Content struct {
	Program string   `json:"program"`           // path or name under which agents start this program
	Hook    string   `json:"hook,omitempty"`    // path or name of the small program that answers hooks; empty: Program does
	Name    string   `json:"name,omitempty"`    // id under which the agent speaks; empty: each session has its own, of the Agent's kind
	Server  string   `json:"server,omitempty"`  // URL of a router that is not this user's own; may be empty
	Vars    []string `json:"vars,omitempty"`    // NAME=value, for agents that hand their environment on to no server
	Prompts bool     `json:"prompts,omitempty"` // inject what fits each prompt too
	Strict  bool     `json:"strict,omitempty"`  // refuse tools while the guard cannot be asked
}

// HookProgram is the path or name of the program that answers hooks.
func (c Content) HookProgram() string { return cmp.Or(c.Hook, c.Program) }

// ServerArgs are the arguments with which an agent starts our MCP server; nil
// if it starts none.
func (c Content) ServerArgs(agent Agent) []string {
	if agent == Aider {
		return nil
	}
	return c.server(agent)
}

// Hooked tells whether setup writes hooks for an agent.
func (a Agent) Hooked() bool { return a.profile().hooked }

// Installed are the agents that are found on this machine: by a program that look finds,
// as exec.LookPath does, or by a file in the user's home.
func Installed(home string, look func(program string) (string, error)) (found []Agent) {
	for _, p := range profiles {
		if slices.ContainsFunc(p.programs, func(name string) bool { _, err := look(name); return err == nil }) ||
			slices.ContainsFunc(p.files, func(name string) bool {
				_, err := os.Stat(filepath.Join(home, filepath.FromSlash(name)))
				return err == nil
			}) {
			found = append(found, p.agent)
		}
	}
	return found
}

// user tells whether all of the user's projects are meant.
func (t Target) user() bool { return t.Dir == "" }

// personal tells whether the files are meant that the agent reads in a project and that are one person's alone.
func (t Target) personal() bool { return t.Agent == ClaudeCode && !t.user() && !t.Shared }

// check refuses a target that is none.
func (t Target) check() error {
	if !t.Agent.Known() {
		return errs.InvalidField("agent", "must be one of %v", Agents())
	}
	if !filepath.IsAbs(t.Home) {
		return errs.InvalidField("home", "is not known: set HOME")
	}
	if !t.user() && !filepath.IsAbs(t.Dir) {
		return errs.InvalidField("project", "must be an absolute path")
	}
	return nil
}

// Where names the target for people.
func (t Target) Where() string {
	if t.user() {
		return "the user " + t.Home
	}
	return "the project " + t.Dir
}

// refused says where in a file what is wrong, and that nothing was changed.
func refused(path string, line int, format string, args ...any) error {
	place := path
	if line > 0 {
		place = fmt.Sprintf("%s:%d", path, line)
	}
	return errs.Errorf(errs.Conflict, "%s: %s; nothing was changed", place, fmt.Sprintf(format, args...))
}

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
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Agent is a coding agent that can be set up.
type Agent string

// The agents that are told apart in code; agents.txt has all.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	Gemini     Agent = "gemini"
	OpenCode   Agent = "opencode"
	Cursor     Agent = "cursor"
	Aider      Agent = "aider"
	Generic    Agent = "generic" // whoever reads AGENTS.md
)

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
func (a Agent) Hooked() bool { return a.fact("hooked") != "" }

// Program is the program that starts an agent; its name where it has none.
func (a Agent) Program() string {
	name, _, _ := strings.Cut(a.fact("programs"), " ")
	return cmp.Or(name, string(a))
}

// Installed are the agents that are found on this machine: by a program that look finds,
// as exec.LookPath does, or by a file in the user's home.
func Installed(home string, look func(program string) (string, error)) (found []Agent) {
	for _, agent := range Agents() {
		if slices.ContainsFunc(strings.Fields(agent.fact("programs")), func(name string) bool { _, err := look(name); return err == nil }) ||
			slices.ContainsFunc(strings.Fields(agent.fact("seen")), func(name string) bool {
				_, err := os.Stat(filepath.Join(home, filepath.FromSlash(name)))
				return err == nil
			}) {
			found = append(found, agent)
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

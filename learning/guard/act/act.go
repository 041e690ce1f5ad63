// Package act reads what an agent proposes to do and says what would become of it: which programs a
// command runs, with which options, where and as whom, and what they change, whichever way it is written.
//
// A Proposal is one text of an action, taken from a command, a sentence or a tool's arguments (Proposals). A Shell
// follows it (Follow): it expands variables and braces, reads scripts in scripts, unwraps sudo, ssh and sh -c, opens quoted
// code of other languages, and notes an Act for each command that would run. An Act has Effects: what it deletes,
// writes, sends or changes in a database. Nothing is run, no file is read, and all of it is bounded: what cannot be read to its
// end is said to be unread.
//
// It knows programs and languages, and no rule of the guard: package rule compares the acts of rules with those of actions.
package act

import (
	"encoding/json"
	"slices"
	"strings"
)

// Act is one command that an action would run, in its one spelling.
type Act struct {
	Name     string              // the program
	Words    []string            // its subcommands and operands
	Options  map[string][]string // by the name the table gives each
	Env      map[string]string   // set for this command alone
	Where    []string            // the hosts and containers around it
	Dir      string              // the working directory, "" if not known
	Roots    []string            // the folders of the agent's project
	Source   []string            // the words as they were given
	Effects  []Effect
	Prepared bool // it is stored under a name, not run
	Wraps    bool // it runs another command, which is an act of its own
	Within   bool // it is a part of another act, see implied
	Consents bool // it is fed a yes to whatever it asks
	Sends    bool // it is fed the variables of the environment
}

// EffectKind says what an effect does.
type EffectKind uint8

// The effects, each of which many commands have in common.
const (
	EffectDelete   EffectKind = iota + 1 // removes path
	EffectWrite                          // changes the file at path
	EffectDevice                         // overwrites the device at path
	EffectService                        // verb (stop, start, restart …) on the unit word
	EffectPower                          // verb: reboot, poweroff
	EffectSQL                            // runs a statement
	EffectObjects                        // deletes objects of a bucket, at path
	EffectHooks                          // verb: a git command without its hooks
	EffectForce                          // a forced push
	EffectDownload                       // runs what it downloads
	EffectMode                           // sets the permissions of path to verb
	EffectHTTP                           // a request with the method verb to the URL path
	EffectKinds
)

// Effect is what a command does, whatever it is called.
type Effect struct {
	Kind      EffectKind
	Verb      string
	Path      string
	Word      string
	Recursive bool  // with everything below the path
	Made      bool  // the same agent made it a moment ago
	Anew      bool  // what follows makes it anew
	Narrow    bool  // of what lies there only a part, by its name, age, size …
	Soft      bool  // it may come to nothing, or cannot be seen: it warns
	Change    *edit // of a file that is written, as far as it is seen
	SQL       *Statement
	Targets   Targets // the connection of a statement
}

// Mention reports whether the act only shows or records its words.
func (a *Act) Mention() bool {
	p := programOf(a.Name)
	return p.has("shows") ||
		len(a.Words) > 0 && p.says("showing", a.Words[0]) ||
		len(a.Words) > 1 && p.says("showing", a.Words[0]+"+"+a.Words[1])
}

// rehearsals are options by which most programs say that they change nothing.
var rehearsals = strings.Fields("dry-run dryrun dry_run what-if whatif WhatIf simulate noop validate-only list-only")

// Harmless reports whether the act asks for help or only says what it would do.
func (a *Act) Harmless() bool {
	if len(a.Options["help"]) > 0 || len(a.Options["version"]) > 0 && len(a.Words) == 0 {
		return true
	}
	if n := len(a.Words); n > 0 && (a.Words[0] == "help" && !programOf(a.Name).has("does") || a.Words[0] == "help" && Prefixes()[a.Name] || a.Words[n-1] == "help" && a.Name == "aws") {
		return true
	}
	if h := a.Options["h"]; len(h) > 0 && h[0] == "" && a.Source[len(a.Source)-1] == "-h" {
		return true
	}
	if len(a.Options["undo"]) > 0 {
		return true // it takes the act back
	}
	return slices.ContainsFunc(slices.Concat(rehearsals, programOf(a.Name)["dry"]), func(dry string) bool {
		v := a.Options[dry]
		return len(v) > 0 && v[len(v)-1] != "none" && v[len(v)-1] != "false"
	})
}

// Text writes the act as one line.
func (a *Act) Text() string {
	if len(a.Source) > 0 {
		return Spelling.Replace(strings.Join(a.Source, " "))
	}
	return Spelling.Replace(strings.TrimSpace(a.Name + " " + strings.Join(a.Words, " ")))
}

// Plain writes the act without the texts in it that only people read.
func (a *Act) Plain() string {
	var said []string
	for o := range Saying() {
		for _, v := range a.Options[o] {
			if v != "" {
				said = append(said, v)
			}
		}
	}
	if len(said) == 0 {
		return a.Text()
	}
	kept := slices.DeleteFunc(slices.Clone(a.Source), func(w string) bool {
		return slices.ContainsFunc(said, func(v string) bool {
			return w == v || strings.HasPrefix(w, "-") && strings.HasSuffix(w, v)
		})
	})
	return Spelling.Replace(strings.Join(kept, " "))
}

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

package act

import (
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

package learning

import (
	"slices"
	"strings"
)

// guardAct is one command that an action would run, in its one spelling.
type guardAct struct {
	name     string              // the program
	words    []string            // its subcommands and operands
	options  map[string][]string // by the name the table gives each
	env      map[string]string   // set for this command alone
	where    []string            // the hosts and containers around it
	dir      string              // the working directory, "" if not known
	source   []string            // the words as they were given
	effects  []guardEffect
	prepared bool // it is stored under a name, not run
	wraps    bool // it runs another command, which is an act of its own
	within   bool // it is a part of another act, see implied
	consents bool // it is fed a yes to whatever it asks
}

// guardEffectKind says what an effect does.
type guardEffectKind uint8

// The effects, each of which many commands have in common.
const (
	guardEffectDelete   guardEffectKind = iota + 1 // removes path
	guardEffectWrite                               // changes the file at path
	guardEffectDevice                              // overwrites the device at path
	guardEffectService                             // verb (stop, start, restart …) on the unit word
	guardEffectPower                               // verb: reboot, poweroff
	guardEffectSQL                                 // runs a statement
	guardEffectObjects                             // deletes objects of a bucket, at path
	guardEffectHooks                               // verb: a git command without its hooks
	guardEffectForce                               // a forced push
	guardEffectDownload                            // runs what it downloads
	guardEffectMode                                // sets the permissions of path to verb
	guardEffectHTTP                                // a request with the method verb to the URL path
	guardEffectKinds
)

// guardEffect is what a command does, whatever it is called.
type guardEffect struct {
	kind    guardEffectKind
	verb    string
	path    string
	word    string
	whole   bool // with everything below the path
	soft    bool // it may come to nothing, or cannot be seen: it warns
	sql     *guardStatement
	targets guardTargets // the connection of a statement
}

// mention reports whether the act only shows or records its words.
func (a *guardAct) mention() bool {
	if guardMention[a.name] {
		return true
	}
	key := a.name
	for i := 0; i < len(a.words) && i < 2; i++ {
		key += " " + a.words[i]
		if guardSubMention[key] {
			return true
		}
	}
	return false
}

// harmless reports whether the act asks for help or only says what it would do.
func (a *guardAct) harmless() bool {
	if len(a.options["help"]) > 0 || len(a.options["version"]) > 0 && len(a.words) == 0 {
		return true
	}
	if len(a.words) > 0 && a.words[0] == "help" && guardPrefixes()[a.name] {
		return true
	}
	if len(a.options["undo"]) > 0 {
		return true // it takes the act back
	}
	for _, dry := range guardDryRun[a.name] {
		if v := a.options[dry]; len(v) > 0 && v[len(v)-1] != "none" && v[len(v)-1] != "false" {
			return true
		}
	}
	return false
}

// text writes the act as one line.
func (a *guardAct) text() string {
	if len(a.source) > 0 {
		return guardSpelling.Replace(strings.Join(a.source, " "))
	}
	return guardSpelling.Replace(strings.TrimSpace(a.name + " " + strings.Join(a.words, " ")))
}

// plain writes the act without the texts in it that only people read.
func (a *guardAct) plain() string {
	var said []string
	for _, o := range guardSaying {
		for _, v := range a.options[o] {
			if v != "" {
				said = append(said, v)
			}
		}
	}
	if len(said) == 0 {
		return a.text()
	}
	kept := slices.DeleteFunc(slices.Clone(a.source), func(w string) bool {
		return slices.ContainsFunc(said, func(v string) bool {
			return w == v || strings.HasPrefix(w, "-") && strings.HasSuffix(w, v)
		})
	})
	return guardSpelling.Replace(strings.Join(kept, " "))
}

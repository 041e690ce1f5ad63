// Package rule compares rules with actions. A rule names a command, a text or an effect; package act
// reads the action. An index finds the rules that can fit, so that the cost does not grow with their
// number. It stores nothing.
package rule

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// Bounds of a rule.
const (
	MaxCommands = 64 // related commands that become triggers
)

// RuleDraft is what a rule is made from: the plain fields of an
// anti_pattern lesson or of a confirmed anti-pattern.
type RuleDraft struct {
	ID           string
	Title        string            // what never to do, in the writer's words; it says which part of the commands matters
	Reason       string            // why; shown, never matched
	Commands     []string          // the commands, each a trigger of its own
	Action       string            // what was done: a trigger too where it reads as a command
	Pattern      string            // an optional regular expression (RE2) over each single command
	Severity     learning.Severity // "" means medium, the default of MNEMOSYNE
	Block        bool              // blocks whatever the severity
	WarnOnly     bool              // never blocks: a rule that was demoted
	OnlyFor      string            // the agent that it blocks, and others of its kind; the rest are warned; empty: it blocks every agent
	Confidence   float64
	Domain       string
	Category     string
	Tags         []string
	Alternatives []string
	Force        bool // keep it even though it fits nearly every command
}

// Rule is a rule ready to be compared. It does not change.
type Rule struct {
	Draft    RuleDraft
	triggers [][]*act.Act // each a set of acts, all of which make the match
	standing [][]string   // the words of each trigger, for what cannot be read
	pattern  *regexp.Regexp
	title    act.Title
	anyWrite bool // SQL: every change is meant
	onTarget bool // SQL: the connection is meant, whatever the table
	instead  instead
	unused   []string                                  // commands that are no trigger
	judge    func(a *act.Act, action *Action) guardFit // of a built-in rule
	harm     act.Harm                                  // of a pack's rule: it fits whatever does that
	packed   bool                                      // it is of a pack: it is recognised by what is done, never by its wording
	modes    *Modes                                    // of its pack; nil: of no pack, or its pack was not asked
}

// Blocks reports whether a match in the deterministic lane blocks, in a project of which nothing else was said.
func (r *Rule) Blocks() bool { return r.blocksIn("") }

func (r *Rule) blocksIn(project string) bool {
	return r.mode(project) == ModeBlock && !r.Draft.WarnOnly && (r.Draft.Block || r.Draft.Severity == learning.SeverityCritical)
}

// mode is what the rule's pack has it do in a project.
func (r *Rule) mode(project string) Mode {
	if r.modes == nil {
		return ModeBlock
	}
	return r.modes.In(project)
}

// Deterministic reports whether the rule has anything that the deterministic
// lane can recognise. A rule of prose alone can only warn, by similarity.
func (r *Rule) Deterministic() bool {
	return len(r.triggers) > 0 || r.pattern != nil || r.judge != nil || r.harm != ""
}

// Unused returns the commands of the draft that are no trigger: they only
// look, they only name a program, or they are what the rule recommends.
func (r *Rule) Unused() []string { return slices.Clone(r.unused) }

// ErrNothingToRecognise refuses a rule that no action could ever fit.
var ErrNothingToRecognise = errs.InvalidField("related_commands", "or a title is needed: there is nothing to recognise the act by")

// TooWide is the error of a rule that is not forced and fits nearly every command, such as Example.
type TooWide struct{ Example string }

func (e *TooWide) Error() string {
	return fmt.Sprintf("it fits nearly every command, such as %q: name the harmful part, or force the rule", e.Example)
}

// NewRule compiles a draft. It refuses, as Invalid, a draft with nothing
// to recognise and a pattern that is wrong or costs too much, and, unless
// forced, a pattern that fits nearly every command; commands that do are TooWide.
func NewRule(draft RuleDraft) (*Rule, error) {
	draft.Severity = cmp.Or(draft.Severity, learning.SeverityMedium)
	if err := cmp.Or(check.OneOf("severity", draft.Severity, learning.Severities()), check.Text("title", draft.Title, act.MaxCommand)); err != nil {
		return nil, err
	}
	if len(draft.Commands) > MaxCommands {
		return nil, errs.InvalidField("related_commands", "holds more than %d commands", MaxCommands)
	}
	r := &Rule{Draft: draft, title: act.TitleOf(draft.Title)}
	commands := make([]string, 0, len(draft.Commands)+2)
	for i, c := range draft.Commands {
		if err := check.Text(fmt.Sprintf("related_commands[%d]", i), c, act.MaxCommand); err != nil {
			return nil, err
		}
		commands = append(commands, c)
	}
	if len(draft.Action) <= act.MaxCommand && act.LooksCommand(draft.Action, draft.Commands) {
		commands = append(commands, draft.Action)
	}
	commands = append(commands, act.QuotedCode(draft.Title)...)
	r.addTriggers(commands, draft.Alternatives)
	if draft.Pattern != "" {
		re, err := compilePattern(draft.Pattern, draft.Force)
		if err != nil {
			return nil, err
		}
		r.pattern = re
	}
	r.scope()
	r.instead = insteadOf(draft.Alternatives, commands)
	if !r.Deterministic() && len(r.title) == 0 {
		return nil, ErrNothingToRecognise
	}
	if !draft.Force {
		if example, all := r.everything(); all {
			return nil, &TooWide{example}
		}
	}
	return r, nil
}

// addTriggers reads each command as acts and keeps those that matter.
func (r *Rule) addTriggers(commands, alternatives []string) {
	var shows [][]*act.Act
	var looked []string
	seen := map[string]bool{}
	for _, c := range commands {
		c = strings.TrimSpace(c)
		if c == "" || seen[c] {
			continue
		}
		seen[c] = true
		if slices.Contains(alternatives, c) || !r.Draft.Force && namesProgram(c) {
			r.unused = append(r.unused, c)
			continue
		}
		var kept, shown []*act.Act
		var wrapper *act.Act
		for _, a := range widened(actsOf(generalized(c), "")) {
			switch {
			case a.Prepared, a.Within, !r.Draft.Force && !says(a):
			case a.Wraps:
				wrapper = a
			case a.Name == act.SetsVariable, len(a.Effects) == 0 && (a.Mention() || a.Harmless() || act.OnlySQL(a.Name)): // a client that only reads is no trigger
				shown = append(shown, a)
			default:
				kept = append(kept, a)
			}
		}
		// An effect says more than the commands beside it.
		if slices.ContainsFunc(kept, func(a *act.Act) bool { return len(a.Effects) > 0 && r.byEffect(a) }) {
			kept = slices.DeleteFunc(kept, func(a *act.Act) bool {
				return len(a.Effects) == 0 && (passive[a.Name] || a.Name == act.WritesFile)
			})
		}
		if wrapper != nil && (len(kept) == 0 || r.minds(wrapper)) {
			kept = []*act.Act{wrapper}
		}
		if len(kept) > 0 {
			r.triggers = append(r.triggers, kept)
		} else if len(shown) > 0 {
			shows, looked = append(shows, shown[len(shown)-1:]), append(looked, c)
		} else {
			r.unused = append(r.unused, c)
		}
	}
	// Commands that only look are triggers where the rule has no others: "cat .env".
	if len(r.triggers) == 0 {
		r.triggers = shows
	} else {
		r.unused = append(r.unused, looked...)
	}
	for _, t := range r.triggers {
		r.standing = append(r.standing, standing(t))
	}
}

// namesProgram reports whether a command is only the name of a program
// that does many things: "git" among a lesson's commands says what was used, not what was wrong.
func namesProgram(command string) bool {
	if strings.ContainsAny(command, " /\t\n") {
		return false
	}
	name := act.Program(command)
	if slices.Contains([]string{"reboot", "poweroff", "halt", "shutdown", "visudo", "vipw", "history"}, name) {
		return false
	}
	return act.KnownProgram(name) || act.NamesDatabase(name)
}

// minds reports whether the rule is about how a command is run, not about which.
func (r *Rule) minds(wrapper *act.Act) bool {
	for name, values := range wrapper.Options {
		if guardBypass()[name] || len(name) > 2 && r.title.Names(name) || slices.ContainsFunc(values, r.title.Names) {
			return true
		}
	}
	return false
}

// passive are commands that serve the one that matters.
var passive = map[string]bool{"curl": true, "wget": true, "mkdir": true, "tar": true, "pg_dump": true, "mysqldump": true}

// byEffect reports whether the rule's act is compared by what it does rather
// than by its words.
func (r *Rule) byEffect(a *act.Act) bool {
	if len(a.Effects) == 0 {
		return false
	}
	if slices.ContainsFunc(a.Effects, func(e act.Effect) bool { return e.Soft || e.Kind == act.EffectSQL && e.SQL.Hidden }) {
		return false
	}
	return !slices.Contains([]string{"cp", "mv", "install", "ln"}, a.Name) || r.title.Names(a.Effects[0].Path)
}

// scope reads from the title how far a rule about SQL reaches.
func (r *Rule) scope() {
	for _, w := range []string{"modify", "modification", "edit", "change", "touch", "write", "mutate", "manipulate", "sql", "directly", "direct", "manually", "manual", "hand"} {
		r.anyWrite = r.anyWrite || r.title[act.StemWord(w)]
	}
	for _, t := range r.triggers {
		for _, a := range t {
			for _, e := range a.Effects {
				if e.Kind != act.EffectSQL {
					continue
				}
				named := slices.ContainsFunc(e.SQL.Names, r.title.Names)
				r.onTarget = r.onTarget || !named && r.anyWrite && slices.ContainsFunc(e.Targets, r.title.Names)
			}
		}
	}
}

// everything reports whether the rule fits so many everyday commands that it
// says nothing, and one of them.
func (r *Rule) everything() (example string, all bool) {
	fits := 0
	for i, acts := range everydayActs() {
		if slices.ContainsFunc(acts, func(a *act.Act) bool {
			return slices.ContainsFunc(r.triggers, func(t []*act.Act) bool { return len(t) == 1 && r.fits(t[0], a, &Action{}) == full })
		}) {
			fits, example = fits+1, everyday()[i]
		}
	}
	return example, fits*everydayShare >= len(everyday())
}

// everydayActs are the everyday commands as acts.
var everydayActs = sync.OnceValue(func() (all [][]*act.Act) {
	for _, c := range everyday() {
		all = append(all, actsOf(c, ""))
	}
	return all
})

// actsOf reads a text as commands, or as SQL.
func actsOf(text, dir string) []*act.Act {
	s := act.NewShell(dir)
	s.Follow(act.Proposal{}, act.Tidy(text))
	return s.Acts
}

// standing are the words of a trigger that must all stand in a text
// which cannot be read for the rule to be taken as meant.
func standing(acts []*act.Act) (words []string) {
	add := func(w string) {
		w = strings.ToLower(strings.Trim(act.Spelling.Replace(w), "${}'\""))
		if len(w) > 1 && !strings.ContainsAny(w, anything+"*") && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for _, a := range acts {
		sql := false
		for _, e := range a.Effects {
			if e.Kind == act.EffectSQL && e.SQL.Verb != "" {
				sql = true
				add(e.SQL.Verb)
				for _, n := range e.SQL.Names {
					add(n)
				}
				if len(e.SQL.Names) == 0 { // "drop" alone stands in many a text
					if e.SQL.Verb == "DELETE" {
						add("from")
					} else {
						add(e.SQL.Object)
					}
				}
				for _, t := range e.Targets {
					add(t)
				}
			}
		}
		if sql {
			continue
		}
		if !strings.HasPrefix(a.Name, "(") {
			add(a.Name)
		}
		for _, w := range a.Words {
			add(w)
		}
		for o := range a.Options {
			if !act.Quiet()[o] && len(o) > 3 && slices.Contains(a.Source, "--"+o) {
				add(o)
			}
		}
	}
	if len(words) == 1 && act.KnownProgram(words[0]) {
		return nil // the name of a program alone says nothing
	}
	return words
}

// Limited returns the rule as one that only warns, that blocks one agent alone and its kind, or that does all it can.
func (r *Rule) Limited(warnOnly bool, onlyFor string) *Rule {
	if r == nil || r.Draft.WarnOnly == warnOnly && r.Draft.OnlyFor == onlyFor {
		return r
	}
	next := *r
	next.Draft.WarnOnly, next.Draft.OnlyFor = warnOnly, onlyFor
	return &next
}

// Forced returns the draft as one that may fit nearly every command.
func (d RuleDraft) Forced() RuleDraft {
	d.Force = true
	return d
}

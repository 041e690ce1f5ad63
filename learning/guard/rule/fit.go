package rule

import (
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// guardFit says how well an act fits a rule.
type guardFit uint8

const (
	none guardFit = iota
	near          // it may be the act, or is a smaller one of its kind: warns
	full          // it is the act
)

// fits compares a rule's act with one of an action.
func (r *Rule) fits(want, got *act.Act, action *Action) guardFit {
	elsewhere := func(w string) bool { return !placeholder(w) && !slices.Contains(got.Where, w) } // of the rule's hosts and containers
	if got.Harmless() || slices.ContainsFunc(want.Where, elsewhere) || r.instead.is(got) {
		return none
	}
	best := none
	if removesAround(want, got) {
		best = full
	} else if r.byEffect(want) {
		for i := range want.Effects {
			for k := range got.Effects {
				best = max(best, r.effectFits(&want.Effects[i], &got.Effects[k], action))
			}
		}
	} else {
		best = r.wordsFit(want, got)
	}
	if got.Prepared && best == full {
		best = near
	}
	return best
}

// guardBypass are options that are the harm themselves, whatever they are used on.
var guardBypass = wordlist.Set(words, "bypassing options")

// wordsFit compares by words and options.
func (r *Rule) wordsFit(want, got *act.Act) guardFit {
	if want.Name != got.Name {
		return none
	}
	// A variable that is set is the same act when it stands before a command.
	if want.Name == act.SetsVariable {
		return fitIf(sameWords(want.Words, got.Words))
	}
	best, bypass, named := r.optionsFit(want, got)
	if best != none {
		best = min(best, r.environmentFits(want, got))
	}
	if best != none {
		best = min(best, r.operandsFit(want, got, bypass || want.Wraps && named))
	}
	return best
}

// optionsFit compares by options. bypass tells whether one of the rule's is
// the harm itself, named whether the title names what one is given.
func (r *Rule) optionsFit(want, got *act.Act) (best guardFit, bypass, named bool) {
	best = full
	for name, values := range want.Options {
		if act.Quiet()[name] && !r.title.Names(name) && (len(want.Words) > 0 || len(want.Options) > 1) {
			continue
		}
		has, ok := got.Options[name]
		if !ok {
			if want.Name == "pip" && name == "break-system-packages" && got.Env["PIP_BREAK_SYSTEM_PACKAGES"] != "" {
				bypass = true
				continue
			}
			if got.OnlyAsks(name) || got.Consents && act.Consent()[name] {
				bypass = bypass || guardBypass()[name]
				continue
			}
			if fit := r.qualifies(want, name, values); fit != none {
				best = min(best, fit)
				continue
			}
			if act.OptionsOf()[want.Name] == nil {
				// Of a program that the table does not know, -a may be --all.
				has, ok = otherLength(name, got.Options)
				best = min(best, near)
			}
			if !ok {
				return none, false, false
			}
		}
		if last := values[len(values)-1]; last != "" && !placeholder(last) && !guardBypass()[name] {
			// Of a program that the table does not know, --x v and --x=v look different.
			if slices.Contains(has, "") {
				has = append(slices.Clone(has), got.Words...)
			}
			if !slices.ContainsFunc(has, func(v string) bool { return wordFits(last, v, got) != none }) {
				return none, false, false
			}
			named = named || r.title.Names(last)
		} else if len(has) > 0 && has[len(has)-1] == "false" {
			return none, false, false
		}
		bypass = bypass || guardBypass()[name]
	}
	return best, bypass, named
}

// environmentFits compares by the variables that are set before the command.
func (r *Rule) environmentFits(want, got *act.Act) guardFit {
	best := full
	for name, value := range want.Env {
		set, ok := got.Env[name]
		if ok && set != value || !ok && r.title.Names(name) {
			return none
		}
		if !ok && r.title.Names(value) {
			best = near // it may be set elsewhere
		}
	}
	return best
}

// operandsFit compares by words: first the subcommands, which stand at their
// place, then the others. If only the named count, words that the title lacks may differ.
func (r *Rule) operandsFit(want, got *act.Act, onlyNamed bool) guardFit {
	fixed := fixedWords(want)
	words, others := want.Words, got.Words[subcommandAt(want, got, fixed):]
	if len(others) < fixed || !sameWords(words[:fixed], others[:fixed]) {
		return none
	}
	words, others = words[fixed:], others[fixed:]
	if len(got.Options["all"]) > 0 && (want.Name == "kubectl" || want.Name == "docker") && len(others) < len(words) {
		return full
	}
	best := full
	for _, w := range words {
		if onlyNamed && !r.title.Names(w) {
			continue
		}
		found := false
		for o, values := range got.Options {
			found = found || slices.Contains(values, w) && !act.Saying()[o]
		}
		for i, o := range others {
			if fit := wordFits(w, o, got); fit != none {
				best, others, found = min(best, fit), others[i+1:], true
				break
			}
		}
		if !found && !paired(w, want, got) {
			return none
		}
	}
	return best
}

// otherLength finds the long option that a letter may stand for, or the letter.
func otherLength(name string, options map[string][]string) (values []string, ok bool) {
	if len(name) > 1 {
		values, ok = options[name[:1]]
		return values, ok
	}
	for o, v := range options {
		if len(o) > 2 && strings.HasPrefix(o, name) {
			values, ok = v, true
		}
	}
	return values, ok
}

// subcommandAt is where an act's subcommand stands among its words. Of a
// program that the table does not know, the values of options before it look like words.
func subcommandAt(want, got *act.Act, fixed int) int {
	if fixed == 0 || act.OptionsOf()[want.Name] != nil || len(got.Source) < 2 || !strings.HasPrefix(got.Source[1], "-") {
		return 0
	}
	for at := range min(3, len(got.Words)) {
		if got.Words[at] == want.Words[0] {
			return at
		}
	}
	return 0
}

// fixedWords is how many words of a rule's act are subcommands, which
// stand at their place.
func fixedWords(a *act.Act) int { return min(act.Subcommands(a), len(a.Words)) }

func fitIf(ok bool) guardFit {
	if ok {
		return full
	}
	return none
}

func sameWords(want, got []string) bool {
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || placeholder(w) })
}

// anything is how a placeholder is written once a rule's command is read.
const anything = "…"

// placeholderWords are words in capitals by which people mean any.
var placeholderWords = wordlist.Set(words, "placeholder words")

var (
	placeholderSigns = lazyregexp.New(`(^|[^0-9<])(?:<[A-Za-z][\w .|/-]*>|\{\{[^{}]+\}\})`)
	capitals         = lazyregexp.New(`[A-Z][A-Z_]+`)
)

// generalized writes the placeholders of a rule's command in one way: <name>, {{name}}, NAME and MY_NAME.
func generalized(command string) string {
	command = placeholderSigns.ReplaceAllString(command, "${1}"+anything)
	var b strings.Builder
	at := 0
	for _, m := range capitals.Compiled().FindAllStringIndex(command, -1) {
		w := command[m[0]:m[1]]
		any := placeholderWords()[w] || strings.HasPrefix(w, "YOUR_") || strings.HasPrefix(w, "MY_") || strings.HasSuffix(w, "_NAME") || strings.HasSuffix(w, "_ID")
		alone := (m[0] == 0 || strings.IndexByte(" \t\n'\"/=:@(", command[m[0]-1]) >= 0) && (m[1] == len(command) || strings.IndexByte(" \t\n'\"/:@.;,)", command[m[1]]) >= 0)
		if any && alone {
			b.WriteString(command[at:m[0]] + anything)
			at = m[1]
		}
	}
	return b.String() + command[at:]
}

// widened lets what is only a part of a word or a path stand for any text.
func widened(acts []*act.Act) []*act.Act {
	widen := func(w string) string {
		if placeholder(w) {
			return w
		}
		return strings.ReplaceAll(w, anything, string(act.AnyText))
	}
	for _, a := range acts {
		for i, w := range a.Words {
			a.Words[i] = widen(w)
		}
		for _, values := range a.Options {
			for i, v := range values {
				values[i] = widen(v)
			}
		}
		for i := range a.Effects {
			a.Effects[i].Path, a.Effects[i].Word = widen(a.Effects[i].Path), widen(a.Effects[i].Word)
		}
	}
	return acts
}

// says reports whether an act of a rule tells one command from others: the name of a program that
// does many things, and a write to any file, do not.
func says(a *act.Act) bool {
	if placeholder(a.Name) {
		return false
	}
	if len(a.Effects) > 0 {
		return slices.ContainsFunc(a.Effects, func(e act.Effect) bool { return e.Kind != act.EffectWrite || !placeholder(e.Path) })
	}
	if len(a.Options) > 0 || !slices.ContainsFunc(a.Words, placeholder) || slices.ContainsFunc(a.Words, func(w string) bool { return !placeholder(w) }) {
		return true
	}
	return !act.Prefixes()[a.Name] && !act.IsShell(a.Name) && !a.Wraps && !slices.ContainsFunc(everyday(), func(c string) bool {
		program, _, _ := strings.Cut(c, " ")
		return act.Program(program) == a.Name
	})
}

// placeholder reports whether a word of a rule stands for any word.
func placeholder(w string) bool {
	switch {
	case w == "...", w == anything, w == "*", w == string(act.AnyText):
		return true
	case strings.HasPrefix(w, "<") && strings.HasSuffix(w, ">"), strings.HasPrefix(w, "{{") && strings.HasSuffix(w, "}}"):
		return true
	case strings.HasPrefix(w, "YOUR_") || strings.HasPrefix(w, "your-"):
		return true
	}
	return false
}

// wordFits compares one operand.
func wordFits(want, got string, a *act.Act) guardFit {
	if want == got || placeholder(want) {
		return full
	}
	if act.NameFits(got, want) || act.NameFits(want, got) {
		return full
	}
	if k, v, ok := strings.Cut(want, "="); ok && len(k) > 1 {
		if gk, gv, ok := strings.Cut(got, "="); ok && gk == k {
			return wordFits(v, gv, a)
		}
		return none
	}
	if strings.Contains(got, "://") && !strings.Contains(want, "/") {
		return fitIf(path.Base(act.URL(got)) == want)
	}
	if strings.Contains(want, "://") {
		w, g := act.URL(want), act.URL(got)
		return fitIf(w == g || strings.HasPrefix(g, w+"/"))
	}
	if strings.ContainsAny(want, "/~") || strings.Contains(want, ".") || strings.Contains(got, "/") {
		whole := len(a.Options["recursive"])+len(a.Options["R"])+len(a.Options["prefix"]) > 0
		want = act.Clean("", want)
		whole = whole && len(act.Parts(want)) > 0
		return pathFits(want, act.Clean(a.Dir, got), whole, whole, near)
	}
	return none
}

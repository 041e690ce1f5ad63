package rule

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// harming are options that make a command what it is: without them it is another.
var harming = wordlist.Set(words, "harming options")

// qualifies says what an act still is to the rule that lacks an option of the
// rule's command: the act, where the title names what is done and to what and
// the option only says how; near it, where the option has a value, which may
// have told the object apart.
func (r *Rule) qualifies(want *act.Act, option string, values []string) guardFit {
	fixed := fixedWords(want)
	if fixed == 0 || len(option) < 3 || guardBypass()[option] || harming()[option] || r.title.Names(option) || slices.ContainsFunc(values, r.title.Names) || !r.title.Names(want.Words[fixed-1]) {
		return none
	}
	named := slices.ContainsFunc(want.Words[fixed:], r.title.Names)
	for _, v := range want.Options {
		named = named || slices.ContainsFunc(v, r.title.Names)
	}
	switch {
	case !named:
		return none
	case values[len(values)-1] == "":
		return full
	}
	return near
}

// paired reports whether a word stands behind the same option in both
// acts. Of options that no table knows the order of the values says nothing.
func paired(w string, want, got *act.Act) bool {
	for i := 1; i < len(want.Source); i++ {
		option := want.Source[i-1]
		if want.Source[i] != w || !strings.HasPrefix(option, "-") || strings.Contains(option, "=") {
			continue
		}
		for k, o := range got.Source {
			if o == option && k+1 < len(got.Source) && got.Source[k+1] == w || o == option+"="+w {
				return true
			}
		}
	}
	return false
}

// removesAround reports whether the act deletes the namespace in which the
// rule's act deletes something.
func removesAround(want, got *act.Act) bool {
	if want.Name != "kubectl" || got.Name != "kubectl" || len(want.Words) < 2 || len(got.Words) < 3 || want.Words[0] != "delete" || got.Words[0] != "delete" || got.Words[1] != "namespace" {
		return false
	}
	in := want.Options["namespace"]
	return len(in) > 0 && slices.Contains(got.Words[2:], in[len(in)-1])
}

// LooksCommand reports whether a text reads as a command and not as prose.
func LooksCommand(text string) bool { return act.LooksCommand(text, nil) }

// instead is what a rule recommends; an act that does it is not the rule's.
type instead struct {
	options  []string
	programs []string
	acts     []*act.Act
}

// insteadOf reads the alternatives for commands, options and programs.
func insteadOf(alternatives, commands []string) (in instead) {
	own := strings.Join(commands, "\n")
	for _, text := range alternatives {
		if len(text) > act.MaxCommand {
			continue
		}
		for _, w := range strings.Fields(text) {
			w = strings.Trim(w, "`'\".,;:()")
			if option, ok := strings.CutPrefix(w, "--"); ok && option != "" && !strings.Contains(own, w) {
				option, _, _ = strings.Cut(option, "=")
				in.options = append(in.options, option)
			} else if strings.HasSuffix(w, ".sh") || strings.HasSuffix(w, ".py") || strings.HasPrefix(w, "./") {
				in.programs = append(in.programs, path.Base(w))
			}
		}
		candidates := append(act.QuotedCode(text), strings.TrimPrefix(strings.TrimPrefix(text, "Use "), "use "), strings.TrimPrefix(text, "Run "))
		for _, c := range candidates {
			if act.LooksCommand(c, nil) {
				in.acts = append(in.acts, actsOf(c, "")...)
			}
		}
	}
	return in
}

// is reports whether the act is what the rule recommends.
func (in instead) is(a *act.Act) bool {
	if slices.ContainsFunc(in.options, func(o string) bool { return len(a.Options[o]) > 0 }) || slices.Contains(in.programs, a.Name) || len(a.Words) > 0 && act.IsShell(a.Name) && slices.Contains(in.programs, path.Base(a.Words[0])) {
		return true
	}
	for _, alt := range in.acts {
		if alt.Name == a.Name && len(alt.Words) == 0 && len(alt.Options) == 0 {
			return true // any use of that program
		}
		if alt.Name == a.Name && slices.Equal(alt.Words, a.Words) && maps.EqualFunc(alt.Options, a.Options, slices.Equal) {
			return true
		}
	}
	return false
}

package rule

import (
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

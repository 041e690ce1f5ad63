package rule

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning/guard/act"
)

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

package learning

import (
	"context"
	"path"
	"regexp/syntax"
	"slices"
	"strings"
)

// guardInstead is what a rule recommends; an act that does it is not the rule's.
type guardInstead struct {
	options  []string
	programs []string
	acts     []*guardAct
}

// guardInsteadOf reads the alternatives for commands, options and programs.
func guardInsteadOf(ctx context.Context, alternatives, commands []string) (in guardInstead) {
	own := strings.Join(commands, "\n")
	for _, text := range alternatives {
		if len(text) > guardMaxCommand {
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
		candidates := append(guardQuotedCode(text), strings.TrimPrefix(strings.TrimPrefix(text, "Use "), "use "), strings.TrimPrefix(text, "Run "))
		for _, c := range candidates {
			if guardLooksCommand(ctx, c, nil) {
				in.acts = append(in.acts, guardActsOf(ctx, c, "")...)
			}
		}
	}
	return in
}

// is reports whether the act is what the rule recommends.
func (in guardInstead) is(a *guardAct) bool {
	for _, o := range in.options {
		if len(a.options[o]) > 0 {
			return true
		}
	}
	if slices.Contains(in.programs, a.name) || len(a.words) > 0 && guardShells[a.name] && slices.Contains(in.programs, path.Base(a.words[0])) {
		return true
	}
	for _, alt := range in.acts {
		if alt.name == a.name && len(alt.words) == 0 && len(alt.options) == 0 {
			return true // any use of that program
		}
		if alt.name == a.name && slices.Equal(alt.words, a.words) && len(alt.options) == len(a.options) {
			same := true
			for o := range alt.options {
				same = same && slices.Equal(alt.options[o], a.options[o])
			}
			if same {
				return true
			}
		}
	}
	return false
}

// guardLiteral returns a text that everything the pattern fits must hold, or "".
func guardLiteral(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	best := ""
	var walk func(*syntax.Regexp)
	walk = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			if re.Flags&syntax.FoldCase == 0 && len(string(re.Rune)) > len(best) {
				best = string(re.Rune)
			}
		case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
			for _, sub := range re.Sub {
				walk(sub)
			}
		}
	}
	walk(tree)
	return best
}

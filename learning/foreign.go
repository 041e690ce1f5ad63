package learning

import (
	_ "embed"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

//go:embed foreign.txt
var foreignRows string

// foreigns are the rows of foreign.txt: a reason, and the commands that it is about.
var foreigns = sync.OnceValue(func() (rows []foreignRow) {
	for line := range strings.Lines(foreignRows) {
		if why, expression, row := strings.Cut(strings.TrimSpace(line), " | "); row && line[0] != '#' {
			rows = append(rows, foreignRow{why, newNeedy(`(?i)(?:` + expression + `)`)})
		}
	}
	return rows
})

type foreignRow struct {
	why      string
	commands needy
}

// nearHost is an address of this machine, which nothing is fetched from that is not here.
var nearHost = sync.OnceValue(func() needy {
	return newNeedy(`(?i)(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?::\d+)?(?:/[^\s'"]*)?(?:\s|['"]|$)`)
})

// Foreign says why a command is told to agents only after a person accepted it: it fetches from elsewhere, disables a check, loads what
// somebody wrote, or evades a hook. Empty: nothing speaks against it. It reads words and not a shell's grammar, so that quotes, backslashes
// and line breaks hide nothing; a text that names such a command without running it is withheld too.
func Foreign(command string) string {
	for _, form := range slices.Compact([]string{command, unquoted.Replace(command)}) {
		form = strings.Join(strings.Fields(form), " ")
		folded := fold(form)
		if nearHost().mayMatch(folded) {
			form = nearHost().ReplaceAllString(form, " ")
			folded = fold(form)
		}
		for _, row := range foreigns() {
			if row.commands.mayMatch(folded) && row.commands.MatchString(form) {
				return row.why
			}
		}
	}
	return ""
}

// needy is an expression without regard to case, and texts of which whatever it matches contains one; none: they are not known.
// Most commands contain none, and looking for them takes a hundredth of the time that the expressions of foreign.txt take.
type needy struct {
	*regexp.Regexp
	needs []string
}

func newNeedy(expression string) needy {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return needy{regexp.MustCompile(expression), needsOf(parsed)}
}

func (n needy) mayMatch(folded string) bool {
	return n.needs == nil || slices.ContainsFunc(n.needs, func(need string) bool { return strings.Contains(folded, need) })
}

// needsOf returns folded texts of which each match of an expression contains one: of a sequence those of its part
// whose shortest text is longest. It returns nil if it knows none.
func needsOf(re *syntax.Regexp) (needs []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{fold(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			some := needsOf(sub)
			if some == nil {
				return nil
			}
			needs = append(needs, some...)
		}
	case syntax.OpConcat:
		longest := 0
		for _, sub := range re.Sub {
			if some := needsOf(sub); some != nil {
				if shortest := len(slices.MinFunc(some, func(a, b string) int { return len(a) - len(b) })); shortest > longest {
					needs, longest = some, shortest
				}
			}
		}
	}
	return needs
}

// fold makes texts alike that differ in case alone, as (?i) has it: also the long s and the sign of Kelvin.
func fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// unquoted takes away what a shell takes away from a word.
var unquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "", "`", "", "${IFS}", " ", "$IFS", " ")

package learning

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"skillrouter/internal/lazyregexp"
)

//go:embed foreign.txt
var foreignRows string

// foreigns are the rows of foreign.txt: a reason, and the commands that it is about.
var foreigns = sync.OnceValue(func() (rows []foreignRow) {
	for line := range strings.Lines(foreignRows) {
		if why, expression, row := strings.Cut(strings.TrimSpace(line), " | "); row && line[0] != '#' {
			rows = append(rows, foreignRow{why, regexp.MustCompile(`(?i)(?:` + expression + `)`)})
		}
	}
	return rows
})

type foreignRow struct {
	why      string
	commands *regexp.Regexp
}

// nearHost is an address of this machine, which nothing is fetched from that is not here.
var nearHost = lazyregexp.New(`(?i)(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?::\d+)?(?:/[^\s'"]*)?(?:\s|['"]|$)`)

// Foreign says why a command is told to agents only after a person accepted it: it fetches from elsewhere, disables a check, loads what
// somebody wrote, or evades a hook. Empty: nothing speaks against it. It reads words and not a shell's grammar, so that quotes, backslashes
// and line breaks hide nothing; a text that names such a command without running it is withheld too.
func Foreign(command string) string {
	for _, form := range slices.Compact([]string{command, unquoted.Replace(command)}) {
		form = nearHost.ReplaceAllString(strings.Join(strings.Fields(form), " "), " ")
		for _, row := range foreigns() {
			if row.commands.MatchString(form) {
				return row.why
			}
		}
	}
	return ""
}

// unquoted takes away what a shell takes away from a word.
var unquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "", "`", "", "${IFS}", " ", "$IFS", " ")

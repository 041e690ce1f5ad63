package worktree

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var words string

var (
	extensions   = wordlist.Set(words, "extensions")
	made         = wordlist.Set(words, "made")
	denials      = wordlist.Set(words, "before a name")
	placeholders = wordlist.Set(words, "placeholders")
	hidden       = wordlist.Set(words, "kept hidden")
)

// doubt is in a sentence about another place, or about what need not be there.
var doubt = sync.OnceValue(func() *regexp.Regexp {
	const edge = "[\\s`\"'()\\[\\]{},;:!?.]"
	phrases, first := strings.Join(wordlist.Lines(words, "doubt"), "|"), strings.Join(wordlist.Lines(words, "begins"), "|")
	return regexp.MustCompile("(?i)(?:(?:^|" + edge + ")(?:" + phrases + ")|^" + edge + "*(?:" + first + "))(?:" + edge + "|$)")
})

var (
	// sentence ends at a line's end, or at a stop before a space, but not between backticks.
	sentence = lazyregexp.New("(?:`[^`\n]*`|[^\n.!?]|[.!?][^ \n`])+")
	// separator stands between the commands of a shell line.
	separator = lazyregexp.New("&&|\\|\\||[|;\n]")
	script    = lazyregexp.New(`^((?:npm|pnpm|yarn|bun) run [A-Za-z][\w:-]*)(?: |$)`)
	object    = lazyregexp.New(`^(?:[0-9a-f]{7,40}|[A-Z_]*HEAD)$`)
	branch    = lazyregexp.New(`^git (?:checkout|switch|merge|rebase)(?: --quiet| -q)? ([A-Za-z][\w./-]*[\w])$`)
	// targets are of no other makefile or folder, as options say.
	targets = lazyregexp.New(`^make((?: [^-\s]\S*)+)$`)
	// ran is a file, or the one that a program runs.
	ran      = lazyregexp.New(`^(?:(?:\.|bash|bun|deno|node|perl|php|python3?|ruby|sh|source|tsx|zsh) )?(\S+)`)
	runs     = lazyregexp.New(`^(?i:run|runs|via)$|:$|^&&$`)
	word     = lazyregexp.New(`^[A-Za-z][\w.:-]*$`)
	pathLike = lazyregexp.New(`^((?:\./|[\w.+][\w.@+-]*/)(?:[\w.@+-]+/)*[\w.@+-]+)(?::\d+){0,2}$`)
	// pattern is of paths that lead out of the folder, or that stand for others: NN, FOLDER/x, example.org/x.
	pattern = lazyregexp.New(`^[^/]*\.(?:com|org|net|io|dev|rs|ai|co|app|edu|gov)/|\.\.|NN|XX|YY|(?:^|/)(?:[^a-z/]+[A-Z]|[A-Z][^a-z/])[^a-z/]*/`)
)

// Names tells whether a text names anything that can be gone.
func (t Text) Names() bool { return len(namesIn(t)) > 0 }

// namesIn returns what a text names: a path, "make TARGET", "npm run SCRIPT" or, for a branch, "git BRANCH".
func namesIn(t Text) (names []string) {
	text := t.Text[:min(len(t.Text), maxText)]
	if t.Command {
		names = commandNames(text)
	} else {
		for _, s := range sentence.FindAllString(text, -1) {
			if doubt().MatchString(s) {
				continue
			}
			for i, part := range strings.Split(s, "`") {
				if i%2 == 1 {
					// An example of a branch need not be one that was there.
					names = append(names, slices.DeleteFunc(commandNames(part), func(n string) bool { return strings.HasPrefix(n, "git ") })...)
				}
				names = append(names, proseNames(strings.Fields(part))...)
			}
		}
	}
	return names[:min(len(names), maxNames)]
}

// commandNames returns what the commands of a shell line run.
func commandNames(line string) (names []string) {
	for _, command := range separator.Compiled().Split(line, -1) {
		command = strings.TrimPrefix(strings.Join(strings.Fields(command), " "), "$ ")
		if m := script.FindStringSubmatch(command); m != nil {
			names = append(names, m[1])
		} else if m := branch.FindStringSubmatch(command); m != nil && !object.MatchString(m[1]) {
			names = append(names, "git "+m[1])
		} else if m := targets.FindStringSubmatch(command); m != nil {
			for t := range strings.FieldsSeq(m[1]) {
				if word.MatchString(t) {
					names = append(names, "make "+t)
				}
			}
		} else if m := ran.FindStringSubmatch(command); m != nil {
			if p, ok := filePath(m[1], true); ok {
				names = append(names, p)
			}
		}
	}
	return names
}

// proseNames returns the files that words name, and the targets that stand among them without backticks.
func proseNames(fields []string) (names []string) {
	for i, f := range fields {
		if f == "make" && i > 0 && i+1 < len(fields) && runs.MatchString(fields[i-1]) {
			names = append(names, commandNames("make "+strings.TrimRight(fields[i+1], ".,;:)"))...)
		}
		trimmed := strings.TrimSuffix(strings.Trim(f, `"'()[]{},;:!?`), ".")
		if p, ok := filePath(trimmed, false); ok && !slices.ContainsFunc(fields[max(i-2, 0):i], func(w string) bool { return denials()[strings.ToLower(w)] }) {
			names = append(names, p)
		}
	}
	return names
}

// filePath returns the path below the folder that a word is. A file that is run needs no extension.
func filePath(w string, run bool) (p string, ok bool) {
	m := pathLike.FindStringSubmatch(strings.Trim(w, `"',;`))
	if m == nil {
		return "", false
	}
	if p = path.Clean(m[1]); !strings.Contains(p, "/") || pattern.MatchString(p) {
		return "", false
	}
	folder, base := path.Split(p)
	for part := range strings.SplitSeq(p, "/") {
		stem, _, _ := strings.Cut(part, ".")
		if made()[part] || placeholders()[strings.ToLower(stem)] || part[0] == '.' && !hidden()[part] && strings.Contains(folder, part+"/") {
			return "", false
		}
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	return p, extensions()[ext] || run && ext == ""
}

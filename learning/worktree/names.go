package worktree

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var words string

var (
	extensions   = wordlist.Set(words, "extensions")
	made         = wordlist.Set(words, "made")
	doubts       = wordlist.Phrases(words, "doubt")
	plans        = wordlist.Set(words, "begins")
	denials      = wordlist.Set(words, "before a name")
	placeholders = wordlist.Set(words, "placeholders")
	runBy        = wordlist.Set(words, "run by")
	hidden       = wordlist.Set(words, "kept hidden")
)

// kind is the kind of thing that a name names.
type kind int

const (
	file kind = iota
	target
	script
)

// name is something of a folder that a text names.
type name struct {
	kind  kind
	text  string
	shown string // as an agent is told it
}

var (
	runs     = lazyregexp.New(`^(?i:run|runs|via)$|:$|^&&$`)
	word     = lazyregexp.New(`^[A-Za-z][\w.:-]*$`)
	pathLike = lazyregexp.New(`^(?:\./)?(?:[\w.@+-]+/)+[\w.@+-]+$`)
	lineAt   = lazyregexp.New(`:\d+(?::\d+)?$`)
	host     = lazyregexp.New(`\.(?:com|org|net|io|dev|rs|ai|co|app|edu|gov)$`)
)

// sentences cuts a text at the ends of lines and sentences, but not between backticks.
func sentences(text string) (list []string) {
	start, code := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '`':
			code = !code
		case c == '\n', !code && strings.IndexByte(".!?", c) >= 0 && i+1 < len(text) && text[i+1] == ' ':
			list, start, code = append(list, text[start:i]), i+1, code && c != '\n'
		}
	}
	return append(list, text[start:])
}

// doubtful reports whether a sentence is about another place, or about what need not be there.
func doubtful(sentence string) bool {
	folded := strings.Fields(strings.ToLower(sentence))
	for i, w := range folded {
		folded[i] = strings.Trim(w, "`\"'()[]{},;:!?.")
	}
	text := " " + strings.Join(folded, " ") + " "
	for phrase := range doubts() {
		if strings.Contains(text, " "+phrase+" ") {
			return true
		}
	}
	return len(folded) > 0 && plans()[folded[0]]
}

// commandNames returns what a command runs: a file, a make target or a package script.
func commandNames(fields []string) []name {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "$" })
	if len(fields) == 0 {
		return nil
	}
	program, args := fields[0], fields[1:]
	switch {
	case program == "make":
		var names []name
		for _, a := range args {
			switch {
			case strings.HasPrefix(a, "-"):
				return nil // its makefile or folder may be another
			case word.MatchString(a) && !strings.Contains(a, "="):
				names = append(names, name{target, a, "make " + a})
			}
		}
		return names
	case slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, program) && len(args) > 1 && args[0] == "run" && word.MatchString(args[1]) && path.Ext(args[1]) == "":
		return []name{{script, args[1], program + " run " + args[1]}}
	case runBy()[program] && len(args) > 0:
		program = args[0]
	}
	if p, ok := filePath(program, true); ok {
		return []name{{file, p, p}}
	}
	return nil
}

// proseNames returns the files that words name, and the commands that stand among them without backticks.
func proseNames(fields []string) (names []name) {
	for i, f := range fields {
		if f == "make" && i > 0 && i+1 < len(fields) && runs.MatchString(fields[i-1]) {
			names = append(names, commandNames([]string{f, strings.TrimRight(fields[i+1], ".,;:)")})...)
		}
		trimmed := strings.TrimSuffix(strings.Trim(f, `"'()[]{},;:!?`), ".")
		if p, ok := filePath(trimmed, false); ok && !slices.ContainsFunc(fields[max(i-2, 0):i], func(w string) bool { return denials()[strings.ToLower(w)] }) {
			names = append(names, name{file, p, p})
		}
	}
	return names
}

// filePath returns the path below the folder that a word is. A file that is run needs no extension.
func filePath(w string, run bool) (p string, ok bool) {
	p = lineAt.ReplaceAllString(strings.Trim(w, `"',;`), "")
	if !pathLike.MatchString(p) || strings.HasPrefix(p, "-") || strings.HasPrefix(p, "@") {
		return "", false
	}
	p = path.Clean(p)
	parts := strings.Split(p, "/")
	if len(parts) < 2 || host.MatchString(parts[0]) {
		return "", false
	}
	for i, part := range parts {
		stem, _, _ := strings.Cut(part, ".")
		folder := i < len(parts)-1
		if part == ".." || strings.Contains(part, "...") || made()[part] || placeholders()[strings.ToLower(stem)] ||
			folder && (part[0] == '.' && !hidden()[part] || len(part) > 1 && strings.ToUpper(part) == part && strings.ToLower(part) != part) ||
			strings.Contains(part, "NN") || strings.Contains(part, "XX") || strings.Contains(part, "YY") {
			return "", false
		}
	}
	ext := strings.TrimPrefix(path.Ext(parts[len(parts)-1]), ".")
	return p, extensions()[ext] || run && ext == ""
}

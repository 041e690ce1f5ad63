package worktree

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var words string

//go:embed packages.txt
var packages string

var (
	extensions   = wordlist.Set(words, "extensions")
	made         = wordlist.Set(words, "made")
	elsewhere    = wordlist.Phrases(words, "elsewhere")
	here         = wordlist.Set(words, "here")
	unsure       = wordlist.Phrases(words, "unsure")
	plans        = wordlist.Set(words, "begins")
	toBeMade     = wordlist.Set(words, "made by")
	negations    = wordlist.Set(words, "not")
	uses         = wordlist.Set(words, "use")
	placeholders = wordlist.Set(words, "placeholders")
	runBy        = wordlist.Set(words, "run by")
	before       = wordlist.Set(words, "before a command")
	noTarget     = wordlist.Set(words, "no target")
	methods      = wordlist.Set(words, "methods")
	scripts      = wordlist.Set(words, "script folders")
	hidden       = wordlist.Set(words, "kept hidden")
	rootFiles    = wordlist.Set(words, "root files")
	ordinary     = wordlist.Set(packages, "words")
	nouns        = wordlist.Set(packages, "nouns")
)

// registry is where a package is listed.
type registry string

const (
	npm   registry = "npm"
	pypi  registry = "pypi"
	cargo registry = "cargo"
	golib registry = "go"
)

var listed = map[registry]func() map[string]bool{
	npm: wordlist.Set(packages, "npm"), pypi: wordlist.Set(packages, "pypi"), cargo: wordlist.Set(packages, "cargo"), golib: wordlist.Set(packages, "go"),
}

// thing is what a name is of.
type thing int

const (
	file thing = iota
	target
	script
	dependency
)

// name is something of a tree that a text names.
type name struct {
	thing thing
	text  string
	by    string     // the program that runs a script
	of    []registry // of a dependency
}

// shown is the name as an agent is told it.
func (n name) shown() string {
	switch n.thing {
	case target:
		return "make " + n.text
	case script:
		return n.by + " run " + n.text
	}
	return n.text
}

// token is a word of a sentence.
type token struct {
	text  string // without what stands around it
	raw   string
	code  bool // between backticks
	begin bool // a command may begin here
	end   bool // a command ends behind it
}

// namesIn are the things that a text names, each once.
func namesIn(t Text) (names []name) {
	text := t.Text[:min(len(t.Text), maxText)]
	if t.Command {
		text = "`" + strings.NewReplacer("`", " ", "\n", " ; ").Replace(text) + "`"
	}
	for _, s := range sentences(text) {
		tokens := tokensOf(s)
		if !t.Command && doubtful(tokens) {
			continue
		}
		for i := range tokens {
			for _, n := range namesAt(tokens, i, t.Command) {
				known := slices.ContainsFunc(names, func(o name) bool { return o.thing == n.thing && o.text == n.text })
				if !known && len(names) < maxNames {
					names = append(names, n)
				}
			}
		}
	}
	return names
}

// sentences cuts a text at the ends of lines and sentences, but not between backticks.
func sentences(text string) (list []string) {
	start, code := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '`':
			code = !code
		case c == '\n', !code && (c == '.' || c == '!' || c == '?') && i+1 < len(text) && text[i+1] == ' ' && !strings.HasSuffix(text[:i], "e.g"):
			list, start, code = append(list, text[start:i]), i+1, code && c != '\n'
		}
	}
	return append(list, text[start:])
}

// separators are the words of a shell between commands.
var separators = []string{"&&", "||", "|", ";"}

func tokensOf(sentence string) (tokens []token) {
	for i, part := range strings.Split(sentence, "`") {
		code := i%2 == 1
		first := true
		for _, raw := range strings.Fields(part) {
			if slices.Contains(separators, raw) || raw == "$" {
				first = true
				if n := len(tokens); n > 0 {
					tokens[n-1].end = true
				}
				continue
			}
			t := token{raw: raw, code: code, begin: first && (code || len(tokens) == 0), text: strings.Trim(raw, `"'()[]{},;:!?`)}
			t.text = strings.TrimSuffix(t.text, ".")
			if n := len(tokens); n > 0 && !code {
				previous := tokens[n-1]
				t.begin = t.begin || first && previous.end || before()[strings.ToLower(previous.text)] || strings.HasSuffix(previous.raw, ":")
			}
			t.end = strings.HasSuffix(raw, ";")
			first = t.end
			tokens = append(tokens, t)
		}
		if n := len(tokens); n > 0 {
			tokens[n-1].end = tokens[n-1].end || code
		}
	}
	return tokens
}

// doubtful tells whether a sentence is of another place, or of what need not be there.
func doubtful(tokens []token) bool {
	var b strings.Builder
	for i, t := range tokens {
		word := strings.ToLower(t.text)
		switch {
		case i == 0 && plans()[word]:
			return true
		case (word == "repo" || word == "repository") && i > 0 && !here()[strings.ToLower(tokens[i-1].text)]:
			return true
		}
		b.WriteByte(' ')
		if !t.code {
			b.WriteString(word)
		}
	}
	b.WriteByte(' ')
	text := b.String()
	for _, list := range []map[string]bool{elsewhere(), unsure()} {
		for phrase := range list {
			if strings.Contains(text, " "+phrase+" ") {
				return true
			}
		}
	}
	return false
}

// namesAt are what the word at i names, with those behind it.
func namesAt(tokens []token, i int, command bool) (names []name) {
	t := tokens[i]
	if denied(tokens, i) {
		return nil
	}
	if t.begin {
		rest := tokens[i+1:]
		switch word := t.text; {
		case t.end || len(rest) == 0:
		case word == "make":
			return targets(rest, t.code)
		case word == "npm" || word == "pnpm" || word == "yarn" || word == "bun":
			if n, ok := scriptOf(word, rest, t.code); ok {
				return []name{n}
			}
		case runBy()[word]:
			if n, ok := ranBy(rest); ok {
				return []name{n}
			}
		}
	}
	if p, ok := filePath(t, false); ok && (!command || t.begin) {
		return []name{{thing: file, text: p}}
	}
	if !command && uses()[strings.ToLower(t.text)] {
		return used(tokens[i+1:])
	}
	return nil
}

// reach is how many words before a name say that it is to be made.
const reach = 3

// denied tells whether the words before say that the one at i is not used, or is yet to be made.
func denied(tokens []token, i int) bool {
	for back := 1; back <= reach && back <= i; back++ {
		word := strings.ToLower(tokens[i-back].text)
		switch {
		case methods()[tokens[i-back].text] && back < reach, toBeMade()[word], word == "instead" && back <= 2, negations()[word] && back <= 2:
			return true
		case word == "to", word == "in", word == "into", word == "from":
			if back+1 <= i && methods()[tokens[i-back-1].text] {
				return true
			}
			return false
		}
	}
	return false
}

var word = skillrouter.Lazily(`^[A-Za-z][\w.:-]*$`)

// targets are those of a call of make.
func targets(rest []token, code bool) (names []name) {
	for _, t := range rest {
		switch {
		case t.code != code, strings.HasPrefix(t.text, "-C"), strings.HasPrefix(t.text, "-f"), strings.HasPrefix(t.text, "--"):
			return names
		case code && (strings.HasPrefix(t.text, "-") || strings.Contains(t.text, "=")):
		case !word.MatchString(t.text) || !code && noTarget()[strings.ToLower(t.text)]:
			return names
		default:
			names = append(names, name{thing: target, text: t.text})
		}
		if t.end || !code {
			return names
		}
	}
	return names
}

// scriptOf is the script of a manifest that a package manager runs.
func scriptOf(manager string, rest []token, code bool) (n name, ok bool) {
	if manager == "npm" && (rest[0].text == "test" || rest[0].text == "start") && rest[0].code == code {
		return name{thing: script, by: manager, text: rest[0].text}, true
	}
	if rest[0].text != "run" || rest[0].end {
		return n, false
	}
	for _, t := range rest[1:] {
		switch {
		case t.code != code:
			return n, false
		case strings.HasPrefix(t.text, "-"):
			if !strings.HasPrefix(t.text, "--") || !code || t.text == "--workspace" || t.text == "--prefix" || t.text == "--filter" {
				return n, false // its value follows
			}
		default:
			ok := word.MatchString(t.text) && path.Ext(t.text) == "" && (code || !noTarget()[strings.ToLower(t.text)])
			return name{thing: script, by: manager, text: t.text}, ok
		}
		if t.end {
			break
		}
	}
	return n, false
}

// ranBy is the file that an interpreter runs.
func ranBy(rest []token) (n name, ok bool) {
	if p, ok := filePath(rest[0], true); ok {
		return name{thing: file, text: p}, true
	}
	return n, false
}

var (
	pathLike = skillrouter.Lazily(`^(?:\./)?(?:[\w.@+-]+/)*[\w.@+-]+$`)
	lineAt   = skillrouter.Lazily(`:\d+(?::\d+)?$`)
	host     = skillrouter.Lazily(`\.(?:com|org|net|io|dev|rs|ai|co|app|edu|gov)$`)
)

// filePath is the path below the tree that a word is. What is run needs no extension, if it has a folder.
func filePath(t token, run bool) (p string, ok bool) {
	p = lineAt.ReplaceAllString(t.text, "")
	if !pathLike.MatchString(p) || strings.HasPrefix(p, "-") || strings.HasPrefix(p, "@") {
		return "", false
	}
	own := strings.HasPrefix(p, "./")
	p = path.Clean(p)
	parts := strings.Split(p, "/")
	folders, base := parts[:len(parts)-1], parts[len(parts)-1]
	ext := strings.TrimPrefix(path.Ext(base), ".")
	stem := strings.TrimSuffix(base, "."+ext)
	known := ext != "" && extensions()[ext] && stem != ""
	switch {
	case slices.ContainsFunc(parts, placeholder), slices.ContainsFunc(folders, shouted):
		return "", false
	case len(folders) > 0:
		if host.MatchString(folders[0]) || slices.ContainsFunc(folders, func(f string) bool { return f[0] == '.' && !hidden()[f] }) {
			return "", false
		}
		return p, known || ext == "" && (run || own || t.code && t.begin && scripts()[folders[0]])
	}
	return p, known && (own || run || strings.Contains(base, ".config.") || rootFiles()[base])
}

var counted = skillrouter.Lazily(`NN|XX|YY`)

// placeholder tells whether a part of a path stands for others.
func placeholder(part string) bool {
	stem, _, _ := strings.Cut(part, ".")
	return part == ".." || strings.Contains(part, "...") || placeholders()[stem] || counted.MatchString(part) ||
		shouted(stem) && placeholders()[strings.ToLower(stem)]
}

// shouted tells whether a name is in capitals, as those are that stand for others.
func shouted(name string) bool {
	return len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}

var module = skillrouter.Lazily(`^(?:github\.com|gitlab\.com|bitbucket\.org|golang\.org/x|go\.uber\.org|google\.golang\.org|gopkg\.in|k8s\.io)/[\w./-]+$`)

// used is the dependency that a verb of use is followed by.
func used(rest []token) []name {
	for i, t := range rest[:min(len(rest), 2)] {
		text := strings.ToLower(t.text)
		switch {
		case text == "the" || text == "only" || text == "on":
			continue
		case module.MatchString(t.text):
			return []name{{thing: dependency, text: t.text, of: []registry{golib}}}
		case strings.HasPrefix(text, "@") && strings.Count(text, "/") == 1:
			return []name{{thing: dependency, text: text, of: []registry{npm}}}
		}
		noun := i+1 < len(rest) && nouns()[strings.ToLower(rest[i+1].text)]
		if ordinary()[text] && !t.code && !noun {
			return nil
		}
		var of []registry
		for r, names := range listed {
			if names()[text] {
				of = append(of, r)
			}
		}
		if of != nil {
			return []name{{thing: dependency, text: text, of: of}}
		}
		return nil
	}
	return nil
}

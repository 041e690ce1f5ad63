package history

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"skillrouter/internal/check"
	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/guard/act"
	"skillrouter/tfidf/wordlist"
)

// simple is one simple command of a shell text.
type simple struct {
	words []string // without quotes
	bare  string   // the words that no quote protects
	piped bool     // it reads what another command of the text prints
	// excused is true before "||": it may fail.
	excused bool
}

// simples are the simple commands of a shell text, as the guard reads it. Logs are cut: of a text that no shell would read,
// what stands before the fault is read, and the words of a single command at least.
func simples(text string) []simple {
	r := &shellReader{text: text}
	stmts, err := act.Parse(text)
	for _, stmt := range stmts {
		r.stmt(stmt, false, false)
	}
	if err != nil && len(r.list) == 0 {
		for part := range strings.SplitSeq(strings.NewReplacer("&&", "\n", ";", "\n").Replace(text), "\n") {
			if words := strings.Fields(part); len(words) > 0 {
				r.list = append(r.list, simple{words: words, bare: part})
			}
		}
	}
	return r.list
}

// shellReader gathers simple commands.
type shellReader struct {
	text string
	list []simple
}

func (r *shellReader) stmt(stmt *syntax.Stmt, piped, excused bool) {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		r.add(cmd.Assigns, cmd.Args, piped, excused)
	case *syntax.DeclClause:
		r.list = append(r.list, simple{words: []string{cmd.Variant.Value}, piped: piped, excused: excused})
	case *syntax.BinaryCmd:
		pipe := cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll
		r.stmt(cmd.X, piped, excused || cmd.Op == syntax.OrStmt)
		r.stmt(cmd.Y, pipe, excused)
	case nil: // a redirection alone
	default: // what stands within a block, a loop or a subshell
		first := len(r.list)
		syntax.Walk(stmt.Cmd, func(node syntax.Node) bool {
			inner, is := node.(*syntax.Stmt)
			if is {
				r.stmt(inner, piped && len(r.list) == first, excused)
			}
			return !is
		})
	}
}

func (r *shellReader) add(assigns []*syntax.Assign, args []*syntax.Word, piped, excused bool) {
	s := simple{piped: piped, excused: excused}
	for _, a := range assigns {
		s.words = append(s.words, r.typed(a))
	}
	var bare strings.Builder
	for _, word := range args {
		var plain strings.Builder
		for _, part := range word.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				plain.WriteString(strings.ReplaceAll(part.Value, "\\", ""))
				bare.WriteString(part.Value)
			case *syntax.SglQuoted:
				plain.WriteString(part.Value)
				bare.WriteByte('_')
			default:
				text := r.typed(part)
				if _, quoted := part.(*syntax.DblQuoted); quoted {
					text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
					bare.WriteByte('_')
				} else {
					bare.WriteString(text)
				}
				plain.WriteString(text)
			}
		}
		s.words = append(s.words, plain.String())
		bare.WriteByte(' ')
	}
	if s.bare = bare.String(); len(s.words) > 0 {
		r.list = append(r.list, s)
	}
}

// typed is a node as it was typed.
func (r *shellReader) typed(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset()) //nolint:gosec // places in a text of some kilobytes
	if from > to || to > len(r.text) {
		return ""
	}
	return r.text[from:to]
}

//go:embed programs.txt
var programsText string

// What is known of programs.
var (
	beforeProgram = wordlist.Set(programsText, "before a program")
	runners       = wordlist.Phrases(programsText, "runners")
	settings      = wordlist.Set(programsText, "settings")
	branched      = wordlist.Set(programsText, "programs with subcommands")
	scripts       = wordlist.Set(programsText, "python scripts")
	filters       = wordlist.Set(programsText, "filters")
	looksOnly     = wordlist.Set(programsText, "look only")
	silent        = wordlist.Set(programsText, "change nothing")
	loners        = wordlist.Phrases(programsText, "the same with any words")
)

var (
	assignment = lazyregexp.New(`^\w+=`)
	duration   = lazyregexp.New(`^\d+[smh]?$`)
	versioned  = lazyregexp.New(`^(python|pip)[\d.]*$`)
)

// programWords are the words of a simple command from its program on.
func programWords(words []string) []string {
	for len(words) > 0 {
		switch {
		case assignment.MatchString(words[0]):
			words = words[1:]
		case len(words) > 1 && runners()[words[0]+" "+words[1]]:
			words = words[2:]
		case beforeProgram()[words[0]]:
			for words = words[1:]; len(words) > 0 && (strings.HasPrefix(words[0], "-") || duration.MatchString(words[0])); {
				words = words[1:]
			}
		default:
			return words
		}
	}
	return nil
}

// programOf is the program and subcommand of a simple command: "git commit", "python -m pytest". It is
// empty for one that only sets something, "cd" apart.
func programOf(c simple) string {
	words := programWords(c.words)
	if len(words) == 0 {
		return ""
	}
	name := path.Base(strings.TrimLeft(words[0], "("))
	if m := versioned.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	rest := words[1:]
	switch {
	case name == "python":
		return pythonOf(rest)
	case name == "cd":
		return name
	case settings()[name]:
		return ""
	case branched()[name]:
		for _, word := range rest {
			if !strings.HasPrefix(word, "-") {
				return name + " " + word
			}
		}
	}
	return name
}

// pythonOf is what an interpreter is made to run.
func pythonOf(rest []string) string {
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && rest[0] != "-m" && rest[0] != "-c" && rest[0] != "-" {
		rest = rest[1:]
	}
	switch {
	case len(rest) > 1 && rest[0] == "-m":
		module, _, _ := strings.Cut(rest[1], ".")
		return "python -m " + module
	case len(rest) > 0 && rest[0] == "-c":
		return pythonText
	case len(rest) > 0 && strings.HasSuffix(rest[0], ".py"):
		if base := path.Base(rest[0]); scripts()[base] {
			return "python " + base
		}
		return pythonScript
	case len(rest) > 0 && path.Base(rest[0]) == "test":
		return "python test"
	}
	return pythonInput
}

// What an interpreter runs that has no name of its own: anything may be it.
const (
	pythonScript = "python <script>"
	pythonText   = "python -c"
	pythonInput  = "python <stdin>"
)

// anything tells whether a program's name says nothing of what is run.
func anything(program string) bool {
	return program == pythonScript || program == pythonText || program == pythonInput || program == "node" || program == "bash" || program == "sh"
}

// programs are those of a shell text, each once; "cd" counts where nothing else is run.
func programs(list []simple) (all []string) {
	moved := false
	for _, c := range list {
		switch p := programOf(c); {
		case p == "cd":
			moved = true
		case p != "" && !slices.Contains(all, p):
			all = append(all, p)
		}
	}
	if len(all) == 0 && moved {
		return []string{"cd"}
	}
	return all
}

// failing is the program that an error is said by, or the last one that is no filter of another's output.
func failing(list []simple, line string) string {
	last := ""
	for _, c := range list {
		p := programOf(c)
		if p == "" || p == "cd" {
			if p == "cd" && strings.Contains(line, "cd: ") {
				return p
			}
			continue
		}
		name := path.Base(programWords(c.words)[0])
		if strings.HasPrefix(line, name+": ") || strings.HasPrefix(line, name+" ") {
			return p
		}
		if !(c.piped && filters()[name]) {
			last = p
		}
	}
	if last == "" {
		if all := programs(list); len(all) > 0 {
			return all[0]
		}
	}
	return last
}

var token = lazyregexp.New(`[\w./:=@-]+`)

func tokens(text string) []string {
	found := token.FindAllString(check.Head(text, maxCompared), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// maxCompared is how much of a command is compared with another, in bytes: what lies behind is data.
const maxCompared = 2000

// alike is the share of the words of two commands that both have, 0 to 1.
func alike(a, b string) float64 { return shared(tokens(a), tokens(b)) }

func shared(a, b []string) float64 {
	common := 0
	for _, word := range a {
		if _, found := slices.BinarySearch(b, word); found {
			common++
		}
	}
	return float64(common) / float64(max(1, len(a)+len(b)-common))
}

var (
	target   = lazyregexp.New(`[\w./-]*(?:tests?|specs?)[\w./-]*\.\w+|[\w./-]+/[\w./-]+`)
	scriptIn = lazyregexp.New(`[\w-]+\.(?:py|js|ts|sh|rb|mjs)\b`)
)

// targets are the files of a working tree that a command names.
func targets(text string) (list []string) {
	for _, t := range target.FindAllString(check.Head(text, maxCompared), -1) {
		if strings.Contains(t, "/") && !strings.HasPrefix(t, "/usr") && !strings.HasPrefix(t, "/bin") && !strings.HasPrefix(t, "/opt") && !strings.HasPrefix(t, "/dev") {
			list = append(list, t)
		}
	}
	return list
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// Bounds of the words of a command that tell it from others, in bytes, and how many are looked at.
const (
	maxFlag     = 30
	maxArgument = 40
	maxFolder   = 120
	maxShape    = 300
	maxFeatures = 64
)

var (
	unquotedGlob = lazyregexp.New(`\S*/\S*[\[(][\w.-]+[\])]\S*`)
	environment  = lazyregexp.New(`(^|[\s;&/])(source|\.) |venv/bin|conda activate`)
)

// feature is what of a command may be what is wrong with it.
type feature struct {
	name string
	word string // of the command, which an error may name; empty where it is no single word
}

// full tells whether it is the command as such.
func (f feature) full() bool { return strings.HasPrefix(f.name, "command ") }

// features are a command's program, its flags, its arguments, the folders that it names, what a program's text
// imports, an unquoted pattern, and the command as such.
func features(text string) (all []feature) {
	within := ""
	if environment.MatchString(text) {
		within = " within an environment"
	}
	add := func(word string, parts ...string) {
		all = append(all, feature{strings.Join(parts, " ") + within, word})
	}
	for _, c := range simples(check.Head(text, MaxCommand)) {
		if len(all) > maxFeatures {
			break
		}
		p := programOf(c)
		words := programWords(c.words)
		switch {
		case p == "" || c.excused:
			continue
		case p == "cd":
			if len(words) > 1 && !strings.ContainsAny(words[1][:min(1, len(words[1]))], "/~$-") && !strings.HasPrefix(words[1], "..") {
				all = append(all, feature{"cd " + words[1], words[1]})
			}
			continue
		}
		add("", "program", p)
		if strings.Contains(words[0], "/") {
			all = append(all, feature{"path " + words[0], words[0]})
		}
		for _, word := range words[1:] {
			switch spaced := strings.ContainsAny(word, " \t\n"); {
			case strings.HasPrefix(word, "-") && len(word) < maxFlag:
				flag, _, _ := strings.Cut(word, "=")
				add(flag, "flag", p, flag)
			case strings.Contains(word, "/") && len(word) < maxFolder && !spaced:
				folder, _, _ := strings.Cut(word, "/")
				add(word, "folder", p, folder+"/")
				add(word, "file", p, word)
			case !strings.Contains(word, "/") && len(word) > 1 && len(word) < maxArgument && !spaced && !strings.HasSuffix(p, " "+word):
				add(word, "argument", p, word)
			}
		}
		if !anything(p) && unquotedGlob.MatchString(c.bare) {
			add("", "unquoted pattern")
		}
	}
	if strings.Contains(text, "python") {
		for _, m := range imported.FindAllStringSubmatch(text, 8) {
			add(m[1], "import", m[1])
		}
	}
	all = all[:min(len(all), maxFeatures)]
	add("", "command", normal(oneLine(check.Head(text, maxShape))))
	slices.SortFunc(all, func(a, b feature) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(all, func(a, b feature) bool { return a.name == b.name })
}

// blamed are the features that an error may be about: those whose words it names and the command as such, or all where it names none.
func blamed(all []feature, line string) []feature {
	named := slices.DeleteFunc(slices.Clone(all), func(f feature) bool {
		return f.word == "" && !f.full() || f.word != "" && !names(line, f.word)
	})
	if len(named) > 1 {
		return named
	}
	return all
}

// names tells whether a line holds a word, and not as a part of another.
func names(line, word string) bool {
	part := func(c byte) bool { return c == '_' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) }
	for at := 0; ; at++ {
		i := strings.Index(line[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if (at == 0 || !part(line[at-1])) && (at+len(word) == len(line) || !part(line[at+len(word)])) {
			return true
		}
	}
}

var imported = lazyregexp.New(`(?m)(?:^|[;"'])\s*(?:import|from)\s+(\w+)`)

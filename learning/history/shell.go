package history

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// simple is one simple command of a shell text.
type simple struct {
	words []string // without quotes
	piped bool     // it reads what another command of the text prints
}

// simples are the simple commands of a shell text, as the guard reads it. Logs are cut: of a text that no shell would read,
// what stands before the fault is read, and the words of a single command at least.
func simples(text string) []simple {
	r := &shellReader{text: text}
	stmts, err := act.Parse(text)
	for _, stmt := range stmts {
		r.stmt(stmt, false)
	}
	if err != nil && len(r.list) == 0 {
		for part := range strings.SplitSeq(strings.NewReplacer("&&", "\n", ";", "\n").Replace(text), "\n") {
			if words := strings.Fields(part); len(words) > 0 {
				r.list = append(r.list, simple{words: words})
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

func (r *shellReader) stmt(stmt *syntax.Stmt, piped bool) {
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		r.add(cmd.Assigns, cmd.Args, piped)
	case *syntax.DeclClause:
		r.list = append(r.list, simple{words: []string{cmd.Variant.Value}, piped: piped})
	case *syntax.BinaryCmd:
		r.stmt(cmd.X, piped)
		r.stmt(cmd.Y, cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll)
	case nil: // a redirection alone
	default: // what stands within a block, a loop or a subshell
		first := len(r.list)
		syntax.Walk(stmt.Cmd, func(node syntax.Node) bool {
			inner, is := node.(*syntax.Stmt)
			if is {
				r.stmt(inner, piped && len(r.list) == first)
			}
			return !is
		})
	}
}

func (r *shellReader) add(assigns []*syntax.Assign, args []*syntax.Word, piped bool) {
	s := simple{piped: piped}
	for _, a := range assigns {
		s.words = append(s.words, r.typed(a))
	}
	for _, word := range args {
		var plain strings.Builder
		for _, part := range word.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				plain.WriteString(strings.ReplaceAll(part.Value, "\\", ""))
			case *syntax.SglQuoted:
				plain.WriteString(part.Value)
			case *syntax.DblQuoted:
				plain.WriteString(strings.TrimSuffix(strings.TrimPrefix(r.typed(part), `"`), `"`))
			default:
				plain.WriteString(r.typed(part))
			}
		}
		s.words = append(s.words, plain.String())
	}
	if len(s.words) > 0 {
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
func alike(a, b string) float64 {
	jaccard, _ := learning.Likeness(tokens(a), tokens(b))
	return jaccard
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

// maxForm is how much of a command tells it from others, in bytes.
const maxForm = 300

// environment is what has a command run with other modules than without it.
var environment = lazyregexp.New(`(^|[\s;&/])(source|\.) |venv/bin|conda activate`)

// features are what a command is counted as in a project: the command as such, whatever paths and numbers it names, and programs.
func features(project, command string, programs []string) []int64 {
	within := ""
	if environment.MatchString(command) {
		within = " within an environment"
	}
	all := []int64{hashOf(project, "feature", "command "+normal(oneLine(check.Head(command, maxForm)))+within)}
	for _, program := range programs {
		all = append(all, hashOf(project, "feature", "program "+program+within))
	}
	return all
}

// namesOther tells whether an error names a word of a command that is not its program's: then the program is not to blame.
func namesOther(line, command, program string) bool {
	return slices.ContainsFunc(tokens(command), func(word string) bool {
		return len(word) > 1 && !slices.Contains(strings.Fields(program), word) && names(line, word)
	})
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

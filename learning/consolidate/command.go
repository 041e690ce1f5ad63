package consolidate

import (
	"context"
	_ "embed"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/guard/act"
	"skillrouter/tfidf/wordlist"
)

// ruleCommand is a command line, read so that runs of it can be compared.
type ruleCommand struct {
	text  string
	words []string // of the part that says what it is about: without cd, sudo and the like
	looks bool     // it shows something: errors that it prints are not its own, and it mends nothing
	tries bool     // it tests whether something works, and mends nothing
}

var sqlVerb = lazyregexp.New(`(?i)^\s*(select|insert|update|delete|with|create|alter|drop|explain|truncate|show|describe)\b`)

// readCommand reads a command line; ok is false for what is none.
func readCommand(ctx context.Context, text string) (c ruleCommand, ok bool) {
	c.text = strings.TrimSpace(text)
	if c.text == "" || len(c.text) > 4<<10 {
		return c, false
	}
	stmts, err := act.Parse(c.text)
	writes := false
	if err == nil {
		for _, st := range stmts {
			if words, redirected := significant(st); len(words) > 0 {
				c.words, writes = words, redirected
				if !trivial[words[0]] {
					break
				}
			}
		}
	}
	if len(c.words) == 0 {
		c.words = strings.Fields(c.text)
	}
	c.words = unwrapped(c.words)
	if len(c.words) == 0 || !program.MatchString(c.words[0]) {
		return c, false
	}
	c.looks = !writes && isLook(c.words)
	c.tries = isTry(c.words)
	return c, true
}

// program is what a program's name looks like, a path to one included.
var program = lazyregexp.New(`^(?:[A-Za-z_]|[.~]{0,2}/)[A-Za-z0-9_.+/~:@-]*$`)

// trivial commands say nothing of what a line is about.
var trivial = map[string]bool{"cd": true, "set": true, "pushd": true, "popd": true, "source": true, ".": true, "clear": true, "true": true, "echo": true, "sleep": true, "export": true}

// significant returns the words of the call that a statement is about: the
// first of a pipeline, the first of a list that is not trivial.
func significant(st *syntax.Stmt) (words []string, writes bool) {
	for _, r := range st.Redirs {
		if r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob || r.Op == syntax.RdrAll || r.Op == syntax.AppAll {
			if target := wordText(r.Word); target != "/dev/null" && target != "" {
				writes = true
			}
		}
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		for _, w := range cmd.Args {
			words = append(words, wordText(w))
		}
		if len(words) == 0 && len(cmd.Assigns) > 0 {
			words = []string{"export"}
		}
	case *syntax.BinaryCmd:
		left, wroteLeft := significant(cmd.X)
		right, wroteRight := significant(cmd.Y)
		words, writes = left, writes || wroteLeft
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			return words, writes || wroteRight || len(right) > 0 && right[0] == "tee"
		}
		if len(left) == 0 || trivial[left[0]] && !wroteLeft {
			return right, writes || wroteRight
		}
	case *syntax.DeclClause:
		words = []string{"export"}
		for _, a := range cmd.Args {
			if a.Name != nil {
				words = append(words, a.Name.Value)
			}
		}
	case *syntax.Subshell:
		if len(cmd.Stmts) > 0 {
			return significant(cmd.Stmts[len(cmd.Stmts)-1])
		}
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return significant(cmd.Stmt)
		}
	}
	return words, writes
}

// wordText is a word without its quotes; what the shell would expand stays as written.
func wordText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	var part func(p syntax.WordPart)
	part = func(p syntax.WordPart) {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				part(inner)
			}
		default:
			_ = syntax.NewPrinter().Print(&b, p) // a builder takes everything
		}
	}
	for _, p := range w.Parts {
		part(p)
	}
	return b.String()
}

//go:embed programs.txt
var rulesPrograms string

// runners run the program that is named after them, and its options.
var runners = wordlist.Phrases(rulesPrograms, "runners")

// sameProgram are names of one program.
var sameProgram = wordlist.Map(rulesPrograms, "same program")

// unwrapped takes off what stands before the program, and calls it by one name.
func unwrapped(words []string) []string {
	for range 8 {
		if len(words) == 0 {
			return nil
		}
		switch {
		case len(words) > 2 && runners()[words[0]+" "+words[1]]:
			words = words[2:]
		case len(words) > 1 && runners()[words[0]]:
			words = words[1:]
			for len(words) > 1 && (strings.HasPrefix(words[0], "-") || words[0] != "" && strings.Contains(words[0], "=")) {
				words = words[1:]
			}
		case len(words) > 1 && act.Assignment(words[0]):
			words = words[1:]
		default:
			words = slices.Clone(words)
			if base := path.Base(words[0]); strings.HasPrefix(words[0], "/") && base != "/" && base != "." {
				words[0] = base
			}
			if same := sameProgram()[words[0]]; same != "" {
				words = append(strings.Fields(same), words[1:]...)
			}
			return words
		}
	}
	return words
}

// hasVerbs are the programs whose first word says what they do.
var hasVerbs = wordlist.Set(rulesPrograms, "programs with subcommands")

// verb is what a program is told to do: "" for one that has no such word.
func (c ruleCommand) verb() string {
	i := 1
	if len(c.words) > 1 && c.words[0] == "docker" && c.words[1] == "compose" {
		i = 2
	} else if !hasVerbs()[c.words[0]] {
		return ""
	}
	for skip := false; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case skip:
			skip = false
		case w == "-C" || w == "-n" || w == "-f" || w == "--namespace" || w == "--context" || w == "--prefix":
			skip = true
		case !strings.HasPrefix(w, "-"):
			if w == "run" && i+1 < len(c.words) && (c.words[0] == "npm" || c.words[0] == "yarn" || c.words[0] == "pnpm" || c.words[0] == "bun") {
				return c.words[i+1]
			}
			return w
		}
	}
	return ""
}

// lookPrograms show something.
var (
	lookPrograms = wordlist.Set(rulesPrograms, "programs that show")
	lookVerbs    = wordlist.Sets(rulesPrograms, "subcommands that show")
	tryPrograms  = wordlist.Set(rulesPrograms, "programs that test")
	tryVerbs     = wordlist.Sets(rulesPrograms, "subcommands that test")
	writesBack   = lazyregexp.New(`(^| )(-X|--request|-d|--data\S*|-F|--form|-T|-O|-o|--output|--fix|--write|-w)( |$|=)`)
)

func (c ruleCommand) group() string {
	if c.words[0] == "docker" && len(c.words) > 1 && c.words[1] == "compose" {
		return "docker compose"
	}
	return c.words[0]
}

func isLook(words []string) bool {
	c := ruleCommand{words: words}
	if words[0] == "sed" {
		return len(words) > 1 && words[1] == "-n"
	}
	return lookPrograms()[words[0]] || lookVerbs()[c.group()][c.verb()] || len(words) == 2 && (words[1] == "--version" || words[1] == "-v" || words[1] == "-V" || words[1] == "--help")
}

func isTry(words []string) bool {
	c := ruleCommand{words: words}
	if words[0] == sqlProgram {
		return len(words) > 1 && strings.EqualFold(words[1], "select")
	}
	all := strings.Join(words, " ")
	if tryPrograms()[words[0]] {
		return !writesBack.MatchString(all)
	}
	return tryVerbs()[c.group()][c.verb()]
}

// sqlProgram stands for the program of a statement that was typed at a database's prompt.
const sqlProgram = "sql"

// Bounds on how alike two command lines must be to count as runs of one.
const (
	nearCommand = 0.5 // share of words in common
	nearSQL     = 0.4 // statements are longer, and a mended one may differ in its columns
)

// same tells whether two command lines are the same, wrappers aside.
func (c ruleCommand) same(d ruleCommand) bool { return slices.Equal(c.words, d.words) }

// near tells whether d is a run of what c ran, with other options or arguments.
func (c ruleCommand) near(d ruleCommand) bool {
	if c.same(d) {
		return true
	}
	if c.group() != d.group() || c.verb() != d.verb() {
		return false
	}
	least := nearCommand
	if c.words[0] == sqlProgram {
		least = nearSQL
	}
	a, b := c.content(), d.content()
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	// One that says less than the other is the same thing in part, or in whole: pytest, pytest tests/a.py.
	if common == min(len(a), len(b)) && c.words[0] != sqlProgram {
		return true
	}
	return float64(common) >= least*float64(len(a)+len(b)-common)
}

// content is the set of words that are no options.
func (c ruleCommand) content() map[string]bool {
	set := map[string]bool{}
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w, "-") {
			continue
		}
		for _, part := range strings.FieldsFunc(w, func(r rune) bool {
			return r == ' ' || r == '=' || r == '\n' || r == ',' || r == '(' || r == ')' || r == ';'
		}) {
			set[strings.ToLower(part)] = true
		}
	}
	return set
}

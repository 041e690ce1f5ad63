package act

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// programsText holds a row for each program; what a row says is told in it.
//
//go:embed programs.txt
var programsText string

// factKeys are the facts that a row may hold.
var factKeys = strings.Fields(`same versioned word skips as means shell language runs commands loose each packages package image
	shows showing dry does inplace script file whole needs deletes moves methods service power database signals prints
	sql query queries target options before client own dash makes verbs`)

// program is what the table knows of a program or a subcommand: the words of each fact by its key.
type program map[string][]string

// has reports whether the fact is known of the program.
func (p program) has(fact string) bool {
	_, there := p[fact]
	return there
}

// says reports whether the word is one of a fact's.
func (p program) says(fact, word string) bool { return slices.Contains(p[fact], word) }

// one is the first word of a fact, "" if there is none.
func (p program) one(fact string) string {
	if words := p[fact]; len(words) > 0 {
		return words[0]
	}
	return ""
}

// pair is B of the first A=B among a fact's words.
func (p program) pair(fact, a string) (b string, ok bool) {
	for _, w := range p[fact] {
		if b, ok := strings.CutPrefix(w, a+"="); ok {
			return b, true
		}
	}
	return "", false
}

// number is N of name=N among a fact's words, 0 if it is not there.
func (p program) number(fact, name string) int {
	text, _ := p.pair(fact, name)
	n, _ := strconv.Atoi(text) // the table's test reads every number
	return n
}

// without is the program with one fact less.
func (p program) without(fact string) program {
	less := maps.Clone(p)
	delete(less, fact)
	return less
}

// given is a fact's words that the act has among its options.
func (p program) given(fact string, a *Act) bool {
	return slices.ContainsFunc(p[fact], func(option string) bool { return len(a.Options[option]) > 0 })
}

// programTable is all that is known of programs.
type programTable struct {
	rows      map[string]program
	same      map[string]string // other names
	images    map[string]string // images of containers with other names than their program
	languages map[string]string // the languages that programs run
	versioned []string
	prefixes  map[string]bool
	guessable []string // programs with options of their own, in order
}

// programs reads the table once.
var programs = sync.OnceValue(func() *programTable {
	t, err := readPrograms(programsText)
	if err != nil {
		panic(err) // it is part of the program
	}
	return t
})

// readPrograms reads a table of programs.
func readPrograms(text string) (*programTable, error) {
	t := &programTable{rows: map[string]program{}, same: map[string]string{}, images: map[string]string{}, languages: map[string]string{}, prefixes: map[string]bool{}}
	for name, facts := range wordlist.Pairs(text, "") {
		if t.rows[name] != nil {
			return nil, fmt.Errorf("%s has two rows", name)
		}
		row, err := readProgram(facts)
		if err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
		t.rows[name] = row
		for _, other := range row["same"] {
			if t.same[other] != "" {
				return nil, fmt.Errorf("%s is another name of %s and of %s", other, t.same[other], name)
			}
			t.same[other] = name
		}
		for _, image := range row["image"] {
			t.images[image] = name
		}
		if row.has("language") {
			t.languages[name] = row.one("language")
		}
		if row.has("versioned") {
			t.versioned = append(t.versioned, name)
		}
		prefix, _, sub := strings.Cut(name, " ")
		switch {
		case sub && (row.has("options") || row.has("runs")):
			t.prefixes[prefix] = true
		case !sub && row.has("options"):
			t.guessable = append(t.guessable, name)
		}
	}
	slices.Sort(t.guessable)
	return t, nil
}

// readProgram reads the facts of a row.
func readProgram(facts string) (program, error) {
	row := program{}
	for fact := range strings.SplitSeq(facts, "; ") {
		words := strings.Fields(fact)
		switch {
		case len(words) == 0:
			continue
		case !slices.Contains(factKeys, words[0]):
			return nil, fmt.Errorf("has the fact %q, which nobody reads", words[0])
		case row.has(words[0]):
			return nil, fmt.Errorf("has the fact %q twice", words[0])
		}
		row[words[0]] = words[1:]
	}
	return row, nil
}

// programOf is what the table knows of a program, nil for one that it does not know.
func programOf(name string) program { return programs().rows[name] }

// IsShell reports whether the program is a shell.
func IsShell(name string) bool { return programOf(name).has("shell") }

// KnownProgram reports whether the table knows the program, and by its name alone.
func KnownProgram(name string) bool {
	name, _, _ = strings.Cut(name, " ")
	row, listed := programs().rows[name]
	return listed && !row.has("word") || programs().prefixes[name]
}

// Subcommands is how many words of an act say what its program does.
func Subcommands(a *Act) int {
	p := programOf(a.Name)
	if n := p.number("verbs", "first"); n > 0 {
		return n
	}
	if len(a.Words) > 0 && p.says("verbs", a.Words[0]) {
		return 2
	}
	if p.has("verbs") || Prefixes()[a.Name] {
		return 1
	}
	return 0
}

// Prefixes are the programs whose first operands are subcommands the guard tells apart.
func Prefixes() map[string]bool { return programs().prefixes }

package learning

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one check. A script beyond them is answered by its words alone.
const (
	guardMaxInput = 64 << 10 // bytes of a proposed action
	guardMaxDepth = 24       // scripts within scripts: sh -c in ssh in eval …
	guardMaxNodes = 20000    // statements and commands that are followed, loops counted by turn
	guardMaxNest  = 150      // brackets or blocks open at once; the parser recurses into each
	guardMaxTurns = 32       // turns of a loop that are followed
	guardMaxActs  = 2000     // commands of one action that are compared with the rules
)

// guardShell follows a script without running it, and notes what it would do.
type guardShell struct {
	ctx    context.Context
	acts   []*guardAct
	vars   map[string]guardValue
	funcs  map[string]*syntax.Stmt
	called map[string]bool
	alias  map[string]string
	files  map[string]guardStream    // written by the script itself
	sinks  map[string][]*syntax.Stmt // >(…)
	env    map[string]string         // exported, or set for one command
	dir    string                    // the working directory, "" if not known
	where  []string                  // hosts and containers around, outermost first
	depth  int
	nodes  int
	grown  int    // bytes that expansions have produced
	broken bool   // part of it could not be read
	over   string // which bound was passed
}

func newGuardShell(ctx context.Context, dir string) *guardShell {
	return &guardShell{
		ctx: ctx, dir: dir,
		vars: map[string]guardValue{}, funcs: map[string]*syntax.Stmt{}, called: map[string]bool{},
		alias: map[string]string{}, files: map[string]guardStream{}, sinks: map[string][]*syntax.Stmt{}, env: map[string]string{},
	}
}

// spend counts n bytes of expansion, and reports whether to go on.
func (s *guardShell) spend(n int) bool {
	s.grown += n
	switch {
	case s.over != "":
	case s.grown > guardMaxText:
		s.over = "it grows too large when expanded"
	case s.nodes > guardMaxNodes || len(s.acts) > guardMaxActs:
		s.over = "it holds too many commands"
	case s.ctx.Err() != nil:
		s.over = "reading it took too long"
	}
	return s.over == ""
}

// step counts one statement, and reports whether to go on.
func (s *guardShell) step() bool {
	s.nodes++
	return s.spend(0)
}

// guardReader ends the parser's input when the time is up.
type guardReader struct {
	ctx context.Context
	r   *strings.Reader
}

func (r guardReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p[:min(len(p), 512)])
}

var errGuardNest = errors.New("nested too deep")

// guardParse reads a script as bash, else as POSIX, else as mksh. An
// unfinished one yields the statements before the fault, and the error.
func guardParse(ctx context.Context, script string) ([]*syntax.Stmt, error) {
	if guardNesting(script) > guardMaxNest {
		return nil, errGuardNest
	}
	var kept []*syntax.Stmt
	var first error
	for _, variant := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn} {
		var stmts []*syntax.Stmt
		var err error
		// The parser goes on after a fault in a here-document; leaving its loop early would make it panic.
		for st, fault := range syntax.NewParser(syntax.Variant(variant)).StmtsSeq(guardReader{ctx, strings.NewReader(script)}) {
			if st != nil {
				stmts = append(stmts, st)
			}
			if err == nil {
				err = fault
			}
		}
		if err == nil {
			return stmts, nil
		}
		if first == nil {
			kept, first = stmts, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return kept, first
}

// guardNesting says how many brackets are open at once, without understanding
// quotes. The parser recurses into each; 60,000 of them cost it a quarter of a
// second, while as many keywords cost a third of that.
func guardNesting(script string) int {
	depth, deepest := 0, 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// script follows a text that a shell would read.
func (s *guardShell) script(text string, in guardStream) guardStream {
	text = guardPatterns.Replace(text)
	if strings.TrimSpace(text) == "" || !s.step() {
		return guardStream{}
	}
	if strings.Contains(text, guardDownloaded) {
		s.note(&guardAct{name: guardRunsDownload, words: []string{guardRunsDownload}, effects: []guardEffect{{kind: guardEffectDownload}}})
	}
	if s.depth >= guardMaxDepth {
		s.over = "it nests too many scripts"
		return guardStream{}
	}
	s.depth++
	defer func() { s.depth-- }()
	stmts, err := guardParse(s.ctx, text)
	if err != nil {
		s.broken = true
		if errors.Is(err, errGuardNest) {
			s.over = err.Error()
		}
	}
	out := s.stmts(stmts, in)
	if err != nil && s.depth <= 2 {
		s.lenient(text)
	}
	return out
}

var guardUnquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// guardKeywords may stand before a command.
var guardKeywords = map[string]bool{"if": true, "then": true, "else": true, "elif": true, "while": true, "until": true, "do": true, "!": true, "time": true}

// lenient reads a text that is no proper shell as the commands it seems to hold.
func (s *guardShell) lenient(text string) {
	commands := 0
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		words := strings.Fields(guardUnquoted.Replace(line))
		for len(words) > 0 && guardKeywords[words[0]] {
			words = words[1:]
		}
		if commands++; commands > guardMaxFields || !s.step() {
			return
		}
		if len(words) > 0 && len(words) <= guardMaxFields {
			s.command(words, nil, guardStream{})
		}
	}
}

func (s *guardShell) set(name string, value guardValue) {
	size := 0
	for _, v := range value {
		size += len(v)
	}
	if size > guardMaxValue {
		value = guardValue{string(guardUnknown)}
	}
	s.vars[name] = value
}

// lookup returns a variable that the script has set.
func (s *guardShell) lookup(name string) (guardValue, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return guardValue{"~"}, true
	case "PWD":
		if s.dir != "" {
			return guardValue{s.dir}, true
		}
		return guardValue{"."}, true
	case "IFS":
		return guardValue{" "}, true
	case "*", "@":
		return nil, false
	}
	return nil, false
}

// finish follows the functions that the script defines and never calls: what
// is prepared under a name is not merely mentioned.
func (s *guardShell) finish() {
	for name, body := range s.funcs {
		if !s.called[name] && s.over == "" {
			s.called[name] = true
			s.stmt(body, guardStream{})
		}
	}
}

// note adds an act.
func (s *guardShell) note(a *guardAct) {
	if len(s.acts) > guardMaxActs {
		s.over = "it holds too many commands"
		return
	}
	a.where = s.where[:len(s.where):len(s.where)]
	a.dir = s.dir
	s.acts = append(s.acts, a)
}

// guardTidy makes a text from outside safe to follow.
func guardTidy(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?")
	}
	return guardPrivate.Replace(strings.TrimPrefix(text, "\ufeff"))
}

package act

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one check. They count steps and bytes, never time: the same text is read alike however busy the machine is. Every text of up
// to 64 KiB without loops and copies of itself stays below them.
const (
	MaxInput   = 1 << 20   // bytes of a proposed action
	MaxCommand = 8 << 10   // bytes of one command
	maxCarried = 128 << 10 // bytes of a text that a pipe, a file or a variable carries
	maxDepth   = 120       // scripts within scripts: sh -c in ssh in eval …
	maxSteps   = 100_000   // statements and commands that are followed, loops counted by turn
	maxNest    = 1000      // brackets or blocks open at once; the parser recurses into each
	maxEnds    = 8         // here-documents that the text leaves open; each is one more reading
	maxGone    = 64        // deleted folders that may be made anew
	maxActs    = 40_000    // commands of one action that are compared with the rules
)

// Shell follows a script without running it, and notes what it would do.
type Shell struct {
	Acts    []*Act
	vars    map[string]shellValue
	args    *[]string // $1 … and $@; nil: they are not set
	funcs   map[string]*syntax.Stmt
	called  map[string]bool
	alias   map[string]string
	files   map[string]stream         // written by the script itself
	sinks   map[string][]*syntax.Stmt // >(…)
	traps   []string                  // what runs at the end
	gone    []*Effect                 // what it deleted, and nothing made anew yet
	links   []link                    // names of other places that the script itself makes
	made    map[string]bool           // directories that the script itself makes; false: that may have been there
	roots   []string                  // the folders of the agent's project
	Memory  *Memory                   // what the same agent made before; nil: nothing
	Disk    *Disk                     // what is known of the files that it runs; nil: nothing
	loaded  map[string]bool           // files and scripts that were followed
	env     map[string]string         // exported, or set for one command
	dir     string                    // the working directory, "" if not known
	where   []string                  // hosts and containers around, outermost first
	depth   int
	steps   int
	grown   int    // bytes that expansions have produced
	Broken  bool   // part of it could not be read
	Refused bool   // a shell refuses it from some place on: what stands there was read as if it ran
	Over    string // which bound was passed: the reading ended there
	Blind   bool   // the words of the text say nothing of what stands beyond the bound, because it is encoded or nested
	Beyond  string // why a file that it runs was not read to its end: the words of the rest are in Unread
	Unread  string // the scripts that were not followed to their end, the outermost apart
	// Interactive is the name of a shell, or of another program that takes commands, which is started to be typed into; empty: none is.
	Interactive string
}

// NewShell makes a shell in a working directory, of an agent whose project lies in folders.
func NewShell(dir string, folders ...string) *Shell {
	s := &Shell{
		dir:  dir,
		vars: map[string]shellValue{}, funcs: map[string]*syntax.Stmt{}, called: map[string]bool{},
		alias: map[string]string{}, files: map[string]stream{}, sinks: map[string][]*syntax.Stmt{}, env: map[string]string{}, made: map[string]bool{}, loaded: map[string]bool{},
	}
	for _, folder := range folders {
		if folder != "" {
			s.roots = append(s.roots, Clean("", folder))
		}
	}
	return s
}

// spend counts n bytes of expansion, and reports whether to go on.
func (s *Shell) spend(n int) bool {
	s.grown += n
	switch {
	case s.Over != "":
	case s.grown > maxText:
		s.Over = "it grows too large when expanded"
	case s.steps > maxSteps || len(s.Acts) > maxActs:
		s.Over = "it holds too many commands"
	}
	return s.Over == ""
}

// step counts one statement, and reports whether to go on.
func (s *Shell) step() bool {
	s.steps++
	return s.spend(0)
}

// deep reports whether scripts nest too deep to be followed.
func (s *Shell) deep() bool {
	if s.depth >= maxDepth {
		s.Over, s.Blind = "it nests too many scripts", true
	}
	return s.depth >= maxDepth
}

var errNest = errors.New("it nests too many brackets")

// Parse reads a script as bash, else as POSIX, else as mksh. An
// unfinished one yields the statements before the fault, and the error.
func Parse(script string) ([]*syntax.Stmt, error) {
	if nesting(script) > maxNest {
		return nil, errNest
	}
	var kept []*syntax.Stmt
	var first error
	for _, variant := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn} {
		stmts, err := parseAs(script, variant)
		for ends := 0; ends < maxEnds; ends++ {
			end := missingEnd(err)
			if end == "" {
				break
			}
			script += "\n" + end + "\n"
			stmts, err = parseAs(script, variant)
		}
		if err == nil {
			return stmts, nil
		}
		if first == nil {
			kept, first = stmts, err
		}
	}
	return kept, first
}

// parseAs reads a script as one kind of shell does: the statements before its first fault, and the fault.
func parseAs(script string, variant syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	// The parser goes on after a fault in a here-document; leaving its loop early would make it panic.
	for st, fault := range syntax.NewParser(syntax.Variant(variant)).StmtsSeq(strings.NewReader(script)) {
		if st != nil {
			stmts = append(stmts, st)
		}
		if err == nil {
			err = fault
		}
	}
	return stmts, err
}

// missingEnd is the line that would end an open here-document; empty: the fault is another. Shells read such a one to the end of the text, and run it.
func missingEnd(fault error) string {
	var f syntax.ParseError
	if !errors.As(fault, &f) {
		return ""
	}
	quoted, open := strings.CutPrefix(f.Text, "unclosed here-document ")
	if !open {
		return ""
	}
	end, err := strconv.Unquote(quoted)
	if err != nil || strings.Contains(end, "\n") {
		return ""
	}
	return end
}

// refused reports whether each shell stops at the fault: the text is cut off, an operator stands alone, or a bracket is closed that is not open.
func refused(fault error) bool {
	var f syntax.ParseError
	return errors.As(fault, &f) && (f.Incomplete || slices.ContainsFunc(
		[]string{"can only immediately follow a statement", "must be followed by a word", "encountered `)`"},
		func(end string) bool { return strings.HasSuffix(f.Text, end) }))
}

// nesting says how many brackets are open at once, without understanding
// quotes. The parser recurses into each; 60,000 of them cost it a quarter of a
// second, while as many keywords cost a third of that.
func nesting(script string) int {
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
func (s *Shell) script(text string, in stream) stream {
	text = patterns.Replace(text)
	if strings.TrimSpace(text) == "" || !s.step() || !s.spend(len(text)) || s.deep() {
		return stream{}
	}
	if strings.Contains(text, downloaded) {
		s.note(&Act{Name: runsDownload, Words: []string{runsDownload}, Effects: []Effect{{Kind: EffectDownload}}})
	}
	s.depth++
	defer func() { s.depth-- }()
	stmts, err := Parse(text)
	if err != nil {
		s.Refused = s.depth == 1 && refused(err)
		s.Broken = s.Broken || !s.Refused
		if errors.Is(err, errNest) {
			s.Over, s.Blind = err.Error(), true
		}
	}
	out := s.stmts(stmts, in)
	if s.Over != "" && s.depth > 1 && len(s.Unread) < maxText {
		s.Unread += "\n" + text
	}
	if err != nil && s.depth <= 2 {
		s.lenient(text)
	}
	return out
}

var unquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// lenient reads a text that is no proper shell as the commands it seems to hold.
func (s *Shell) lenient(text string) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		words := strings.Fields(unquoted.Replace(line))
		for len(words) > 0 && keywords()[words[0]] {
			words = words[1:]
		}
		if !s.step() {
			return
		}
		if len(words) > 0 {
			s.command(words, nil, stream{})
		}
	}
}

func (s *Shell) set(name string, value shellValue) {
	size := 0
	for _, v := range value {
		size += len(v)
	}
	if size > maxCarried {
		s.Over = "it grows too large when expanded"
		return
	}
	s.vars[name] = value
}

// lookup returns a variable that the script has set.
func (s *Shell) lookup(name string) (shellValue, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return shellValue{"~"}, true
	case "PWD":
		return shellValue{cmp.Or(s.dir, ".")}, true
	case "IFS":
		return shellValue{" "}, true
	}
	if s.args == nil {
		return nil, false
	}
	if name == "@" || name == "*" {
		return *s.args, true
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > min(9, len(*s.args)) {
		return nil, false
	}
	return shellValue{(*s.args)[n-1]}, true
}

// prepare follows what is only stored under a name, not run.
func (s *Shell) prepare(follow func()) {
	before := len(s.Acts)
	follow()
	for _, a := range s.Acts[min(before, len(s.Acts)):] {
		a.Prepared = true
	}
}

// scripts follows texts, each of which a shell would read.
func (s *Shell) scripts(texts ...string) {
	for _, text := range texts {
		s.script(text, stream{})
	}
}

// noteFully adds an act, and the lesser ones that it includes.
func (s *Shell) noteFully(a *Act) {
	s.note(a)
	for _, part := range a.implied() {
		s.note(part)
	}
}

// finish follows the functions that the script defines and never calls: what
// is prepared under a name is not merely mentioned.
func (s *Shell) finish() {
	for _, name := range slices.Sorted(maps.Keys(s.funcs)) {
		if !s.called[name] && s.Over == "" {
			s.called[name] = true
			s.stmt(s.funcs[name], stream{})
		}
	}
	for i := 0; i < len(s.traps) && s.Over == ""; i++ {
		s.script(s.traps[i], stream{})
	}
}

// note adds an act.
func (s *Shell) note(a *Act) {
	if len(s.Acts) > maxActs {
		s.Over = "it holds too many commands"
		return
	}
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == EffectDelete {
			e.Made = s.wasMade(e.Path)
			if len(s.gone) < maxGone && builtFolders()[strings.ToLower(path.Base(e.Path))] {
				s.gone = append(s.gone, e)
			}
		}
	}
	if builders()[a.Name] || slices.ContainsFunc(SplitName(a.Name), func(w string) bool { return builders()[w] }) {
		s.anew(func(string) bool { return true })
	}
	a.Where = s.where[:len(s.where):len(s.where)]
	a.Dir, a.Roots = s.dir, s.roots
	s.Acts = append(s.Acts, a)
}

// anew notes that places which were deleted before are made again.
func (s *Shell) anew(made func(string) bool) {
	s.gone = slices.DeleteFunc(s.gone, func(e *Effect) bool {
		e.Anew = made(e.Path)
		return e.Anew
	})
}

// Tidy makes a text from outside safe to follow.
func Tidy(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "?")
	}
	return private.Replace(strings.TrimPrefix(text, "\ufeff"))
}

// Follow reads a proposal to its end; text is what it says, made safe by Tidy. SQL is
// read as such, and all else as shell.
func (s *Shell) Follow(p Proposal, text string) {
	switch {
	case p.effects != nil:
		a := &Act{Name: p.tool, Words: p.words, Source: []string{text}, Effects: p.effects(s)}
		s.noteFully(a)
		for _, e := range p.edits {
			s.edit(e)
		}
	case p.sql:
		s.runSQL(text, targetsOf(p.targets), text)
	case LooksSQL(text):
		s.runSQL(text, nil, strings.TrimSpace(text))
	default:
		s.script(text, stream{})
		s.finish()
	}
}

// runSQL notes that SQL runs on a connection that targets name.
func (s *Shell) runSQL(text string, targets Targets, source string) {
	s.note(&Act{Name: runsSQL, Effects: s.statements(text, &targets), Source: []string{source}})
}

// wasMade reports whether the agent made the directory, or one that it lies in. One that may have been there before is not
// among them if it has the name of a project's own.
func (s *Shell) wasMade(p string) bool {
	for ; len(p) > 1; p = path.Dir(p) {
		surely, here := s.made[p]
		if !here {
			surely, here = s.Memory.has(p)
		}
		if here && (surely || !sourceFolders()[strings.ToLower(path.Base(p))]) {
			return true
		}
	}
	return false
}

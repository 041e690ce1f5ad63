package act

import (
	"encoding/base64"
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// runsInside follows what a program of many uses is told to run: git by an alias, make by its file,
// an editor by a command of its own. It reports false where the act itself is still to be judged.
func (s *Shell) runsInside(a *Act, words []string, in stream) (stream, bool) {
	s.runsOptions(a, in)
	switch a.Name {
	case "git":
		return s.gitRuns(a, words, in)
	case "make":
		s.make(a, in)
	case "vi":
		for _, w := range slices.Concat(a.Words, a.Options["c"], a.Options["cmd"]) {
			if command, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(w, "+"), ":"), "!"); ok {
				s.script(command, stream{})
			} else if strings.Contains(w, "system(") {
				s.loose(w)
			}
		}
	case "sed":
		for _, w := range append(slices.Clone(a.Words[:min(1, len(a.Words))]), a.Options["expression"]...) {
			if command, ok := strings.CutPrefix(strings.TrimLeft(w, "0123456789$,/ "), "e "); ok {
				s.script(command, stream{})
			}
		}
	}
	return stream{}, false
}

// runsOptions follows the options of a program that hold commands, or a program in a language of its own.
func (s *Shell) runsOptions(a *Act, in stream) {
	p := programOf(a.Name)
	for _, o := range p["commands"] {
		for _, v := range a.Options[o] {
			s.script(strings.TrimPrefix(v, "exec="), stream{})
		}
	}
	for _, v := range slices.Concat(a.Options["o"], a.Words) {
		s.sshOption(a.Name, v)
	}
	if !p.has("loose") {
		return
	}
	for _, o := range p["loose"] {
		for _, v := range a.Options[o] {
			s.loose(v)
		}
	}
	if len(a.Words) > 0 && (len(p["loose"]) == 0 || path.Ext(a.Words[0]) != "" && p.one("does") != "edit") {
		in = s.needs(s.path(a.Words[0]))
	}
	s.need(in)
	s.loose(in.text)
}

// sshOption follows an option of ssh that holds a command.
func (s *Shell) sshOption(program, option string) {
	if !slices.Contains([]string{"ssh", "scp", "sftp", "autossh", "mosh"}, program) {
		return
	}
	name, command, ok := strings.Cut(strings.TrimPrefix(option, "-o"), "=")
	if !ok {
		name, command, ok = strings.Cut(option, " ")
	}
	if name = strings.ToLower(strings.TrimSpace(name)); ok && (name == "proxycommand" || name == "localcommand" || name == "knownhostscommand") {
		s.script(command, stream{})
	}
}

// looseText is a text in quotes, in any language; looseCall begins what runs a command, up to the end of the line.
var (
	looseText = lazyregexp.New("\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)'|`([^`]*)`")
	looseCall = lazyregexp.New(`(?m)(?:^|[;\[{(\s])(?:(?:exec|spawn|shell|system)\s+|!\s*)([^\]})"'\n]+)([^\n]*)`)
)

// loose follows a program in a language that is not read: each text in it may be a command, all of them together may be one, and so may be
// what stands behind exec, spawn, shell or an exclamation mark.
func (s *Shell) loose(text string) {
	text = patterns.Replace(text)
	if text == "" || !s.spend(len(text)) {
		return
	}
	var all []string
	for _, found := range looseText.Compiled().FindAllStringSubmatch(text, 1000) {
		if one := unescape(found[1] + found[2] + found[3]); strings.TrimSpace(one) != "" {
			all = append(all, one)
			s.script(one, stream{})
		}
	}
	if len(all) > 1 && len(all) < 100 {
		s.script(quoteAll(all), stream{})
	}
	for _, found := range looseCall.Compiled().FindAllStringSubmatch(text, 1000) {
		s.script(found[1], stream{})
		if found[2] != "" {
			s.script(found[1]+found[2], stream{})
		}
	}
	s.code("loose", text)
}

// gitKeys are settings of git that hold a command; a star stands for any name.
var gitKeys = strings.Fields("core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external credential.helper gpg.program " +
	"gpg.*.program pager.* difftool.*.cmd mergetool.*.cmd diff.*.textconv diff.*.command filter.*.clean filter.*.smudge filter.*.process merge.*.driver " +
	"browser.*.cmd web.browser uploadpack.packobjectshook interactive.difffilter trailer.*.command sendemail.sendmailcmd credential.*.helper alias.*")

// gitSetting follows the command that a setting of git holds.
func (s *Shell) gitSetting(key, value string) {
	key = strings.ToLower(key)
	if key == "core.hookspath" || !anyGlob(gitKeys, key) {
		return
	}
	if command, shell := strings.CutPrefix(value, "!"); shell || !strings.HasPrefix(key, "alias.") {
		s.script(command, stream{})
	}
}

// gitRuns follows git's aliases and what some of its commands run.
func (s *Shell) gitRuns(a *Act, words []string, in stream) (stream, bool) {
	if len(a.Words) == 0 {
		return stream{}, false
	}
	sub := a.Words[0]
	s.gitHooked(a, sub)
	for _, c := range a.Options["c"] {
		key, value, _ := strings.Cut(c, "=")
		s.gitSetting(key, value)
	}
	for _, w := range append(slices.Concat(a.Options["upload-pack"], a.Options["receive-pack"], a.Options["exec"]), a.Words...) {
		if command, ok := strings.CutPrefix(w, "ext::"); ok {
			s.script(command, stream{})
		}
	}
	var text string
	for _, c := range a.Options["c"] {
		if v, ok := strings.CutPrefix(c, "alias."+sub+"="); ok {
			text = v
		}
	}
	if text == "" {
		text = s.alias["git "+sub]
	}
	if text != "" && s.step() {
		delete(s.alias, "git "+sub) // an alias does not call itself
		rest := words[min(len(words), slices.Index(words, sub)+1):]
		if command, shell := strings.CutPrefix(text, "!"); shell {
			return s.script(command+" "+quoteAll(rest), in), true
		}
		if !s.deep() {
			return s.command(append(append([]string{"git"}, strings.Fields(unquoted.Replace(text))...), rest...), nil, in), true
		}
	}
	switch {
	case sub == "config" && len(a.Words) > 2 && !strings.HasPrefix(a.Words[1], "alias."):
		s.prepare(func() { s.gitSetting(a.Words[1], a.Words[2]) })
	case sub == "config" && len(a.Words) > 2 && strings.HasPrefix(a.Words[1], "alias."):
		s.alias["git "+strings.TrimPrefix(a.Words[1], "alias.")] = a.Words[2]
		command, shell := strings.CutPrefix(a.Words[2], "!")
		if !shell {
			command = "git " + command
		}
		s.prepare(func() { s.scripts(command) })
	case sub == "rebase":
		s.scripts(a.Options["exec"]...)
	case sub == "bisect" && len(a.Words) > 2 && a.Words[1] == "run":
		s.command(words[slices.Index(words, "run")+1:], nil, stream{})
	case sub == "submodule" && slices.Contains(a.Words, "foreach"):
		s.script(strings.Join(words[slices.Index(words, "foreach")+1:], " "), stream{})
	}
	return stream{}, false
}

// Bounds of a makefile. What is beyond them is not followed.
const (
	maxMakeRules = 500 // rules of one file; the largest that people write by hand have some hundred targets
	maxMakeDeep  = 16  // targets that need targets
)

// makefile is what is read of a makefile.
type makefile struct {
	first string
	rules map[string]*makeRule
	vars  map[string]string
	shell *Shell
	dir   string
	just  string // the name of a file of just, whose recipes are scripts without variables of the file; empty: it is make's
}

// rule is the rule of a target, a new one if there is none.
func (m *makefile) rule(target string) *makeRule {
	if m.rules[target] == nil {
		m.rules[target] = &makeRule{}
	}
	return m.rules[target]
}

type makeRule struct {
	needs  []string
	recipe []string
	done   bool
}

// make follows the recipes of the goals, where the makefile is known: it is fed in, written by the
// script itself or told by --eval.
func (s *Shell) make(a *Act, in stream) {
	if a.Harmless() {
		return
	}
	texts := slices.Clone(a.Options["eval"])
	files := a.Options["makefile"]
	if len(files) == 0 {
		files = []string{"Makefile", "makefile", "GNUmakefile"}
	}
	dir := s.dir
	for _, d := range a.Options["directory"] {
		dir = Clean(dir, d)
	}
	for _, f := range files {
		if f == "-" || f == "/dev/stdin" {
			texts = append(texts, in.text)
		} else if text := s.needs(Clean(dir, f)); text.known {
			s.beyond(text, "")
			texts = append(texts, text.text)
		}
	}
	m := makefile{rules: map[string]*makeRule{}, vars: map[string]string{}, shell: s, dir: dir}
	var goals []string
	for _, w := range a.Words {
		if Assignment(w) {
			name, value, _ := strings.Cut(w, "=")
			m.vars[name] = value
		} else {
			goals = append(goals, w)
		}
	}
	for _, text := range texts {
		m.read(patterns.Replace(text))
	}
	m.buildAll(goals)
}

// buildAll follows the goals, or the first target if none is named.
func (m *makefile) buildAll(goals []string) {
	if len(goals) == 0 {
		goals = []string{m.first}
	}
	for _, g := range goals {
		m.build(g, 0)
	}
}

// read reads a makefile's rules and variables.
func (m *makefile) read(text string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var open []*makeRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range open {
				r.recipe = append(r.recipe, recipe)
			}
			continue
		}
		head, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(head) == "" {
			continue
		}
		if fields := strings.Fields(m.expand(head, "")); len(fields) > 1 && strings.TrimLeft(fields[0], "-s") == "include" {
			for _, name := range fields[1:] {
				if f := m.shell.needs(Clean(m.dir, name)); f.known && !m.shell.loaded[name] {
					m.shell.loaded[name] = true
					m.read(f.text)
				}
			}
			continue
		}
		colon, equals := strings.IndexByte(head, ':'), strings.IndexByte(head, '=')
		if equals >= 0 && (colon < 0 || equals < colon || equals == colon+1) {
			name := strings.TrimSpace(strings.TrimRight(head[:equals], ":?+!"))
			if _, given := m.vars[name]; !given {
				m.vars[name] = strings.TrimSpace(head[equals+1:])
			}
			continue
		}
		if colon < 0 || len(m.rules) >= maxMakeRules {
			open = nil
			m.expand(head, "") // it may run something: $(shell …)
			continue
		}
		needs, recipe, inline := strings.Cut(strings.TrimLeft(head[colon:], ":"), ";")
		open = nil
		for target := range strings.FieldsSeq(m.expand(head[:colon], "")) {
			r := m.rule(target)
			if m.first == "" && target[0] != '.' {
				m.first = target
			}
			r.needs = append(r.needs, strings.Fields(m.expand(needs, target))...)
			if inline {
				r.recipe = append(r.recipe, recipe)
			}
			open = append(open, r)
		}
	}
}

// build follows what a target needs, and its recipe.
func (m *makefile) build(target string, depth int) {
	r := m.rules[target]
	if r == nil || r.done || depth > maxMakeDeep || !m.shell.step() {
		return
	}
	r.done = true
	if m.just != "" { // a recipe may run just itself
		key := m.just + "\x00" + target
		if m.shell.loaded[key] {
			return
		}
		m.shell.loaded[key] = true
	}
	for _, need := range r.needs {
		m.build(need, depth+1)
	}
	if m.just != "" {
		m.shell.scripts(strings.Join(r.recipe, "\n"))
		return
	}
	for _, line := range r.recipe {
		m.shell.script(strings.TrimLeft(m.expand(line, target), "@-+ "), stream{})
	}
}

var makeVariable = lazyregexp.New(`\$\$|\$@|\$\((?:[^()]|\([^()]*\))*\)|\$\{\w+\}`)

// expand puts in variables, follows what $(shell …) runs, and leaves the shell its own dollars.
func (m *makefile) expand(text, target string) string {
	for range 4 { // a variable may name another
		changed := false
		text = makeVariable.Compiled().ReplaceAllStringFunc(text, func(v string) string {
			switch name := strings.Trim(v, "$(){}"); {
			case v == "$$":
				return v
			case v == "$@":
				return target
			case strings.HasPrefix(name, "shell "):
				changed = true
				m.shell.script(strings.TrimPrefix(name, "shell "), stream{})
				return ""
			case strings.ContainsAny(name, " ,"):
				return ""
			default:
				value, ok := m.vars[name]
				changed = changed || ok
				return value
			}
		})
		if !changed || len(text) > maxCarried {
			break
		}
	}
	return strings.ReplaceAll(text, "$$", "$")
}

// powershell follows what PowerShell is told to run: its commands are read as a shell's, in which
// paths have slashes and blocks are lines.
func (s *Shell) powershell(args []string, in stream) stream {
	lower := slices.Clone(args)
	for i, w := range lower {
		if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") && len(w) > 2 && !strings.Contains(w[1:], "/") {
			lower[i] = "-" + strings.ToLower(strings.TrimLeft(w, "-/"))
		}
	}
	r := readOptions("powershell", ownOptions("powershell"), lower, true)
	var text []string
	for _, encoded := range r.options["encodedcommand"] {
		text = append(text, utf16Text(encoded))
	}
	for _, command := range r.options["command"] {
		if command == "-" {
			command = in.text
		}
		text = append(text, strings.Join(append([]string{command}, r.operands...), " "))
	}
	switch files := r.options["file"]; {
	case len(files) > 0:
		f := s.needs(s.path(files[0]))
		if f.download {
			return s.feed(f)
		}
		text = append(text, f.text)
	case len(text) == 0 && len(r.operands) > 0:
		text = append(text, strings.Join(r.operands, " "))
	case len(text) == 0 && in.download:
		return s.feed(in)
	case len(text) == 0:
		text = append(text, in.text)
	}
	out := stream{given: true}
	for _, t := range text {
		out = s.script(shellOf(t), stream{given: true})
	}
	return out
}

// utf16Text decodes what -EncodedCommand takes: UTF-16 in base64.
func utf16Text(encoded string) string {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return ""
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return Tidy(string(utf16.Decode(units)))
}

// spelling is an expression of PowerShell, and how a shell writes the same; see words.txt.
type spelling struct {
	form *regexp.Regexp
	as   string
}

var spellings = sync.OnceValue(func() (all []spelling) {
	for _, line := range wordlist.Lines(wordsText, "spellings of PowerShell") {
		form, as, _ := strings.Cut(line, " => ")
		as = strings.Trim(as, `"`)
		all = append(all, spelling{regexp.MustCompile(form), strings.ReplaceAll(as, `\n`, "\n")})
	}
	return all
})

// pwshStart is the start of a process, whose words are parted by commas.
var pwshStart = lazyregexp.New(`(?i)\bstart-process\b[^;|\n}]*`)

// shellOf writes PowerShell as a shell would read it, as far as its commands need.
func shellOf(text string) string {
	text = strings.NewReplacer("`\r\n", " ", "`\n", " ", "\r\n", "\n", "\\", "/", "`", "", "@(", "$(").Replace(text)
	text = pwshStart.Compiled().ReplaceAllStringFunc(text, func(start string) string { return strings.ReplaceAll(start[len("start-process"):], ",", " ") })
	for _, one := range spellings() {
		text = one.form.ReplaceAllString(text, one.as)
	}
	return text
}

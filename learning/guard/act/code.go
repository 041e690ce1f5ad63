package act

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// interpreter follows what a program in another language does, as far as its
// calls with plain texts say.
func (s *Shell) interpreter(name string, words []string, in stream) stream {
	language := programOf(name).one("language")
	args := words[1:]
	if (name == "deno" || name == "bun") && len(args) > 0 {
		switch args[0] {
		case "eval":
			if len(args) > 1 {
				s.code(language, args[len(args)-1])
			}
			return stream{given: true}
		case "run", "x", "publish", "install", "add", "remove", "test", "build":
			return s.act(name, words, nil, in)
		}
	}
	r := readOptions(language, ownOptions(language), args, true)
	if m := r.options["m"]; language == "python" && len(m) > 0 {
		s.program(language, s.dir, strings.ReplaceAll(m[0], ".", "/")+".py", strings.ReplaceAll(m[0], ".", "/")+"/__main__.py")
		return s.command(append([]string{m[0]}, r.operands...), nil, in)
	}
	if len(r.options["check"]) > 0 || language == "php" && len(r.options["i"]) > 0 {
		return stream{}
	}
	code, operands := r.options["code"], r.operands
	if language == "awk" {
		if len(code)+len(r.options["f"]) == 0 && len(operands) > 0 {
			code, operands = operands[:1], operands[1:]
		}
		s.program(language, s.dir, r.options["f"]...)
	}
	if len(code) > 0 {
		for _, c := range code {
			s.code(language, c)
		}
		for _, o := range operands { // perl -ne and awk show what they read
			if file := s.path(o); guarded(file) {
				s.reads(file)
			}
		}
		if len(r.options["i"]) > 0 {
			s.note(&Act{Name: name, Words: operands, Source: words, Effects: s.writes(operands)})
		}
		if language == "awk" {
			return stream{given: true, download: in.download, paths: in.paths}
		}
		return stream{given: true}
	}
	if len(operands) > 0 && operands[0] != "-" {
		if f := s.needs(s.path(operands[0])); f.known {
			s.source(language, s.path(operands[0]), f)
			return stream{given: true}
		} else if f.download || f.cut {
			return s.feed(f)
		}
		return s.act(name, words, nil, in)
	}
	if s.need(in); in.known {
		s.code(language, in.text)
		s.beyond(in, language)
	} else if in.download || in.cut {
		return s.feed(in)
	}
	if language != "awk" { // without a script it shows its usage
		s.typed(words, in)
	}
	return stream{given: true}
}

func (s *Shell) writes(words []string) (out []Effect) {
	for _, w := range words {
		out = append(out, Effect{Kind: EffectWrite, Path: s.path(w)})
	}
	return out
}

// codeToken is a name with its dots, a text, or a sign.
type codeToken struct {
	text string
	kind byte // 'n' name, 's' text, '`' a text that a shell runs, 'f' a text with {names} in it, otherwise the sign
}

// What a program in a language begins with: white space and comments, by the language; what stands behind Ruby's %x and Perl's qx, which
// a shell runs; a text in quotes; a name with its dots. What is open at the end ends there.
var (
	hashGap  = lazyregexp.New(`^(?:[ \t\r]+|#[^\n]*)`)
	codeGaps = sync.OnceValue(func() map[string]*lazyregexp.Regexp {
		slash := lazyregexp.New(`(?s)^(?:[ \t\r]+|//[^\n]*|/\*.*?(?:\*/|\z))`)
		return map[string]*lazyregexp.Regexp{
			"js": slash, "go": slash, "rust": slash, "php": lazyregexp.New(`(?s)^(?:[ \t\r]+|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\z))`),
			"lua": lazyregexp.New(`^(?:[ \t\r]+|#[^\n]*|--[^\n]*)`), "loose": lazyregexp.New(`^[ \t\r]+`),
		}
	})
	shellForm = lazyregexp.New(`^(?:\(([^)]*)\)?|\{([^}]*)\}?|\[([^\]]*)\]?|\|([^|]*)\|?|/([^/]*)/?|!([^!]*)!?)`)
	codeText  = lazyregexp.New(`(?s)^(?:"""((?:\\.|\\\z|[^\\])*?)(?:"""|\z)|'''((?:\\.|\\\z|[^\\])*?)(?:'''|\z)|` + "```" + `((?:\\.|\\\z|[^\\])*?)(?:` + "```" +
		`|\z)|"((?:\\.|\\\z|[^\\"])*?)(?:"|\z)|'((?:\\.|\\\z|[^\\'])*?)(?:'|\z)|` + "`" + `((?:\\.|\\\z|[^\\` + "`" + `])*?)(?:` + "`" + `|\z))`)
	codeName = lazyregexp.New(`^[\pL\p{Nd}_$](?:[\pL\p{Nd}_$]|::|\.\pL)*`)
)

func codeTokens(language, code string) (tokens []codeToken) {
	gap := codeGaps()[language]
	if gap == nil {
		gap = hashGap
	}
	for rest, n := code, 0; rest != ""; rest = rest[n:] {
		if n = len(gap.Compiled().FindString(rest)); n > 0 {
			continue
		}
		if command := rest[min(2, len(rest)):]; len(command) > 1 && (language == "ruby" && rest[:2] == "%x" || language == "perl" && rest[:2] == "qx") {
			if found := shellForm.FindStringSubmatch(command); found != nil {
				n = len(rest) - len(command) + len(found[0])
				tokens = append(tokens, codeToken{strings.Join(found[1:], ""), '`'})
				continue
			}
		}
		token := codeToken{codeName.Compiled().FindString(rest), 'n'}
		if n = len(token.text); strings.IndexByte("\"'`", rest[0]) >= 0 {
			found := codeText.FindStringSubmatch(rest)
			n = len(found[0])
			token = codeToken{unescape(strings.Join(found[1:], "")), 's'}
			tokens = token.quoted(language, rest[0], tokens)
		} else if n == 0 {
			_, n = utf8.DecodeRuneInString(rest)
			token = codeToken{rest[:n], rest[0]}
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// quoted says of which kind a text is by its quotes, and by the letters before it, which it takes off the tokens.
func (t *codeToken) quoted(language string, quote byte, before []codeToken) []codeToken {
	prefix := ""
	if n := len(before); n > 0 && before[n-1].kind == 'n' {
		prefix = before[n-1].text
	}
	switch {
	case quote == '`' && language == "go":
	case quote == '`' && language != "js":
		t.kind = '`'
	case quote == '`' || quote == '"' && slices.Contains([]string{"perl", "php", "ruby"}, language):
		t.kind = 'f'
	case slices.Contains([]string{"f", "rf", "fr", "F"}, prefix):
		t.kind = 'f'
		return before[:len(before)-1]
	case slices.Contains([]string{"r", "b", "u", "R", "rb"}, prefix):
		return before[:len(before)-1]
	}
	return before
}

// code follows one program.
type code struct {
	shell    *Shell
	language string
	t        []codeToken
	vars     map[string]string
	targets  Targets
	recurses bool     // it says "recursive" somewhere
	listed   []string // folders whose files it lists: what it deletes without a name is of them
	lists    bool     // the first reading, for these alone
	opened   string   // the file that was opened last
}

// code follows a program's calls.
func (s *Shell) code(language, text string) {
	text = patterns.Replace(text)
	if !s.step() || !s.spend(len(text)) || s.deep() {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	c := &code{shell: s, language: language, t: codeTokens(language, text), vars: map[string]string{}}
	c.recurses = slices.ContainsFunc(c.t, func(t codeToken) bool { return t.text == "recursive" })
	if slices.ContainsFunc(c.t, func(t codeToken) bool { return calls()[lastName(t.text)] == "list folder" }) {
		c.lists = true
		c.follow()
		c.lists = false
	}
	if c.follow(); s.Over != "" {
		s.Unread += "\n" + text
	}
}

func (c *code) kind(i int) byte {
	if i < 0 || i >= len(c.t) {
		return 0
	}
	return c.t[i].kind
}

func (c *code) follow() {
	for i := 0; i < len(c.t); i++ {
		if !c.shell.step() {
			return
		}
		switch t := c.t[i]; t.kind {
		case 's', 'f':
			c.names(t.text, i)
		case '`':
			c.shell.script(c.interpolate(t.text), stream{})
		case 'n':
			switch {
			case c.kind(i+1) == '=' && c.kind(i+2) != '=':
				if v, _, ok := c.value(i+2, 0); ok {
					c.vars[t.text] = v
				}
			case c.kind(i+1) == '(':
				args, end := c.arguments(i + 2)
				if object, _, ok := strings.Cut(t.text, "."); ok && (len(args) == 0 || c.vars[object] != "") { // path.unlink()
					args = append([][]string{{cmp.Or(c.vars[object], string(Unknown))}}, args...)
				}
				if strings.HasSuffix(t.text, "Command::new") && len(args) > 0 && !c.lists {
					c.shell.command(c.chained(args[0], end), nil, stream{})
				}
				c.invoke(t.text, args, i)
			case (c.kind(i+1) == 's' || c.kind(i+1) == 'f') && (c.language == "perl" || c.language == "ruby" || c.language == "php" || c.language == "lua"):
				args, _ := c.arguments(i + 1)
				c.invoke(t.text, args, i)
			default:
				c.names(t.text, i)
			}
		case '.':
			// Path("…").unlink(): the method of what a call returned.
			if c.kind(i+1) == 'n' && c.kind(i+2) == '(' && c.kind(i-1) == ')' {
				rest, _ := c.arguments(i + 3)
				switch v, ok, module := c.before(i - 1); {
				case module:
					c.invoke(c.t[i+1].text, rest, i+1)
				case ok:
					c.invoke(c.t[i+1].text, append([][]string{{v}}, rest...), i+1)
				}
			}
		}
	}
}

// chained are the words of a command of Rust: Command::new("rm").arg("-r").args(["a", "b"]).
func (c *code) chained(words []string, end int) []string {
	words = slices.Clone(words)
	for i := end; i+3 < len(c.t) && c.shell.step(); {
		for c.kind(i) == ')' || c.kind(i) == '\n' {
			i++
		}
		if c.kind(i) != '.' || c.kind(i+1) != 'n' || c.kind(i+2) != '(' {
			break
		}
		args, after := c.arguments(i + 3)
		if name := c.t[i+1].text; name == "arg" || name == "args" {
			words = append(words, slices.Concat(args...)...)
		}
		i = after
	}
	return words
}

// before is the value of the call that ends at the bracket i, which may load a module.
func (c *code) before(i int) (v string, ok, module bool) {
	depth := 0
	for k := i; k >= 0 && i-k < 200; k-- {
		switch c.kind(k) {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				v, _, ok = c.value(k+1, 0)
				return v, ok, c.kind(k-1) == 'n' && (c.t[k-1].text == "require" || c.t[k-1].text == "__import__")
			}
		}
	}
	return "", false, false
}

// arguments reads the values between brackets; a list is one argument of several values.
func (c *code) arguments(i int) (args [][]string, end int) {
	var list []string
	inList := false
	for n := 0; i < len(c.t) && n < 256 && c.shell.step(); n++ {
		switch c.kind(i) {
		case ')', ';':
			return args, i
		case '\n', ',':
			i++
		case '[':
			inList, list = true, []string{}
			i++
		case ']':
			args, inList = append(args, list), false
			i++
		default:
			v, next, ok := c.value(i, 0)
			if !ok {
				v = string(Unknown)
			}
			if inList {
				list = append(list, v)
			} else {
				args = append(args, []string{v})
			}
			i = max(next, i+1)
		}
	}
	return args, i
}

// value evaluates texts, known names, their sums and joined paths.
func (c *code) value(i, depth int) (v string, end int, ok bool) {
	if depth > 8 {
		return "", i, false
	}
	for i < len(c.t) && len(v) < maxCarried {
		switch t := c.t[i]; t.kind {
		case 's':
			v, ok = v+t.text, true
			i++
		case 'f':
			v, ok = v+c.interpolate(t.text), true
			i++
		case 'n':
			if c.kind(i+1) == '(' {
				args, after := c.arguments(i + 2)
				switch lastName(t.text) {
				case "home", "homedir":
					v += "~"
				case "join", "resolve", "Path", "PosixPath", "str", "String", "expanduser":
					v += strings.Join(slices.Concat(args...), "/")
				default:
					return v, after + 1, ok
				}
				ok, i = true, after+1
				break
			}
			if c.kind(i+1) == '=' && c.kind(i+2) != '=' {
				// A named argument.
				return c.value(i+2, depth+1)
			}
			known, found := c.vars[t.text]
			if env, isEnv := strings.CutPrefix(t.text, "process.env."); isEnv {
				known, found = "${"+env+"}", true
			}
			if !found {
				if strings.HasSuffix(v, "/") {
					v += string(AnyText)
				}
				return v, i + 1, ok
			}
			v, ok = v+known, true
			i++
		default:
			return v, i, ok
		}
		switch c.kind(i) {
		case '+':
			i++
		case '/':
			v += "/"
			i++
		case '.':
			if c.language != "perl" && c.language != "php" {
				return v, i, ok
			}
			i++
		default:
			return v, i, ok
		}
	}
	return v, i, ok
}

// interpolate puts known names into a text that names them.
func (c *code) interpolate(text string) string {
	if !strings.ContainsAny(text, "{$") || len(c.vars) == 0 {
		return text
	}
	text = interpolated.Compiled().ReplaceAllStringFunc(text, func(form string) string {
		bare := strings.Trim(form, "#{$}")
		for _, name := range []string{bare, "$" + bare} {
			if v, known := c.vars[name]; known && c.shell.spend(len(v)) {
				return v
			}
		}
		return form
	})
	return text[:min(len(text), maxCarried)]
}

// interpolated is a name in a text of Python, JavaScript, Ruby, Perl or PHP.
var interpolated = lazyregexp.New(`[#$]?\{\$?\w+\}|\$\w+`)

func lastName(name string) string {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 {
		return name[i+1:]
	}
	return name
}

// names follows the name of a function that deletes, which another function is given beside a list of files.
func (c *code) names(name string, at int) {
	does := calls()[lastName(name)]
	if (does == "remove file" || does == "remove tree") && (strings.ContainsAny(name, ".:") || strings.HasPrefix(name, "unlink")) && c.kind(at-1) != '.' {
		c.remove([]string{string(Unknown)}, false)
	}
}

// remove notes what is deleted: the paths, or what the program has listed, if they are not known.
func (c *code) remove(paths []string, whole bool) {
	for _, w := range paths {
		if c.language == "ruby" { // Dir["x/*"]
			w = activate(w)
		}
		p := c.shell.path(w)
		if below, ok := strings.CutSuffix(p, "/"+string(Unknown)); ok {
			p = below + "/" + string(AnyText)
		}
		all := []string{p}
		if p == string(Unknown) && len(c.listed) > 0 {
			all = c.listed
		}
		for _, p := range all {
			c.effect("rm", Effect{Kind: EffectDelete, Path: p, Recursive: whole, Soft: strings.HasPrefix(p, string(Unknown))})
		}
	}
}

// list notes the folder whose files a call lists, if it does.
func (c *code) list(does string, args [][]string) {
	if does != "list folder" {
		return
	}
	if c.language == "js" || c.language == "php" { // options stand behind it
		args = args[:1]
	}
	at := activate(strings.Join(slices.Concat(args...), "/"))
	if !Patterned(at) {
		at += "/" + string(AnyText)
	}
	c.listed = append(c.listed, c.shell.path(at))
}

// invoke follows one call.
func (c *code) invoke(name string, args [][]string, at int) {
	if len(args) == 0 || len(args[0]) == 0 {
		return
	}
	first := args[0][0]
	s := c.shell
	last := lastName(name)
	does := calls()[last]
	if c.lists {
		c.list(does, args)
		return
	}
	switch does {
	case "run command":
		c.run(last, args)
	case "remove tree":
		if last == "rm" && c.language != "js" && (c.language != "loose" || !c.recurses) {
			return
		}
		if c.language != "perl" && c.language != "ruby" { // what stands behind the path, or a list of them, are options
			args = args[:1]
		}
		c.remove(slices.Concat(args...), true)
	case "remove file":
		if last == "delete" && strings.HasPrefix(first, "http") {
			c.effect("curl", Effect{Kind: EffectHTTP, Verb: "DELETE", Path: URL(first)})
			return
		}
		c.remove(args[0], c.recurses)
	case "send request":
		if strings.HasPrefix(first, "http") {
			c.effect("curl", Effect{Kind: EffectHTTP, Verb: strings.ToUpper(last), Path: URL(first)})
		}
	case "fetch URL":
		method, url := c.method(at), first
		if methods[strings.ToUpper(first)] && len(args) > 1 && len(args[1]) > 0 {
			method, url = strings.ToUpper(first), args[1][0]
		}
		if method != "" && strings.HasPrefix(url, "http") {
			c.effect("curl", Effect{Kind: EffectHTTP, Verb: method, Path: URL(url)})
		}
	case "open file":
		if guarded(s.path(first)) && (len(args) < 2 || len(args[1]) > 0 && strings.HasPrefix(args[1][0], "r")) {
			s.reads(s.path(first))
		}
		if len(args) > 1 && len(args[1]) > 0 && strings.ContainsAny(args[1][0], "wax+>") && len(args[1][0]) < 5 {
			c.opened = s.path(first)
			c.effect("tee", writeEffects(s.path(first), "")...)
		}
	case "read file":
		if guarded(s.path(first)) {
			s.reads(s.path(first))
		}
	case "write file":
		c.holds(s.path(first), args[1:])
		c.effect("tee", writeEffects(s.path(first), "")...)
	case "write there":
		c.writesThere(name, args)
	case "connect to":
		for _, w := range slices.Concat(args...) {
			c.targets = append(c.targets, targetsOf([]string{w})...)
		}
	case "run query":
		if LooksSQL(first) {
			c.sql(first)
		}
	}
}

// writesThere follows a call that writes into a file which is open, or which it names.
func (c *code) writesThere(name string, args [][]string) {
	s, first := c.shell, args[0][0]
	switch {
	case len(args) > 1:
		c.holds(s.path(first), args[1:])
	case c.opened != "":
		c.holds(c.opened, args)
	}
	if name == "File.write" || name == "IO.write" {
		c.effect("tee", writeEffects(s.path(first), "")...)
	}
}

// holds notes what a program writes into a file, which may be run next.
func (c *code) holds(file string, args [][]string) {
	if len(args) > 0 && len(args[0]) > 0 {
		c.shell.files[file] = c.shell.files[file].followedBy(plainText(args[0][0] + "\n"))
	}
}

// run follows a call that runs a command: a line for a shell, or its words.
func (c *code) run(call string, args [][]string) {
	s, first := c.shell, args[0][0]
	wordwise := c.language == "perl" || c.language == "ruby" || c.language == "go"
	begins := func(beginnings ...string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(call, b) })
	}
	switch {
	case (call == "execute" || call == "run" || call == "exec") && LooksSQL(first):
		c.sql(first)
	case call == "exec" && c.language == "python":
		s.code(c.language, first)
	case len(args[0]) > 1:
		s.command(args[0], nil, stream{})
	case len(args) > 1 && call == "system" && wordwise && !strings.Contains(first, " "),
		len(args) > 1 && call != "system" && len(args[1]) > 0 && (wordwise || begins("spawn", "exec", "create")):
		words := append([]string{first}, slices.Concat(args[1:]...)...)
		if begins("execl", "execv", "spawnl") {
			words = slices.Delete(words, 1, min(2, len(words))) // the name that the program is told
		}
		s.command(words, nil, stream{})
		if strings.Contains(first, " ") {
			s.script(first, stream{})
		}
	default:
		s.script(first, stream{})
	}
}

// methods are the methods of requests that change something.
var methods = map[string]bool{"DELETE": true, "POST": true, "PUT": true, "PATCH": true}

// method is the method that the call at i names among its options: {method: "DELETE"}.
func (c *code) method(i int) string {
	for k := i; k < min(i+64, len(c.t)) && c.kind(k) != ';'; k++ {
		if strings.Trim(c.t[k].text, `"'`) != "method" {
			continue
		}
		for _, t := range c.t[k+1 : min(k+4, len(c.t))] {
			if m := strings.ToUpper(strings.Trim(t.text, `"'`)); methods[m] {
				return m
			}
		}
	}
	return ""
}

func (c *code) sql(text string) {
	targets := slices.Clone(c.targets)
	for _, h := range c.shell.where {
		targets = append(targets, target(h))
	}
	c.effect(runsSQL, c.shell.statements(text, &targets)...)
}

func (c *code) effect(name string, effects ...Effect) {
	c.shell.note(&Act{Name: name, Effects: effects, Source: []string{name, "(in " + c.language + " code)"}})
}

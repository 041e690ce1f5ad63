package act

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Names of acts that no program has.
const (
	runsDownload = "(run a download)"
	SetsVariable = "(set a variable)"
	WritesFile   = "(write a file)"
	runsSQL      = "(run SQL)"
	ReadsFile    = "(read a file)"
	ForkBomb     = "(start itself again and again)"
)

// Program is the canonical name of the program that a word names.
func Program(word string) string {
	name := path.Base(strings.TrimRight(word, "/"))
	name = name[strings.LastIndexByte(name, '\\')+1:] // of Windows
	if dot := len(name) - len(".exe"); dot > 0 && slices.Contains([]string{".exe", ".cmd", ".bat", ".com"}, strings.ToLower(name[dot:])) {
		name = name[:dot]
	}
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' && strings.Contains(name, "-") {
		name = strings.ToLower(name) // PowerShell's Verb-Noun, whose case says nothing
	}
	if same, ok := programs().same[name]; ok {
		return same
	}
	if lower := strings.ToLower(name); lower != name && !sqlWrites()[name] && programs().rows[name] == nil && programs().rows[lower] != nil {
		return lower // a file system may not tell GIT from git
	}
	for _, versioned := range programs().versioned {
		if rest, ok := strings.CutPrefix(name, versioned); ok && rest != "" && strings.Trim(rest, "0123456789.") == "" {
			return versioned
		}
	}
	return name
}

// command follows a command whose words are expanded, and returns what it prints.
func (s *Shell) command(words []string, env map[string]string, in stream) stream {
	words, env = s.assignments(words, env)
	if len(words) == 0 || !s.step() {
		return stream{}
	}
	if s.deep() {
		return stream{}
	}
	s.depth++
	defer func() { s.depth-- }()

	if body, ok := s.funcs[words[0]]; ok {
		return s.function(words, body, in)
	}
	if text, ok := s.alias[words[0]]; ok {
		delete(s.alias, words[0])
		out := s.script(text+" "+quoteAll(words[1:]), in)
		s.alias[words[0]] = text
		return out
	}
	words = withoutUnset(words)
	given := words[0]
	if Patterned(given) {
		return s.guessed(words, env, in)
	}
	name := Program(given)
	if dir, unit := path.Split(given); strings.HasSuffix(dir, "/init.d/") && len(words) > 1 {
		name, words = "service", []string{"service", unit, words[1]}
	}
	if a, b, ok := strings.Cut(name, " "); ok {
		words = append([]string{a, b}, words[1:]...)
		name = a
	} else if name != words[0] {
		words = append([]string{name}, words[1:]...)
	}
	if (name == "k3s" || name == "microk8s" || name == "minikube") && len(words) > 2 && words[1] == "kubectl" {
		rest := words[1:]
		if rest[1] == "--" {
			rest = append([]string{"kubectl"}, rest[2:]...)
		}
		return s.command(rest, env, in)
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w, downloaded) && i >= 0 && (IsShell(name) || name == "source" || name == ".") {
			return s.feed(stream{given: true, download: true})
		}
	}
	if out, ok := s.builtinCommand(name, words, env, in); ok {
		return out
	}
	if out, ok := s.unwrap(words, env, in); ok {
		return out
	}
	switch p := programOf(name); {
	case p.has("each"):
		return s.spread(name, words[1:], env, in)
	case p.has("shell"):
		return s.shellProgram(words, in)
	case p.one("language") == "powershell":
		return s.powershell(words[1:], in)
	case p.has("language"):
		return s.interpreter(name, words, in)
	}
	if s.runsPath(given, words[1:]) {
		return stream{given: true}
	}
	return s.act(name, words, env, in)
}

// runsPath follows a command that is named by its path, and reports whether what it runs is known.
func (s *Shell) runsPath(given string, args []string) bool {
	if !strings.Contains(given, "/") {
		return false
	}
	f := s.read(s.path(given))
	if !f.known && !f.download && !f.cut && len(f.wants) == 0 {
		return false
	}
	s.run(f, args, stream{})
	return f.known || f.download
}

// withoutUnset takes variables that nothing set out of the name of a program and out of its options.
func withoutUnset(words []string) []string {
	given := words[0]
	if strings.Contains(given, "${") && !strings.HasPrefix(given, "${") && !strings.Contains(given, "/") {
		// A variable that the script never set is empty: r${x}m is rm.
		words = append([]string{unsetVariable.ReplaceAllString(given, "")}, words[1:]...)
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "${") && unsetVariable.ReplaceAllString(w, "") != "-" {
			words = slices.Clone(words)
			words[i+1] = unsetVariable.ReplaceAllString(w, "")
		}
	}
	return words
}

// assignments takes NAME=value off the beginning of words, into the environment of what follows them.
func (s *Shell) assignments(words []string, env map[string]string) ([]string, map[string]string) {
	for len(words) > 0 && Assignment(words[0]) {
		if env == nil {
			env = map[string]string{}
		}
		n, v, _ := strings.Cut(words[0], "=")
		env[n] = v
		s.noteVariable(n, v)
		words = words[1:]
	}
	return words, env
}

var unsetVariable = lazyregexp.New(`\$\{\w+\}`)

// guessed follows a command whose name is a pattern as each known program that fits it.
func (s *Shell) guessed(words []string, env map[string]string, in stream) stream {
	pattern := path.Base(words[0])
	if pattern == string(AnyText) {
		return stream{given: true}
	}
	var out stream
	for _, name := range programs().guessable {
		if NameFits(pattern, name) {
			out = out.followedBy(s.command(append([]string{name}, words[1:]...), env, in))
		}
	}
	return out
}

// act notes what a program does that runs no other.
func (s *Shell) act(name string, words []string, env map[string]string, in stream) stream {
	a := normalize(words)
	a.Env, a.Consents, a.Sends = s.around(env), in.consents, in.secrets
	if out, ok := s.runsInside(a, words, in); ok {
		return out
	}
	if name == "mongosh" && in.known && len(a.Options["eval"]) == 0 {
		a.Words = append(a.Words, scriptWords(in.text)...)
	}
	if name == "aws" && len(a.Words) > 1 && a.Words[0] == "ssm" || name == "az" && slices.Contains(a.Words, "run-command") {
		for _, v := range append(a.Options["parameters"], a.Options["scripts"]...) {
			s.remote(v)
		}
		for _, w := range a.Words {
			if strings.HasPrefix(w, "commands=") || strings.HasPrefix(w, "{") {
				s.remote(w)
			}
		}
	}
	if name == "redis-cli" && len(a.Words) == 0 && in.known {
		// It reads its commands, one a line.
		for line := range strings.Lines(in.text) {
			if fields := strings.Fields(line); len(fields) > 0 && s.step() {
				s.act(name, append(append([]string{}, words...), fields...), env, stream{})
			}
		}
		return stream{given: true}
	}
	if a.Name == "rake" {
		// A task's variables may stand behind it.
		a.Words = slices.DeleteFunc(a.Words, func(w string) bool {
			if !Assignment(w) {
				return false
			}
			n, v, _ := strings.Cut(w, "=")
			a.Env = with(a.Env, n, v)
			return true
		})
	}
	s.runsFiles(a)
	a.Effects = s.effects(a, in)
	for i := range a.Effects {
		a.Effects[i].Narrow = a.Effects[i].Narrow || in.narrow && a.Effects[i].Kind == EffectDelete
	}
	s.noteFully(a)
	s.makes(a)
	return s.output(name, words, a, in)
}

// around is the environment of a command: what was exported, and what is set for it alone.
func (s *Shell) around(env map[string]string) map[string]string {
	if len(s.env) == 0 {
		return env
	}
	s.steps += len(s.env) / 16 // each command has a copy
	all := maps.Clone(s.env)
	maps.Copy(all, env)
	return all
}

func with(env map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	maps.Copy(all, env)
	all[name] = value
	return all
}

// remote follows the commands that a cloud's agent is sent: commands=…, as text or as JSON.
func (s *Shell) remote(parameters string) {
	text := strings.TrimPrefix(parameters, "commands=")
	var list []string
	var named struct {
		Commands []string `json:"commands"`
	}
	text = patterns.Replace(text)
	switch {
	case json.Unmarshal([]byte(text), &list) == nil:
	case json.Unmarshal([]byte(text), &named) == nil:
		list = named.Commands
	default:
		list = []string{strings.Trim(text, "[]")}
	}
	s.scripts(list...)
}

// function follows a call of a function that the script defines.
func (s *Shell) function(words []string, body *syntax.Stmt, in stream) stream {
	// A function that calls itself is followed once.
	name := words[0]
	s.called[name] = true
	delete(s.funcs, name)
	defer s.positional(words[1:])()
	out := s.stmt(body, in)
	if _, redefined := s.funcs[name]; !redefined {
		s.funcs[name] = body
	}
	return out
}

// positional sets $1 … and $@ and returns what puts the old ones back.
func (s *Shell) positional(args []string) (restore func()) {
	old := s.args
	s.args = &args
	return func() { s.args = old }
}

// builtinCommand follows what the shell itself does, and the commands that
// only pass text on.
func (s *Shell) builtinCommand(name string, words []string, env map[string]string, in stream) (stream, bool) {
	args := words[1:]
	if s.setsVariables(name, args, in) {
		return stream{}, true
	}
	switch name {
	case "cd", "pushd", "popd":
		s.changeDir(name, args)
		return stream{}, true
	case "alias":
		s.defineAliases(args)
		return stream{}, true
	case "trap":
		if len(args) > 1 && args[0] != "-" {
			s.traps = append(s.traps, args[0])
		}
		return stream{}, true
	case "source", ".":
		if len(args) > 0 && args[0] == "/dev/stdin" {
			return s.feed(in), true
		}
		if len(args) > 0 {
			return s.run(s.read(s.path(args[0])), args[1:], in), true
		}
		return stream{}, true
	case "command":
		r := readOptions(name, ownOptions(name), args, true)
		switch asks := len(r.options["v"])+len(r.options["V"]) > 0; {
		case len(r.operands) == 0, asks && len(r.operands) > 1:
			return stream{given: true}, true
		case asks:
			return plainText("/usr/local/bin/" + r.operands[0]), true
		}
		return s.command(r.operands, env, in), true
	case "su", "runuser":
		return s.otherUser(args, in), true
	case "at", "batch":
		return s.feed(in), true
	case "crontab":
		if slices.Contains(args, "-") || len(args) == 0 {
			s.schedule(in.text)
		} else if f, ok := s.files[s.path(args[len(args)-1])]; ok {
			s.schedule(f.text)
		}
	case "tee":
		r := readOptions(name, OptionsOf()[name], args, false)
		for _, to := range r.operands {
			how := ""
			if len(r.options["append"]) > 0 {
				how = verbAppend
			}
			s.write(to, in, how)
		}
		return in, true
	case "tmux", "screen":
		return s.multiplexer(name, args), true
	case "pwd":
		if s.dir != "" {
			return plainText(s.dir + "\n"), true
		}
		return plainText("."), true
	}
	return stream{}, false
}

// setsVariables follows the commands of a shell that set variables, and reports whether it is one.
func (s *Shell) setsVariables(name string, args []string, in stream) bool {
	switch name {
	case "export", "readonly", "local", "declare", "typeset":
		for _, a := range args {
			if n, v, ok := strings.Cut(a, "="); ok && Assignment(a) {
				s.set(n, shellValue{v})
				s.env[n] = v
				s.noteVariable(n, v)
			}
		}
	case "set":
		if len(args) > 0 && args[0] == "--" {
			s.positional(args[1:])
		}
	case "shift":
		if v, _ := s.lookup("@"); len(v) > 0 {
			s.positional(v[1:])
		}
	case "unset":
		for _, a := range args {
			delete(s.vars, a)
			delete(s.funcs, a)
		}
	case "read":
		for i := len(args) - 1; i >= 0 && in.given; i-- {
			if !strings.HasPrefix(args[i], "-") {
				s.set(args[i], shellValue{in.items()[0]})
			}
		}
	case "mapfile", "readarray":
		if len(args) > 0 && in.given {
			s.set(args[len(args)-1], in.items())
		}
	default:
		return false
	}
	return true
}

// changeDir follows cd, pushd and popd.
func (s *Shell) changeDir(name string, args []string) {
	if name != "popd" {
		for _, a := range args {
			if a != "-" && strings.HasPrefix(a, "-") {
				continue
			}
			s.dir = s.path(a)
			if a == "-" {
				s.dir = ""
			}
			return
		}
	}
	switch name {
	case "cd":
		s.dir = "~"
	case "popd":
		s.dir = ""
	}
}

// defineAliases follows alias. An alias for the act is not the act, but nobody names it for nothing.
func (s *Shell) defineAliases(args []string) {
	for _, a := range args {
		if n, v, ok := strings.Cut(a, "="); ok {
			s.alias[n] = v
			s.prepare(func() { s.scripts(v) })
		}
	}
}

// otherUser follows su.
func (s *Shell) otherUser(args []string, in stream) stream {
	r := readOptions("su", ownOptions("su"), args, false)
	if text := append(r.options["command"], r.options["session-command"]...); len(text) > 0 {
		return s.script(strings.Join(text, "\n"), in)
	}
	if len(r.options["user"]) > 0 && len(r.operands) > 0 {
		return s.command(r.operands, nil, in)
	}
	return s.feed(in)
}

// multiplexer follows what tmux and screen are told to run or type.
func (s *Shell) multiplexer(name string, args []string) stream {
	r := readOptions(name, ownOptions("tmux"), args, name == "screen")
	for i, w := range r.operands {
		switch w {
		case "new-session", "new", "new-window", "neww", "split-window", "splitw", "send-keys", "send", "run-shell", "run", "respawn-pane", "stuff":
			for _, text := range r.operands[i+1:] {
				if strings.Contains(text, " ") {
					s.script(text, stream{})
				}
			}
			return s.script(strings.Join(r.operands[i+1:], " "), stream{})
		}
	}
	if name == "screen" && len(r.operands) > 0 {
		return s.command(r.operands, nil, stream{})
	}
	return stream{}
}

// shellProgram follows sh, bash and the like.
func (s *Shell) shellProgram(words []string, in stream) stream {
	r := readOptions("sh", ownOptions("sh"), words[1:], true)
	if len(r.options["n"]) > 0 || len(r.options["version"])+len(r.options["help"]) > 0 {
		return stream{} // it reads and runs nothing
	}
	switch {
	case len(r.options["c"]) > 0:
		if len(r.operands) == 0 {
			return stream{}
		}
		var args []string
		if len(r.operands) > 2 {
			args = r.operands[2:]
		}
		old := s.vars["0"]
		if len(r.operands) > 1 {
			s.vars["0"] = shellValue{r.operands[1]}
		}
		restore := s.positional(args)
		dir := s.dir
		out := s.script(r.operands[0], in)
		s.dir = dir
		restore()
		if old != nil {
			s.vars["0"] = old
		}
		return out
	case len(r.operands) > 0 && len(r.options["s"]) == 0 && r.operands[0] != "-" && r.operands[0] != "/dev/stdin":
		f := s.read(s.path(r.operands[0]))
		if !f.given || !f.known && !f.download {
			s.note(&Act{Name: "sh", Words: r.operands, Source: words})
		}
		return s.run(f, r.operands[1:], in)
	}
	if len(r.options["s"]) > 0 {
		defer s.positional(r.operands)()
	}
	s.typed(words, in)
	return s.feed(in)
}

// typed notes a program that takes commands and is given none: what is typed into it comes past whoever reads this. One on
// another machine or in a container is that machine's affair.
func (s *Shell) typed(words []string, in stream) {
	for _, w := range words[1:] {
		if !slices.Contains([]string{"-i", "-l", "-il", "-li", "--login", "--interactive"}, w) {
			return
		}
	}
	if !in.given && len(s.where) == 0 {
		s.Interactive = words[0]
	}
}

// run follows a file that is executed.
func (s *Shell) run(f stream, args []string, in stream) stream {
	if f.download || !f.known {
		return s.feed(f)
	}
	defer s.positional(args)()
	if first, rest, ok := strings.Cut(f.text, "\n"); ok && strings.HasPrefix(first, "#!") {
		for name, language := range programs().languages {
			if strings.Contains(first, name) {
				s.code(language, rest)
				s.beyond(f, language)
				return stream{}
			}
		}
	}
	defer s.beyond(f, "")
	return s.script(f.text, in)
}

// feed follows what a shell does that reads its commands from in.
func (s *Shell) feed(in stream) stream {
	if in.download {
		s.note(&Act{Name: runsDownload, Words: []string{runsDownload}, Effects: []Effect{{Kind: EffectDownload}}})
	}
	s.need(in)
	defer s.beyond(in, "")
	if in.known && in.text != "" {
		return s.script(in.text, stream{})
	}
	return stream{}
}

// quoteAll writes words so that a shell reads them back unchanged, active patterns apart.
func quoteAll(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if Patterned(w) {
			b.WriteString(w)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}

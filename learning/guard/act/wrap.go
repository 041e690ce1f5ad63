package act

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// imageProgram is the program that an image is named after, and likely runs.
func imageProgram(image string) string {
	name, _, _ := strings.Cut(path.Base(image), "@")
	name, _, _ = strings.Cut(name, ":")
	if name == "." || name == "/" {
		return ""
	}
	if program := programs().images[name]; program != "" {
		return program
	}
	return name
}

// unwrap runs what a wrapper runs, which is the act; the wrapper is none. It reports false when the words are no wrapper.
func (s *Shell) unwrap(words []string, env map[string]string, in stream) (stream, bool) {
	if name := words[0]; programOf(name).has("packages") {
		// They run the programs of the package by their mere name.
		if r := readOptions(name, ownOptions(name), words[1:], true); len(r.operands) > 1 && programOf(r.operands[0]).has("package") {
			return s.command(r.operands, env, in), true
		}
	}
	key, used := longestKey(words, func(k string) bool { return programOf(k).has("runs") })
	if key == "" {
		return stream{}, false
	}
	p, name := programOf(key), words[0]
	skip := p.number("runs", "skip")     // operands before the program: timeout's duration, chroot's root
	option, _ := p.pair("runs", "text")  // whose value is a script
	operands := p.says("runs", "script") // they are one
	elsewhere := p.says("runs", "where") // the operand that is skipped names a host or container
	r := readOptions(key, OptionsOf()[key], words[used:], true)
	if _, help := r.options["help"]; help && name != "docker" {
		return stream{}, true
	}
	for _, v := range r.options["o"] {
		s.sshOption(name, v)
	}
	text, scripted := r.options[option]
	rest := r.operands
	if p.says("runs", "env") { // NAME=value may stand before the program
		rest, env = s.assignments(rest, env)
	}
	if split := r.options["split-string"]; name == "env" && len(split) > 0 {
		return s.within("", func() stream { return s.script(strings.Join(append(split, rest...), " "), in) }), true
	}
	if scripted = scripted || skip > 0 && option != "" && !operands; scripted && len(text) == 0 && len(rest) > skip {
		// These take their options behind the operand too.
		more := readOptions(key, OptionsOf()[key], rest[skip:], true)
		maps.Copy(r.options, more.options)
		text, scripted = more.options[option]
		rest = append(rest[:skip:skip], more.operands...)
	}
	if dir := r.options["chdir"]; len(dir) > 0 {
		old := s.dir
		s.dir = s.path(dir[len(dir)-1])
		defer func() { s.dir = old }()
	}
	skipped := ""
	if n := min(skip, len(rest)); n > 0 {
		skipped = rest[n-1]
		rest = rest[n:]
	}
	where := ""
	if elsewhere {
		where = host(skipped)
		rest = s.noteOuter(key, words, skipped, rest, r.options)
	}
	run := func() stream {
		switch {
		case scripted && len(text) > 0:
			return s.script(strings.Join(text, "\n"), in)
		case len(rest) == 0 && (elsewhere || p.says("runs", "shell")):
			// A shell of its own, which reads what is fed to it.
			return s.feed(in)
		case len(rest) == 0 && name == "env":
			return stream{given: true, secrets: true}
		case len(rest) == 0:
			return in
		case operands:
			return s.script(join(rest, len(rest) == 1), in)
		}
		return s.command(rest, env, in)
	}
	if key == "docker run" || key == "docker compose run" {
		return s.within(where, func() stream {
			if own := imageProgram(skipped); key == "docker run" && own != "" && len(rest) > 0 && len(r.options["entrypoint"]) == 0 && !KnownProgram(Program(rest[0])) {
				rest = append([]string{own}, rest...) // words for the image's own program
			}
			return s.mounted(r.options["volume"], r.options["mount"], r.options["entrypoint"], rest, env, in)
		}), true
	}
	return s.within(where, func() stream {
		for _, o := range []string{"workdir", "working-directory", "cwd"} {
			if dir := r.options[o]; len(dir) > 0 && where != "" {
				s.dir = Clean("", dir[len(dir)-1])
			}
		}
		return run()
	}), true
}

// noteOuter notes the act of running something elsewhere, which a rule may forbid by itself, and returns
// what is run there of the words behind the place.
func (s *Shell) noteOuter(key string, words []string, place string, rest []string, options map[string][]string) []string {
	outer := &Act{Name: words[0], Options: options, Source: words, Wraps: true}
	for _, sub := range append(strings.Fields(key)[1:], place) {
		if sub != "" {
			outer.Words = append(outer.Words, sub)
		}
	}
	s.note(outer)
	if i := slices.Index(rest, "--"); i >= 0 && strings.HasPrefix(key, "kubectl") {
		return rest[i+1:]
	} else if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		return readOptions(key, OptionsOf()[key], rest, true).operands
	}
	return rest
}

// within follows what happens on another host or in a container, where the
// working directory is another.
func (s *Shell) within(where string, run func() stream) stream {
	if where == "" {
		return run()
	}
	old, dir := s.where, s.dir
	s.where = append(s.where[:len(s.where):len(s.where)], where)
	s.dir = ""
	out := run()
	s.where, s.dir = old, dir
	return out
}

// mounted follows what a new container runs, its mounted paths spelt as the host's.
func (s *Shell) mounted(volumes, mounts, entry, rest []string, env map[string]string, in stream) stream {
	if len(entry) > 0 {
		rest = append([]string{entry[len(entry)-1]}, rest...)
	}
	type mount struct{ host, inside string }
	var all []mount
	for _, v := range volumes {
		parts := strings.SplitN(v, ":", 3)
		if len(parts) > 1 && (len(parts) < 3 || parts[2] != "ro") && strings.ContainsAny(parts[0], "/.~$") {
			// The path in a named volume is known by its name inside alone.
			all = append(all, mount{Clean(s.dir, parts[0]), Clean("", parts[1])})
		}
	}
	for _, m := range mounts {
		var one mount
		for field := range strings.SplitSeq(m, ",") {
			k, v, _ := strings.Cut(field, "=")
			switch k {
			case "source", "src":
				one.host = v
			case "target", "dst", "destination":
				one.inside = v
			}
		}
		if one.host != "" && one.inside != "" {
			all = append(all, one)
		}
	}
	if len(rest) == 0 {
		return s.feed(in)
	}
	before := len(s.Acts)
	out := s.command(rest, env, in)
	for _, a := range s.Acts[before:] {
		for i, e := range a.Effects {
			for _, m := range all {
				if below, ok := strings.CutPrefix(e.Path, m.inside); ok && (below == "" || below[0] == '/' || m.inside == "/") {
					a.Effects[i].Path = Clean("", m.host+"/"+below)
					break
				}
			}
		}
	}
	return out
}

// spread follows a command that xargs or parallel runs for each item.
func (s *Shell) spread(name string, args []string, env map[string]string, in stream) stream {
	r := readOptions(name, parseOptions(programOf(name)["before"]), args, true)
	s.need(in)
	items := in.items()
	if in.cut && s.Over == "" {
		s.Over = "it reads a list that is too long"
	}
	if in.known && len(r.options["null"]) == 0 && name == "xargs" && len(r.options["delimiter"]) == 0 {
		items = append(strings.Fields(unquoted.Replace(in.text)), in.paths...)
	}
	rest := r.operands
	for i, w := range rest {
		if w == ":::" && name == "parallel" {
			items, rest = rest[i+1:], rest[:i]
			break
		}
	}
	if len(rest) == 0 {
		if name == "parallel" {
			for _, item := range items {
				s.script(item, stream{})
			}
		}
		return stream{}
	}
	mark := "{}"
	if v := r.options["replace"]; len(v) > 0 && v[0] != "" {
		mark = v[0]
	}
	marked := strings.Contains(strings.Join(rest, " "), mark) && (len(r.options["replace"])+len(r.options["i"]) > 0 || name == "parallel")
	if !marked {
		whole := slices.Concat(rest, items)
		if name == "parallel" && len(rest) == 1 {
			return s.script(strings.Join(whole, " "), stream{given: true})
		}
		return s.command(whole, env, stream{given: true, narrow: in.narrow})
	}
	var out streams
	for _, item := range items {
		if !s.step() {
			break
		}
		one := make([]string, len(rest))
		for i, w := range rest {
			one[i] = strings.ReplaceAll(w, mark, item)
		}
		if name == "parallel" && len(one) == 1 {
			out.add(s.script(one[0], stream{given: true}))
		} else {
			out.add(s.command(one, env, stream{given: true, narrow: in.narrow}))
		}
	}
	return out.all()
}

// longestKey finds the longest "name sub sub" that is known, skipping the
// name's own options, and how many words it took. It looks at three words at most.
func longestKey(words []string, known func(string) bool) (key string, used int) {
	name := words[0]
	if known(name) {
		key, used = name, 1
	}
	if !Prefixes()[name] {
		return key, used
	}
	options := OptionsOf()[name]
	prefix, at := name, 1
	for range 2 {
		r := readOptions(name, options, words[at:], true)
		if len(r.operands) == 0 {
			break
		}
		at += r.rest + 1
		prefix += " " + r.operands[0]
		if known(prefix) {
			key, used = prefix, at
		}
		if o, ok := OptionsOf()[prefix]; ok {
			options = o
		}
	}
	return key, used
}

// Assignment reports whether a word reads NAME=value.
func Assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// host is the host of user@host:port, or the name of a container or pod/name.
func host(s string) string {
	s = strings.TrimPrefix(s, "ssh://")
	if _, after, ok := strings.Cut(s, "@"); ok {
		s = after
	}
	for _, kind := range []string{"pod/", "pods/", "deploy/", "deployment/", "sts/", "statefulset/"} {
		s = strings.TrimPrefix(s, kind)
	}
	return strings.ToLower(s)
}

// join writes words as one script. A single word is a script already;
// several are joined as ssh and eval join them.
func join(words []string, single bool) string {
	if single {
		return words[0]
	}
	return strings.Join(words, " ")
}

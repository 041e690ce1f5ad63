package act

import (
	"path"
	"slices"
	"strings"
)

// makes notes the directories that a program makes. All but those of a plain mkdir may have been there before.
func (s *Shell) makes(a *Act) {
	fact, words := programOf(a.Name)["makes"], a.Words
	switch n := len(words); {
	case len(fact) == 0 || n == 0:
		return
	case fact[0] == "last":
		words = words[n-1:]
	case slices.Contains(fact, words[0]):
		words = words[1:]
	case n > 1 && slices.Contains(fact, words[0]+"+"+words[1]):
		words = words[2:]
	case fact[0] != "all":
		return
	}
	surely := fact[0] == "all" && len(a.Options["p"])+len(a.Options["parents"]) == 0
	for _, w := range words {
		if strings.Contains(w, "://") { // a clone has the name of its source
			w = strings.TrimSuffix(path.Base(w), ".git")
		}
		to := s.path(w)
		s.anew(func(gone string) bool { return gone == to })
		for at := to; len(at) > 1 && at != ".." && !s.made[at]; at = path.Dir(at) {
			if s.made[at] = surely; surely || fact[0] != "all" { // mkdir -p makes what it lies in as well
				break
			}
		}
	}
}

// syncEffects is what rsync deletes of its target, or of its source.
func (s *Shell) syncEffects(a *Act, p program, _ stream) []Effect {
	switch {
	case len(a.Words) < 2:
	case p.given("deletes", a):
		return paths(EffectDelete, true, s.path(remotePath(a.Words[len(a.Words)-1])))
	case p.given("moves", a):
		return paths(EffectDelete, true, s.path(remotePath(a.Words[0])))
	case remotePath(a.Words[len(a.Words)-1]) == a.Words[len(a.Words)-1]:
		return paths(EffectWrite, false, s.path(a.Words[len(a.Words)-1]))
	}
	return nil
}

func (s *Shell) removal(a *Act, p program, _ stream) (out []Effect) {
	words, whole := a.Words, len(a.Options["recursive"]) > 0
	if verbs := p["whole"]; len(verbs) > 0 {
		if len(words) == 0 || !slices.Contains(verbs, words[0]) {
			return nil
		}
		words = words[1:]
	}
	whole = whole || p.has("whole")
	for _, w := range words {
		out = append(out, device(EffectDelete, s.path(w), whole))
	}
	return out
}

// device is the effect on a path, which is another for devices.
func device(kind EffectKind, p string, whole bool) Effect {
	if isDevice(p) {
		kind = EffectDevice
	}
	return Effect{Kind: kind, Path: p, Recursive: whole}
}

func isDevice(p string) bool {
	rest, ok := strings.CutPrefix(p, "/dev/")
	return ok && anyOf(disks(), func(begin string) bool { return strings.HasPrefix(rest, begin) })
}

// writeEffects is what a redirection into a file does.
func writeEffects(p, how string) []Effect {
	if strings.HasPrefix(p, "/dev/") && !isDevice(p) {
		return nil
	}
	e := device(EffectWrite, p, false)
	e.Verb = how
	return []Effect{e}
}

// remotePath is the path of host:path.
func remotePath(w string) string {
	host, p, ok := strings.Cut(w, ":")
	if ok && host != "" && !strings.Contains(host, "/") {
		return strings.TrimPrefix(p, ":")
	}
	return w
}

// findRoots are the directories that find starts from.
func findRoots(args []string) (roots []string) {
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "-H" || w == "-L" || w == "-P" || strings.HasPrefix(w, "-O") && len(roots) == 0:
		case w == "-D":
			i++
		case strings.HasPrefix(w, "-") || w == "(" || w == "!":
			i = len(args)
		default:
			roots = append(roots, w)
		}
	}
	if len(roots) == 0 {
		return []string{"."}
	}
	return roots
}

// findTests are find's predicates, without the negated ones and those that are pruned or chosen before an "or".
func findTests(args []string) (tests []string) {
	acts := func(w string) bool {
		return w == "-delete" || strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok")
	}
	depth, from := 0, 0
	for i, w := range args { // what acts is chosen by the tests behind the last "or" before it
		if acts(w) {
			break
		}
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		case "-o", "-or":
			if depth == 0 {
				from = i + 1
			}
		}
	}
	args = args[from:]
	for i := 0; i < len(args); i++ {
		if args[i] != "!" && args[i] != "-not" {
			tests = append(tests, args[i])
			continue
		}
		i++ // the test that does not hold
		switch {
		case i < len(args) && args[i] == "(":
			for depth := 1; depth > 0 && i+1 < len(args); {
				i++
				switch args[i] {
				case "(":
					depth++
				case ")":
					depth--
				}
			}
		case i < len(args) && slices.Contains(ages, args[i]):
			tests = append(tests, args[i]) // the other half of an age chooses as well
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && args[i+1] != ")": // with what it asks for
			i++
		}
	}
	return tests
}

// ages are find's tests of when a file was changed.
var ages = []string{"-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-anewer", "-newermt"}

// chooses are find's tests that choose by a pattern: of a name, of a path, or of its text.
var chooses = map[string]string{"-name": "name", "-iname": "name", "-path": "path", "-ipath": "path", "-wholename": "path", "-regex": "text", "-iregex": "text"}

// finding is what find looks for: where, and which of what lies there.
type finding struct {
	args    []string
	roots   []string
	pattern string // of its first test that chooses by one; empty: it passes on everything below its roots
	path    bool   // the pattern is of a path
	narrow  bool   // it chooses; a name that everything has chooses nothing
}

func readFind(args []string) finding {
	f := finding{args: args, roots: findRoots(args)}
	tests := findTests(args)
	for i, w := range tests {
		by := chooses[w]
		switch {
		case choosing()[w]:
			f.narrow = true
		case by == "" || i+1 == len(tests):
		default:
			f.narrow = f.narrow || strings.Trim(Spelling.Replace(tests[i+1]), "*./") != ""
			if f.pattern != "" {
				continue
			}
			if f.pattern, f.path = activate(tests[i+1]), by == "path"; by == "text" {
				f.pattern = string(AnyText)
			}
		}
	}
	return f
}

// found is what find lists: the root and what lies below it, or what in it
// has the name that is looked for.
func (f finding) found(root string) []string {
	switch {
	case f.pattern == "":
		below := root + "/" + string(AnyText)
		if i := slices.Index(f.args, "-type"); i >= 0 && i+1 < len(f.args) && f.args[i+1] == "f" || slices.Contains(f.args, "-mindepth") {
			return []string{below}
		}
		return []string{root, below}
	case f.path:
		return []string{Clean("", f.pattern)}
	}
	return []string{root + "/" + f.pattern}
}

func (s *Shell) findEffects(a *Act, _ program, _ stream) (out []Effect) {
	f := readFind(a.Source[1:])
	for i := 0; i < len(f.args); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, f.args[i]) {
			continue
		}
		from := i + 1
		for i++; i < len(f.args) && f.args[i] != ";" && f.args[i] != "+"; {
			i++
		}
		if words := f.args[from:i]; len(words) > 0 {
			s.findRuns(f, words)
		}
	}
	if !slices.Contains(f.args, "-delete") {
		return nil
	}
	for _, root := range f.roots {
		e := Effect{Kind: EffectDelete, Path: s.path(root), Recursive: true, Narrow: f.narrow}
		switch {
		case f.pattern == "":
		case f.path:
			e.Path = Clean("", strings.TrimSuffix(f.pattern, "/"+string(AnyText)))
		default:
			// Files of a certain name, at any depth: below the guarded directory they are part of it;
			// above it only a directory of that very name is meant.
			e.Word = f.pattern
			out = append(out, Effect{Kind: EffectDelete, Path: Clean("", s.path(root)+"/"+f.pattern), Narrow: true})
		}
		out = append(out, e)
	}
	return out
}

// findRuns follows a command that find runs for what it finds.
func (s *Shell) findRuns(f finding, words []string) {
	for _, root := range f.roots {
		for _, found := range f.found(s.path(root)) {
			one := make([]string, len(words))
			for k, w := range words {
				one[k] = strings.ReplaceAll(w, "{}", found)
			}
			before := len(s.Acts)
			s.command(one, nil, stream{narrow: f.narrow})
			if slices.Contains(f.args, "-maxdepth") || f.pattern != "" {
				continue
			}
			// For everything below a directory they are what they are with their own -R.
			for _, a := range s.Acts[min(before, len(s.Acts)):] {
				if a.Name != "chmod" && a.Name != "chown" {
					continue
				}
				a.Options["recursive"] = []string{""}
				for i := range a.Effects {
					a.Effects[i].Recursive = true
				}
			}
		}
	}
}

// fdRuns follows what fd runs for each file it finds.
func (s *Shell) fdRuns(a *Act, _ program, _ stream) []Effect {
	args := a.Source[1:]
	at := slices.IndexFunc(args, func(w string) bool { return w == "-x" || w == "-X" || w == "--exec" || w == "--exec-batch" })
	if at < 0 || at+1 >= len(args) {
		return nil
	}
	r := readOptions("fd", ownOptions("fd"), args[:at], false)
	roots := r.options["search-path"]
	if len(r.operands) > 1 {
		roots = append(roots, r.operands[1:]...)
	}
	for _, root := range roots {
		s.command(append(slices.Clone(args[at+1:]), s.path(root)+"/"+string(AnyText)), nil, stream{})
	}
	return nil
}

func (s *Shell) ddEffects(a *Act, _ program, in stream) (out []Effect) {
	for _, w := range a.Words {
		if from, ok := strings.CutPrefix(w, "if="); ok {
			in = s.read(s.path(from))
		}
	}
	for _, w := range a.Words {
		if to, ok := strings.CutPrefix(w, "of="); ok {
			s.files[s.path(to)] = in
			out = append(out, device(EffectWrite, s.path(to), true))
		}
	}
	return out
}

// partitionChanges are what changes a disk in the line of a program that else only shows it.
var partitionChanges = []string{"mklabel", "mkpart", " rm ", "--zap-all", " -Z", " -o ", "--delete", "--wipe", "--security-erase", "luksFormat", "erase", " -w ", "create", "destroy"}

func (s *Shell) partitionEffects(a *Act, p program, in stream) []Effect {
	line := " " + strings.Join(a.Source[1:], " ") + " "
	if slices.ContainsFunc(partitionChanges, func(w string) bool { return strings.Contains(line, w) }) {
		return s.deviceEffects(a, p, in)
	}
	return nil
}

func (s *Shell) deviceEffects(a *Act, _ program, _ stream) (out []Effect) {
	for _, w := range a.Words {
		if strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "${") {
			out = append(out, Effect{Kind: EffectDevice, Path: s.path(w), Recursive: true})
		}
	}
	return out
}

// editEffects is what an editor changes: its operands behind the script, or the one file that it is for.
func (s *Shell) editEffects(a *Act, p program, _ stream) (out []Effect) {
	words := a.Words
	if p.has("inplace") && !p.given("inplace", a) {
		return nil
	}
	if p.has("script") && !p.given("script", a) && len(words) > 0 {
		words = words[1:]
	}
	if file := p["file"]; p.says("file", "always") || len(file) > 0 && len(words) == 0 {
		words = file[len(file)-1:]
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "+") {
			s.files[s.path(w)] = s.edited(a, s.read(s.path(w)))
			e := device(EffectWrite, s.path(w), false)
			if size := a.Options["size"]; a.Name == "truncate" && slices.Contains(size, "0") {
				e.Verb = VerbEmpty
			}
			if p.has("script") { // of what it writes a part is in the script
				e.Change = &edit{old: string(Unknown), text: strings.Join(a.Source[1:], " ")}
			}
			out = append(out, e)
		}
	}
	return out
}

// edited is a file that sed changed in place: its text, and what is put into it. Of any other change nothing is known.
func (s *Shell) edited(a *Act, f stream) stream {
	if a.Name != "sed" || len(a.Words) == 0 {
		return stream{given: true}
	}
	for _, script := range append(a.Options["expression"], a.Words[0]) {
		if len(script) < 4 || script[0] != 's' {
			continue
		}
		if parts := strings.Split(script, script[1:2]); len(parts) > 2 {
			f.text = strings.ReplaceAll(f.text, parts[1], parts[2]) + "\n" + parts[2]
		}
	}
	return f
}

func (s *Shell) copyEffects(a *Act, _ program, _ stream) (out []Effect) {
	sources, to := a.Words, ""
	if t := a.Options["target-directory"]; len(t) > 0 {
		to = t[0] + "/"
	} else if len(a.Words) > 1 {
		to, sources = a.Words[len(a.Words)-1], a.Words[:len(a.Words)-1]
	}
	if to == "" {
		return nil
	}
	clean := s.path(to)
	if a.Name == "mv" && (clean == "/dev/null" || strings.HasPrefix(clean, "/dev/null/")) {
		for _, w := range sources {
			out = append(out, Effect{Kind: EffectDelete, Path: s.path(w), Recursive: true})
		}
		return out
	}
	target := device(EffectWrite, clean, false)
	if len(sources) == 1 && sources[0] == "/dev/null" && a.Name == "cp" {
		target.Verb = VerbEmpty
	}
	out = append(out, target)
	for _, w := range sources {
		if at := s.path(w); (a.Name == "mv" || len(a.Options["symbolic"]) > 0) && outside((&Act{Roots: s.roots}).local(at)) && !scratch(at) {
			for _, name := range []string{clean, clean + "/" + path.Base(at)} {
				if !scratchPlaces()[name] && !complete(name) {
					s.links = append(s.links, link{name, at, a.Name == "mv"})
				}
			}
		}
		from := s.read(s.path(w))
		s.files[clean+"/"+path.Base(s.path(w))] = from
		if len(sources) == 1 {
			s.files[clean] = from
		}
		// The target may be a directory, which takes the source's name.
		out = append(out, Effect{Kind: EffectWrite, Path: clean + "/" + path.Base(s.path(w))})
		if a.Name == "mv" {
			out = append(out, Effect{Kind: EffectWrite, Path: s.path(w), Verb: verbMove})
		}
	}
	return out
}

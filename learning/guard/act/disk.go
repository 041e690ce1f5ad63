package act

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// maxNeeds bounds the files that one action is asked for at once.
const maxNeeds = 64

// Content is what whoever stands at the disk says of a file that an action needs.
type Content struct {
	Path   string   `json:"path" doc:"As it was asked for"`
	Text   string   `json:"text,omitempty"`
	Rest   string   `json:"rest,omitempty" doc:"The words of what follows the text, each once"`
	Hash   string   `json:"sha256,omitempty" doc:"Of the file"`
	Beside []string `json:"beside,omitempty" doc:"Names of other files in its folder"`
	Unread string   `json:"unread,omitempty" doc:"Why there is no text: missing, outside, binary, many"`
}

// Disk are the files that are known to an action, and what else it needs. It is no real one: nothing here opens a file.
type Disk struct {
	files  map[string]Content
	needs  []string
	shown  []string // of the files that were read: paths and hashes
	places map[string]bool
}

// NewDisk holds the contents.
func NewDisk(contents []Content) *Disk {
	d := &Disk{files: map[string]Content{}, places: map[string]bool{}}
	for _, c := range contents {
		d.files[c.Path] = c
	}
	return d
}

// Needs are the files without which it cannot be told what the action does.
func (d *Disk) Needs() []string { return d.needs }

// Shown are the files that were read, each with its hash, in order.
func (d *Disk) Shown() []string {
	slices.Sort(d.shown)
	return d.shown
}

// read is what is known of a file's content.
func (s *Shell) read(name string) stream {
	if f, ok := s.files[name]; ok {
		return f
	}
	if name == "/dev/null" {
		return plainText("")
	}
	unknown := stream{given: true}
	if s.Disk == nil || len(s.where) > 0 || name == "" || Patterned(name) || strings.ContainsRune(name, Unknown) || strings.Contains(name, "${") {
		return unknown
	}
	f, sent := s.Disk.files[name]
	switch {
	case !sent:
		if !guarded(name) && !secretFile(name) && !anyOf(installed(), func(folder string) bool { return within(name, folder) }) {
			unknown.wants = []string{name}
		}
		return unknown
	case f.Unread != "":
		return unknown
	}
	if !s.Disk.places[name] {
		s.Disk.places[name] = true
		s.Disk.shown = append(s.Disk.shown, name+"\x00"+f.Hash)
	}
	unknown = plainText(Tidy(f.Text))
	unknown.rest, unknown.cut = f.Rest, f.Rest != ""
	return unknown
}

// need notes that it cannot be told what the action does without the files of a stream.
func (s *Shell) need(f stream) {
	if s.Disk == nil {
		return
	}
	for _, name := range f.wants {
		if len(s.Disk.needs) < maxNeeds && !slices.Contains(s.Disk.needs, name) {
			s.Disk.needs = append(s.Disk.needs, name)
		}
	}
}

// needs returns what is known of a file that the action runs.
func (s *Shell) needs(name string) stream {
	f := s.read(name)
	s.need(f)
	return f
}

// beyond notes that what runs is longer than what is known of it.
func (s *Shell) beyond(f stream, language string) {
	switch {
	case !f.cut || s.Over != "":
	case f.rest == "":
		s.Over, s.Blind = "it runs a script that is too long", true
	case language == "" || slices.ContainsFunc(strings.Fields(f.rest), func(w string) bool { return unmistakable()[w] }):
		s.Beyond = "it runs a file of more than 64 KiB"
		s.Unread += "\n" + f.rest
		s.Blind = s.Blind || language == "" && strings.HasSuffix(f.rest, "*")
	}
}

// runsFiles follows what a program runs of the project's files.
func (s *Shell) runsFiles(a *Act) {
	if s.Disk == nil || a.Harmless() {
		return
	}
	dir := s.dir
	for _, o := range []string{"directory", "prefix", "cwd", "C", "dir"} {
		if v := a.Options[o]; len(v) > 0 && v[0] != "" {
			dir = Clean(s.dir, v[0])
		}
	}
	word := ""
	if len(a.Words) > 0 {
		word = a.Words[0]
	}
	switch a.Name {
	case "npm", "yarn", "pnpm", "bun":
		s.packageScripts(a, dir, word)
	case "pytest":
		names := []string{"conftest.py", "tests/conftest.py"}
		for _, w := range a.Words {
			file, _, _ := strings.Cut(w, "::")
			if strings.HasSuffix(file, ".py") {
				names = append(names, file, path.Join(path.Dir(file), "conftest.py"))
			} else {
				names = append(names, file+"/conftest.py")
			}
		}
		s.program("python", dir, names...)
	case "pip":
		if word == "install" && slices.Contains(a.Words, ".") {
			s.program("python", dir, "setup.py")
		}
	case "nox":
		s.program("python", dir, "noxfile.py")
	case "rake":
		s.program("ruby", dir, "Rakefile")
	case "cargo":
		if slices.Contains([]string{"build", "b", "run", "r", "test", "t", "check", "c", "install", "bench", "clippy", "doc"}, word) {
			s.program("rust", dir, "build.rs")
		}
	case "go":
		if word == "run" || word == "generate" {
			s.goFiles(dir, a.Words[1:])
		}
	case "just":
		s.justfile(dir, a.Words)
	}
}

// program follows files of a program in another language.
func (s *Shell) program(language, dir string, names ...string) {
	for _, name := range names {
		if f := s.needs(Clean(dir, name)); f.known {
			s.source(language, Clean(dir, name), f)
		}
	}
}

// source follows the program in a file, and the modules beside it that it loads.
func (s *Shell) source(language, name string, f stream) {
	s.code(language, f.text)
	s.beyond(f, language)
	folder := path.Dir(name)
	if s.loaded[name] {
		return
	}
	s.loaded[name] = true
	for _, found := range loads.Compiled().FindAllStringSubmatch(f.text, 64) {
		switch module := cmp.Or(found[1], found[2]); {
		case module != "" && language == "python":
			first, _, _ := strings.Cut(strings.TrimLeft(module, "."), ".")
			for _, file := range []string{first + ".py", first} {
				if s.Disk == nil || !slices.Contains(s.Disk.files[name].Beside, file) {
					continue
				}
				if file == first {
					file += "/__init__.py"
				}
				s.program(language, folder, file)
			}
		case found[3] != "" && language != "python":
			file := found[3]
			if path.Ext(file) == "" {
				file += map[string]string{"js": ".js", "ruby": ".rb"}[language]
			}
			s.program(language, folder, file)
		}
	}
}

// loads is where a program loads a module: import and from of Python, import, require and load of a path beside it.
var loads = lazyregexp.New(`(?m)^\s*import\s+(\w[\w.]*)|^\s*from\s+(\.?\w[\w.]*)\s+import|(?:require|require_relative|load|import|from)\s*\(?\s*['"](\.{0,2}/?[\w./-]+)['"]`)

// lifecycles are the commands of package managers that run scripts of their own name, and what they run besides.
var lifecycles = map[string]string{
	"install": "prepare", "test": "", "start": "", "stop": "", "restart": "", "publish": "prepublishOnly prepare prepack", "pack": "prepare prepack", "version": "", "rebuild": "",
}

// packageScripts follows the scripts of a package.json that a package manager runs.
func (s *Shell) packageScripts(a *Act, dir, word string) {
	others := map[string]string{"": "install", "i": "install", "ci": "install", "add": "install", "t": "test", "tst": "test"}
	name := cmp.Or(others[word], word)
	more, own := lifecycles[name]
	switch {
	case (word == "run" || word == "run-script") && len(a.Words) > 1:
		name = a.Words[1]
	case a.Name == "npm" && !own:
		return
	}
	f := s.needs(Clean(dir, "package.json"))
	if !f.known {
		return
	}
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	_ = json.Unmarshal([]byte(f.text), &file) // what is none has no scripts
	old := s.dir
	s.dir = dir
	for _, script := range append([]string{"pre" + name, name, "post" + name}, strings.Fields(more)...) {
		if key := dir + "\x00" + script; file.Scripts[script] != "" && !s.loaded[key] {
			s.loaded[key] = true // it may run itself
			s.script(file.Scripts[script], stream{})
		}
	}
	s.dir = old
}

// justfile follows the recipes that just runs.
func (s *Shell) justfile(dir string, words []string) {
	for _, name := range []string{"justfile", "Justfile", ".justfile"} {
		f := s.needs(Clean(dir, name))
		if !f.known {
			continue
		}
		m := makefile{rules: map[string]*makeRule{}, shell: s, just: name}
		var open *makeRule
		for line := range strings.Lines(f.text) {
			line = strings.TrimRight(line, "\r\n")
			switch head, after, rule := strings.Cut(line, ":"); {
			case line == "" || line[0] == '#':
			case line[0] == ' ' || line[0] == '\t':
				if open != nil {
					open.recipe = append(open.recipe, strings.TrimLeft(strings.TrimSpace(line), "@-"))
				}
			case rule && !strings.HasPrefix(after, "="):
				recipe, _, _ := strings.Cut(strings.TrimLeft(head, "@"), " ")
				open = m.rule(recipe)
				open.needs = strings.Fields(after)
				m.first = cmp.Or(m.first, recipe)
			}
		}
		m.buildAll(words)
	}
}

// goFiles follows the files of a program in Go that is run, and what go generate is told in them.
func (s *Shell) goFiles(dir string, words []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if !strings.HasSuffix(w, ".go") {
			w += "/main.go"
		}
		if f := s.needs(Clean(dir, w)); f.known {
			s.source("go", Clean(dir, w), f)
			for line := range strings.Lines(f.text) {
				if command, ok := strings.CutPrefix(line, "//go:generate "); ok {
					s.script(command, stream{})
				}
			}
		}
	}
}

// gitHooks are the hooks that a command of git runs.
var gitHooks = map[string]string{
	"commit": "pre-commit prepare-commit-msg commit-msg post-commit", "push": "pre-push", "merge": "pre-merge-commit post-merge", "pull": "post-merge", "rebase": "pre-rebase post-rewrite",
	"checkout": "post-checkout", "switch": "post-checkout", "am": "applypatch-msg pre-applypatch", "cherry-pick": "post-commit",
}

// gitHooked follows the hooks of the repository that a command of git runs.
func (s *Shell) gitHooked(a *Act, sub string) {
	if s.Disk == nil || len(a.Options["no-verify"]) > 0 || sub == "commit" && len(a.Options["n"]) > 0 || a.Harmless() {
		return
	}
	for hook := range strings.FieldsSeq(gitHooks[sub]) {
		for _, folder := range []string{".git/hooks/", ".husky/"} {
			if f := s.needs(Clean(s.dir, folder+hook)); f.known {
				s.run(f, nil, stream{})
			}
		}
	}
}

package worktree

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter"
)

// tree is a working tree that is looked into.
type tree struct {
	root  *os.Root
	until time.Time

	walked   bool
	complete bool                // all of it was walked
	files    map[string][]string // paths by their last part
	entries  int

	texts map[string]string // files that were read

	rules []string // of .gitignore; nil: not read yet
}

func (t *tree) late() bool { return time.Now().After(t.until) }

// gone tells whether something is not there, as far as that is sure.
func (t *tree) gone(n name, loose bool) bool {
	switch n.thing {
	case target:
		return t.targetGone(n.text, loose)
	case script:
		return t.scriptGone(n.text, loose)
	case dependency:
		return !loose && t.dependencyGone(n)
	}
	return t.fileGone(n.text, loose)
}

// missing tells whether there is surely nothing at a path. What lies behind a link that leads out is not looked at, and is
// not missing.
func (t *tree) missing(p string) bool {
	_, err := t.root.Stat(filepath.FromSlash(p))
	return errors.Is(err, fs.ErrNotExist)
}

func (t *tree) isFolder(p string) bool {
	info, err := t.root.Stat(filepath.FromSlash(p))
	return err == nil && info.IsDir()
}

func (t *tree) fileGone(p string, loose bool) bool {
	if !t.missing(p) || t.ignored(p) {
		return false
	}
	folder := path.Dir(p)
	if loose {
		return folder != "." && t.isFolder(folder)
	}
	first, rest, deep := strings.Cut(p, "/")
	if deep && first == filepath.Base(t.root.Name()) && !t.missing(rest) {
		return false
	}
	t.walk()
	for _, other := range t.files[path.Base(p)] {
		if other == p || strings.HasSuffix(other, "/"+p) {
			return false
		}
	}
	if t.complete {
		return len(t.files) > 0
	}
	return deep && t.isFolder(folder)
}

// walk reads the names of the tree's files, those of the upper folders first, up to the bounds.
func (t *tree) walk() {
	if t.walked {
		return
	}
	t.walked, t.files = true, map[string][]string{}
	folders := []string{"."}
	for len(folders) > 0 {
		at := folders[0]
		folders = folders[1:]
		if t.late() || t.entries >= maxEntries {
			return
		}
		list, err := t.list(at)
		if err != nil {
			return
		}
		for _, e := range list {
			p := path.Join(at, e.Name())
			switch {
			case !e.IsDir():
				t.files[e.Name()] = append(t.files[e.Name()], p)
			case e.Name() != ".git" && !t.ignored(p):
				folders = append(folders, p)
			}
		}
	}
	t.complete = true
}

// list are the entries of a folder, at most those that may still be read.
func (t *tree) list(folder string) ([]fs.DirEntry, error) {
	f, err := t.root.Open(filepath.FromSlash(folder))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list, err := f.ReadDir(maxEntries - t.entries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	t.entries += len(list)
	if t.entries > maxEntries {
		err = errTooLarge
	}
	return list, err
}

var errTooLarge = errors.New("it is larger than what may be read")

// read is the text of a file, or nothing where it cannot be read to its end.
func (t *tree) read(p string) (string, bool) {
	if text, known := t.texts[p]; known {
		return text, true
	}
	info, err := t.root.Stat(filepath.FromSlash(p))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest || len(t.texts) >= maxManifests || t.late() {
		return "", false
	}
	text, err := t.root.ReadFile(filepath.FromSlash(p))
	if err != nil || len(text) > maxManifest {
		return "", false
	}
	if t.texts == nil {
		t.texts = map[string]string{}
	}
	t.texts[p] = string(text)
	return string(text), true
}

// ignored tells whether a path is of what programs make, and what no repository keeps.
func (t *tree) ignored(p string) bool {
	if t.rules == nil {
		t.rules = []string{".env*"}
		text, _ := t.read(".gitignore")
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '!' {
				t.rules = append(t.rules, line)
			}
		}
	}
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if made()[part] {
			return true
		}
		above := strings.Join(parts[:i+1], "/")
		for _, rule := range t.rules {
			plain := strings.Trim(strings.TrimPrefix(rule, "**/"), "/")
			plain = strings.TrimSuffix(strings.TrimSuffix(plain, "/**"), "/*")
			if hit, err := path.Match(plain, part); err == nil && hit && !strings.HasPrefix(rule, "/") {
				return true
			}
			if hit, err := path.Match(plain, above); err == nil && hit {
				return true
			}
		}
	}
	return false
}

// named are the files of the tree with one of these names. sure is false if there may be more of them, or none was found
// in a tree that is not known completely.
func (t *tree) named(fits func(p string) bool, usual ...string) (list []string, sure bool) {
	for _, p := range usual {
		if info, err := t.root.Stat(p); err == nil && info.Mode().IsRegular() {
			list = append(list, p)
		}
	}
	t.walk()
	for _, paths := range t.files {
		for _, p := range paths {
			if fits(p) && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	slices.Sort(list)
	return list, t.complete && len(list) <= maxManifests
}

var (
	ruleLine    = skillrouter.Lazily(`(?m)^([^\s#:=][^:=#\n]*?)\s*:(?:[^=]|$)`)
	includeLine = skillrouter.Lazily(`(?m)^-?s?include\s+(.+)$`)
	makefiles   = []string{"GNUmakefile", "makefile", "Makefile"}
)

func (t *tree) targetGone(name string, loose bool) bool {
	list, sure := t.named(func(p string) bool { return slices.Contains(makefiles, path.Base(p)) }, makefiles...)
	root := len(list) > 0 && slices.ContainsFunc(list, func(p string) bool { return !strings.Contains(p, "/") })
	if !sure || loose && !root || !t.missing(name) || len(t.files) == 0 {
		return false
	}
	for read := 0; read < len(list); read++ {
		text, ok := t.read(list[read])
		if !ok || read > maxManifests {
			return false
		}
		for _, m := range ruleLine.FindAllStringSubmatch(text, -1) {
			for _, made := range strings.Fields(m[1]) {
				stem, end, pattern := strings.Cut(made, "%")
				if made == name || strings.Contains(made, "$") || pattern && strings.HasPrefix(name, stem) && strings.HasSuffix(name, end) {
					return false
				}
			}
		}
		for _, m := range includeLine.FindAllStringSubmatch(text, -1) {
			for _, more := range strings.Fields(m[1]) {
				if strings.ContainsAny(more, "$*?") {
					return false
				}
				if more = path.Join(path.Dir(list[read]), more); !slices.Contains(list, more) {
					list = append(list, more)
				}
			}
		}
	}
	return true
}

const packageFile = "package.json"

func (t *tree) scriptGone(name string, loose bool) bool {
	list, sure := t.named(func(p string) bool { return path.Base(p) == packageFile }, packageFile)
	if !sure || loose && !slices.Contains(list, packageFile) || len(t.files) == 0 {
		return false
	}
	for _, p := range list {
		text, ok := t.read(p)
		var manifest struct {
			Scripts map[string]any `json:"scripts"`
		}
		if !ok || json.Unmarshal([]byte(text), &manifest) != nil {
			return false
		}
		if _, there := manifest.Scripts[name]; there {
			return false
		}
	}
	return true
}

// manifests tells whether a file says what a tree depends on.
var manifests = map[registry]func(p string) bool{
	npm:   func(p string) bool { return path.Base(p) == packageFile },
	cargo: func(p string) bool { return path.Base(p) == "Cargo.toml" },
	golib: func(p string) bool { return path.Base(p) == "go.mod" },
	pypi: func(p string) bool {
		base := path.Base(p)
		return slices.Contains([]string{"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "environment.yml"}, base) ||
			(strings.HasPrefix(base, "requirements") || path.Base(path.Dir(p)) == "requirements") && (path.Ext(p) == ".txt" || path.Ext(p) == ".in")
	},
}

func (t *tree) dependencyGone(n name) bool {
	found := false
	for _, r := range n.of {
		list, sure := t.named(manifests[r])
		if !sure {
			return false
		}
		for _, p := range list {
			text, ok := t.read(p)
			if !ok || depends(text, n.text, r) {
				return false
			}
			found = true
		}
	}
	return found
}

// depends tells whether a manifest names a package, in whatever place. Of a module in Go it may name one that holds the package.
func depends(manifest, of string, r registry) bool {
	manifest, of = folded(manifest), folded(of)
	if r == golib && strings.Contains(of, "/") && strings.Contains(of, ".") {
		for line := range strings.Lines(manifest) {
			for _, word := range strings.Fields(line) {
				if strings.Contains(word, "/") && (word == of || strings.HasPrefix(of, word+"/") || strings.HasPrefix(word, of+"/")) {
					return true
				}
			}
		}
		return false
	}
	for from := 0; ; {
		at := strings.Index(manifest[from:], of)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(of)
		if (at == 0 || !inName(manifest[at-1])) && (end == len(manifest) || !inName(manifest[end])) {
			return true
		}
		from = at + 1
	}
}

func inName(c byte) bool { return c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// folded is a text as names of packages are compared.
func folded(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", "-") }

package locate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/file"
)

// ProjectFile is a file that names the project of its folder and of those below.
// Its first line that is neither empty nor begins with # is the name; the rest is not read. Where a folder is
// called so, because the project shares memory in it, the file "project" in there does the same.
const ProjectFile = ".skillrouter"

// Project names the project that a folder belongs to: what SKILLROUTER_PROJECT
// says, else the nearest ProjectFile at or above it in its repository, else the
// repository's own name. Outside of any repository it is the folder's name, if an
// agent worked there, and else empty.
//
// A repository is called after its first working folder, so that all worktrees
// are one project, and so are clones of one origin. Another repository with a
// folder of the same name gets a name of its own, which is kept in the user's
// configuration folder. A repository that is moved keeps its name.
func (p Place) Project(dir string) string { return p.project(dir, false) }

// WorkProject is Project for an agent that works in dir: outside of any repository
// the folder is a project, unless it is the user's home or the one for
// temporary files.
func (p Place) WorkProject(dir string) string { return p.project(dir, true) }

func (p Place) project(dir string, work bool) string {
	if named := usable(p.Env("SKILLROUTER_PROJECT")); named != "" {
		return named
	}
	checkout, ok := TreeOf(dir)
	switch named := projectInFile(dir, checkout.Root); {
	case named != "":
		return named
	case ok:
		return checkout.project()
	case !filepath.IsAbs(dir):
		return ""
	}
	dir = filepath.Clean(dir)
	if home, err := os.UserHomeDir(); err == nil && dir == filepath.Clean(home) || dir == filepath.Clean(os.TempDir()) || dir == filepath.Dir(dir) {
		return ""
	}
	return registered(known{Folder: dir}, func() string { return "" }, work)
}

// usable is a name that a project may have, or empty.
func usable(name string) string {
	name = strings.TrimSpace(name)
	if name == string(filepath.Separator) || name == "." || check.Name("project", name) != nil {
		return ""
	}
	return name
}

// projectInFile is what the nearest ProjectFile names, from dir up to root;
// outside of any repository only dir itself is looked at.
func projectInFile(dir, root string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for line := range strings.Lines(cmp.Or(readSmall(filepath.Join(at, ProjectFile)), readSmall(filepath.Join(at, ProjectFile, "project")))) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				if named := usable(line); named != "" {
					return named
				}
				break
			}
		}
		if root == "" || at == root || at == filepath.Dir(at) {
			return ""
		}
	}
}

// maxRegister bounds what is read of the register, in bytes: some ten thousand
// repositories. What stands beyond is as if it were not there.
const maxRegister = 4 << 20

// known is a line of the register: which folder has a name.
type known struct {
	Name   string `json:"name"`
	Folder string `json:"folder"`           // Checkout.Main, or one outside of any repository
	Origin string `json:"origin,omitempty"` // Checkout.Origin
	Made   int64  `json:"made,omitempty"`   // Checkout.made
}

// project is the repository's name.
func (c Checkout) project() string {
	return registered(known{Folder: c.Main(), Made: c.made()}, c.Origin, true)
}

// registered is a folder's name: what the register says, else, if it may get one, a name that no
// other folder has, which is written there. Without a register that can be
// read and written it is the folder's.
func registered(me known, origin func() string, may bool) string {
	if real, err := filepath.EvalSymlinks(me.Folder); err == nil {
		me.Folder = real
	}
	plain := usable(strings.TrimSuffix(filepath.Base(me.Folder), ".git"))
	path := registerPath("projects.jsonl")
	if path == "" || plain == "" {
		return plain
	}
	here := func(line known) bool { return line.Folder == me.Folder }
	lines := readKnown(path)
	if name := nameAmong(lines, here); name != "" {
		return name // as at every hook but a repository's first: its origin need not be read
	}
	if !may {
		return ""
	}
	me.Origin = origin()
	if slices.ContainsFunc(lines, func(line known) bool { return line.Made == me.Made && !line.gone() }) {
		me.Made = 0 // it is a copy
	}
	if name := nameAmong(lines, me.moved); name != "" {
		me.Name = name
		addLine(path, me)
		return name
	}
	if name := nameAmong(lines, me.same); name != "" {
		return name
	}
	for _, name := range []string{plain, usable(filepath.Base(filepath.Dir(me.Folder)) + "-" + plain), usable(plain + "-" + shortHash(me.Folder))} {
		if me.Name = name; name == "" || taken(lines, name) {
			continue
		}
		if !addLine(path, me) {
			return plain
		}
		// Two processes may have written at once: the first line decides for both.
		lines = readKnown(path)
		if first := cmp.Or(nameAmong(lines, here), nameAmong(lines, me.same)); first != "" {
			return first
		}
	}
	return plain
}

// readKnown reads the register's lines, but those of where a repository was before it was moved.
func readKnown(path string) []known {
	lines := readRegister(path, known.named)
	last := map[int64]string{}
	for _, line := range lines {
		last[line.Made] = line.Folder
	}
	return slices.DeleteFunc(lines, func(line known) bool { return line.Made != 0 && last[line.Made] != line.Folder })
}

// registerPath is a register's file beside the user's settings; empty if there is no such folder.
func registerPath(name string) string {
	settings := config.DefaultFile()
	if settings == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(settings), name)
}

// KnownProject tells whether a repository on this machine that was worked in has the name.
func KnownProject(name string) bool {
	path := registerPath("projects.jsonl")
	return path != "" && slices.ContainsFunc(readKnown(path), func(k known) bool { return k.Name == name })
}

// readRegister reads a register's lines. One that cannot be read, or that good does
// not take, says nothing.
func readRegister[T any](path string, good func(T) bool) (lines []T) {
	text, err := file.ReadSmall(path, maxRegister)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var one T
		if json.Unmarshal(line, &one) == nil && good(one) {
			lines = append(lines, one)
		}
	}
	return lines
}

// addLine adds a line to a register, in one write, so that two processes cannot mix theirs.
func addLine(path string, line any) bool {
	text, err := json.Marshal(line)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return false
	}
	register, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return false
	}
	_, err = register.Write(append(text, '\n'))
	return register.Close() == nil && err == nil
}

func (k known) named() bool { return k.Name != "" && k.Folder != "" }

// nameAmong is the name in the first line that counts and fits; empty if none does.
func nameAmong(lines []known, fits func(known) bool) string {
	counting := owners(lines)
	if at := slices.IndexFunc(counting, fits); at >= 0 {
		return counting[at].Name
	}
	return ""
}

// owners are the lines that count: a name is the first repository's that took it
// and is still there, with all its clones.
func owners(lines []known) []known {
	owner := map[string]known{}
	for _, line := range lines {
		if first, is := owner[line.Name]; !is || !first.same(line) && first.gone() {
			owner[line.Name] = line
		}
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line known) bool { return !owner[line.Name].same(line) })
}

// same tells whether two lines are of one repository.
func (k known) same(other known) bool {
	return k.Folder == other.Folder || k.Origin != "" && (k.Origin == other.Origin || k.Origin == other.Folder) || other.Origin != "" && other.Origin == k.Folder
}

// moved tells whether a line is of this repository, from where it was before.
func (k known) moved(other known) bool { return k.Made != 0 && k.Made == other.Made }

// gone tells whether the folder is no longer where it was.
func (k known) gone() bool {
	_, err := os.Stat(k.Folder)
	return os.IsNotExist(err)
}

// taken tells whether a repository that is still there has the name, in any case: the router takes both for one project.
func taken(lines []known, name string) bool {
	return slices.ContainsFunc(lines, func(line known) bool { return strings.EqualFold(line.Name, name) && !line.gone() })
}

func shortHash(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return fmt.Sprintf("%06x", h.Sum32()&0xffffff)
}

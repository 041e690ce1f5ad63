package folder

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/plainyaml"
	"github.com/skillrouter/skillrouter/learning/share"
)

// A project's shared memory lies in its git repository, a file for each entry: SharedPlace/KIND/SLUG-ID8.md. Whoever can
// push writes these files, so they are hostile: they are read within bounds, no link is followed, and nothing of them
// reaches an agent before a person accepted it.
const (
	SharedPlace = ".skillrouter/memory"
	// MaxSharedFile bounds a shared file, in bytes.
	MaxSharedFile = 64 << 10
)

// SharedFile is a file that says what a shared entry is.
type SharedFile struct {
	Path  string // within the repository, with slashes
	Entry share.Entry
}

// Shared is what was found in a project's shared memory.
type Shared struct {
	Commit  string       // it was read from; empty: from the working tree
	Files   []SharedFile // by path, each id once
	Refused []Trouble    // files that could not be taken
}

// conflict is a line by which git marks what it could not merge.
var conflict = lazyregexp.New(`(?m)^(?:<{7}|>{7}|\|{7})(?: |\r?$)`)

// RenderShared writes an entry as a file: front matter with its keys in the order of the alphabet, and the text. Nothing
// in it changes by itself, so that two branches merge.
func RenderShared(e share.Entry) ([]byte, error) {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(key, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, text)
		}
	}
	quoted := func(text string) string {
		if text == "" {
			return ""
		}
		return word(text)
	}
	line("author", quoted(e.Author))
	line("created", e.Created.UTC().Format(time.RFC3339))
	line("id", quoted(e.ID))
	line("kind", string(e.Kind))
	if e.Retired != nil {
		line("retired", e.Retired.UTC().Format(time.RFC3339))
	}
	var ids []string
	for _, id := range e.Supersedes {
		ids = append(ids, word(id))
	}
	if len(ids) > 0 {
		line("supersedes", "["+strings.Join(ids, ", ")+"]")
	}
	line("title", quoted(e.Title))
	b.WriteString("---\n\n" + e.Text + "\n")
	back, err := ParseShared([]byte(b.String()))
	if err == nil && back.Hash() != e.Hash() {
		err = errs.Errorf(errs.Invalid, "cannot be written to a file and read back unchanged")
	}
	return []byte(b.String()), err
}

// ParseShared reads a shared file, without its secrets.
func ParseShared(file []byte) (e share.Entry, err error) {
	if len(file) > MaxSharedFile {
		return e, errs.Errorf(errs.TooLarge, "is larger than %d bytes", MaxSharedFile)
	}
	if conflict.MatchString(string(file)) {
		return e, errs.Errorf(errs.Conflict, "holds the marks of a merge that git left to you")
	}
	matter, body, err := split(file)
	if err != nil {
		return e, err
	}
	var says struct {
		Author     string   `yaml:"author"`
		Created    string   `yaml:"created"`
		ID         string   `yaml:"id"`
		Kind       string   `yaml:"kind"`
		Retired    string   `yaml:"retired"`
		Supersedes []string `yaml:"supersedes"`
		Title      string   `yaml:"title"`
	}
	if err := plainyaml.Decode([]byte(matter), MaxFrontMatter, maxNesting, &says); err != nil {
		return e, located(err)
	}
	e = share.Entry{Author: says.Author, ID: says.ID, Kind: share.Kind(says.Kind), Title: says.Title, Supersedes: says.Supersedes, Text: body}
	if e.Created, err = time.Parse(time.RFC3339, says.Created); err != nil {
		return e, errs.InvalidField("created", "is no time such as 2026-11-29T04:05:06Z")
	}
	if says.Retired != "" {
		when, err := time.Parse(time.RFC3339, says.Retired)
		if err != nil {
			return e, errs.InvalidField("retired", "is no time such as 2026-11-29T04:05:06Z")
		}
		e.Retired = &when
	}
	return e, e.Clean()
}

// sharedEnd is how the name of an entry's file ends. The end of an id keeps entries of one title apart: the beginning of
// those that the router gives is the time.
func sharedEnd(id string) string {
	if !given.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return id[len(id)-8:] + ".md"
}

// Missing tells whether there is no file of an entry, not one either that was refused.
func (s *Shared) Missing(id string) bool {
	return !slices.ContainsFunc(s.Files, func(f SharedFile) bool { return f.Entry.ID == id }) &&
		!slices.ContainsFunc(s.Refused, func(t Trouble) bool { return t.ID == id || strings.HasSuffix(t.Path, sharedEnd(id)) })
}

// gather collects shared files, which are offered by path, and refuses those that are none.
type gather struct {
	shared Shared
	paths  map[string][]string // of ids
}

// refuse names a file that is not taken.
func (g *gather) refuse(name, why string) {
	g.shared.Refused = append(g.shared.Refused, Trouble{Path: name, Why: why})
}

// fits refuses a file by its place and its size before it is read.
func (g *gather) fits(name string, size int64) bool {
	rest, below := strings.CutPrefix(name, SharedPlace+"/")
	place, file, nested := strings.Cut(rest, "/")
	switch {
	case !below || !nested || strings.Contains(file, "/") || check.OneOf("kind", share.Kind(place), share.Kinds()) != nil || !strings.HasSuffix(file, ".md"):
		g.refuse(name, "lies where no shared entry does: "+SharedPlace+"/KIND/NAME.md, where KIND is knowledge, decision or lesson")
	case size > MaxSharedFile:
		g.refuse(name, fmt.Sprintf("is larger than %d bytes", MaxSharedFile))
	default:
		return true
	}
	return false
}

func (g *gather) add(name string, text []byte) {
	e, err := ParseShared(text)
	if err == nil && path.Base(path.Dir(name)) != string(e.Kind) {
		err = errs.Errorf(errs.Invalid, "says that it is of the kind %s", e.Kind)
	}
	if err != nil {
		g.refuse(name, reason(err))
		return
	}
	g.paths[e.ID] = append(g.paths[e.ID], name)
	g.shared.Files = append(g.shared.Files, SharedFile{name, e})
}

// done is what was gathered. Of files that claim one id all are refused: none is the right one.
func (g *gather) done() Shared {
	g.shared.Files = slices.DeleteFunc(g.shared.Files, func(f SharedFile) bool {
		twice := len(g.paths[f.Entry.ID]) > 1
		if twice {
			g.shared.Refused = append(g.shared.Refused, Trouble{f.Path, f.Entry.ID, "another file has the same id"})
		}
		return twice
	})
	slices.SortFunc(g.shared.Files, func(a, b SharedFile) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.shared.Refused, func(a, b Trouble) int { return cmp.Compare(a.Path, b.Path) })
	return g.shared
}

func tooMany() error {
	return errs.Errorf(errs.TooLarge, "%s holds more than %d files, and none of them was read", SharedPlace, share.MaxEntries)
}

// ReadShared reads the shared memory of the repository that is the folder, from its working tree.
func (d *Dir) ReadShared() (Shared, error) {
	g := gather{paths: map[string][]string{}}
	if there, err := d.sharedPlace(); err != nil || !there {
		return Shared{}, err
	}
	count := 0
	err := fs.WalkDir(d.root.FS(), SharedPlace, func(name string, item fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return errs.Wrap(errs.Invalid, err, "%s cannot be read", name)
		case item.IsDir():
			if strings.Count(name, "/") > MaxDepth {
				return fs.SkipDir
			}
			return nil
		}
		if count++; count > share.MaxEntries {
			return tooMany()
		}
		info, err := item.Info()
		switch {
		case err != nil:
			g.refuse(name, reason(err))
		case item.Type()&fs.ModeSymlink != 0:
			g.refuse(name, "is a symbolic link, which is not followed")
		case !item.Type().IsRegular():
			g.refuse(name, "is no regular file")
		case g.fits(name, info.Size()):
			if text, err := d.read(name, MaxSharedFile); err != nil {
				g.refuse(name, reason(err))
			} else {
				g.add(name, text)
			}
		}
		return nil
	})
	return g.done(), err
}

// sharedPlace tells whether the place of shared memory is there, as folders and not as links.
func (d *Dir) sharedPlace() (there bool, err error) {
	for _, name := range []string{path.Dir(SharedPlace), SharedPlace} {
		switch info, err := d.root.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, errs.Wrap(errs.Invalid, err, "%s cannot be read", name)
		case info.Mode().IsRegular():
			return false, errs.Errorf(errs.Conflict, "%s is a file, which names the project, and shared memory lies in a folder of that name. Move the file: mv %[1]s %[1]s-project && mkdir %[1]s && mv %[1]s-project %[1]s/project", name)
		case !info.IsDir():
			return false, errs.Errorf(errs.Invalid, "%s is a link or a device, which is not followed", name)
		}
	}
	return true, nil
}

// WriteShared writes an entry to its file, and returns the file's path. One that is there keeps its name.
func (d *Dir) WriteShared(e share.Entry, present Shared) (name string, err error) {
	text, err := RenderShared(e)
	if err != nil {
		return "", err
	}
	if _, err := d.sharedPlace(); err != nil {
		return "", err
	}
	name = path.Join(SharedPlace, string(e.Kind), strings.TrimPrefix(slug(e.Title)+"-"+sharedEnd(e.ID), "-"))
	for _, f := range present.Files {
		if f.Entry.ID == e.ID {
			name = f.Path
		}
	}
	if info, err := d.root.Lstat(path.Dir(name)); err == nil && !info.IsDir() {
		return "", errs.Errorf(errs.Conflict, "%s is no folder", path.Dir(name))
	}
	for _, refused := range present.Refused {
		if refused.Path == name || refused.ID == e.ID {
			return "", errs.Errorf(errs.Conflict, "%s was not written over: it %s", refused.Path, refused.Why)
		}
	}
	if old, err := d.read(name, MaxSharedFile); err == nil && bytes.Equal(old, text) {
		return name, nil
	}
	return name, d.write(name, text)
}

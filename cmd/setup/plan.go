package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// maxFile bounds a configuration file, in bytes: the state that Claude Code
// keeps in its own grows to some megabytes.
const maxFile = 32 << 20

// Change is what is to become of one file.
type Change struct {
	Kind   Kind   `json:"kind"`
	Path   string `json:"path"`
	Action Action `json:"action"`
	Diff   string `json:"diff,omitempty"`

	real   string // the file behind a symbolic link, or Path
	mode   fs.FileMode
	before []byte // nil: there is none
	after  []byte // nil: it goes away
	former []byte // what it held before ours came first
	out    bool   // ours goes out of it, because it is in another file now
}

// Action is what becomes of a file.
type Action string

// The actions.
const (
	Create Action = "create"
	Modify Action = "modify"
	Delete Action = "delete"
	Keep   Action = "keep" // it is as it should be
)

// Plan is all that a setup or its removal would change. Nothing is written before Apply.
type Plan struct {
	Agent   Agent    `json:"agent"`
	Changes []Change `json:"changes"`
	Notes   []string `json:"notes,omitempty"` // what a person has to know or do

	target  Target
	content Content
	store   Store
	remove  bool
	record  *record // of the setup before, or nil
}

// PlanSetup plans to set the target up. store keeps what is needed to undo it.
// What an earlier setup wrote into the project's other files, the shared or the personal ones,
// goes out of them: two would run each hook twice. What somebody else wrote into the shared
// ones serves this person too, and is not written a second time.
func PlanSetup(t Target, c Content, store Store) (Plan, error) {
	c, left, err := t.sharing(c)
	if err != nil {
		return Plan{}, err
	}
	p, parts, err := begin(t, c, store)
	if err != nil {
		return Plan{}, err
	}
	p.Notes = append(p.Notes, left...)
	elsewhere, err := t.elsewhere(c)
	if err != nil {
		return Plan{}, err
	}
	for _, other := range elsewhere {
		change, err := p.without(other)
		if err == nil && t.personal() && p.record.file(other.path) == nil && !bytes.Equal(change.after, change.before) {
			p.Notes = append(p.Notes, fmt.Sprintf("%s holds Skill Router's part already, for everybody who clones the project. It serves you too: nothing is written beside it.", other.path))
			at := slices.IndexFunc(parts, func(own part) bool { return own.kind == other.kind })
			change, err = p.without(parts[at])
			parts = slices.Delete(parts, at, at+1)
		}
		if err != nil {
			return Plan{}, err
		}
		if change.out = true; !bytes.Equal(change.after, change.before) {
			p.add(change)
		}
	}
	for _, part := range parts {
		change, err := read(part)
		if err != nil {
			return Plan{}, err
		}
		if change.after, err = part.edit.put(part.path, change.before); err != nil {
			return Plan{}, err
		}
		if change.former, err = p.former(part, change); err != nil {
			return Plan{}, err
		}
		p.add(change)
	}
	return p, nil
}

// PlanRemoval plans to take out what a setup put in. Files that nobody has
// touched since become what they were, to the byte; of others only ours goes.
func PlanRemoval(t Target, c Content, store Store) (Plan, error) {
	p, parts, err := begin(t, c, store)
	if err != nil {
		return Plan{}, err
	}
	p.remove, p.Notes = true, nil
	elsewhere, err := t.elsewhere(c)
	if err != nil {
		return Plan{}, err
	}
	for i, part := range append(parts, elsewhere...) {
		change, err := p.without(part)
		if err != nil {
			return Plan{}, err
		}
		if foreign := i >= len(parts) && t.personal() && p.record != nil && p.record.file(part.path) == nil; foreign {
			if !bytes.Equal(change.after, change.before) {
				p.Notes = append(p.Notes, part.path+" stays as it is, for everybody who clones the project. To take ours out of it too: --remove --project.")
			}
			continue
		}
		p.add(change)
	}
	return p, nil
}

// elsewhere are the project's other files: the shared ones for one person's alone, and the reverse.
func (t Target) elsewhere(c Content) ([]part, error) {
	other := t
	other.Shared = !t.Shared
	if t.personal() == other.personal() {
		return nil, nil
	}
	parts, _, err := other.parts(c)
	return parts, err
}

// without is a file without what a setup put into it.
func (p *Plan) without(part part) (Change, error) {
	change, err := read(part)
	if err != nil {
		return change, err
	}
	others, err := p.store.others(p.target)
	if err != nil {
		return change, err
	}
	change.after = change.before
	kept := p.record.file(change.Path)
	switch owner, _ := others.holding(change.real); {
	case change.before == nil:
	case owner != nil:
		p.Notes = append(p.Notes, fmt.Sprintf("%s stays as it is: %s reads it too.", change.Path, owner.Agent))
	default:
		if change.after, err = kept.undone(part, change.before); err != nil {
			return change, err
		}
		if bytes.Equal(change.after, change.before) && bytes.Contains(change.before, []byte(ownMark)) {
			p.Notes = append(p.Notes, change.Path+" was changed since it was written, and stays: remove it by hand.")
		}
	}
	return change, nil
}

func begin(t Target, c Content, store Store) (Plan, []part, error) {
	if err := t.check(); err != nil {
		return Plan{}, nil, err
	}
	parts, notes, err := t.parts(c)
	if err != nil {
		return Plan{}, nil, err
	}
	before, err := store.load(t)
	if err != nil {
		return Plan{}, nil, err
	}
	return Plan{Agent: t.Agent, Notes: notes, target: t, content: c, store: store, record: before}, parts, nil
}

// former is what a file held before ours came into it first.
func (p Plan) former(part part, change Change) ([]byte, error) {
	kept := p.record.file(change.Path)
	if kept == nil { // another agent's setup may have been here before
		others, err := p.store.others(p.target)
		if err != nil {
			return nil, err
		}
		_, kept = others.holding(change.real)
	}
	switch {
	case change.before == nil:
		return nil, nil
	case kept == nil && !bytes.Equal(change.before, change.after):
		return change.before, nil // undone is what is done now, whatever somebody did before
	}
	return kept.undone(part, change.before) // nothing is kept of what came with the repository, or if the store was lost
}

// add notes what becomes of a file.
func (p *Plan) add(c Change) {
	switch {
	case c.before == nil && c.after == nil, c.before != nil && c.after != nil && bytes.Equal(c.before, c.after):
		c.Action = Keep
	case c.before == nil:
		c.Action = Create
	case c.after == nil:
		c.Action = Delete
	default:
		c.Action = Modify
	}
	if c.Action != Keep {
		c.Diff = diff(c)
	}
	p.Changes = append(p.Changes, c)
}

// Pending are the changes that would be made.
func (p Plan) Pending() (changes []Change) {
	for _, c := range p.Changes {
		if c.Action != Keep {
			changes = append(changes, c)
		}
	}
	return changes
}

func diff(c Change) string {
	old, new := c.Path, c.Path
	if c.real != c.Path {
		old, new = c.Path+" -> "+c.real, c.Path+" -> "+c.real
	}
	if c.before == nil {
		old = os.DevNull
	}
	if c.after == nil {
		new = os.DevNull
	}
	return udiff.Unified(old, new, string(c.before), string(c.after))
}

// read reads a file that may not be there, through a symbolic link.
func read(p part) (Change, error) {
	c := Change{Kind: p.kind, Path: p.path, real: p.path, mode: 0o644}
	info, err := os.Lstat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, unreadable(p.path, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if c.real, err = filepath.EvalSymlinks(p.path); err != nil {
			return c, refused(p.path, 0, "this is a link that leads nowhere")
		}
		if info, err = os.Stat(c.real); err != nil {
			return c, unreadable(p.path, err)
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return c, refused(p.path, 0, "this is no file")
	case info.Size() > maxFile:
		return c, refused(p.path, 0, "this is longer than %d bytes", maxFile)
	}
	c.mode = info.Mode().Perm()
	text, err := os.ReadFile(c.real)
	if err != nil {
		return c, unreadable(p.path, err)
	}
	if text == nil {
		text = []byte{}
	}
	c.before = text
	return c, nil
}

func unreadable(path string, err error) error {
	return errs.Wrap(errs.Unavailable, err, "%s cannot be read: %v; nothing was changed", path, errors.Unwrap(err))
}

// existing is the first of the paths where there is something, else the first.
func existing(paths ...string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// Recorded tells whether a setup of the target is kept, which its removal takes back.
func (p Plan) Recorded() bool { return p.record != nil }

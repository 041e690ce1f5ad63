package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

// Store is the folder in which it is kept what setups did, one file for each
// agent and place. It holds what people's configuration was, and is for their
// eyes alone.
type Store struct{ Dir string }

// record is what a setup did.
type record struct {
	Agent Agent     `json:"agent"`
	Dir   string    `json:"dir,omitempty"` // the project's folder; empty: the user's
	Home  string    `json:"home"`
	At    time.Time `json:"at,omitzero"` // when it was last written; zero in records of before this was kept
	// Personal is true where the project's files that are one person's alone were written.
	Personal bool        `json:"personal,omitempty"`
	Content  Content     `json:"content"`
	Files    []savedFile `json:"files"`
	Folders  []string    `json:"folders,omitempty"` // that were made, the outermost first
}

// savedFile is a file that a setup wrote.
type savedFile struct {
	Path   string `json:"path"`
	Real   string `json:"real"`  // behind a symbolic link
	After  string `json:"after"` // the digest of what it wrote
	Before []byte `json:"before,omitempty"`
	Was    bool   `json:"was"`              // there was a file before
	Backup string `json:"backup,omitempty"` // what it held before, as a file for people; earlier ones lie beside it
}

// before is what the file held; nil if there was none, or if nothing is kept of it.
func (k *savedFile) before() []byte {
	if k == nil || !k.Was {
		return nil
	}
	return append([]byte{}, k.Before...)
}

// undone is a file's text without ours: to the byte what it was before, if nobody has touched it since.
func (k *savedFile) undone(part part, text []byte) ([]byte, error) {
	if k != nil && digest(text) == k.After {
		return k.before(), nil
	}
	without, err := part.edit.cut(part.path, text, k.before())
	if k != nil && !k.Was && blank(without) {
		without = nil
	}
	return without, err
}

// file is what is kept of a file, or nil. A nil record keeps nothing.
func (r *record) file(path string) *savedFile {
	if r == nil {
		return nil
	}
	return r.first(func(k savedFile) bool { return k.Path == path })
}

func (r *record) first(fits func(savedFile) bool) *savedFile {
	if at := slices.IndexFunc(r.Files, fits); at >= 0 {
		return &r.Files[at]
	}
	return nil
}

// records are those of several setups.
type records []*record

// holding is a setup that wrote the file, and what it kept of it; nil if none did.
func (rs records) holding(real string) (*record, *savedFile) {
	for _, r := range rs {
		if kept := r.first(func(k savedFile) bool { return k.Real == real }); kept != nil {
			return r, kept
		}
	}
	return nil, nil
}

func (s Store) path(t Target) string {
	where := "project\n" + t.Dir
	if t.user() {
		where = "user\n" + t.Home
	}
	return filepath.Join(s.Dir, string(t.Agent)+"-"+digest([]byte(where))[:16]+".json")
}

// backup is the file that keeps what another held before a setup. It lies here and
// not beside the other: what lies untracked in a repository is shown to agents, and
// committed by whoever adds everything.
func (s Store) backup(t Target, real string, now time.Time) string {
	return filepath.Join(s.Dir, strings.Join([]string{
		string(t.Agent), digest([]byte(real))[:16], now.UTC().Format("20060102T150405Z"), filepath.Base(real) + ".bak",
	}, "-"))
}

// load reads what was done for a target; nil if nothing was.
func (s Store) load(t Target) (*record, error) {
	return loadRecord(s.path(t))
}

func loadRecord(path string) (*record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, refused(path, 0, "what an earlier setup did cannot be read: %v", err)
	}
	return &r, nil
}

// Content is what a target was set up with, and whether it was.
func (s Store) Content(t Target) (Content, bool, error) {
	r, err := s.load(t)
	if err != nil || r == nil {
		return Content{}, false, err
	}
	return r.Content, true, nil
}

// Chosen is the target with the files of the project that it was set up with, the shared ones or
// those that are one person's alone. If it was not set up here, somebody else's shared hooks count.
func (s Store) Chosen(t Target) (Target, error) {
	r, err := s.load(t)
	switch {
	case err != nil:
	case r != nil:
		t.Shared = !r.Personal
	case t.personal():
		text, _ := os.ReadFile(filepath.Join(t.Dir, ".claude", "settings.json")) // empty: nobody shares any
		t.Shared = IsHook(string(text))
	}
	return t, err
}

// Since is when a target was last set up; zero if that is not known.
func (s Store) Since(t Target) (time.Time, error) {
	r, err := s.load(t)
	if err != nil || r == nil {
		return time.Time{}, err
	}
	return r.At, nil
}

// others are the setups of other agents.
func (s Store) others(t Target) (records, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(s.Dir, err)
	}
	var found records
	for _, e := range entries {
		path := filepath.Join(s.Dir, e.Name())
		if path == s.path(t) || !strings.HasSuffix(path, ".json") {
			continue
		}
		r, err := loadRecord(path)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// save writes what is done for a target; nil forgets it.
func (s Store) save(t Target, r *record) error {
	path := s.path(t)
	if r == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the folder %s cannot be made; nothing was changed", s.Dir)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return file.Replace(path, text, 0o600)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

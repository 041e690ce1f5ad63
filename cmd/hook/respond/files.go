package respond

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/cmd/hook"
	"skillrouter/cmd/locate"
)

// Bounds of the files that a check is given: those that a command runs, as they are on the disk.
const (
	maxFiles  = 16
	maxFile   = 64 << 10 // bytes of each; of the rest the words are given
	maxHashed = 32 << 20 // bytes of a file that is read at all
	maxBeside = 200      // names of files in the same folder
	// MaxRounds is how often a check is asked: once more where it runs files, and again where those name others.
	MaxRounds = 4
)

// Why a file is not given.
const (
	unreadMissing = "missing"
	unreadOutside = "outside"
	unreadBinary  = "binary"
	unreadMany    = "many"
)

// Content is what a check is told of a file that the action runs.
type Content struct {
	Path   string   `json:"path"` // as it was asked for
	Text   string   `json:"text,omitempty"`
	Rest   string   `json:"rest,omitempty"` // the words of what follows the text
	Hash   string   `json:"sha256,omitempty"`
	Beside []string `json:"beside,omitempty"` // names of other files in its folder
	Unread string   `json:"unread,omitempty"` // why there is no text
}

// Files are the files that one check was given.
type Files struct{ list []Content }

// Read adds the named files to those that were given before, and returns all. They are regular files of the project at folder, or of a
// folder for temporary files; no link leads out of these. hide changes a text before it is given away; nil: it goes nowhere.
func (f *Files) Read(folder string, names []string, hide func(text string) string) []Content {
	var roots []string
	if checkout, ok := locate.CheckoutOf(folder); ok {
		roots = append(roots, checkout.Root)
	}
	for _, root := range append(roots, folder, os.TempDir(), "/tmp", "/var/tmp") {
		if real, err := filepath.EvalSymlinks(root); err == nil && root != "" && filepath.Dir(real) != real {
			roots = append(roots, real)
		}
	}
	given := 0
	for _, c := range f.list {
		if c.Unread == "" {
			given++
		}
	}
	for _, name := range names {
		if slices.ContainsFunc(f.list, func(c Content) bool { return c.Path == name }) {
			continue
		}
		c := Content{Path: name, Unread: unreadMany}
		if given < maxFiles {
			c = contentOf(folder, name, roots, hide)
		}
		if c.Unread == "" {
			given++
		}
		f.list = append(f.list, c)
	}
	return f.list
}

// contentOf reads one file.
func contentOf(folder, name string, roots []string, hide func(string) string) Content {
	c := Content{Path: name}
	full := filepath.FromSlash(name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			c.Unread = unreadOutside
			return c
		}
		full = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(full) {
		full = filepath.Join(folder, full)
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		c.Unread = unreadMissing
		return c
	}
	inside := func(root string) bool {
		below, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(below)
	}
	if !slices.ContainsFunc(roots, inside) {
		c.Unread = unreadOutside
		return c
	}
	file, _, err := OpenRegular(real)
	if err != nil {
		c.Unread = unreadMissing
		return c
	}
	defer file.Close()
	hash := sha256.New()
	head, err := io.ReadAll(io.TeeReader(io.LimitReader(file, maxFile), hash))
	if err != nil || bytes.IndexByte(head, 0) >= 0 {
		c.Unread = unreadBinary
		return c
	}
	if len(head) == maxFile {
		c.Rest = hook.Words(io.TeeReader(io.LimitReader(file, maxHashed), hash))
		_, _ = io.Copy(hash, io.LimitReader(file, maxHashed))
		for n := 0; n < utf8.UTFMax && !utf8.Valid(head); n++ {
			head = head[:len(head)-1] // a character that was cut
		}
	}
	c.Hash = hex.EncodeToString(hash.Sum(nil))
	c.Text = hide(strings.ToValidUTF8(string(head), "?"))
	if filepath.Ext(real) == ".py" {
		entries, _ := os.ReadDir(filepath.Dir(real)) // what cannot be listed is imported from elsewhere
		for _, entry := range entries[:min(len(entries), maxBeside)] {
			c.Beside = append(c.Beside, entry.Name())
		}
	}
	return c
}

// hides makes a text fit to be given to the router: to one on another machine without its secrets.
func (h *Hook) hides(text string) string {
	if !h.far {
		return text
	}
	if h.process.Redact == nil {
		return ""
	}
	return h.process.Redact(text)
}

package respond

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/cmd/locate"
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

// What of a tool's arguments may name files: the values of pathArgs are paths, and in the others each word may be one.
var (
	pathArgs = []string{"file_path", "filePath", "path", "paths", "file", "filename", "notebook_path", "target_file", "old_path", "new_path", "source", "destination", "directory", "cwd", "workdir"}
	textArgs = []string{"command", "cmd", "script", "patch", "input", "diff", "commands"}
)

// Bounds of what is looked at for names of files, in words and in bytes of each text.
const (
	maxFileWords = 256
	maxFileText  = 64 << 10
)

// fileWords are the words of the tool's arguments that may be names of files.
func (h *Hook) fileWords() (words []string) {
	for _, name := range pathArgs {
		words = append(words, texts(h.call.Args[name])...)
	}
	for _, name := range textArgs {
		for _, text := range texts(h.call.Args[name]) {
			text = text[:min(len(text), maxFileText)]
			if strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "\n+++ ") {
				words = append(words, patched(text)...)
				continue
			}
			words = append(words, strings.FieldsFunc(text, betweenWords)...)
		}
		if len(words) > maxFileWords {
			return words[:maxFileWords]
		}
	}
	return words
}

// betweenWords tells whether a character ends a word of a command line, as far as names of files go.
func betweenWords(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;|&<>()=,", r) }

// patched are the files that a patch names.
func patched(text string) (files []string) {
	for line := range strings.Lines(text) {
		if len(files) == maxFileWords {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if head, name, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(head, "*** ") {
			files = append(files, name)
			continue
		}
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			name, _, _ = strings.Cut(name, "\t")
			files = append(files, strings.TrimPrefix(name, "b/"))
		}
	}
	return files
}

// texts are the texts of an argument: itself, or those of a list.
func texts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}

// BranchWords are the words of the branch's name in the working folder at dir:
// what a session is likely to be about. It runs no git.
func BranchWords(dir string) string {
	checkout, _ := locate.TreeOf(dir)
	branch := checkout.Branch()
	if branch == "main" || branch == "master" {
		return ""
	}
	return strings.Join(strings.FieldsFunc(branch, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// lastLines is the end of a file, of at most limit bytes and from the beginning
// of a line: what was learned last counts most. No name is no file.
func lastLines(name string, limit int64) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, size, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from := max(0, size-limit)
	text, err := io.ReadAll(io.NewSectionReader(file, from, limit))
	if err != nil || from == 0 {
		return text, err
	}
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		return text[at+1:], nil
	}
	return nil, nil
}

// OpenRegular opens a file that somebody else named: no pipe or device, whose
// opening could wait for ever.
func OpenRegular(name string) (*os.File, int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no file", name)
	}
	file, err := os.Open(name)
	return file, info.Size(), err
}

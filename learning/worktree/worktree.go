// Package worktree tells whether the files, make targets and package scripts that a text names are still in a folder.
// It looks at the named paths alone, follows no link out of the folder, and prefers silence to a false mark.
package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of one look.
const (
	// waitTime is how long a folder that hangs, such as one on a network drive, is waited for.
	waitTime = 500 * time.Millisecond
	// maxLooks bounds the looks at once: beyond it nothing is marked.
	maxLooks = 8
	// MaxTexts is how many texts one look reads, and maxText how much of each, in bytes.
	MaxTexts = 64
	maxText  = 4 << 10
	// maxNames is how many names of one text are looked at, and maxGone how many are reported.
	maxNames = 16
	maxGone  = 3
	// maxManifest is how large a makefile or package.json may be, in bytes.
	maxManifest = 128 << 10
)

// Text is a text that may name something of the folder.
type Text struct {
	Text string
	// Loose says that the text may be of another folder: only a file whose own folder is there can be gone.
	Loose bool
	// Command says that the text is a command, of which only what it runs counts.
	Command bool
}

var looks = make(chan struct{}, maxLooks)

// Gone returns what each text names that is not in the folder, at most maxGone names. A folder that cannot be
// read, or that hangs, gives nothing.
func Gone(ctx context.Context, folder string, texts []Text) [][]string {
	none := make([][]string, len(texts))
	if !filepath.IsAbs(folder) || len(texts) == 0 {
		return none
	}
	select {
	case looks <- struct{}{}:
	default:
		return none
	}
	found := make(chan [][]string, 1) // buffered, so that a look that nobody waits for can end
	go func() {
		defer func() { <-looks }()
		found <- look(folder, texts)
	}()
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	select {
	case all := <-found:
		return all
	case <-ctx.Done():
		return none
	}
}

// look reads the folder.
func look(folder string, texts []Text) [][]string {
	all := make([][]string, len(texts))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return all
	}
	defer func() { _ = root.Close() }()
	for i, text := range texts[:min(len(texts), MaxTexts)] {
		for _, n := range namesIn(text) {
			if len(all[i]) < maxGone && n.gone(root, text.Loose) {
				all[i] = append(all[i], n.shown)
			}
		}
	}
	return all
}

// gone reports whether the folder surely does not have what is named.
func (n name) gone(root *os.Root, loose bool) bool {
	switch n.kind {
	case target:
		return missing(root, n.text) && !hasTarget(root, n.text)
	case script:
		return !hasScript(root, n.text)
	}
	first, rest, _ := strings.Cut(n.text, "/")
	parent := n.text[:strings.LastIndexByte(n.text, '/')]
	if loose && !folderThere(root, parent) || !folderThere(root, first) {
		return false
	}
	return missing(root, n.text) && (first != filepath.Base(root.Name()) || missing(root, rest))
}

// missing reports whether there is surely nothing at a path. A path behind a link that leaves the folder is not looked at.
func missing(root *os.Root, p string) bool {
	_, err := root.Stat(filepath.FromSlash(p))
	return errors.Is(err, fs.ErrNotExist)
}

func there(root *os.Root, p string) bool {
	info, err := root.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

func folderThere(root *os.Root, p string) bool {
	info, err := root.Stat(filepath.FromSlash(p))
	return err == nil && info.IsDir()
}

// manifest reads a file of the folder, if it is a small regular one.
func manifest(root *os.Root, p string) (text string, ok bool) {
	info, err := root.Stat(p)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return "", false
	}
	raw, err := root.ReadFile(p)
	return string(raw), err == nil
}

var ruleLine = regexp.MustCompile(`(?m)^([^\s#:=][^:=#\n]*?)\s*:(?:[^=]|$)`)

// hasTarget reports whether the folder's makefile may make a target. One that includes others may make anything.
func hasTarget(root *os.Root, name string) bool {
	for _, file := range []string{"GNUmakefile", "makefile", "Makefile"} {
		text, ok := manifest(root, file)
		if !ok {
			continue
		}
		if strings.Contains("\n"+text, "\ninclude ") || strings.Contains("\n"+text, "\n-include ") {
			return true
		}
		for _, m := range ruleLine.FindAllStringSubmatch(text, -1) {
			for _, made := range strings.Fields(m[1]) {
				stem, end, pattern := strings.Cut(made, "%")
				if made == name || strings.Contains(made, "$") || pattern && strings.HasPrefix(name, stem) && strings.HasSuffix(name, end) {
					return true
				}
			}
		}
		return false
	}
	return true // without a makefile here, nobody knows
}

// hasScript reports whether the folder's package.json may have a script. A workspace's packages may have more.
func hasScript(root *os.Root, name string) bool {
	text, ok := manifest(root, "package.json")
	var m struct {
		Scripts map[string]any `json:"scripts"`
	}
	if !ok || strings.Contains(text, `"workspaces"`) || there(root, "pnpm-workspace.yaml") || json.Unmarshal([]byte(text), &m) != nil {
		return true
	}
	_, has := m.Scripts[name]
	return has
}

// commands are the parts of a shell line that begin a command.
var commands = regexp.MustCompile("&&|\\|\\||[|;\n]")

// namesIn returns what a text names, each once.
func namesIn(t Text) (names []name) {
	text := t.Text[:min(len(t.Text), maxText)]
	if t.Command {
		for _, command := range commands.Split(text, -1) {
			names = append(names, commandNames(strings.Fields(command))...)
		}
		return distinct(names)
	}
	for _, sentence := range sentences(text) {
		if doubtful(sentence) {
			continue
		}
		for i, part := range strings.Split(sentence, "`") {
			if i%2 == 1 {
				for _, command := range commands.Split(part, -1) {
					names = append(names, commandNames(strings.Fields(command))...)
				}
			}
			names = append(names, proseNames(strings.Fields(part))...)
		}
	}
	return distinct(names)
}

func distinct(names []name) (list []name) {
	for _, n := range names {
		if !slices.Contains(list, n) && len(list) < maxNames {
			list = append(list, n)
		}
	}
	return list
}

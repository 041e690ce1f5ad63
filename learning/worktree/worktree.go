// Package worktree tells whether the files, make targets, package scripts and branches that a text names are still in a folder, and
// what the folder tells agents. It looks at the named paths alone, follows no link out of the folder, and prefers silence to a false mark.
package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Bounds of one look.
const (
	// waitTime is how long a folder that hangs, such as one on a network drive, is waited for.
	waitTime = 500 * time.Millisecond
	// maxLooks bounds the looks at once; who comes beyond it waits.
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
// read gives nothing. ok is false if nobody looked: the folder hangs, or too many looks at once are made.
func Gone(ctx context.Context, folder string, texts []Text) (all [][]string, ok bool) {
	all = make([][]string, len(texts))
	if len(texts) == 0 {
		return all, true
	}
	return inFolder(ctx, folder, all, func(root *os.Root) [][]string {
		found := make([][]string, len(texts))
		for i, text := range texts[:min(len(texts), MaxTexts)] {
			for _, n := range namesIn(text) {
				if len(found[i]) < maxGone && !slices.Contains(found[i], n) && gone(root, n, text.Loose) {
					found[i] = append(found[i], n)
				}
			}
		}
		return found
	})
}

// Instructions returns what the folder tells agents, which they read by themselves when a session begins; empty: nothing, or nobody
// could look.
func Instructions(ctx context.Context, folder string) string {
	said, _ := inFolder(ctx, folder, "", func(root *os.Root) (said string) {
		for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
			said += manifest(root, name) + "\n"
		}
		return said
	})
	return said
}

// inFolder looks into a folder, beside at most maxLooks others. It returns none where there is no folder, and where nobody could look
// in time, which ok says.
func inFolder[T any](ctx context.Context, folder string, none T, look func(root *os.Root) T) (found T, ok bool) {
	if !filepath.IsAbs(folder) {
		return none, true
	}
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	select {
	case looks <- struct{}{}:
	case <-ctx.Done():
		return none, false
	}
	done := make(chan T, 1) // buffered, so that a look that nobody waits for can end
	go func() {
		defer func() { <-looks }()
		root, err := os.OpenRoot(folder)
		if err != nil {
			done <- none
			return
		}
		defer func() { _ = root.Close() }()
		done <- look(root)
	}()
	select {
	case found = <-done:
		return found, true
	case <-ctx.Done():
		return none, false
	}
}

// gone reports whether the folder surely does not have what is named.
func gone(root *os.Root, name string, loose bool) bool {
	switch said := strings.Fields(name); {
	case len(said) == 2 && said[0] == "git":
		return missing(root, said[1]) && branchMissing(root, said[1])
	case len(said) == 2:
		return missing(root, said[1]) && !hasTarget(root, said[1])
	case len(said) == 3:
		return !hasScript(root, said[2])
	}
	first, rest, _ := strings.Cut(name, "/")
	if loose && !folderThere(root, filepath.Dir(name)) || !folderThere(root, first) {
		return false
	}
	return missing(root, name) && (first != filepath.Base(root.Name()) || missing(root, rest))
}

// missing reports whether there is surely nothing at a path. A path behind a link that leaves the folder is not looked at.
func missing(root *os.Root, p string) bool {
	_, err := root.Stat(filepath.FromSlash(p))
	return errors.Is(err, fs.ErrNotExist)
}

// branchMissing reports whether the repository at the folder surely has no branch or tag of a name, of its own or of a remote.
func branchMissing(root *os.Root, name string) bool {
	packed := manifest(root, ".git/packed-refs")
	if !folderThere(root, ".git/refs/heads") || folderThere(root, ".git/reftable") || packed == "" && !missing(root, ".git/packed-refs") {
		return false // nobody knows
	}
	remotes, err := fs.Glob(root.FS(), ".git/refs/remotes/*/"+name)
	return err == nil && len(remotes) == 0 && missing(root, ".git/refs/heads/"+name) && missing(root, ".git/refs/tags/"+name) &&
		!strings.Contains(packed+"\n", "/"+name+"\n")
}

func folderThere(root *os.Root, p string) bool {
	info, err := root.Stat(filepath.FromSlash(p))
	return err == nil && info.IsDir()
}

// manifest reads a file of the folder, if it is a small regular one.
func manifest(root *os.Root, p string) string {
	info, err := root.Stat(p)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return ""
	}
	text, _ := root.ReadFile(p)
	return string(text)
}

var (
	ruleLine = lazyregexp.New(`(?m)^([^\s#:=][^:=#\n]*?)\s*:(?:[^=]|$)`)
	includes = lazyregexp.New(`(?m)^-?include `)
)

// hasTarget reports whether the folder's makefile may make a target. One that includes others may make anything.
func hasTarget(root *os.Root, name string) bool {
	text := manifest(root, "GNUmakefile") + "\n" + manifest(root, "makefile") + "\n" + manifest(root, "Makefile")
	if strings.TrimSpace(text) == "" || includes.MatchString(text) {
		return true // nobody knows
	}
	for _, m := range ruleLine.FindAllStringSubmatch(text, -1) {
		for rule := range strings.FieldsSeq(m[1]) {
			if made, _ := path.Match(strings.ReplaceAll(rule, "%", "*"), name); made || strings.Contains(rule, "$") {
				return true
			}
		}
	}
	return false
}

// hasScript reports whether the folder's package.json may have a script. A workspace's packages may have more.
func hasScript(root *os.Root, name string) bool {
	text := manifest(root, "package.json")
	var m struct{ Scripts map[string]any }
	if strings.Contains(text, `"workspaces"`) || !missing(root, "pnpm-workspace.yaml") || json.Unmarshal([]byte(text), &m) != nil {
		return true
	}
	_, has := m.Scripts[name]
	return has
}

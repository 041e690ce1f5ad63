// Package worktree tells whether what a text names of a working tree is still there: files, targets of makefiles, scripts
// and dependencies of manifests. It looks below one folder, follows no link out of it, changes nothing, and
// would rather say nothing than mark what is there.
package worktree

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Bounds of one look, so that an agent that begins does not wait for a large tree.
const (
	// lookTime bounds a look; what is not known by then is not marked.
	lookTime = 15 * time.Millisecond
	// waitTime is when a look that hangs, such as on a network's drive, is waited for no longer.
	waitTime = 20 * time.Millisecond
	// maxLooks bounds the looks at once: beyond it nothing is marked.
	maxLooks = 8
	// MaxTexts is how many texts one look reads, and maxText how much of each, in bytes.
	MaxTexts = 64
	maxText  = 4 << 10
	// maxNames is how many things of one text are looked for, and maxGone how many are told of.
	maxNames = 16
	maxGone  = 3
	// maxEntries is how many names of files and folders one look reads of the tree. A tree with more
	// is not known completely.
	maxEntries = 8192
	// maxManifests is how many manifests and makefiles are read, and maxManifest how much of each, in bytes.
	maxManifests = 24
	maxManifest  = 128 << 10
)

// Text is a text that may name things of the tree.
type Text struct {
	Text string
	// Loose says that nobody knows whether the text is of this tree: only what is missing beside its like is marked.
	Loose bool
	// Command says that the text is a command, of which only what it runs counts.
	Command bool
}

var looks = make(chan struct{}, maxLooks)

// Gone says of each text what it names of the tree that is no longer there, at most maxGone things. A folder that cannot be
// looked into, or not in time, gives nothing.
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
	found := make(chan [][]string, 1) // who is not waited for any more can still answer and end
	go func() {
		defer func() { <-looks }()
		found <- look(folder, texts, time.Now().Add(lookTime))
	}()
	late := time.NewTimer(waitTime)
	defer late.Stop()
	select {
	case all := <-found:
		return all
	case <-late.C:
	case <-ctx.Done():
	}
	return none
}

// look looks until a time.
func look(folder string, texts []Text, until time.Time) [][]string {
	all := make([][]string, len(texts))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return all
	}
	defer func() { _ = root.Close() }()
	t := &tree{root: root, until: until}
	for i, text := range texts[:min(len(texts), MaxTexts)] {
		for _, name := range namesIn(text) {
			if t.late() {
				return all
			}
			if len(all[i]) < maxGone && t.gone(name, text.Loose) {
				all[i] = append(all[i], name.shown())
			}
		}
	}
	return all
}

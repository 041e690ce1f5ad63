package lease

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Bounds of what an agent may hold for itself alone.
const (
	freeFiles = 20 // so many files of a project are nobody's business
	freeShare = 5  // and one part in so many
	// vagueLetters is how many letters or digits a pattern that names no folder must have to say which files it means, where
	// the project's files are not known, and leastLetters where they are: the caller chose the folder that is looked into.
	vagueLetters = 6
	leastLetters = 2
)

// checkExtent refuses an exclusive lease that keeps everybody else from a large part of the project: that is a captain's. The folder
// of a caller on this machine is looked into; where there is none it goes by the patterns.
func (l *Leases) checkExtent(globs []Glob, folder string, near bool) error {
	if slices.ContainsFunc(globs, Glob.Everything) {
		return errs.Errorf(errs.Forbidden, "an exclusive lease on every file is a captain's: name the files, or take it shared")
	}
	var files []string
	if near && folder != "" && l.files != nil {
		files = l.files(folder)
	}
	letters := vagueLetters
	if len(files) > freeFiles {
		letters = leastLetters
	}
	for _, g := range globs {
		if g.vague(letters) {
			return errs.Errorf(errs.Forbidden, "%q stands for files everywhere, and an exclusive lease on a large part of a project is a captain's: name a folder or the files, or take it shared", safetext.Visible(g.text))
		}
	}
	covered := 0
	for _, file := range files {
		path, ok := Path(file, false)
		if ok && slices.ContainsFunc(globs, path.Overlaps) {
			covered++
		}
	}
	if covered > freeFiles && covered*freeShare > len(files) {
		return errs.Errorf(errs.Forbidden, "these patterns stand for %d of the project's %d files, and an exclusive lease on more than a fifth is a captain's: name fewer, or take it shared", covered, len(files))
	}
	return nil
}

// vague tells whether one of the pattern's alternatives names no folder, and has fewer letters and digits than so many.
func (g Glob) vague(letters int) bool {
	return slices.ContainsFunc(g.alts, func(a alternative) bool {
		found := 0
		for _, s := range a {
			if s.literal != "" {
				return false
			}
			for _, t := range s.tokens {
				if strings.ContainsFunc(t.literal, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
					found++
				}
			}
		}
		return found < letters
	})
}

package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxLeaseFiles bounds the files of a project that are counted when a lease is taken; of a larger one the first are looked at.
const maxLeaseFiles = 10_000

// notOwn are folders whose files no agent of a project writes.
var notOwn = []string{".git", ".hg", ".svn", "node_modules", "vendor", ".venv", "venv", "__pycache__", "target", "dist", "build", ".cache"}

// projectFiles lists the regular files of a working folder, relative to it, without what is not the project's own; nil: it cannot be read.
func projectFiles(folder string) (files []string) {
	if !filepath.IsAbs(folder) {
		return nil
	}
	_ = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir
		case err != nil || len(files) >= maxLeaseFiles:
			return fs.SkipAll
		case entry.IsDir() && slices.Contains(notOwn, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return files
}

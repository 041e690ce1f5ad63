package respond

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"skillrouter"
)

// maxBranch bounds the file that names the branch, in bytes.
const maxBranch = 4 << 10

// ProjectOf names the project that a folder belongs to after the folder that
// holds the repository, or itself if there is none.
func ProjectOf(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	name := filepath.Base(dir)
	if root := RepositoryOf(dir); root != "" {
		name = filepath.Base(root)
	}
	if name == string(filepath.Separator) || skillrouter.CheckName("project", name) != nil {
		return ""
	}
	return name
}

// RepositoryOf is the folder at or above dir that holds .git, or empty.
func RepositoryOf(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// BranchWords are the words of the branch's name in the repository at dir: what
// a session is likely to be about. It reads one small file and runs no git.
func BranchWords(dir string) string {
	root := ""
	if filepath.IsAbs(dir) {
		root = RepositoryOf(dir)
	}
	if root == "" {
		return ""
	}
	file, _, err := OpenRegular(filepath.Join(root, ".git", "HEAD"))
	if err != nil {
		return "" // a worktree's .git is a file
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBranch))
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if !ok || branch == "main" || branch == "master" {
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

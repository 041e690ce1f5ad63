package locate

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/file"
)

// maxGitFile bounds each file of git's that is read, in bytes: one names a
// folder or a branch, the longest is a repository's configuration.
const maxGitFile = 64 << 10

// Checkout is a working folder of a git repository: its first one, or one that
// `git worktree add` made. It is read from git's own files; no git is run.
type Checkout struct {
	Root   string // the working folder, which holds .git
	dir    string // git's folder of this working folder
	common string // git's folder of the repository, the same for all its working folders
}

// RepositoryOf is the root of the working folder that dir belongs to (see TreeOf), or empty.
func RepositoryOf(dir string) string {
	c, _ := TreeOf(dir)
	return c.Root
}

// TreeOf is the working folder that dir belongs to; ok is false if there is none. A submodule is a folder of the one around it,
// so that it knows what is known there.
func TreeOf(dir string) (c Checkout, ok bool) {
	c, ok = CheckoutOf(dir)
	for ok && c.submodule() {
		around, inside := CheckoutOf(filepath.Dir(c.Root))
		if !inside {
			break
		}
		c = around
	}
	return c, ok
}

// submodule tells whether git keeps the folder's data in those of another repository.
func (c Checkout) submodule() bool {
	return c.common == c.dir && c.dir != filepath.Join(c.Root, ".git") && strings.Contains(filepath.ToSlash(c.dir), "/modules/")
}

// CheckoutOf is the working folder, a submodule's too, that holds dir; ok is false if there is none.
func CheckoutOf(dir string) (c Checkout, ok bool) {
	if !filepath.IsAbs(dir) {
		return c, false
	}
	for c.Root = filepath.Clean(dir); ; c.Root = filepath.Dir(c.Root) {
		if _, err := os.Lstat(filepath.Join(c.Root, ".git")); err == nil {
			break
		}
		if c.Root == filepath.Dir(c.Root) {
			return Checkout{}, false
		}
	}
	c.dir = filepath.Join(c.Root, ".git")
	// In a worktree and in a submodule, .git is a file that names the folder.
	if named, isFile := strings.CutPrefix(readSmall(c.dir), "gitdir:"); isFile {
		c.dir = beneath(c.Root, strings.TrimSpace(named))
	}
	c.common = c.dir
	if named := strings.TrimSpace(readSmall(filepath.Join(c.dir, "commondir"))); named != "" {
		c.common = beneath(c.dir, named)
	}
	return c, true
}

// Exclude is git's own list of files that it passes over in this clone and its worktrees; it is no part of the repository.
func (c Checkout) Exclude() string { return filepath.Join(c.common, "info", "exclude") }

// Main is the repository's folder, the same for all its working folders: the
// first working folder, the folder itself of a bare repository, and a
// submodule's own.
func (c Checkout) Main() string {
	switch {
	case strings.HasPrefix(filepath.Base(c.common), "."): // .git, or a bare clone such as .bare with its worktrees beside it
		return filepath.Dir(c.common)
	case c.common == c.dir: // it lies elsewhere, as a submodule's does inside of another repository's
		return c.Root
	}
	return c.common
}

// made is when git made the repository, in nanoseconds: a file tells it that nobody changes, and that keeps its time where the
// repository is moved. 0: there is none.
func (c Checkout) made() int64 {
	info, err := os.Stat(filepath.Join(c.common, "description"))
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// Branch is the name of the branch that is checked out; empty if there is none.
func (c Checkout) Branch() string {
	if c.dir == "" {
		return ""
	}
	branch, named := strings.CutPrefix(strings.TrimSpace(readSmall(filepath.Join(c.dir, "HEAD"))), "ref: refs/heads/")
	if !named || strings.HasPrefix(branch, ".") {
		return "" // a commit's hash, or git keeps its branches in tables
	}
	return branch
}

// usual tells whether a branch is the one that others come from: what is written there holds on all.
func (c Checkout) usual(branch string) bool {
	origin := strings.TrimSpace(readSmall(filepath.Join(c.common, "refs", "remotes", "origin", "HEAD")))
	return branch == "main" || branch == "master" || origin == "ref: refs/remotes/origin/"+branch
}

// Within is where dir is in its repository: the folder below the root, with slashes, empty at the root, and the branch, empty on the
// usual one. Outside of any both are empty, and so is a name that is too long or no text.
func Within(dir string) (folder, branch string) {
	c, ok := TreeOf(dir)
	if !ok {
		return "", ""
	}
	if folder, _ = filepath.Rel(c.Root, dir); folder == "." || check.Text("folder", folder, check.MaxPlace) != nil {
		folder = ""
	}
	if branch = c.Branch(); c.usual(branch) || check.Text("branch", branch, check.MaxPlace) != nil {
		branch = ""
	}
	return filepath.ToSlash(folder), branch
}

// Origin is the address of the repository that this one was cloned from, without
// protocol, user and password, so that the ways to write it are one; empty if there is none.
func (c Checkout) Origin() string {
	inside := false
	for line := range strings.Lines(readSmall(filepath.Join(c.common, "config"))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == `[remote "origin"]`
		}
		if name, value, ok := strings.Cut(line, "="); ok && inside && strings.TrimSpace(name) == "url" {
			return plainOrigin(strings.TrimSpace(value))
		}
	}
	return ""
}

// plainOrigin makes https://user:secret@host/a/b.git and git@host:a/b both host/a/b.
func plainOrigin(address string) string {
	_, rest, hasScheme := strings.Cut(address, "://")
	if !hasScheme {
		rest = address
		if host, path, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") && len(host) > 1 {
			rest = host + "/" + strings.TrimPrefix(path, "/") // git@host:a/b; one letter is a drive
		}
	}
	if host, path, ok := strings.Cut(rest, "/"); ok && !filepath.IsAbs(rest) {
		rest = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]) + "/" + path
	}
	if filepath.IsAbs(rest) {
		rest = filepath.Clean(rest) // git keeps /home/you/shop/. as it was typed
	}
	return strings.TrimSuffix(strings.TrimSuffix(rest, "/"), ".git")
}

func beneath(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// readSmall is a regular file's text, of a longer one its beginning; what cannot be read names nothing.
func readSmall(name string) string {
	text, _ := file.ReadSmall(name, maxGitFile)
	return string(text)
}

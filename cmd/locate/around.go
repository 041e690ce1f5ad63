package locate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Around says where an action is done: what the router cannot look up itself, because it may run on another machine.
// Its members are those of rule.Place; its paths are absolute, with slashes, and lead through no symbolic link.
type Around struct {
	Dir   string            `json:"dir,omitempty"`
	Home  string            `json:"home,omitempty"`
	Roots []Root            `json:"roots,omitempty"`
	Links map[string]string `json:"links,omitempty"`
}

// Root is a working folder of a repository, and the names of its project.
type Root struct {
	Path     string   `json:"path"`
	Projects []string `json:"projects"`
}

// Bounds of what is looked up for one action. What is beyond them is taken as it is written.
const (
	maxWords = 256
	maxRoots = 16
	maxNamed = 16 // folders with a ProjectFile, from a file up to its repository's root
	maxHops  = 16 // symbolic links to what is not there yet
)

// Around looks up an action that is done in dir and names words, which may be paths.
func (p Place) Around(dir string, words []string) Around {
	if !filepath.IsAbs(dir) {
		return Around{}
	}
	here := Real(dir)
	a := Around{Dir: filepath.ToSlash(here), Links: map[string]string{}}
	home, _ := os.UserHomeDir()
	a.Home = filepath.ToSlash(home)
	a.root(p, here, true)
	for i, word := range words {
		if i == maxWords {
			break
		}
		if rest, ok := strings.CutPrefix(word, "~/"); ok && home != "" {
			word = filepath.Join(home, rest)
		}
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsRune(word, 0) {
			continue
		}
		full := filepath.Clean(word)
		if !filepath.IsAbs(word) {
			full = filepath.Join(here, word)
		}
		real := Real(full)
		if real != full {
			a.Links[filepath.ToSlash(full)] = filepath.ToSlash(real)
		}
		a.root(p, real, false)
	}
	return a
}

// root adds the working folder that a file lies in. Outside of any repository, that is the folder of an action.
func (a *Around) root(p Place, file string, folder bool) {
	if len(a.Roots) == maxRoots {
		return
	}
	for i := range a.Roots {
		if below(a.Roots[i].Path, filepath.ToSlash(file)) && !between(file, a.Roots[i].Path, ".git") && !between(file, a.Roots[i].Path, ProjectFile) {
			return
		}
	}
	root, projects := p.RepositoryOf(file)
	if root == "" && folder {
		if project := p.WorkProject(file); project != "" {
			root, projects = file, []string{project}
		}
	}
	if root == "" {
		return
	}
	root = filepath.ToSlash(root)
	for i := range a.Roots {
		if a.Roots[i].Path == root { // a folder below has a name of its own
			for _, project := range projects {
				if !slices.Contains(a.Roots[i].Projects, project) {
					a.Roots[i].Projects = append(a.Roots[i].Projects, project)
				}
			}
			return
		}
	}
	a.Roots = append(a.Roots, Root{root, projects})
}

// below tells whether a path is root or lies below it.
func below(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// between tells whether one of the folders from a file up to root, which is left out, has an entry of a name.
func between(file, root, name string) bool {
	for at := filepath.Clean(file); filepath.ToSlash(at) != root && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
			return true
		}
	}
	return false
}

// RepositoryOf is the working folder that a file lies in, and all names that its project may go by: that of the
// repository, and those that its folders are given by a ProjectFile, so that whoever calls the files by one of them is
// heard of. Outside of any repository both are empty.
func (p Place) RepositoryOf(file string) (root string, projects []string) {
	checkout, ok := TreeOf(file)
	if !ok {
		return "", nil
	}
	add := func(name string) {
		if name != "" && !slices.Contains(projects, name) && len(projects) < maxNamed {
			projects = append(projects, name)
		}
	}
	add(usable(p.Env("SKILLROUTER_PROJECT")))
	for at := filepath.Clean(file); ; at = filepath.Dir(at) {
		add(projectInFile(at, at))
		if at == checkout.Root || at == filepath.Dir(at) {
			break
		}
	}
	add(checkout.project())
	return checkout.Root, projects
}

// Real is a path without symbolic links, as far as it exists: what would be written there lies there.
func Real(path string) string {
	path = filepath.Clean(path)
	for range maxHops {
		rest := ""
		for at := path; ; at = filepath.Dir(at) {
			if real, err := filepath.EvalSymlinks(at); err == nil {
				return filepath.Join(real, rest)
			}
			if to, err := os.Readlink(at); err == nil { // to what is not there yet
				if !filepath.IsAbs(to) {
					to = filepath.Join(filepath.Dir(at), to)
				}
				path = filepath.Join(to, rest)
				break
			}
			if at == filepath.Dir(at) {
				return path
			}
			rest = filepath.Join(filepath.Base(at), rest)
		}
	}
	return path
}

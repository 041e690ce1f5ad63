package rule

import (
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// Place says where an action is done, for whoever cannot look at the disk of the agent's machine. Its paths are
// absolute, with slashes.
type Place struct {
	Dir   string            `json:"dir,omitempty"` // the working folder
	Home  string            `json:"home,omitempty"`
	Roots []Root            `json:"roots,omitempty"` // the repositories' working folders that the action's paths lie in
	Links map[string]string `json:"links,omitempty"` // of a path that leads through a symbolic link: where it leads to
}

// Root is a working folder of a repository.
type Root struct {
	Path     string   `json:"path"`
	Projects []string `json:"projects"` // the names that it goes by
}

// Bounds of a Place. What is beyond them is not looked at.
const (
	maxRoots   = 16
	maxLinks   = 256
	maxChanges = 256 // files that one action changes
)

// Change is a file that an action changes, or removes.
type Change struct {
	Path      string // as the action has it, in its one spelling
	Recursive bool   // with all that lies below it
	Pattern   bool   // it is a pattern of doublestar's form
}

// File is a changed file of a repository.
type File struct {
	Folder    string   `json:"folder,omitempty"` // the working folder of the repository
	Projects  []string `json:"projects"`         // the names that it goes by
	Path      string   `json:"path"`             // relative to Folder
	Recursive bool     `json:"recursive,omitempty"`
	Pattern   bool     `json:"pattern,omitempty"`
}

// changesOf are the files that what was followed would change. What only running it would tell is not among them.
func changesOf(read []*act.Shell) (changes []Change) {
	for _, s := range read {
		if s.Broken || s.Refused {
			continue
		}
		for _, a := range s.Acts {
			if a.Prepared || len(a.Where) > 0 { // it is not done now, or not here
				continue
			}
			for _, e := range a.Effects {
				if e.Kind != act.EffectWrite && e.Kind != act.EffectDelete || e.Path == "" || strings.ContainsRune(e.Path, act.Unknown) || len(changes) == maxChanges {
					continue
				}
				c := Change{Path: e.Path, Recursive: e.Recursive}
				if c.Pattern = act.Patterned(e.Path); c.Pattern {
					c.Path = act.Doublestar(e.Path)
					if c.Recursive {
						c.Path += "/"
					}
				}
				if !slices.Contains(changes, c) {
					changes = append(changes, c)
				}
			}
		}
	}
	return changes
}

// Files are the changed files that lie in repositories. Without any root known they lie in project, if they are relative.
func (p Place) Files(project string, changes []Change) (files []File) {
	if len(changes) == 0 || len(p.Roots) > maxRoots || len(p.Links) > maxLinks {
		return nil
	}
	for _, c := range changes {
		full := p.absolute(c.Path)
		full = p.linked(full)
		f := File{Recursive: c.Recursive, Pattern: c.Pattern}
		root := p.rootOf(full)
		switch {
		case root != nil:
			f.Folder, f.Projects, f.Path = root.Path, root.Projects, relative(root.Path, full)
		case len(p.Roots) == 0 && p.Dir == "" && project != "" && !strings.HasPrefix(full, "/") && !strings.HasPrefix(full, "~") && !strings.HasPrefix(full, ".."):
			f.Path = full
		default:
			continue
		}
		if project != "" && !slices.Contains(f.Projects, project) {
			f.Projects = append(slices.Clone(f.Projects), project)
		}
		if f.Path == "" { // the working folder itself
			f.Path, f.Recursive, f.Pattern = "**", false, true
			if !c.Recursive {
				continue
			}
		}
		files = append(files, f)
	}
	return files
}

// absolute is a path of an action from the root of the file system, as far as that is known.
func (p Place) absolute(name string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		if p.Home == "" {
			return name
		}
		return path.Clean(p.Home + name[1:])
	case strings.HasPrefix(name, "/") || p.Dir == "" || drive(name):
		return clean(name)
	}
	return clean(p.Dir + "/" + name)
}

// clean is path.Clean, which keeps the slash that ends a pattern.
func clean(name string) string {
	cleaned := path.Clean(name)
	if strings.HasSuffix(name, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}

// linked is where a path leads to, by the longest of its beginnings that is known to be a link.
func (p Place) linked(full string) string {
	if len(p.Links) == 0 {
		return full
	}
	for at := strings.TrimSuffix(full, "/"); at != "/" && at != "." && at != ""; at = path.Dir(at) {
		if to, ok := p.Links[at]; ok {
			return path.Clean(to) + full[len(at):]
		}
	}
	return full
}

// drive tells whether a path begins with a drive of Windows.
func drive(name string) bool { return len(name) > 2 && name[1] == ':' && name[2] == '/' }

// rootOf is the innermost root that a path lies in.
func (p Place) rootOf(full string) (root *Root) {
	for i := range p.Roots {
		at := &p.Roots[i]
		if (full == at.Path || strings.HasPrefix(full, strings.TrimSuffix(at.Path, "/")+"/")) && (root == nil || len(at.Path) > len(root.Path)) {
			root = at
		}
	}
	return root
}

func relative(root, full string) string {
	return strings.TrimPrefix(strings.TrimPrefix(full, strings.TrimSuffix(root, "/")), "/")
}

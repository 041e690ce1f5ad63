package incident

import (
	"slices"
	"strings"
)

// takenBack finds the command that the one at j undid, the nearest before it: a commit that was reset, a file that was
// deleted and restored, a package that was installed and removed. Both went through.
func (o *observed) takenBack(j int) (f failure, found bool) {
	if o.steps[j].Outcome != Worked {
		return f, false
	}
	back := slices.DeleteFunc(slices.Clone(o.view(j).list), func(c simple) bool { return !undoer(programWords(c.words)) })
	for i := j - 1; i >= max(0, j-Window) && len(back) > 0; i-- {
		if o.steps[i].Outcome != Worked {
			continue
		}
		for _, later := range back {
			for _, earlier := range o.view(i).list {
				if undoes(programWords(later.words), programWords(earlier.words)) {
					program, by := programOf(earlier), programOf(later)
					return failure{program: program, line: program + " was undone by " + by, err: "undone by " + by, class: undone, command: o.steps[i].Command}, true
				}
			}
		}
	}
	return failure{}, false
}

// undoer tells whether a simple command may take back what another did: most do not.
func undoer(words []string) bool {
	if len(words) < 2 {
		return false
	}
	switch words[1] {
	case "revert", "reset", "restore", "checkout":
		return words[0] == "git"
	case "uninstall", "remove":
		return true
	}
	return words[0] == "mv"
}

// undoes tells whether a simple command takes back what another did.
func undoes(later, earlier []string) bool {
	if len(later) < 2 || len(earlier) < 2 {
		return false
	}
	same := func() bool { return overlap(operands(later), operands(earlier)) }
	committed, deleted := earlier[0] == "git" && earlier[1] == "commit", earlier[0] == "rm" || earlier[0] == "git" && earlier[1] == "rm"
	switch {
	case later[0] == "git" && later[1] == "revert":
		return committed
	case later[0] == "git" && later[1] == "reset":
		return committed && slices.ContainsFunc(later, func(word string) bool { return strings.HasPrefix(word, "HEAD~") || strings.HasPrefix(word, "HEAD^") })
	case later[0] == "git" && (later[1] == "restore" || later[1] == "checkout"):
		return deleted && same()
	case later[0] == "mv" && earlier[0] == "mv":
		there, back := operands(earlier), operands(later)
		return len(there) == 2 && len(back) == 2 && there[0] == back[1] && there[1] == back[0]
	case later[1] == "uninstall" || later[1] == "remove":
		return later[0] == earlier[0] && (earlier[1] == "install" || earlier[1] == "add") && same()
	}
	return false
}

// operands are the words of a command that name what it is done to.
func operands(words []string) (list []string) {
	for i, word := range words {
		if i > 0 && !strings.HasPrefix(word, "-") && !slices.Contains([]string{"rm", "restore", "checkout", "install", "add", "uninstall", "remove", "HEAD", "."}, word) {
			list = append(list, word)
		}
	}
	return list
}

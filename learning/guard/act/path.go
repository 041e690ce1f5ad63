package act

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Inside the guard a word of a command keeps, as characters of a private use
// area, what quoting would have lost: which characters still are a pattern,
// and which part could not be known without running something.
const (
	AnyText = '\uE000' // an active *
	anyRune = '\uE001' // an active ?
	set     = '\uE002' // an active [
	Unknown = '\uE003' // text that only running the command would tell
)

// private replaces the private characters when they come from outside.
var private = strings.NewReplacer("\uE000", "?", "\uE001", "?", "\uE002", "?", "\uE003", "?", "\x00", " ")

// Spelling writes a word as a person would.
var Spelling = strings.NewReplacer("\uE000", "*", "\uE001", "?", "\uE002", "[", "\uE003", "…")

// patterns writes active pattern characters as a script would.
var patterns = strings.NewReplacer("\uE000", "*", "\uE001", "?", "\uE002", "[")

// Patterned reports whether the word holds an active pattern.
func Patterned(word string) bool {
	if strings.IndexByte(word, "\uE000"[0]) < 0 {
		return false // no character of that area at all
	}
	return strings.ContainsRune(word, AnyText) || strings.ContainsRune(word, anyRune) || strings.ContainsRune(word, set)
}

// Clean gives a path its one spelling: no doubled or trailing slashes, no
// "." and "..", and the home directory as "~". Relative paths are taken from
// dir, which is empty when it is not known.
func Clean(dir, p string) string {
	if p == "" {
		return ""
	}
	p = strings.TrimPrefix(p, "file://")
	for _, known := range [][2]string{{"${HOME}", "~"}, {"$HOME", "~"}, {"${PWD}", "."}, {"$PWD", "."}} {
		if within(p, known[0]) {
			p = known[1] + p[len(known[0]):]
		}
	}
	if dir != "" && !rooted(p) {
		p = dir + "/" + p
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok && strings.Contains(rest, "..") {
		// What lies above a home: /home, where most of them are.
		if p = path.Clean("/home/~/" + rest); within(p, "/home/~") {
			p = "~" + strings.TrimPrefix(p, "/home/~")
		}
	}
	p = path.Clean(p)
	// The process's own root is another name of the root.
	for _, alias := range []string{"/proc/self/root", "/proc/1/root"} {
		if within(p, alias) {
			p = path.Clean("/" + p[len(alias):])
		}
	}
	return p
}

// rooted reports whether where p points does not depend on the working directory.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "$") || strings.HasPrefix(p, string(Unknown))
}

// relation says how the path of an action lies to the path of a rule.
type relation uint8

const (
	apart   relation = iota
	Perhaps          // the end of the rule's path, from a working directory that is not known
	Above            // a directory that holds the rule's path
	Inside           // something below the rule's path
	Same
)

// Relate compares two cleaned paths.
func Relate(rule, action string) relation {
	rule, action = homes(rule, action)
	r, a := Parts(rule), Parts(action)
	switch ruleRooted, actionRooted := rooted(rule), rooted(action); {
	case ruleRooted == actionRooted && ruleRooted:
		return along(r, a)
	case !ruleRooted:
		// A rule on a relative path means that name wherever it lies.
		for len(r) > 0 && r[0] == ".." {
			r = r[1:]
		}
		if len(r) == 0 {
			return apart
		}
		for i := range a {
			if a[i] == string(AnyText) {
				continue // everything of some directory is not this name
			}
			if rel := along(r, a[i:]); rel == Same || rel == Inside {
				return rel
			}
		}
		if !actionRooted && len(a) > 0 && a[0] != string(AnyText) {
			return along(r, a)
		}
		return apart
	default:
		for len(a) > 0 && a[0] == ".." {
			a = a[1:]
		}
		// One name alone is too common to say that it is this one.
		for i := 1; i < len(r) && len(a) > 1; i++ {
			if rel := along(r[i:], a); rel == Same || rel == Inside {
				return Perhaps
			}
		}
		return apart
	}
}

// along compares component by component.
func along(r, a []string) relation {
	n := min(len(r), len(a))
	for i := range n {
		if !NameFits(a[i], r[i]) && !NameFits(r[i], a[i]) {
			return apart
		}
	}
	switch {
	case len(a) > len(r):
		return Inside
	case len(a) < len(r):
		return Above
	default:
		return Same
	}
}

// homes brings two paths to one spelling of the home directory, when
// one of them names it as ~ and the other in full.
func homes(rule, action string) (string, string) {
	tilde := func(p string) bool { return p == "~" || strings.HasPrefix(p, "~/") }
	if tilde(rule) == tilde(action) {
		return rule, action
	}
	fold := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/root"); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
		for _, homes := range []string{"/home/", "/Users/"} {
			if rest, ok := strings.CutPrefix(p, homes); ok {
				_, below, found := strings.Cut(rest, "/")
				if found {
					return "~/" + below
				}
				return "~"
			}
		}
		return p
	}
	if tilde(rule) {
		if action == "/" || action == "/home" {
			return "/home/~" + rule[1:], action
		}
		return rule, fold(action)
	}
	return fold(rule), action
}

func Parts(p string) []string {
	if p == "/" || p == "." || p == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(p, "/"), "/")
}

// NameFits reports whether the name fits the shell pattern. Only active
// pattern characters count, and a * stands for slashes too. It is linear in len(pattern)·len(name).
func NameFits(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if !Patterned(pattern) {
		return false
	}
	ok, err := doublestar.Match(Doublestar(slashless.Replace(pattern)), slashless.Replace(name))
	return ok && err == nil
}

// slashless writes slashes as a sign that no text from outside holds.
var slashless = strings.NewReplacer("/", "\x00")

// Doublestar writes a path with active pattern characters as a pattern in which only those are active.
func Doublestar(p string) string {
	var b strings.Builder
	open := false // within an active class
	for i, r := range p {
		switch rest := p[i+utf8.RuneLen(r):]; {
		case r == AnyText:
			b.WriteByte('*')
		case r == anyRune:
			b.WriteByte('?')
		case r == set && len(rest) > 1 && strings.IndexByte(rest[1:], ']') >= 0: // a bracket that stands first is one of the class
			b.WriteByte('[')
			open = true
		case r == set:
			b.WriteString(`\[`)
		case r == ']' && open && !strings.HasSuffix(b.String(), "["):
			b.WriteByte(']')
			open = false
		case open && strings.ContainsRune(`]\`, r), !open && strings.ContainsRune(`*?[]{}\`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

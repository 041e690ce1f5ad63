package learning

import (
	"path"
	"strings"
)

// Inside the guard a word of a command keeps, as characters of a private use
// area, what quoting would have lost: which characters still are a pattern,
// and which part could not be known without running something.
const (
	guardAnyText = '\uE000' // an active *
	guardAnyRune = '\uE001' // an active ?
	guardSet     = '\uE002' // an active [
	guardUnknown = '\uE003' // text that only running the command would tell
)

// guardPrivate replaces the private characters when they come from outside.
var guardPrivate = strings.NewReplacer("\uE000", "?", "\uE001", "?", "\uE002", "?", "\uE003", "?", "\x00", " ")

// guardSpelling writes a word as a person would.
var guardSpelling = strings.NewReplacer("\uE000", "*", "\uE001", "?", "\uE002", "[", "\uE003", "…")

// guardPatterns writes active pattern characters as a script would.
var guardPatterns = strings.NewReplacer("\uE000", "*", "\uE001", "?", "\uE002", "[")

// guardPatterned reports whether the word holds an active pattern.
func guardPatterned(word string) bool {
	if strings.IndexByte(word, "\uE000"[0]) < 0 {
		return false // no character of that area at all
	}
	return strings.ContainsRune(word, guardAnyText) || strings.ContainsRune(word, guardAnyRune) || strings.ContainsRune(word, guardSet)
}

// guardClean gives a path its one spelling: no doubled or trailing slashes, no
// "." and "..", and the home directory as "~". Relative paths are taken from
// dir, which is empty when it is not known.
func guardClean(dir, p string) string {
	if p == "" {
		return ""
	}
	p = strings.TrimPrefix(p, "file://")
	for _, home := range []string{"${HOME}", "$HOME"} {
		if rest, ok := strings.CutPrefix(p, home); ok && (rest == "" || rest[0] == '/') {
			p = "~" + rest
		}
	}
	for _, here := range []string{"${PWD}", "$PWD"} {
		if rest, ok := strings.CutPrefix(p, here); ok && (rest == "" || rest[0] == '/') {
			p = "." + rest
		}
	}
	if dir != "" && !guardRooted(p) {
		p = dir + "/" + p
	}
	p = path.Clean(p)
	// The process's own root is another name of the root.
	for _, alias := range []string{"/proc/self/root", "/proc/1/root"} {
		if rest, ok := strings.CutPrefix(p, alias); ok && (rest == "" || rest[0] == '/') {
			p = path.Clean("/" + rest)
		}
	}
	return p
}

// guardRooted reports whether where p points does not depend on the working directory.
func guardRooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "$") || strings.HasPrefix(p, string(guardUnknown))
}

// guardRelation says how the path of an action lies to the path of a rule.
type guardRelation uint8

const (
	guardApart   guardRelation = iota
	guardPerhaps               // the end of the rule's path, from a working directory that is not known
	guardAbove                 // a directory that holds the rule's path
	guardInside                // something below the rule's path
	guardSame
)

// guardRelate compares two cleaned paths.
func guardRelate(rule, action string) guardRelation {
	if rel, plain := guardRelatePlain(rule, action); plain {
		return rel
	}
	rule, action = guardHomes(rule, action)
	r, a := guardParts(rule), guardParts(action)
	switch ruleRooted, actionRooted := guardRooted(rule), guardRooted(action); {
	case ruleRooted == actionRooted && ruleRooted:
		return guardAlong(r, a)
	case !ruleRooted:
		// A rule on a relative path means that name wherever it lies.
		for len(r) > 0 && r[0] == ".." {
			r = r[1:]
		}
		if len(r) == 0 {
			return guardApart
		}
		for i := range a {
			if a[i] == string(guardAnyText) {
				continue // everything of some directory is not this name
			}
			if rel := guardAlong(r, a[i:]); rel == guardSame || rel == guardInside {
				return rel
			}
		}
		if !actionRooted && len(a) > 0 && a[0] != string(guardAnyText) {
			return guardAlong(r, a)
		}
		return guardApart
	default:
		for len(a) > 0 && a[0] == ".." {
			a = a[1:]
		}
		// One name alone is too common to say that it is this one.
		for i := 1; i < len(r) && len(a) > 1; i++ {
			if rel := guardAlong(r[i:], a); rel == guardSame || rel == guardInside {
				return guardPerhaps
			}
		}
		return guardApart
	}
}

// guardRelatePlain compares two absolute paths without patterns, which are most, without splitting them.
func guardRelatePlain(rule, action string) (rel guardRelation, plain bool) {
	if len(rule) < 2 || len(action) < 2 || rule[0] != '/' || action[0] != '/' || guardPatterned(rule) || guardPatterned(action) {
		return guardApart, false
	}
	switch {
	case rule == action:
		return guardSame, true
	case len(action) > len(rule) && action[len(rule)] == '/' && action[:len(rule)] == rule:
		return guardInside, true
	case len(rule) > len(action) && rule[len(action)] == '/' && rule[:len(action)] == action:
		return guardAbove, true
	}
	return guardApart, true
}

// guardAlong compares component by component.
func guardAlong(r, a []string) guardRelation {
	n := min(len(r), len(a))
	for i := range n {
		if !guardNameFits(a[i], r[i]) && !guardNameFits(r[i], a[i]) {
			return guardApart
		}
	}
	switch {
	case len(a) > len(r):
		return guardInside
	case len(a) < len(r):
		return guardAbove
	default:
		return guardSame
	}
}

// guardHomes brings two paths to one spelling of the home directory, when
// one of them names it as ~ and the other in full.
func guardHomes(rule, action string) (string, string) {
	tilde := func(p string) bool { return p == "~" || strings.HasPrefix(p, "~/") }
	if tilde(rule) == tilde(action) {
		return rule, action
	}
	fold := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/root"); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
		if rest, ok := strings.CutPrefix(p, "/home/"); ok {
			_, below, found := strings.Cut(rest, "/")
			if found {
				return "~/" + below
			}
			return "~"
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

func guardParts(p string) []string {
	if p == "/" || p == "." || p == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(p, "/"), "/")
}

// guardNameFits reports whether the name fits the shell pattern. Only active
// pattern characters count. It is linear in len(pattern)·len(name).
func guardNameFits(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if !guardPatterned(pattern) {
		return false
	}
	p, n := []rune(pattern), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		if i < len(p) {
			if p[i] == guardAnyText {
				star, mark = i, j
				i++
				continue
			}
			if width, ok := guardRuneFits(p[i:], n[j]); ok {
				i += width
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == guardAnyText {
		i++
	}
	return i == len(p)
}

// guardRuneFits matches one character; width is how much of the pattern it took.
func guardRuneFits(p []rune, r rune) (width int, ok bool) {
	switch p[0] {
	case guardAnyRune:
		return 1, true
	case guardSet:
		end := 2
		for end < len(p) && p[end] != ']' {
			end++
		}
		if end >= len(p) {
			return 1, r == '['
		}
		body, negated := p[1:end], false
		if len(body) > 0 && (body[0] == '!' || body[0] == '^') {
			body, negated = body[1:], true
		}
		in := false
		for k := 0; k < len(body); k++ {
			if k+2 < len(body) && body[k+1] == '-' {
				in = in || body[k] <= r && r <= body[k+2]
				k += 2
				continue
			}
			in = in || body[k] == r
		}
		return end + 1, in != negated
	default:
		return 1, p[0] == r
	}
}

package lease

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Bounds of a pattern. Comparing two takes at most the product of their lengths after the braces are
// expanded, so that these bound what one comparison costs: about a million steps, some milliseconds.
const (
	MaxPattern      = 512  // bytes
	maxExpanded     = 1024 // bytes of all alternatives of the braces together
	maxAlternatives = 64
	// maxPath bounds a path that is checked, in bytes: Linux's PATH_MAX.
	maxPath = 4096
)

// Glob is a pattern of paths as doublestar has them: * and ? within one element, ** for any number of
// elements, {a,b}, and \ before a character that means itself. Brackets are characters of names, as routes of
// web frameworks have them (src/[id]/page.tsx), unless classes are asked for: [a-z] and [!a-z]. So are braces
// without a comma. A pattern that ends in an element without wildcards, or in a slash, stands for that and for
// all that lies below it.
//
// Letters are compared without their case and in their composed form, on every system: a repository that is
// checked out on a Mac or on Windows holds one file of the name, whoever writes it.
type Glob struct {
	text  string
	start string // of whatever it stands for, folded: what does not begin so need not be compared
	alts  []alternative
}

// alternative is a pattern without braces, element by element.
type alternative []segment

// segment is one element of a pattern.
type segment struct {
	literal string // folded; empty: it has wildcards
	deep    bool   // **
	tokens  []token
}

// token stands for one character, or with star for any number.
type token struct {
	literal string // the character, folded; empty: it is a wildcard
	class   string // [a-z] as it was given; empty: any character
	star    bool
}

// either reads a pattern of which nobody says whether its brackets are classes: a shell takes them for one, and
// for themselves where no file has a name of the class.
func either(pattern string) (Glob, error) {
	g, err := Compile(pattern, false)
	if classes, wrong := Compile(pattern, true); err == nil && wrong == nil && strings.ContainsRune(pattern, '[') {
		g.alts = append(g.alts, classes.alts...)
	}
	return g.started(), err
}

// Compile reads a pattern, which is relative to the root of a repository.
func Compile(pattern string, classes bool) (Glob, error) {
	wrong := func(format string, args ...any) (Glob, error) {
		return Glob{}, errs.InvalidField("patterns", "%q "+format, append([]any{safetext.Visible(check.Head(pattern, 80))}, args...)...)
	}
	switch {
	case strings.TrimSpace(pattern) == "":
		return wrong("is empty")
	case len(pattern) > MaxPattern:
		return wrong("is longer than %d bytes", MaxPattern)
	case strings.ContainsRune(pattern, 0):
		return wrong("may not hold the character NUL")
	case strings.HasPrefix(pattern, "/"), len(pattern) > 1 && pattern[1] == ':' && asciiLetter(pattern[0]), strings.HasPrefix(pattern, "~"):
		return wrong("is no path in the repository: it must be relative to the repository's root")
	}
	whole := norm.NFC.String(strings.ToValidUTF8(pattern, "\ufffd"))
	if !classes {
		whole = bracketEscaper.Replace(whole)
	}
	texts, ok := expand(whole)
	if !ok {
		return wrong("has braces that do not match, or stands for too many patterns: %d at most, with %d characters", maxAlternatives, maxExpanded)
	}
	g := Glob{text: pattern}
	for _, text := range texts {
		alt, problem := compile(text)
		if problem != "" {
			return wrong("%s", problem)
		}
		g.alts = append(g.alts, alt)
	}
	return g.started(), nil
}

// started is the Glob with its start, which is that of its only alternative: its elements before the first with wildcards.
func (g Glob) started() Glob {
	if g.start = ""; len(g.alts) != 1 {
		return g
	}
	for i, s := range g.alts[0] {
		if s.literal == "" {
			break
		}
		if i > 0 {
			g.start += "/"
		}
		g.start += s.literal
	}
	return g
}

// bracketEscaper has brackets mean themselves, also those that do so already.
var bracketEscaper = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `\]`, `\]`, `[`, `\[`, `]`, `\]`)

// Path is the Glob of one path, relative to the root of a repository; with whole, of all that lies below it too.
// ok is false for a path that lies outside or is longer than any file's.
func Path(path string, whole bool) (g Glob, ok bool) {
	if path == "" || len(path) > maxPath || strings.HasPrefix(path, "/") {
		return Glob{}, false
	}
	var alt alternative
	for name := range strings.SplitSeq(folded(path), "/") {
		switch name {
		case "", ".":
		case "..":
			return Glob{}, false
		default:
			alt = append(alt, literally(name))
		}
	}
	if whole {
		alt = append(alt, segment{deep: true})
	}
	return Glob{text: path, alts: []alternative{alt}}.started(), len(alt) > 0
}

// String is the pattern as it was given.
func (g Glob) String() string { return g.text }

// Overlaps tells whether there is a path that both stand for. It is exact but for two classes, which are taken to have a
// character in common: it may say yes too often and never no.
func (g Glob) Overlaps(other Glob) bool {
	if n := min(len(g.start), len(other.start)); g.start[:n] != other.start[:n] {
		return false
	}
	return slices.ContainsFunc(g.alts, func(a alternative) bool { return slices.ContainsFunc(other.alts, a.overlaps) })
}

// Everything tells whether no character of the pattern, in one of its alternatives, says which files are
// meant: **, */*, ?*.
func (g Glob) Everything() bool {
	return slices.ContainsFunc(g.alts, func(a alternative) bool {
		return !slices.ContainsFunc(a, func(s segment) bool {
			return slices.ContainsFunc(s.tokens, func(t token) bool { return t.literal != "" })
		})
	})
}

func (a alternative) overlaps(b alternative) bool {
	return meet(len(a), len(b), func(i int) bool { return a[i].deep }, func(j int) bool { return b[j].deep },
		func(i, j int) bool { return a[i].overlaps(b[j]) })
}

func (s segment) overlaps(t segment) bool {
	if s.literal != "" && t.literal != "" {
		return s.literal == t.literal
	}
	a, b := s.tokens, t.tokens
	return meet(len(a), len(b), func(i int) bool { return a[i].star }, func(j int) bool { return b[j].star },
		func(i, j int) bool { return a[i].overlaps(b[j]) })
}

// overlaps tells whether two tokens for one character have one in common. A class is as it was given, so that a character fits
// that does so in either case.
func (t token) overlaps(u token) bool {
	switch {
	case t.literal != "" && u.literal != "":
		return t.literal == u.literal
	case t.literal != "":
		return u.overlaps(t)
	case t.class == "" || u.literal == "":
		return true
	}
	fits := func(char string) bool {
		ok, err := doublestar.Match(t.class, char)
		return ok || err != nil
	}
	return fits(u.literal) || fits(strings.ToUpper(u.literal))
}

// literally is a folded name as a segment.
func literally(name string) segment {
	s := segment{literal: name, tokens: make([]token, 0, len(name))}
	for _, r := range name {
		s.tokens = append(s.tokens, token{literal: string(r)})
	}
	return s
}

// meet tells whether two sequences have a word in common, where each element of one stands for exactly one
// element, unless it is a star, which stands for any number. Every element must stand for something.
// The table says whether what follows place i of the one and place j of the other can meet.
func meet(n, m int, starA, starB func(int) bool, same func(i, j int) bool) bool {
	from := 0 // what both begin and end with decides most, at no cost
	for ; from < n && from < m && !starA(from) && !starB(from); from++ {
		if !same(from, from) {
			return false
		}
	}
	for ; n > from && m > from && !starA(n-1) && !starB(m-1); n, m = n-1, m-1 {
		if !same(n-1, m-1) {
			return false
		}
	}
	var small [2][64]bool
	next, row := small[0][:], small[1][:] // of i+1, and of i
	if m >= len(row) {
		next, row = make([]bool, m+1), make([]bool, m+1)
	}
	for i := n; i >= from; i-- {
		for j := m; j >= from; j-- {
			switch {
			case i == n && j == m:
				row[j] = true
			case i < n && starA(i):
				row[j] = next[j] || j < m && row[j+1]
			case j < m && starB(j):
				row[j] = row[j+1] || i < n && next[j]
			default:
				row[j] = i < n && j < m && next[j+1] && same(i, j)
			}
		}
		next, row = row, next
	}
	return next[from]
}

// compile reads a pattern without braces.
func compile(text string) (alt alternative, problem string) {
	below := false // the last element has no wildcard, or is followed by a slash
	for name := range strings.SplitSeq(text, "/") {
		if below = name == "" || name == "."; below {
			continue
		}
		if name == ".." {
			return alt, "leaves the repository by \"..\""
		}
		seg, ok := compileSegment(name)
		if !ok {
			return alt, "ends in a backslash, or has a [ without its ], a class without a character, or a range that ends before it begins"
		}
		if below = seg.literal != ""; !seg.deep || len(alt) == 0 || !alt[len(alt)-1].deep {
			alt = append(alt, seg)
		}
	}
	if len(alt) == 0 || below && !alt[len(alt)-1].deep {
		alt = append(alt, segment{deep: true}) // "." is the repository
	}
	return alt, ""
}

// classRange is a range within a class.
var classRange = lazyregexp.New(`([^\[!^\\-])-([^\]])`)

// compileSegment reads one element; ok is false where it is none.
func compileSegment(name string) (seg segment, ok bool) {
	if name == "**" {
		return segment{deep: true}, true
	}
	if !doublestar.ValidatePattern(name) {
		return seg, false
	}
	wild, literal := false, ""
	for rest := name; rest != ""; {
		n := symbol(rest)
		one := rest[:n]
		rest = rest[n:]
		switch one[0] {
		case '*':
			wild = true
			if k := len(seg.tokens); k == 0 || !seg.tokens[k-1].star {
				seg.tokens = append(seg.tokens, token{star: true})
			}
		case '?':
			wild = true
			seg.tokens = append(seg.tokens, token{})
		case '[':
			wild = true
			seg.tokens = append(seg.tokens, token{class: one})
			for _, r := range classRange.Compiled().FindAllStringSubmatch(one, -1) {
				if r[1] > r[2] {
					return seg, false
				}
			}
		default:
			char := folded(strings.TrimPrefix(one, `\`))
			literal += char
			seg.tokens = append(seg.tokens, token{literal: char})
		}
	}
	if !wild {
		return literally(literal), true
	}
	return seg, true
}

// symbol is the length of what a pattern begins with: a character, with the backslash before it, or a class.
func symbol(pattern string) int {
	switch pattern[0] {
	case '\\':
		_, n := utf8.DecodeRuneInString(pattern[1:])
		return 1 + n
	case '[':
		for i := 1; i < len(pattern); i++ {
			switch pattern[i] {
			case '\\':
				i++
			case ']':
				return i + 1
			}
		}
	}
	_, n := utf8.DecodeRuneInString(pattern)
	return n
}

// expand writes out the braces of a pattern: a{b,c}d is abd and acd.
func expand(pattern string) (texts []string, ok bool) {
	depth, length := 0, 0
	var cuts []int // where the parts of the first braces begin
	for i := 0; i < len(pattern); i += symbol(pattern[i:]) {
		switch c := pattern[i]; {
		case c == '{':
			if depth++; depth == 1 {
				cuts = []int{i}
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth == 0:
			return nil, false
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			head, tail := pattern[:cuts[0]], pattern[i+1:]
			if len(cuts) == 1 { // {-$locale}: a name
				return expand(head + `\{` + pattern[cuts[0]+1:i] + `\}` + tail)
			}
			for k, to := range append(cuts[1:], i) {
				more, ok := expand(head + pattern[cuts[k]+1:to] + tail)
				for _, text := range more {
					length += len(text)
				}
				if texts = append(texts, more...); !ok || len(texts) > maxAlternatives || length > maxExpanded {
					return nil, false
				}
			}
			return texts, true
		}
	}
	return []string{pattern}, depth == 0
}

// folded writes a text in one case and one form.
func folded(text string) string {
	return strings.ToLower(strings.ToUpper(norm.NFC.String(strings.ToValidUTF8(text, "\ufffd"))))
}

func asciiLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

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

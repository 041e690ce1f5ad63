package lease

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/safetext"
)

// Bounds of a pattern. Comparing two takes at most the product of their lengths after the braces are
// expanded, so that these bound what one comparison costs: about a million steps, some milliseconds.
const (
	MaxPattern      = 512  // bytes
	maxExpanded     = 1024 // runes of all alternatives of the braces together
	maxAlternatives = 64
	// maxPath bounds a path that is checked, in bytes: Linux's PATH_MAX.
	maxPath = 4096
	// maxRange bounds the characters of one range of a class that are compared one by one.
	// A longer range stands for any character, so that an overlap is never missed.
	maxRange = 512
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
	text string
	alts []alternative
}

// alternative is a pattern without braces.
type alternative struct {
	segments []segment
	prefix   int // how many segments at the beginning are literal
}

// segment is one element of a pattern.
type segment struct {
	literal string // folded; empty: it has wildcards
	deep    bool   // **
	tokens  []token
}

type tokenKind uint8

const (
	one    tokenKind = iota // the character char
	any1                    // any character
	star                    // any number of characters
	among                   // one of set
	except                  // any but those of set
)

type token struct {
	kind tokenKind
	char rune
	set  []rune // folded and sorted
}

// either reads a pattern of which nobody says whether its brackets are classes: a shell takes them for one, and
// for themselves where no file has a name of the class.
func either(pattern string) (Glob, error) {
	g, err := Compile(pattern, false)
	if classes, wrong := Compile(pattern, true); err == nil && wrong == nil && strings.ContainsRune(pattern, '[') {
		g.alts = append(g.alts, classes.alts...)
	}
	return g, err
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
	return g, nil
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
	for name := range strings.SplitSeq(fold(norm.NFC.String(strings.ToValidUTF8(path, "\ufffd"))), "/") {
		switch name {
		case "", ".":
		case "..":
			return Glob{}, false
		default:
			alt.segments = append(alt.segments, literally(name))
		}
	}
	alt.prefix = len(alt.segments)
	if whole {
		alt.segments = append(alt.segments, segment{deep: true})
	}
	return Glob{text: path, alts: []alternative{alt}}, len(alt.segments) > 0
}

// String is the pattern as it was given.
func (g Glob) String() string { return g.text }

// Overlaps tells whether there is a path that both stand for. It is exact but for ranges longer than
// maxRange and characters that are left out by case, where it may say yes too often and never no.
func (g Glob) Overlaps(other Glob) bool {
	for _, a := range g.alts {
		for _, b := range other.alts {
			if a.overlaps(b) {
				return true
			}
		}
	}
	return false
}

// Everything tells whether no character of the pattern, in one of its alternatives, says which files are
// meant: **, */*, ?*.
func (g Glob) Everything() bool {
	return slices.ContainsFunc(g.alts, func(a alternative) bool {
		return !slices.ContainsFunc(a.segments, func(s segment) bool {
			return s.literal != "" || slices.ContainsFunc(s.tokens, func(t token) bool { return t.kind == one })
		})
	})
}

func (a alternative) overlaps(b alternative) bool {
	for i := range min(a.prefix, b.prefix) { // what most pairs differ in
		if a.segments[i].literal != b.segments[i].literal {
			return false
		}
	}
	return meet(len(a.segments), len(b.segments),
		func(i int) bool { return a.segments[i].deep }, func(j int) bool { return b.segments[j].deep },
		func(i, j int) bool { return a.segments[i].overlaps(b.segments[j]) })
}

func (s segment) overlaps(t segment) bool {
	if s.literal != "" && t.literal != "" {
		return s.literal == t.literal
	}
	a, b := s.tokens, t.tokens
	return meet(len(a), len(b),
		func(i int) bool { return a[i].kind == star }, func(j int) bool { return b[j].kind == star },
		func(i, j int) bool { return a[i].overlaps(b[j]) })
}

// literally is a folded name as a segment.
func literally(name string) segment {
	s := segment{literal: name, tokens: make([]token, 0, len(name))}
	for _, r := range name {
		s.tokens = append(s.tokens, token{kind: one, char: r})
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

func (t token) overlaps(u token) bool {
	if t.kind > u.kind {
		t, u = u, t
	}
	switch {
	case t.kind == any1 || u.kind == any1:
		return true
	case t.kind == one && u.kind == one:
		return t.char == u.char
	case t.kind == one:
		return u.has(t.char)
	case t.kind == among: // with among or except
		return slices.ContainsFunc(t.set, u.has)
	}
	return true // both leave out a few of all characters
}

// has tells whether a class holds a character.
func (t token) has(r rune) bool {
	_, found := slices.BinarySearch(t.set, r)
	return found == (t.kind == among)
}

// compile reads a pattern without braces.
func compile(text string) (alt alternative, problem string) {
	below := false // the last element has no wildcard, or is followed by a slash
	for name := range splitSegments(text) {
		if below = name == ""; below {
			continue
		}
		seg, problem := compileSegment(name)
		if problem != "" {
			return alt, problem
		}
		switch seg.literal {
		case ".":
			below = true
			continue
		case "..":
			return alt, "leaves the repository by \"..\""
		}
		below = seg.literal != ""
		if seg.deep && len(alt.segments) > 0 && alt.segments[len(alt.segments)-1].deep {
			continue
		}
		if below && alt.prefix == len(alt.segments) {
			alt.prefix++
		}
		alt.segments = append(alt.segments, seg)
	}
	if len(alt.segments) == 0 || below && !alt.segments[len(alt.segments)-1].deep {
		alt.segments = append(alt.segments, segment{deep: true}) // "." is the repository
	}
	return alt, ""
}

// splitSegments cuts a pattern at its slashes.
func splitSegments(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '/':
				if !yield(text[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(text[from:])
	}
}

func compileSegment(name string) (seg segment, problem string) {
	if name == "**" {
		return segment{deep: true}, ""
	}
	var literal strings.Builder
	wild := false
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		i += size
		switch r {
		case '*':
			wild = true
			if n := len(seg.tokens); n == 0 || seg.tokens[n-1].kind != star {
				seg.tokens = append(seg.tokens, token{kind: star})
			}
		case '?':
			wild = true
			seg.tokens = append(seg.tokens, token{kind: any1})
		case '[':
			wild = true
			t, rest, problem := compileClass(name[i:])
			if problem != "" {
				return seg, problem
			}
			i = len(name) - len(rest)
			seg.tokens = append(seg.tokens, t)
		case '\\':
			if i == len(name) {
				return seg, "ends in a backslash"
			}
			r, size = utf8.DecodeRuneInString(name[i:])
			i += size
			fallthrough
		default:
			literal.WriteRune(foldRune(r))
			seg.tokens = append(seg.tokens, token{kind: one, char: foldRune(r)})
		}
	}
	if !wild {
		return literally(literal.String()), ""
	}
	return seg, ""
}

// compileClass reads a class behind its "[".
func compileClass(text string) (t token, rest, problem string) {
	const open = "has a [ without its ], or a class without a character"
	t.kind = among
	if text != "" && (text[0] == '!' || text[0] == '^') {
		t.kind, text = except, text[1:]
	}
	var ranges [][2]rune
	for {
		first, tail, ok := classChar(text)
		if !ok || first == ']' && text[0] != '\\' && len(ranges) == 0 {
			return t, "", open
		}
		if first == ']' && text[0] != '\\' {
			text = tail
			break
		}
		text = tail
		last := first
		if len(text) > 1 && text[0] == '-' && text[1] != ']' {
			if last, text, ok = classChar(text[1:]); !ok {
				return t, "", open
			}
		}
		if last < first {
			return t, "", "has a class whose range ends before it begins"
		}
		ranges = append(ranges, [2]rune{first, last})
	}
	listed := map[rune]bool{}
	for _, r := range ranges {
		if r[1]-r[0] >= maxRange {
			if t.kind == among {
				return token{kind: any1}, text, ""
			}
			continue // what is left out of it is not known to be
		}
		for c := r[0]; c <= r[1]; c++ {
			listed[c] = true
		}
	}
	for c := range listed {
		// What is left out in one case only may stand there in the other.
		if folded := foldRune(c); t.kind == among || inEachCase(listed, c) {
			t.set = append(t.set, folded)
		}
	}
	slices.Sort(t.set)
	t.set = slices.Compact(t.set)
	return t, text, ""
}

// classChar reads one character of a class.
func classChar(text string) (r rune, rest string, ok bool) {
	text = strings.TrimPrefix(text, `\`)
	r, size := utf8.DecodeRuneInString(text)
	return r, text[size:], text != "" && r != '/'
}

// expand writes out the braces of a pattern: a{b,c}d is abd and acd.
func expand(pattern string) (texts []string, ok bool) {
	open, depth := -1, 0
	var commas []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[': // a brace in a class is a character
			if end := classEnd(pattern[i:]); end > 0 {
				i += end
			}
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				return nil, false
			}
			if depth--; depth > 0 {
				continue
			}
			length, from := 0, open+1
			if len(commas) == 0 { // {-$locale}: a name
				return expand(pattern[:open] + `\{` + pattern[open+1:i] + `\}` + pattern[i+1:])
			}
			for _, to := range append(commas, i) {
				more, ok := expand(pattern[:open] + pattern[from:to] + pattern[i+1:])
				if !ok {
					return nil, false
				}
				for _, text := range more {
					length += len(text)
				}
				texts = append(texts, more...)
				if len(texts) > maxAlternatives || length > maxExpanded {
					return nil, false
				}
				from = to + 1
			}
			return texts, true
		}
	}
	return []string{pattern}, depth == 0
}

// classEnd is the place of the "]" that ends a class, or 0.
func classEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == ']' && i > 1 && (i > 2 || text[1] != '!' && text[1] != '^'):
			return i
		}
	}
	return 0
}

// fold writes a text in one case.
func fold(text string) string { return strings.Map(foldRune, text) }

// foldRune is the first of the characters that differ from r by their case alone.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}

// inEachCase tells whether a set holds r in each case.
func inEachCase(set map[rune]bool, r rune) bool {
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		if !set[c] {
			return false
		}
	}
	return true
}

func asciiLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Package safetext makes texts of others safe to show: to a terminal, and to a model.
package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows what a reader would not see, but a model or a terminal would:
// control characters other than tab and line feed, marks that reverse the
// direction of writing, and characters without a picture, which can spell hidden
// text. Each is shown by its number, such as ⟨U+200B⟩. Where the characters around
// it need it, as joiners are needed between Persian letters or within a family
// of emoji, it stays as it is. The carriage return of a line's end is left out.
// What is stored stays as it was written: Visible is for what is put before a
// model or a person.
func Visible(s string) string {
	first := firstUnseen(s)
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:first])
	before, _ := utf8.DecodeLastRuneInString(s[:first])
	if first == 0 {
		before = 0
	}
	for i := first; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		rest := s[i+size:]
		switch {
		case r == '\r' && strings.HasPrefix(rest, "\n"):
		case r == utf8.RuneError && size == 1:
			b.WriteRune(r)
		case r == waved:
			size += flagTags(rest)
			b.WriteString(s[i : i+size])
		case unseen(r) && !needed(before, r, rest):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			r = '⟩'
		default:
			b.WriteString(s[i : i+size])
		}
		before = r
		i += size
	}
	return b.String()
}

// firstUnseen is where the first character is that Visible looks at more closely, or -1.
func firstUnseen(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c < 0x80:
			return i
		default:
			for at, r := range s[i:] {
				if unseen(r) || r == waved || r == utf8.RuneError {
					return i + at
				}
			}
			return -1
		}
	}
	return -1
}

// unseenRunes are the characters without a picture: Unicode's default ignorable code
// points, the marks of direction, the line separators and the annotation marks.
// https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt
var unseenRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1},
		{0x034f, 0x034f, 1},
		{0x061c, 0x061c, 1},
		{0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1},
		{0x180b, 0x180f, 1},
		{0x200b, 0x200f, 1},
		{0x2028, 0x202e, 1},
		{0x2060, 0x206f, 1},
		{0x3164, 0x3164, 1},
		{0xfe00, 0xfe0f, 1},
		{0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1},
		{0xfff0, 0xfffb, 1},
	},
	R32: []unicode.Range32{{0x1bca0, 0x1bca3, 1}, {0x1d173, 0x1d17a, 1}, {0xe0000, 0xe0fff, 1}},
}

func unseen(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0xad:
		return r < ' ' || r >= 0x7f && r < 0xa0
	case r > 0xad && r < 0x34f, r > 0x3164 && r < 0xfe00: // most of what is written: the table need not be asked
		return false
	}
	return unicode.Is(unseenRunes, r)
}

const (
	zeroWidthSpace = 0x200b
	nonJoiner      = 0x200c
	joiner         = 0x200d
	keycap         = 0x20e3
	waved          = 0x1f3f4 // the flag that tags turn into a country's
)

// Scripts by what their writing needs.
var (
	// joining are the scripts whose letters join, or take a joiner to form a conjunct.
	joining = []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Balinese, unicode.Javanese, unicode.Grantha,
		unicode.Newa, unicode.Tirhuta, unicode.Chakma,
		{R16: []unicode.Range16{{0x0640, 0x0640, 1}, {0x064b, 0x065f, 1}, {0x0670, 0x0670, 1}}}, // Arabic's, which Unicode counts to no script
	}
	// unspaced are the scripts that write no spaces between words: an unseen one says where a line may end.
	unspaced = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham}
	// leftward are the scripts that are written from right to left.
	leftward = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam}
	// pictured are the blocks of emoji and of the signs that became emoji.
	pictured = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0x00a9, 0x00ae, 5},
			{0x203c, 0x203c, 1},
			{0x2049, 0x2049, 1},
			{0x2122, 0x2122, 1},
			{0x2139, 0x2139, 1},
			{0x2190, 0x21ff, 1},
			{0x2300, 0x23ff, 1},
			{0x24c2, 0x24c2, 1},
			{0x25a0, 0x27bf, 1},
			{0x2934, 0x2935, 1},
			{0x2b00, 0x2bff, 1},
			{0x3030, 0x303d, 13},
			{0x3297, 0x3299, 2},
		},
		R32: []unicode.Range32{{0x1f000, 0x1faff, 1}},
	}
	// mathematical have pictures that a first selector chooses between.
	mathematical = &unicode.RangeTable{R16: []unicode.Range16{{0x2200, 0x22ff, 1}, {0x2a00, 0x2aff, 1}}}
	jamo         = &unicode.RangeTable{R16: []unicode.Range16{{0x1100, 0x11ff, 1}, {0xa960, 0xa97f, 1}, {0xd7b0, 0xd7ff, 1}}}
)

// writes tells whether a character is a letter, a mark or a digit of one of the scripts.
func writes(r rune, scripts []*unicode.RangeTable) bool {
	return r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && unicode.In(r, scripts...) && !unicode.Is(unseenRunes, r)
}

// needed tells whether the characters around an unseen one need it: what
// stands before it and what follows. None needs two in a row.
func needed(before, r rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == joiner && (unicode.Is(pictured, before) || before == 0xfe0f):
		return unicode.Is(pictured, after)
	case r == joiner, r == nonJoiner:
		return writes(before, joining)
	case r == zeroWidthSpace:
		return writes(before, unspaced) && writes(after, unspaced)
	case r == 0x061c, r == 0x200e, r == 0x200f:
		return writes(before, leftward) || writes(after, leftward) && !unseen(before)
	case r == 0xfe0e, r == 0xfe0f:
		if before >= '0' && before <= '9' || before == '#' || before == '*' {
			return after == keycap
		}
		return unicode.Is(pictured, before)
	case r >= 0xfe00 && r <= 0xfe02:
		return unicode.Is(mathematical, before) || unicode.Is(unicode.Han, before) || unicode.Is(unicode.Myanmar, before) && !unicode.Is(unseenRunes, before)
	case r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, before)
	case r >= 0x180b && r <= 0x180f:
		return writes(before, joining) && unicode.Is(unicode.Mongolian, before)
	case r == 0x115f, r == 0x1160:
		return unicode.Is(jamo, after) && !unseen(after) || unicode.Is(jamo, before) && !unseen(before)
	}
	return false
}

// flags are the countries whose flags are written by tags: Unicode recommends no other.
var flags = []string{"gbeng", "gbsct", "gbwls"}

// flagTags is how many bytes of tags make a waved flag a country's.
func flagTags(rest string) int {
	for _, flag := range flags {
		var tags strings.Builder
		for _, c := range flag {
			tags.WriteRune(0xe0000 + c)
		}
		tags.WriteRune(0xe007f)
		if strings.HasPrefix(rest, tags.String()) {
			return tags.Len()
		}
	}
	return 0
}

// Said is what a person said of a prompt. Gemini CLI puts what hooks told at a session's start before the first one, with
// the angle brackets of the text escaped, and hands both to hooks and to its record.
func Said(prompt string) string {
	if rest, told := strings.CutPrefix(prompt, "<hook_context>"); told {
		if _, said, closed := strings.Cut(rest, "</hook_context>"); closed {
			return strings.TrimLeft(said, "\n")
		}
	}
	return prompt
}

// Counted says how many there are, in words that fit the number: "1 task" and "3 tasks".
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// Strings are named values as texts.
func Strings[Name ~string](names []Name) (texts []string) {
	for _, name := range names {
		texts = append(texts, string(name))
	}
	return texts
}

package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/router/kind"
)

// A page is a record as Markdown. What people read stands below its front
// matter, under headings; everything else in it, a member of the record on each line, as
// "name: JSON", which is YAML too. A text that a page could not give back as
// it is, or that would play with a terminal, stands in the front matter as well.

// recordKey is the front matter's first key, by which a page is told from other Markdown.
const recordKey = "skillrouter_record"

// indexKind is what recordKey says in an export's README.md, which is no record.
const indexKind = "index"

// maxSlug bounds the part of a page's name that people read, in bytes: with the
// folder and the sum it stays far below what any system allows.
const maxSlug = 60

// memberName is what a member's name may be: it stands in the front matter as it is.
var memberName = lazyregexp.New(`^[a-z_]{1,64}$`)

// Page writes a record, as an export has it, as Markdown. name is a path of
// lower-case letters, digits, dots, dashes and one slash, which no system gives a
// meaning, and which follows from what the record is known by and its title. The same record gives the same page.
func Page(of string, record []byte) (name string, text []byte, err error) {
	s := kind.Named(of).Page
	if s.Folder == "" {
		return "", nil, errs.Errorf(errs.Invalid, "a record of the kind %q has no page", of)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(record, &members); err != nil {
		return "", nil, fmt.Errorf("the record is no object: %w", err)
	}
	for member := range members {
		if !memberName.MatchString(member) {
			return "", nil, errs.Errorf(errs.Invalid, "a member of the record is named %q", member)
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s", of)
	for _, key := range s.Key {
		fmt.Fprintf(sum, "\x00%s", members[key])
	}
	title := line(stringOf(members[s.Title]))
	name = fmt.Sprintf("%s/%s-%s.md", s.Folder, slug(title), hex.EncodeToString(sum.Sum(nil))[:16])

	delete(members, "kind")
	for _, member := range s.Drop {
		delete(members, member)
	}
	var body strings.Builder
	fmt.Fprintf(&body, "\n# %s\n", heading1(title))
	if below := stringOf(members[s.Text]); keeps(s, below) {
		delete(members, s.Text)
		fmt.Fprintf(&body, "\n%s\n", below)
	}
	for _, p := range s.Parts {
		if below := stringOf(members[p.Member]); keeps(s, below) {
			delete(members, p.Member)
			fmt.Fprintf(&body, "\n## %s\n\n%s\n", p.Heading, below)
		}
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "---\n%s: %s\n", recordKey, of)
	for _, member := range order(s, members) {
		fmt.Fprintf(&page, "%s: %s\n", member, printable(members[member]))
	}
	page.WriteString("---\n")
	page.WriteString(body.String())
	return name, page.Bytes(), nil
}

// Index is the README.md of a folder of pages: how many there are of each
// kind. It is no record, and reading passes it over.
func Index(records map[string]int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\n%s: %s\n---\n\n# Memories of a Skill Router\n\n", recordKey, indexKind)
	for _, k := range kind.Placed(kind.All(), kind.Exported) {
		if n := records[k.Name]; n > 0 {
			fmt.Fprintf(&b, "- [%s](%s/): %d\n", k.Page.Folder, k.Page.Folder, n)
		}
	}
	b.WriteString("\nEach file is one memory. Take them in with `skillrouter import --from markdown FOLDER`.\n")
	return b.Bytes()
}

// order lists what it is known by and the title first, and the others by name.
func order(s kind.Page, members map[string]json.RawMessage) (names []string) {
	for _, name := range append(slices.Clone(s.Key), s.Title) {
		if _, there := members[name]; there && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	first := len(names)
	for name := range members {
		if !slices.Contains(names[:first], name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[first:])
	return names
}

// keeps tells whether a text can stand below a heading and be read back as it is.
func keeps(s kind.Page, text string) bool {
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && hidden(r) }) {
		return false
	}
	for l := range strings.SplitSeq(text, "\n") {
		if slices.ContainsFunc(s.Parts, func(p kind.Part) bool { return l == "## "+p.Heading }) {
			return false
		}
	}
	return true
}

// hidden tells the characters that are no text: controls, marks of byte order
// and what changes the direction of reading.
func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// printable is JSON on one line, with hidden characters escaped: they stand in its strings alone.
func printable(value json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return "null"
	}
	var b strings.Builder
	for _, r := range compact.String() {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// heading1 is a title without what is no text.
func heading1(title string) string {
	return first(strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, title), "Untitled")
}

// slug is a title as a part of a file's name.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		if b.Len() == maxSlug {
			break
		}
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return first(strings.Trim(b.String(), "-"), "untitled")
}

func stringOf(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text) // what is no text has no place below a heading
	return text
}

package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/markdown"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"**Migrations**: keep *them* small": "Migrations: keep them small", "Use `make test`": "Use make test", "half **a mark": "half a mark", "half `a tick": "half a tick",
		"[the docs](https://e.org) of __init__.py": "the docs of __init__.py", "a<br>b": "a b", "~~old~~ new": "old new", "a\nb": "a b", "1. Setup": "1. Setup", "# 5": "# 5",
		`snake\_case &amp; more`: "snake_case & more", "![logo](x.png) App": "logo App", "<https://e.org>": "https://e.org", "": "", "`src/**/*.ts`": "src//*.ts", "***": "*", "_all of it_": "all of it", "a_b and c_d": "a_b and c_d",
	} {
		if got := markdown.Plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// passages are the titles and texts of a text's passages, each below its headings.
func passages(text string) (all []string) {
	for _, s := range markdown.Read([]byte(text)).Sections {
		for _, p := range s.Passages() {
			all = append(all, fmt.Sprintf("%d-%d %s|%s|%s", p.Line, p.Last, strings.Join(s.Within(), " > "), p.Title, p.Text))
		}
	}
	return all
}

func TestPassages(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"headings", "a\n# B **c**\nd\n## E\nf\n# G\nh\n", []string{"1-1 |a|a", "3-3 B c|d|d", "5-5 B c > E|f|f", "7-7 G|h|h"}},
		{"underlined headings", "A\n=\nb\n\nC\nd\n---\ne\n", []string{"3-3 A|b|b", "8-8 A > C d|e|e"}},
		{"items", "- a\n  b\n- [ ] **c**\n  - d\n\n1. e\n", []string{"1-2 |a b|a\nb", "3-4 |c|[ ] **c**\n- d", "6-6 |e|e"}},
		{"what is announced", "Run:\n\n```sh\nmake\n```\n\nRules:\n- a\n- b\n\n**Bold**\n\n1. c\n", []string{
			"1-5 |Run: make|Run:\n\n```sh\nmake\n```", "7-9 |Rules: a|Rules:\n- a\n- b", "11-13 |Bold|**Bold**\n\n1. c",
		}},
		{"code behind a sentence", "Text.\n```\nx\n```\n- a\n", []string{"1-4 |Text.|Text.\n```\nx\n```", "5-5 |a|a"}},
		{"steps with code between them", "Steps:\n1. a\n```\nx\n```\n2. b\n\nEnd.\n", []string{"1-6 |Steps: a|Steps:\n1. a\n```\nx\n```\n2. b", "8-8 |End.|End."}},
		{"code alone", "## Build\n```\nmake all\n```\n", []string{"2-4 Build|make all|```\nmake all\n```"}},
		{"a table", "| A | B |\n|---|---|\n| `x` | y \\| z |\n| q |\n", []string{"3-3 |x: y | z|| A | B |\n|---|---|\n| `x` | y \\| z |", "4-4 |q|| A | B |\n|---|---|\n| q |"}},
		{"rules and comments", "a\n\n---\n\n<!-- b\nc -->\n***\nd\n", []string{"1-1 |a|a", "8-8 |d|d"}},
		{"a heading in code", "```\n# a\n```\n", []string{"1-3 |# a|```\n# a\n```"}},
		{"the definition of a link", "a [b]\n\n[b]: https://e.org\n", []string{"1-3 |a [b]|a [b]\n[b]: https://e.org"}},
		{"front matter", "---\na: b\n---\nc\n", []string{"4-4 |c|c"}},
		{"CRLF", "\ufeff# A\r\nb\r\nc\r\n", []string{"2-3 A|b c|b\nc"}},
		{"a quotation", "> [!WARNING]\n> Keep *this*.\n>\n> And that.\n", []string{"1-4 |Keep this. And that.|> [!WARNING]\n> Keep *this*.\n>\n> And that."}},
		{"pictures", "![a](b)\n[![c](d)](e) [![f][g]][h]\n\n![i](j) says\n", []string{"4-4 |i says|![i](j) says"}},
		{"nothing", "", nil},
	} {
		if got := passages(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestLeft(t *testing.T) {
	doc := markdown.Read([]byte("---\na: b\n---\n- ok\n- b\xffd\n- \x00\n" + strings.Repeat("> ", 20) + "x\n<!-- c -->\n\n<div></div>\n\n- fine\n"))
	var left []string
	for _, l := range doc.Left {
		left = append(left, fmt.Sprintf("%d %s %t", l.Line, l.Why, l.Bad))
	}
	if want := []string{
		"1 is front matter, and not part of a note false", "2 is front matter, and not part of a note false", "3 is front matter, and not part of a note false", "5 is not valid UTF-8 true",
		"6 holds the character NUL true", "7 is nested too deep true", "8 is a comment false", "10 holds HTML alone false",
	}; !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
	if got := len(doc.Sections[0].Items()); got != 2 || doc.Front != "a: b" {
		t.Errorf("%d items of 2, front matter %q", got, doc.Front)
	}
}

func TestWorstTexts(t *testing.T) {
	for name, piece := range map[string]string{"quotations": "> ", "items": "- ", "brackets": "[", "backticks": "`", "stars": "*", "html": "<!--", "numbers": "1. ", "tables": "|a|\n|-|\n|b|\n", "deep lists": "- a\n"} {
		begin := time.Now()
		for _, s := range markdown.Read([]byte(strings.Repeat(piece, 200_000/len(piece)))).Sections {
			_, _ = s.Passages(), s.Items()
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// FuzzRead checks that each line that is not blank is in a section, or left out, and that titles are one line.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"# a\n- b\n  - c\n\n| d |\n|---|\n| e |\n", "a\n===\n> b\n\n[c]: d\n***\n```\ne\n", "<!-- a", "- a\n\n  ```\n  b\n", "1. a\n[x]: y\n2. b"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		doc := markdown.Read(source)
		kept := map[int]bool{}
		for _, l := range doc.Left {
			kept[l.Line] = true
		}
		for _, s := range doc.Sections {
			kept[s.Line] = kept[s.Line] || s.Level > 0
			for _, b := range s.Blocks {
				for n := b.Line; n <= b.Last; n++ {
					kept[n] = true
				}
			}
			for _, p := range s.Passages() {
				if strings.ContainsAny(p.Title, "\n`") || strings.Contains(p.Title, "**") {
					t.Fatalf("the title %q", p.Title)
				}
			}
		}
		for n, line := range strings.Split(strings.TrimPrefix(string(source), "\ufeff"), "\n") {
			bare := strings.TrimSpace(line)
			marks := bare == "" || strings.Trim(bare, bare[:1]+" \t") == "" // an underline, or a rule
			if !marks && !kept[n+1] && !heading(doc, n+1) {
				t.Fatalf("line %d, %q, is lost: %+v", n+1, line, doc)
			}
		}
	})
}

// heading tells whether a line is one of a heading of several lines.
func heading(doc markdown.Document, line int) bool {
	return slices.ContainsFunc(doc.Sections, func(s markdown.Section) bool {
		return s.Level > 0 && s.Line <= line && line <= s.Last && (len(s.Blocks) == 0 || line < s.Blocks[0].Line)
	})
}

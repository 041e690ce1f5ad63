package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// inline reads the marks within a paragraph, and takes every text for one.
var inline = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)),
	parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(extension.NewStrikethroughParser(), 500))...),
)

// maxInline bounds how much of a text is read for its marks, in bytes: some texts take quadratic time.
const maxInline = 4 << 10

// underscore stands for an underscore while marks are read: it is a character of nobody's.
const underscore = "\ue05f"

// underlined is a phrase between underscores that is emphasised, and no name.
var underlined = lazyregexp.New(`(^|[\s(])_([^_\s]|[^_\s][^_]*[^_\s])_([\s),:;!?]|\.\s|\.?$)`)

// Span is a piece of a text without its marks.
type Span struct {
	Text string
	Code bool // it stood between backticks
}

// Spans are the pieces of a text, or of its beginning if it is long.
func Spans(text string) (spans []Span) {
	if len(text) > maxInline {
		text = strings.ToValidUTF8(text[:maxInline], "")
	}
	source := []byte(strings.ReplaceAll(strings.ReplaceAll(text, `\_`, "_"), "_", underscore)) // of names, and seldom a mark
	add := func(text string, code bool) {
		text = strings.ReplaceAll(text, underscore, "_")
		if last := len(spans) - 1; last >= 0 && spans[last].Code == code && !code {
			spans[last].Text += text
		} else {
			spans = append(spans, Span{text, code})
		}
	}
	_ = ast.Walk(inline.Parse(mdtext.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			code := ""
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, is := c.(*ast.Text); is {
					code += string(t.Segment.Value(source))
				}
			}
			add(strings.Join(strings.Fields(code), " "), true)
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			add(" ", false)
		case *ast.AutoLink:
			add(string(n.Label(source)), false)
		case *ast.Text:
			said := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Segment.Value(source))))
			add(string(said), false)
			if n.SoftLineBreak() || n.HardLineBreak() {
				add(" ", false)
			}
		}
		return ast.WalkContinue, nil
	})
	return spans
}

// unpaired are the marks that are left in a text if one of a pair is missing, or that stand in code.
var unpaired = strings.NewReplacer("**", "", "~~", "", "`", "")

// Plain is a text on one line, without its marks: the texts of its links, and no HTML.
func Plain(text string) string {
	var b strings.Builder
	for _, span := range Spans(text) {
		b.WriteString(span.Text)
	}
	return oneLine(b.String())
}

// oneLine is a text on one line, without halves of marks.
func oneLine(text string) string {
	return strings.Join(strings.Fields(unpaired.Replace(underlined.ReplaceAllString(text, "$1$2$3"))), " ")
}

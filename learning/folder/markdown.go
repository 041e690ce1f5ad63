package folder

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxNotes bounds a file of notes, in bytes.
const MaxNotes = 4 << 20

// blockParser reads Markdown's blocks and none of its inline marks: what the
// notes need is where headings, code and tables begin, and texts as they were written.
func blockParser() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers([]util.PrioritizedValue{}...))
}

// headed is a heading.
type headed struct {
	title string // without its marks
	level int    // 1 to 6
	line  int    // from 1
	lines int    // how many it takes: an underlined one has two or more
}

// headings lists the headings of a Markdown text that stand for themselves, not
// in a list, a quotation or code.
func headings(source []byte) []headed {
	starts := lineStarts(source)
	var list []headed
	doc := blockParser().Parse(mdtext.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			list = append(list, headingOf(h, source, starts))
		}
	}
	return list
}

func headingOf(h *ast.Heading, source []byte, starts []int) headed {
	line := lineAt(starts, max(h.Pos(), 0))
	if h.Lines().Len() > 0 {
		line = lineAt(starts, h.Lines().At(0).Start)
	}
	out := headed{level: h.Level, line: line, lines: max(h.Lines().Len(), 1)}
	var words []string
	for i := range h.Lines().Len() {
		segment := h.Lines().At(i)
		words = append(words, string(bytes.TrimSpace(segment.Value(source))))
	}
	if begin := bytes.TrimLeft(lineText(source, starts, line), " "); len(begin) == 0 || begin[0] != '#' {
		out.lines++ // the line beneath it
	}
	out.title = unmarked(strings.Join(words, " "))
	return out
}

// unmarked takes the emphasis off a text that is all emphasised, and a link or anchor mark behind it.
func unmarked(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"**", "__", "*", "_"} {
		if inner, ok := strings.CutPrefix(s, mark); ok {
			if inner, ok := strings.CutSuffix(inner, mark); ok && inner != "" && !strings.Contains(inner, mark) {
				return strings.TrimSpace(inner)
			}
		}
	}
	return s
}

// lineStarts are the offsets at which lines begin.
func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, c := range source {
		if c == '\n' && i+1 < len(source) {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineAt is the number, from 1, of the line that holds an offset.
func lineAt(starts []int, offset int) int {
	line, _ := slices.BinarySearch(starts, offset+1)
	return line
}

// lineText is a line without its end.
func lineText(source []byte, starts []int, line int) []byte {
	end := len(source)
	if line < len(starts) {
		end = starts[line]
	}
	return bytes.TrimRight(source[starts[line-1]:end], "\r\n")
}

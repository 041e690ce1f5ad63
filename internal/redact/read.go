package redact

import (
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// maxLevels is how often escapes are resolved: JSON stands in strings of JSON, which stand in JSON.
const maxLevels = 3

// find returns the secrets of a text, in order and apart. It looks at the text as it is read:
// with its escapes resolved, and with tokens put together that were broken up.
func find(text string, id bool) (spans []span) {
	if len(text) < leastValue {
		return nil
	}
	var views []view
	for level := 0; level <= maxLevels; level++ {
		edits := escapes(text)
		if len(edits) == 0 || level == maxLevels {
			f := finder{text: text, id: id}
			f.look()
			f.opaque()
			f.private()
			for _, s := range f.spans {
				for v := len(views) - 1; v >= 0; v-- {
					_, s.to = views[v].source(s.to - 1)
					s.from, _ = views[v].source(s.from)
				}
				spans = append(spans, s)
			}
			if edits = f.edits; len(edits) == 0 {
				break
			}
		}
		views = append(views, read(text, edits))
		text = views[len(views)-1].text
	}
	return merge(spans)
}

// privateTag begins or ends what a writer wants kept out. In code style it is only spoken of.
var privateTag = lazyregexp.New("(?i)`<private>`|`</private>`|<\\s*(/?)\\s*private\\s*>")

// private finds what a writer marked to be kept out of every memory: <private>…</private>, as other programs know it. What
// does not end goes to the end of the text, which may have been cut.
func (f *finder) private() {
	if f.id || !strings.Contains(f.text, "<") {
		return
	}
	depth, from := 0, 0
	for _, at := range privateTag.Compiled().FindAllStringSubmatchIndex(f.text, -1) {
		switch opens, spoken := at[2] == at[3], at[2] < 0; {
		case spoken || !opens && depth == 0:
		case opens:
			if depth++; depth == 1 {
				from = at[0]
			}
		default:
			if depth--; depth == 0 {
				f.spans = append(f.spans, span{from, at[1], "private"})
			}
		}
	}
	if depth > 0 {
		f.spans = append(f.spans, span{from, len(f.text), "private"})
	}
}

// edit says that what stands from and before to is read as something else.
type edit struct {
	from, to int
	as       string
	at       int // where as stands in what is read
}

// view is what is read of a text.
type view struct {
	text  string
	edits []edit
}

// read applies the edits.
func read(text string, edits []edit) view {
	var out strings.Builder
	out.Grow(len(text))
	copied := 0
	for i := range edits {
		e := &edits[i]
		out.WriteString(text[copied:e.from])
		e.at, copied = out.Len(), e.to
		out.WriteString(e.as)
	}
	out.WriteString(text[copied:])
	return view{out.String(), edits}
}

// source returns where the byte at i stands in the text before.
func (v view) source(i int) (from, to int) {
	n := sort.Search(len(v.edits), func(n int) bool { return v.edits[n].at > i })
	if n == 0 {
		return i, i + 1
	}
	e := v.edits[n-1]
	if i -= e.at; i < len(e.as) {
		return e.from, e.to
	}
	from = e.to + i - len(e.as)
	return from, from + 1
}

// hides has the bytes that begin what is read as something else.
var hides = [256]bool{'\\': true, '%': true, 0xC2: true, 0xE2: true, 0xEF: true}

// escapes returns what of a text is read as something else: the escapes of JSON strings, bytes that are
// encoded for an address without need, and invisible characters.
func escapes(text string) (edits []edit) {
	for i := 0; i < len(text); i++ {
		if !hides[text[i]] {
			continue
		}
		rest := text[i:]
		n, as := 0, ""
		switch rest[0] {
		case '\\':
			n, as = escape(text, i)
		case '%':
			if len(rest) > 2 {
				if c, err := strconv.ParseUint(rest[1:3], 16, 8); err == nil && isToken(byte(c)) {
					n, as = 3, string(rune(c))
				}
			}
		default:
			if r, size := utf8.DecodeRuneInString(rest); unicode.Is(unicode.Cf, r) {
				n = size
			}
		}
		if n > 0 {
			edits = append(edits, edit{from: i, to: i + n, as: as})
			i += n - 1
		}
	}
	return edits
}

// escape reads the escape of a JSON string at i. One of a quote stays within a word, where it is a password's.
func escape(text string, i int) (n int, as string) {
	rest := text[i+1:]
	if rest == "" || strings.IndexByte(`nrtu"/\`, rest[0]) < 0 || rest[0] == '"' && i > 0 && len(rest) > 1 && isAlnum(text[i-1]) && isAlnum(rest[1]) {
		return 0, ""
	}
	if rest[0] == '/' {
		return 2, "/"
	}
	c, _, tail, err := strconv.UnquoteChar(text[i:], '"')
	if err != nil {
		return 0, ""
	}
	return len(text) - i - len(tail), string(c)
}

// escaped tells whether the byte at i follows an escape of a string literal,
// as in "line\nghp_…".
func escaped(text string, i int) bool {
	return i > 1 && i <= len(text) && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0
}

// maxJoint is how much may stand between two parts of one string literal: quotes, an operator, indentation.
const maxJoint = 48

// joint looks whether what is at i stands between two parts of one token: the seam of two string literals, or the end of
// a line behind what begins as a token, with more of it on the next.
func (f *finder) joint(i int) {
	if i < 4 || i+2 >= len(f.text) || !isDotted(f.text[i-1]) && f.text[i-1] != '\\' && f.text[i-1] != '\r' || len(f.edits) > 0 && i < f.edits[len(f.edits)-1].to {
		return
	}
	rest := f.text[i+1 : min(len(f.text), i+maxJoint)]
	if quote := f.text[i]; quote != '\n' {
		n := strings.IndexByte(rest, quote)
		if n < 0 || !isToken(f.text[i-1]) || i+n+2 >= len(f.text) || !isToken(f.text[i+n+2]) || n == 0 && quote == '\'' || strings.Trim(rest[:n], " \t\r\n\\+.&") != "" {
			return
		}
		f.edits = append(f.edits, edit{from: i, to: i + n + 2})
		return
	}
	end := len(strings.TrimRight(f.text[max(0, i-4):i], "\r\\")) + max(0, i-4)
	from := end
	for from > 0 && end-from < maxSecretValue/2 && isDotted(f.text[from-1]) {
		from--
	}
	chained := len(f.edits) > 0 && f.edits[len(f.edits)-1].to == from
	if end-from < 4 || !chained && !begins(f.text[from:end], false) {
		return
	}
	next := i + 1 + len(rest) - len(strings.TrimLeft(rest, " \t+>|#*/"))
	to := run(f.text[:min(len(f.text), next+maxSecretValue)], next, isToken)
	part := f.text[next:to]
	if len(part) >= 4 && (mixed(part) || random(part)) && (to == len(f.text) || strings.IndexByte("=:(", f.text[to]) < 0) {
		f.edits = append(f.edits, edit{from: end, to: next})
	}
}

package text

import "strings"

// maxQuote is the longest quotation, in bytes, that is taken for one.
const maxQuote = 200

// Span is a part of a query, quoted or not.
type Span struct {
	Text   string
	Quoted bool
}

// Spans parts a query at its quotation marks. In an error message and in a
// task to be done, what is quoted is mostly a name of the asker's own.
func Spans(text string) []Span {
	var out []Span
	start := 0
	for i := 0; i < len(text); i++ {
		mark := text[i]
		if mark != '"' && mark != '`' && mark != '\'' || mark == '\'' && i > 0 && startsWord(text[i-1:]) {
			continue
		}
		n := strings.IndexByte(text[i+1:min(len(text), i+2+maxQuote)], mark)
		if n < 0 || mark == '\'' && startsWord(text[i+n+2:]) {
			continue
		}
		if start < i {
			out = append(out, Span{Text: text[start:i]})
		}
		out = append(out, Span{text[i+1 : i+1+n], true})
		i += n + 1
		start = i + 1
	}
	if start < len(text) {
		out = append(out, Span{Text: text[start:]})
	}
	return out
}

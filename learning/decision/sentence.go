package decision

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences cuts a line of prose into sentences: at an end mark that is followed
// by white space and something that can begin another, at a semicolon, and
// before "and the", but nowhere within a quotation of code.
func Sentences(line string) []string { return split(line, true) }

// split is Sentences, which cuts before "and the" only if it is to find the clauses too.
func split(line string, clauses bool) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimLeft(line, "-*•> \t")
	var list []string
	from := 0
	code := false
	cut := func(to, next int) {
		if s := strings.TrimSpace(line[from:to]); s != "" {
			list = append(list, s)
		}
		from = next
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case i < from: // a part of what was cut at
		case c == '`':
			code = !code
		case code:
		case strings.HasPrefix(line[i:], "。"):
			cut(i+len("。"), i+len("。"))
		case c == ';' && i+1 < len(line) && line[i+1] == ' ':
			cut(i, i+1)
		case (c == '.' || c == '!' || c == '?') && i+1 < len(line) && line[i+1] == ' ' && !abbreviated(line[from:i+1]):
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[i+1:], " ")); !unicode.IsLower(next) || c == '?' || !clauses { // who types quickly begins without a capital
				cut(i+1, i+1)
			}
		case clauses && (c == ' ' || c == ','):
			for _, and := range []string{", and the ", " and the ", ", and our ", " and our ", " and its ", ", but the ", " but the ", ", while the ", " while the ", ", the "} {
				if strings.HasPrefix(line[i:], and) && strings.Contains(line[from:i], " ") {
					cut(i, i+strings.LastIndex(strings.TrimSuffix(and, " "), " ")+1)
					break
				}
			}
		}
	}
	cut(len(line), len(line))
	return list
}

func abbreviated(text string) bool {
	for _, short := range []string{"e.g.", "i.e.", "etc.", "vs.", "approx.", "no.", "Mr.", "Dr."} {
		if strings.HasSuffix(text, short) {
			return true
		}
	}
	return false
}

package act

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of expansion. They keep what a few bytes of script can grow to small.
const (
	maxBrace  = 4096    // words that one {a,b} may become; a longer {1..9} is any text
	maxFields = 40_000  // words of one command
	maxText   = 2 << 20 // bytes that all expansions of one check may produce, and all scripts in it hold
)

// shellValue is what a variable holds. Values with several elements are arrays.
type shellValue []string

// fields collects the words that expansion yields.
type fields struct {
	done []string
	cur  strings.Builder
	open bool
	over bool   // a word is too long, or there are too many
	ifs  string // what separates the words of an expansion
}

func (f *fields) put(s string) {
	f.open = true
	if f.over = f.over || f.cur.Len()+len(s) > maxCarried; !f.over {
		f.cur.WriteString(s)
	}
}

func (f *fields) end() {
	if f.over = f.over || len(f.done) >= maxFields; f.open && !f.over {
		f.done = append(f.done, f.cur.String())
	}
	f.cur.Reset()
	f.open = false
}

// split puts the text as an unquoted expansion does: white space ends a word,
// and pattern characters are active.
func (f *fields) split(s string) {
	s = activate(s)
	from := 0
	for i := range len(s) {
		if s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || f.ifs != "" && strings.IndexByte(f.ifs, s[i]) >= 0 {
			if from < i {
				f.put(s[from:i])
			}
			f.end()
			from = i + 1
		}
	}
	if from < len(s) {
		f.put(s[from:])
	}
}

// activate marks the pattern characters of a text as active.
func activate(s string) string {
	if !strings.ContainsAny(s, "*?[") {
		return s
	}
	return active.Replace(s)
}

var active = strings.NewReplacer("*", string(AnyText), "?", string(anyRune), "[", string(set))

// fields expands words as the shell would, as far as that needs nothing to run.
func (s *Shell) fields(words []*syntax.Word) []string {
	var f fields
	if ifs := s.vars["IFS"]; len(ifs) > 0 {
		f.ifs = ifs[0]
	}
	for _, w := range words {
		words, few := braces(w)
		f.over = f.over || !few
		for _, one := range words {
			s.parts(&f, one.Parts, false)
			f.end()
		}
		if !s.spend(0) {
			break
		}
	}
	return s.words(&f)
}

// words ends the expansion of words.
func (s *Shell) words(f *fields) []string {
	f.end()
	if f.over && s.Over == "" {
		s.Over = "it grows too large when expanded"
	}
	return f.done
}

// text expands a word where the shell splits nothing.
func (s *Shell) text(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var f fields
	s.parts(&f, w.Parts, true)
	return strings.Join(s.words(&f), " ")
}

func (s *Shell) parts(f *fields, parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		before := f.cur.Len()
		switch p := p.(type) {
		case *syntax.Lit:
			s.literal(f, p.Value, i == 0, quoted)
		case *syntax.SglQuoted:
			v := p.Value
			if p.Dollar {
				v = unescape(v)
			}
			f.put(v)
		case *syntax.DblQuoted:
			f.open = true
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					f.put(doubleQuoted(lit.Value))
					continue
				}
				s.expansion(f, q, true)
			}
		case *syntax.ExtGlob:
			f.put(string(AnyText))
		default:
			s.expansion(f, p, quoted)
		}
		s.spend(max(f.cur.Len()-before, 0))
	}
}

// literal puts plain text: backslashes quote, pattern characters are active,
// a leading ~ is the home directory.
func (s *Shell) literal(f *fields, v string, first, quoted bool) {
	if first && strings.HasPrefix(v, "~") && len(v) > 1 && v[1] != '/' {
		if user, _, _ := strings.Cut(v[1:], "/"); user != "" && !strings.ContainsAny(user, "+-\\") {
			v = "/home/" + v[1:]
		}
	}
	f.put(unquote(v, func(byte) bool { return true }, !quoted))
}

func doubleQuoted(v string) string {
	return unquote(v, func(c byte) bool { return strings.IndexByte("$`\"\\\n", c) >= 0 }, false)
}

// unquote takes the backslashes away that quote the byte behind them, and a line's end with its own. active: pattern characters that are
// not quoted are active.
func unquote(v string, quotes func(byte) bool, active bool) string {
	if !strings.ContainsAny(v, "\\*?[") {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		switch at := strings.IndexByte("*?[", v[i]); {
		case v[i] == '\\' && i+1 < len(v) && quotes(v[i+1]):
			if i++; v[i] != '\n' {
				b.WriteByte(v[i])
			}
		case active && at >= 0:
			b.WriteRune([]rune{AnyText, anyRune, set}[at])
		default:
			b.WriteByte(v[i])
		}
	}
	return b.String()
}

// expansion puts what a $… yields.
func (s *Shell) expansion(f *fields, p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		values, array := s.parameter(p)
		if quoted {
			for i, v := range values {
				if i > 0 && array {
					f.end()
				} else if i > 0 {
					f.put(" ")
				}
				f.put(v)
			}
			return
		}
		for i, v := range values {
			if i > 0 {
				f.end()
			}
			f.split(v)
		}
	case *syntax.CmdSubst:
		out := s.capture(p.Stmts)
		v := strings.TrimRight(out.text, "\n")
		if s.need(out); !out.known {
			v = string(Unknown)
			if out.download {
				v = downloaded
			}
			if len(out.paths) > 0 {
				v = strings.Join(out.paths, " ")
			}
		}
		if quoted {
			f.put(v)
		} else {
			f.split(v)
		}
	case *syntax.ProcSubst:
		f.put(s.processFile(p))
	case *syntax.ArithmExp:
		f.put(s.arithmetic(p.X))
	default:
		f.put(string(Unknown))
	}
}

// unescape reads the backslash sequences of $'…', echo -e and printf.
func unescape(v string) string {
	if !strings.Contains(v, "\\") {
		return v
	}
	text, _, err := expand.Format(nil, v, nil)
	if err != nil {
		return v
	}
	return Tidy(text)
}

// maxSequence bounds how far apart the ends of one {1..9} lie; what is longer is any text.
const maxSequence = 64

// braces expands {a,b} and {1..3}; few: there are not too many.
func braces(w *syntax.Word) (words []*syntax.Word, few bool) {
	split := &syntax.Word{Parts: w.Parts}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, true
	}
	if braceCount(split) > maxBrace {
		return []*syntax.Word{w}, false
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil {
			return []*syntax.Word{w}, false
		}
		words = append(words, one)
	}
	return words, true
}

// braceCount says how many words the braces make at most; over the bound it says just that. A long sequence becomes any text.
func braceCount(w *syntax.Word) int {
	n := 1
	for i, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		m := 0
		switch {
		case !ok:
		case b.Sequence:
			if m = int(min(apartBy(b.Elems[0].Lit(), b.Elems[1].Lit()), maxSequence+1)) + 1; m > maxSequence+1 {
				m, w.Parts[i] = 1, &syntax.Lit{Value: string(AnyText)}
			}
		default:
			for _, e := range b.Elems {
				m += braceCount(e)
			}
		}
		if n *= max(m, 1); n > maxBrace {
			return maxBrace + 1
		}
	}
	return n
}

// apartBy is how far two numbers or letters lie apart.
func apartBy(from, to string) uint64 {
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil {
		first, last = int64(from[0]), int64(to[0])
	}
	return uint64(max(first, last)) - uint64(min(first, last))
}

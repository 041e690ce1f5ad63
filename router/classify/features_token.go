package classify

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read of a question. What a question wants is said at its
// head or, under a pasted trace, at its foot; the middle is not read.
const (
	headBytes  = 480
	tailBytes  = 240
	headTokens = 80
	maxTokens  = 120
)

// token is one word, or one thing of a known shape, of a question.
type token struct {
	start, end int32  // in scratch.text
	hash       uint32 // of the word in lower case, or of its shape's name
	stem       uint32 // of the word without its plural ending
	classes    uint64
	symbol     uint8
	role       uint8
	known      bool // in the lexicon or the model's vocabulary, or of a known shape
	past       bool // a past tense or participle, by lexicon or ending
	gerund     bool
	corrected  bool // read as a known word that is one slip away
}

// shapeHash gives a shape's place-holder, which no word's hash is likely to equal.
func shapeHash(symbol uint8) uint32 { return mix(0x5ba9e, uint32(symbol)) }

// readText copies the head and tail of query into the scratch. Invalid UTF-8
// and control characters become blanks.
func (s *scratch) readText(query string) {
	s.text = s.text[:0]
	head, tail := query, ""
	if len(query) > headBytes+tailBytes {
		head, tail = query[:headBytes], query[len(query)-tailBytes:]
	}
	s.appendClean(head)
	if tail != "" {
		s.text = append(s.text, ' ')
		s.tailAt = len(s.text)
		s.appendClean(tail)
	} else {
		s.tailAt = len(s.text)
	}
}

func (s *scratch) appendClean(part string) {
	for _, r := range part {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r):
			s.text = append(s.text, ' ')
		case r == '’' || r == '‘' || r == 'ʼ':
			s.text = append(s.text, '\'')
		case r == '“' || r == '”':
			s.text = append(s.text, '"')
		default:
			s.text = utf8.AppendRune(s.text, r)
		}
	}
}

// tokenize splits the text at blanks, and each chunk into words unless it has
// a shape of its own.
func (s *scratch) tokenize(c *Classifier) {
	s.tokens = s.tokens[:0]
	s.quoted, s.questionMark = false, false
	if s.tailAt == len(s.text) {
		s.tokenizePart(c, 0, len(s.text), maxTokens)
		return
	}
	s.tokenizePart(c, 0, s.tailAt, headTokens)
	// Of the foot the last words count, so it begins where only they are left.
	from, words := len(s.text), 0
	for from > s.tailAt && words < maxTokens-len(s.tokens) {
		from--
		if s.text[from] == ' ' && from+1 < len(s.text) && s.text[from+1] != ' ' {
			words++
		}
	}
	s.tokenizePart(c, from, len(s.text), maxTokens)
}

func (s *scratch) tokenizePart(c *Classifier, i, end, limit int) {
	for i < end && len(s.tokens) < limit {
		if s.text[i] == ' ' {
			i++
			continue
		}
		j := i
		for j < end && s.text[j] != ' ' {
			j++
		}
		s.chunk(c, i, j, limit)
		i = j
	}
}

// chunk makes tokens of text[i:j], which holds no blank.
func (s *scratch) chunk(c *Classifier, i, j, limit int) {
	text := s.text
	for i < j && isOpening(text[i]) {
		s.quoted = s.quoted || isQuote(text[i])
		i++
	}
	question, colon := false, false
trailing:
	for i < j {
		switch b := text[j-1]; {
		case b == '?':
			question = true
		case b == ':':
			colon = true
		case isQuote(b):
			s.quoted = true
		case b == ')' && j-2 >= i && text[j-2] == '(':
			break trailing // a call keeps its parentheses
		case b == '!' || b == ',' || b == '.' || b == ';' || b == ')' || b == ']' || b == '}' || b == '>':
		default:
			break trailing
		}
		j--
	}
	s.questionMark = s.questionMark || question
	if i < j {
		if sym := shapeOf(text[i:j]); sym != symNone {
			s.addShape(i, j, sym, limit)
		} else {
			s.words(c, i, j, limit)
		}
	}
	if colon {
		s.addShape(j, j, symColon, limit)
	}
}

func isQuote(b byte) bool   { return b == '"' || b == '`' || b == '\'' }
func isOpening(b byte) bool { return isQuote(b) || b == '(' || b == '[' || b == '{' || b == '<' }

func (s *scratch) addShape(i, j int, sym uint8, limit int) {
	if len(s.tokens) >= limit {
		return
	}
	h := shapeHash(sym)
	s.tokens = append(s.tokens, token{
		start: int32(i), end: int32(j), hash: h, stem: h, classes: 1 << sym, symbol: sym, known: true,
	})
}

// words makes a token of each run of letters and digits. An apostrophe ends a
// word, unless it is that of "not", and its ending is kept: "what's" is "what is".
func (s *scratch) words(c *Classifier, i, j, limit int) {
	text := s.text
	for i < j && len(s.tokens) < limit {
		r, size := utf8.DecodeRune(text[i:j])
		if !isWordRune(r) {
			i += size
			continue
		}
		k := i
		for k < j {
			r, size = utf8.DecodeRune(text[k:j])
			if !isWordRune(r) {
				break
			}
			k += size
		}
		if k+1 < j && text[k] == '\'' {
			k = s.contraction(c, i, k, j, limit)
		} else if sym := shapeOf(text[i:k]); sym == symErrorCode || sym == symErrorName {
			s.addShape(i, k, sym, limit) // the E0382 of error[E0382]
		} else {
			s.addWord(c, i, k, limit)
		}
		i = k
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// contraction handles a word text[i:k] that an apostrophe follows, and gives
// the place after its ending.
func (s *scratch) contraction(c *Classifier, i, k, j, limit int) int {
	text := s.text
	end := k + 1
	for end < j && text[end] >= 'A' && isWordRune(rune(text[end])) {
		end++
	}
	ending := text[k+1 : end]
	before := len(s.tokens)
	switch {
	case equalFold(ending, "t"): // isn't, don't, hasn't: the lexicon has them without the apostrophe
		s.low = s.low[:0]
		s.low = append(s.low, text[i:k]...)
		s.low = append(s.low, 't')
		s.addLower(c, i, end, limit)
	case equalFold(ending, "s"):
		s.addWord(c, i, k, limit)
		// After a question word or a pronoun it is "is"; else a possessive.
		if len(s.tokens) > before && s.tokens[before].symbol == symFunction {
			s.addPlain(c, "is", k, end, limit)
		}
	default:
		s.addWord(c, i, k, limit)
		for _, one := range &shortForms {
			if equalFold(ending, one.ending) {
				s.addPlain(c, one.word, k, end, limit)
				return end
			}
		}
		return k + 1
	}
	return end
}

func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != s[i] {
			return false
		}
	}
	return true
}

func (s *scratch) addPlain(c *Classifier, word string, i, j, limit int) {
	s.low = append(s.low[:0], word...)
	s.addLower(c, i, j, limit)
}

func (s *scratch) addWord(c *Classifier, i, j, limit int) {
	s.low = append(s.low[:0], s.text[i:j]...)
	s.addLower(c, i, j, limit)
}

// addLower adds the word in s.low, which stands at text[i:j].
func (s *scratch) addLower(c *Classifier, i, j, limit int) {
	if len(s.tokens) >= limit {
		return
	}
	s.low = lower(s.low)
	// Two letters of run-together writing: "whats" is "what is".
	if len(s.low) == 5 && bytes.Equal(s.low, []byte("whats")) || len(s.low) == 4 && bytes.Equal(s.low, []byte("whos")) ||
		len(s.low) == 6 && bytes.Equal(s.low, []byte("wheres")) || len(s.low) == 4 && bytes.Equal(s.low, []byte("hows")) {
		s.low = s.low[:len(s.low)-1]
		s.addLower(c, i, j, limit)
		s.addPlain(c, "is", i, j, limit)
		return
	}
	s.tokens = append(s.tokens, c.word(s.low, int32(i), int32(j)))
}

// lower puts b in lower case, in place where it can.
func lower(b []byte) []byte {
	for i, ch := range b {
		if ch >= utf8.RuneSelf {
			return bytes.ToLower(b)
		}
		if 'A' <= ch && ch <= 'Z' {
			b[i] = ch + 'a' - 'A'
		}
	}
	return b
}

// word looks a lower-case word up.
func (c *Classifier) word(w []byte, start, end int32) token {
	t := token{start: start, end: end, hash: hashBytes(w)}
	l, ok := c.lexicon[t.hash]
	if !ok && isDigits(w) {
		t.hash = shapeHash(symNumber)
		t.stem, t.symbol, t.classes, t.known = t.hash, symNumber, 1<<symNumber, true
		return t
	}
	if !ok {
		if _, inVocabulary := c.model.vocabulary[t.hash]; inVocabulary {
			t.known = true
		} else if h, found := c.model.correct(w); found {
			t.hash, t.corrected, t.known = h, true, true
			l, ok = c.lexicon[h]
		}
	}
	stem := singular(w)
	t.stem = t.hash
	if !t.corrected && len(stem) < len(w) {
		t.stem = hashBytes(stem)
		if !ok {
			if sl, found := c.lexicon[t.stem]; found && sl.symbol != symFunction {
				l, ok = sl, true
			}
		}
	}
	if ok {
		t.known, t.classes, t.symbol, t.role = true, l.classes, l.symbol, l.role
	}
	t.past = t.classes&(1<<symPastVerb) != 0
	t.gerund = t.classes&(1<<symGerund) != 0
	if t.symbol == symNone {
		switch {
		case len(w) > 4 && bytes.HasSuffix(w, []byte("ed")) && w[len(w)-3] != 'e':
			t.symbol, t.past = symPastVerb, true
			t.classes |= 1 << symPastVerb
		case len(w) > 5 && bytes.HasSuffix(w, []byte("ing")):
			t.symbol, t.gerund = symGerund, true
			t.classes |= 1 << symGerund
		}
	}
	return t
}

func isDigits(w []byte) bool {
	for _, ch := range w {
		if ch < '0' || ch > '9' {
			return false
		}
	}
	return len(w) > 0
}

// singular cuts a plural's or a third person's ending off.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case n < 4 || w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u' || w[n-2] == 'i':
		return w
	case n > 5 && (bytes.HasSuffix(w, []byte("ches")) || bytes.HasSuffix(w, []byte("shes")) || bytes.HasSuffix(w, []byte("sses")) || bytes.HasSuffix(w, []byte("xes"))):
		return w[:n-2]
	default:
		return w[:n-1]
	}
}

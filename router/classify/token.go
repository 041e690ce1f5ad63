package classify

import (
	"regexp"
	"strings"
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
	start, end int    // in reading.text
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

// reading is a question as it is classified: its words, and what they show.
type reading struct {
	of           *Classifier
	text         string
	tokens       []token
	limit        int // of tokens
	features     []feature
	seen         map[uint32]bool // buckets of features
	quoted       bool
	questionMark bool
	present      uint64 // all word classes seen
	tense        uint8
	person       uint8
	wh           uint32
}

// shapeHash gives a shape's place-holder, which no word's hash is likely to equal.
func shapeHash(symbol uint8) uint32 { return mix(0x5ba9e, uint32(symbol)) }

// clean makes blanks of control characters and of invalid UTF-8, and plain quotes of typographic ones.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r):
			return ' '
		case r == '’' || r == '‘' || r == 'ʼ':
			return '\''
		case r == '“' || r == '”':
			return '"'
		}
		return r
	}, text)
}

// nonBlank is what stands between blanks.
var nonBlank = regexp.MustCompile(`[^ ]+`)

// read makes tokens of the head and the foot of a query: of the foot the last words count.
func (r *reading) read(query string) {
	head, tail := clean(query), ""
	if r.limit = maxTokens; len(query) > headBytes+tailBytes {
		head, tail = clean(query[:headBytes])+" ", clean(query[len(query)-tailBytes:])
		r.limit = headTokens
	}
	r.text = head + tail
	r.chunks(nonBlank.FindAllStringIndex(head, -1), 0)
	r.limit = maxTokens
	last := nonBlank.FindAllStringIndex(tail, -1)
	r.chunks(last[max(len(last)-(maxTokens-len(r.tokens)), 0):], len(head))
}

// chunks makes tokens of what stands at places of a part of the text that begins at a place.
func (r *reading) chunks(places [][]int, from int) {
	for _, at := range places {
		if len(r.tokens) < r.limit {
			r.chunk(from+at[0], from+at[1])
		}
	}
}

const quotes = "\"`'"

// chunk makes tokens of text[i:j], which holds no blank.
func (r *reading) chunk(i, j int) {
	opened := strings.TrimLeft(r.text[i:j], quotes+"([{<")
	r.quoted = r.quoted || strings.ContainsAny(r.text[i:j-len(opened)], quotes)
	i = j - len(opened)
	colon := false
trailing:
	for i < j {
		switch b := r.text[j-1]; {
		case b == '?':
			r.questionMark = true
		case b == ':':
			colon = true
		case strings.IndexByte(quotes, b) >= 0:
			r.quoted = true
		case b == ')' && j-2 >= i && r.text[j-2] == '(', strings.IndexByte("!,.;)]}>", b) < 0:
			break trailing // a call keeps its parentheses
		}
		j--
	}
	if sym := shapeOf(r.text[i:j]); sym != symNone {
		r.addShape(i, j, sym)
	} else {
		r.words(i, j)
	}
	if colon {
		r.addShape(j, j, symColon)
	}
}

func (r *reading) addShape(i, j int, sym uint8) {
	if len(r.tokens) < r.limit {
		h := shapeHash(sym)
		r.tokens = append(r.tokens, token{start: i, end: j, hash: h, stem: h, classes: 1 << sym, symbol: sym, known: true})
	}
}

// words makes a token of each run of letters and digits. An apostrophe ends a
// word, unless it is that of "not", and its ending is kept: "what's" is "what is".
func (r *reading) words(i, j int) {
	for i < j {
		skipped := strings.IndexFunc(r.text[i:j], isWordRune)
		if skipped < 0 {
			return
		}
		i += skipped
		k := j
		if n := strings.IndexFunc(r.text[i:j], func(c rune) bool { return !isWordRune(c) }); n >= 0 {
			k = i + n
		}
		if k+1 < j && r.text[k] == '\'' {
			k = r.contraction(i, k, j)
		} else if sym := shapeOf(r.text[i:k]); sym == symErrorCode || sym == symErrorName {
			r.addShape(i, k, sym) // the E0382 of error[E0382]
		} else {
			r.add(strings.ToLower(r.text[i:k]), i, k)
		}
		i = k
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// contraction handles a word text[i:k] that an apostrophe follows, and gives
// the place after its ending.
func (r *reading) contraction(i, k, j int) int {
	end := k + 1
	for end < j && r.text[end] >= 'A' && isWordRune(rune(r.text[end])) {
		end++
	}
	word, ending, before := strings.ToLower(r.text[i:k]), strings.ToLower(r.text[k+1:end]), len(r.tokens)
	switch long := longForm(ending); {
	case ending == "t": // isn't, don't, hasn't: the lexicon has them without the apostrophe
		r.add(word+"t", i, end)
	case ending == "s":
		r.add(word, i, k)
		// After a question word or a pronoun it is "is"; else a possessive.
		if len(r.tokens) > before && r.tokens[before].symbol == symFunction {
			r.add("is", k, end)
		}
	case long != "":
		r.add(word, i, k)
		r.add(long, k, end)
	default:
		r.add(word, i, k)
		return k + 1
	}
	return end
}

// runTogether are question words that are written in one with "is".
var runTogether = WordSet("whats whos wheres hows")

// add adds a word in lower case, which stands at text[i:j].
func (r *reading) add(word string, i, j int) {
	if len(r.tokens) >= r.limit {
		return
	}
	if runTogether[word] {
		r.add(strings.TrimSuffix(word, "s"), i, j)
		r.add("is", i, j)
		return
	}
	r.tokens = append(r.tokens, r.of.word(word, i, j))
}

// word looks a lower-case word up.
func (c *Classifier) word(w string, start, end int) token {
	t := token{start: start, end: end, hash: hash(w)}
	l, ok := c.lexicon[t.hash]
	if !ok && number(w) {
		t.hash = shapeHash(symNumber)
		t.stem, t.symbol, t.classes, t.known = t.hash, symNumber, 1<<symNumber, true
		return t
	}
	if !ok {
		if c.model.vocabulary[t.hash] {
			t.known = true
		} else if h, found := c.model.correct(w); found {
			t.hash, t.corrected, t.known = h, true, true
			l, ok = c.lexicon[h]
		}
	}
	t.stem = t.hash
	if stem := singular(w); !t.corrected && len(stem) < len(w) {
		t.stem = hash(stem)
		if sl, found := c.lexicon[t.stem]; !ok && found && sl.symbol != symFunction {
			l, ok = sl, true
		}
	}
	if ok {
		t.known, t.classes, t.symbol, t.role = true, l.classes, l.symbol, l.role
	}
	t.past = t.classes&(1<<symPastVerb) != 0
	t.gerund = t.classes&(1<<symGerund) != 0
	switch {
	case t.symbol != symNone:
	case len(w) > 4 && strings.HasSuffix(w, "ed") && w[len(w)-3] != 'e':
		t.symbol, t.past = symPastVerb, true
		t.classes |= 1 << symPastVerb
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		t.symbol, t.gerund = symGerund, true
		t.classes |= 1 << symGerund
	}
	return t
}

// singular cuts a plural's or a third person's ending off.
func singular(w string) string {
	n := len(w)
	switch {
	case n < 4 || w[n-1] != 's' || strings.IndexByte("sui", w[n-2]) >= 0:
		return w
	case n > 5 && (strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes")):
		return w[:n-2]
	}
	return w[:n-1]
}

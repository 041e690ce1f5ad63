package contradict

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skillrouter/tfidf/text"
	"skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var list string

var (
	idle    = wordlist.Set(list, "idle")
	changed = wordlist.Set(list, "changed")
	negator = wordlist.Set(list, "not")
	placing = wordlist.Set(list, "place")
	intros  = wordlist.Set(list, "intro")
	joins   = wordlist.Set(list, "join")
	numbers = wordlist.Set(list, "number")
	days    = wordlist.Set(list, "day")
	series  = wordlist.Set(list, "series")
	ends    = wordlist.Set(list, "end")
	stops   = wordlist.Set(list, "stop")

	before = sync.OnceValue(func() [][]string { return longestFirst("before") })
	behind = sync.OnceValue(func() [][]string { return longestFirst("behind") })

	// contrary is the word that a contrary denies.
	contrary = sync.OnceValue(func() map[string]string {
		words := map[string]string{}
		for word, line := range wordlist.Pairs(list, "opposite") {
			for other := range strings.FieldsSeq(line) {
				words[other] = word
			}
		}
		return words
	})
	// kin are the families that a thing belongs to.
	kin = sync.OnceValue(func() map[string][]string {
		families := map[string][]string{}
		for name, line := range wordlist.Pairs(list, "one of") {
			for one := range strings.SplitSeq(line, ", ") {
				families[one] = append(families[one], name)
			}
		}
		return families
	})
)

func longestFirst(heading string) (phrases [][]string) {
	for _, line := range wordlist.Lines(list, heading) {
		phrases = append(phrases, strings.Fields(line))
	}
	slices.SortStableFunc(phrases, func(a, b []string) int { return len(b) - len(a) })
	return phrases
}

// kind is what a word is written as. Values of one kind stand in one another's place.
type kind uint8

const (
	plain  kind = iota
	number      // 8080, 1.4, 30%, 24h, 2026-06-01, three
	path        // config/app.yml, example.org, localhost:6379
	option      // --no-cache
	day         // monday, june
)

// word is a word of a sentence that says something of it.
type word struct {
	raw, stem string
	kind      kind
	intro     bool // it stands behind a word that values follow
	at        int  // among all words of the sentence
}

// sentence is what is compared of a sentence.
type sentence struct {
	title   bool
	words   []word
	stems   []string // of each word
	place   []string // where it holds
	past    []word   // what it says is not so any more
	denied  []word   // what a later clause of it says not of
	negated bool     // its first clause says not
	clause  bool     // it has a word that joins others, and is more than a name
	ends    int      // how many of words stand in its first clause
}

// token is a word as it was written.
type token struct {
	raw   string
	ends  bool // a clause ends behind it
	colon bool // what it names follows
}

var sentenceEnd = regexp.MustCompile(`[.!?](?:\s+|$)|\n+`)

// Reading is what a text says, for comparisons with several others.
type Reading struct{ sentences []sentence }

// Read reads a text.
func Read(t Text) Reading { return Reading{read(t)} }

// read cuts a text into sentences, the title first. There is one at least.
func read(of Text) (list []sentence) {
	if title := strings.TrimSpace(of.Title); title != "" {
		s := sentenceOf(title)
		s.title = true
		list = append(list, s)
	}
	for _, part := range sentenceEnd.Split(text.Cut(of.Content, textBytes), -1) {
		if len(list) > sentences {
			break
		}
		if strings.TrimSpace(part) == "" || part == strings.TrimSpace(of.Title) {
			continue
		}
		list = append(list, sentenceOf(part))
	}
	if len(list) == 0 {
		list = append(list, sentence{})
	}
	return list
}

func sentenceOf(written string) sentence {
	tokens := tokensOf(written)
	s := sentence{words: make([]word, 0, len(tokens))}
	at := make([]int, len(tokens)) // the place of each token's word, from 1
	denying := false
	for i, t := range tokens {
		if placing()[t.raw] {
			s.place = append(s.place, text.Stem(t.raw))
		}
		raw := t.raw
		s.clause = s.clause || idle()[raw] || intros()[raw] || joins()[raw]
		denied, denies := contrary()[raw]
		if denies {
			raw = denied
		}
		if denies || negator()[raw] {
			if s.ends == 0 {
				s.negated = !s.negated
			} else {
				denying = true
			}
		}
		switch {
		case negator()[raw], raw == "longer" && i > 0 && tokens[i-1].raw == "no", raw == "more" && i > 0 && tokens[i-1].raw == "any":
		case raw == "may" && i+1 < len(tokens) && kindOf(tokens[i+1].raw) != number, raw != "may" && idle()[raw], changed()[raw], raw == "":
		default:
			w := word{raw: raw, stem: raw, kind: kindOf(raw), at: i, intro: introduced(tokens, i)}
			if w.kind == plain && !strings.ContainsAny(raw, "-_@~#+=") {
				w.stem = cmp.Or(text.Stem(raw), raw)
			}
			s.words = append(s.words, w)
			at[i] = len(s.words)
			if denying {
				s.denied = append(s.denied, w)
			}
		}
		if (t.ends || i+1 < len(tokens) && ends()[tokens[i+1].raw]) && s.ends == 0 {
			s.ends = len(s.words)
		}
		denying = denying && !t.ends
	}
	s.stems = stems(s.words)
	s.past = past(tokens, func(i int) (list []word) {
		if at[i] > 0 {
			list = s.words[at[i]-1 : at[i]]
		}
		return list
	})
	return s
}

// tokensOf splits a text at blanks, and takes off what stands around a word.
func tokensOf(written string) (tokens []token) {
	fields := strings.Fields(strings.ToLower(strings.ReplaceAll(written, "’", "'")))
	fields = fields[:min(len(fields), sentenceWords)]
	tokens = make([]token, 0, len(fields))
	for _, field := range fields {
		if strings.HasPrefix(field, "(") && len(tokens) > 0 {
			tokens[len(tokens)-1].ends = true
		}
		raw := strings.TrimLeft(field, "`\"'([{<")
		bare := strings.TrimRight(raw, "`\"')]}>,;:.!?")
		tail := raw[len(bare):]
		bare = strings.TrimSuffix(bare, "'s")
		if bare == "" && field != "—" && field != "-" {
			bare = strings.Trim(field, "`\"',;")
		}
		tokens = append(tokens, token{bare, strings.ContainsAny(tail, ",;)") || field == "—" || field == "-", strings.Contains(tail, ":")})
	}
	return tokens
}

// introduced tells whether a value is expected at a place.
func introduced(tokens []token, i int) bool {
	for i--; i >= 0; i-- {
		switch raw := tokens[i].raw; {
		case raw == "the" || raw == "a" || raw == "an" || raw == "our" || raw == "be":
			continue
		default:
			return intros()[raw] || tokens[i].colon
		}
	}
	return false
}

// past are the words of things that a sentence says are not so any more.
func past(tokens []token, words func(i int) []word) (list []word) {
	for i := range tokens {
		for _, phrase := range before() {
			if !stands(tokens, i, phrase) {
				continue
			}
			for j := i + len(phrase); j < len(tokens) && !stops()[tokens[j].raw]; j++ {
				list = append(list, words(j)...)
				if tokens[j].ends {
					break
				}
			}
			break
		}
		for _, phrase := range behind() {
			if !stands(tokens, i, phrase) {
				continue
			}
			for j := i - 1; j >= 0 && !tokens[j].ends; j-- {
				list = append(list, words(j)...)
			}
			break
		}
		if changed()[tokens[i].raw] {
			for j := i + 1; j < len(tokens) && !tokens[j].ends; j++ {
				if tokens[j].raw != "from" {
					continue
				}
				for j++; j < len(tokens) && !stops()[tokens[j].raw]; j++ {
					list = append(list, words(j)...)
				}
				break
			}
		}
		if tokens[i].raw == "any" && i+1 < len(tokens) && tokens[i+1].raw == "more" || tokens[i].raw == "anymore" {
			for j := i - 1; j >= 0 && !negator()[tokens[j].raw] && !tokens[j].ends; j-- {
				list = append(list, words(j)...)
			}
		}
	}
	return list
}

func stands(tokens []token, at int, phrase []string) bool {
	if at+len(phrase) > len(tokens) {
		return false
	}
	for i, word := range phrase {
		if tokens[at+i].raw != word || i+1 < len(phrase) && tokens[at+i].ends {
			return false
		}
	}
	return true
}

// kindOf tells how a word is written.
func kindOf(raw string) kind {
	switch {
	case numbers()[raw]:
		return number
	case days()[raw]:
		return day
	case len(raw) > 1 && raw[0] == '-':
		return option
	}
	digits, letters, marks := 0, 0, 0
	for i, r := range raw {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		case r == '/' || r == '\\' || (r == '.' || r == ':') && i < len(raw)-1 || r == '~' || r == '%':
			marks++
		}
	}
	switch {
	case digits > 0 && letters <= 3 && unicode.IsDigit(rune(raw[0])), digits > 0 && len(raw) > 1 && raw[0] == 'v' && letters == 1:
		return number
	case marks > 0 && letters > 0, marks > 1:
		return path
	}
	return plain
}

// head is a sentence without what follows its first clause; nil: it has one clause alone.
func (s *sentence) head() *sentence {
	if s.ends == 0 || s.ends == len(s.words) {
		return nil
	}
	head := *s
	head.words, head.stems, head.past, head.denied, head.ends = s.words[:s.ends], s.stems[:s.ends], nil, nil, 0
	return &head
}

func (s *sentence) has(stem string) bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return w.stem == stem })
}

func stems(words []word) []string {
	list := make([]string, len(words))
	for i := range words {
		list[i] = words[i].stem
	}
	return list
}

package contradict

import (
	"cmp"
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skillrouter/tfidf/text"
	"skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var list string

// class is what a word is to a sentence, besides what it says.
type class uint16

const (
	idle    class = 1 << iota // it says nothing of what is told
	changed                   // a verb that says that something changed
	negator
	placing // it says where something holds
	intro   // values follow it
	join    // it joins a value to what it is of
	numeral
	weekday
	series       // of what it names there are many
	ending       // a clause ends before it
	stop         // the name of a thing that is gone ends before it
	startsBefore // a phrase of before starts with it
	startsBehind // a phrase of behind starts with it
)

var (
	// classes are what each word of the lists is, so that a word of a text is looked up once.
	classes = sync.OnceValue(func() map[string]class {
		all := map[string]class{}
		for heading, is := range map[string]class{
			"idle": idle, "changed": changed, "not": negator, "place": placing, "intro": intro, "join": join, "number": numeral, "day": weekday,
			"series": series, "end": ending, "stop": stop,
		} {
			for word := range wordlist.Set(list, heading)() {
				all[word] |= is
			}
		}
		for is, phrases := range map[class][][]string{startsBefore: before(), startsBehind: behind()} {
			for _, phrase := range phrases {
				all[phrase[0]] |= is
			}
		}
		return all
	})

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
	is    class
	ends  bool // a clause ends behind it
	colon bool // what it names follows
}

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
	for part := range parts(text.Cut(of.Content, textBytes)) {
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

// parts cuts a text behind a sign that ends a sentence, where blanks or the text's end follow it, and where lines end.
func parts(of string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(of); {
			end := i + 1
			switch of[i] {
			case '.', '!', '?':
				for end < len(of) && blank(of[end]) {
					end++
				}
				if end == i+1 && end < len(of) {
					i++
					continue
				}
			case '\n':
				for end < len(of) && of[end] == '\n' {
					end++
				}
			default:
				i++
				continue
			}
			if !yield(of[from:i]) {
				return
			}
			from, i = end, end
		}
		yield(of[from:])
	}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func sentenceOf(written string) sentence {
	tokens := tokensOf(written)
	s := sentence{words: make([]word, 0, len(tokens))}
	at := make([]int, len(tokens)) // the place of each token's word, from 1
	denying := false
	for i, t := range tokens {
		if t.is&placing != 0 {
			s.place = append(s.place, text.Stem(t.raw))
		}
		raw, is := t.raw, t.is
		s.clause = s.clause || is&(idle|intro|join) != 0
		denied, denies := contrary()[raw]
		if denies {
			raw, is = denied, classes()[denied]
		}
		if denies || is&negator != 0 {
			if s.ends == 0 {
				s.negated = !s.negated
			} else {
				denying = true
			}
		}
		switch {
		case is&negator != 0, raw == "longer" && i > 0 && tokens[i-1].raw == "no", raw == "more" && i > 0 && tokens[i-1].raw == "any":
		case raw == "may" && i+1 < len(tokens) && kindOf(tokens[i+1].raw, tokens[i+1].is) != number, raw != "may" && is&idle != 0, is&changed != 0, raw == "":
		default:
			w := word{raw: raw, stem: raw, kind: kindOf(raw, is), at: i, intro: introduced(tokens, i)}
			if w.kind == plain && !strings.ContainsAny(raw, "-_@~#+=") {
				w.stem = cmp.Or(text.Stem(raw), raw)
			}
			s.words = append(s.words, w)
			at[i] = len(s.words)
			if denying {
				s.denied = append(s.denied, w)
			}
		}
		if (t.ends || i+1 < len(tokens) && tokens[i+1].is&ending != 0) && s.ends == 0 {
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
		tokens = append(tokens, token{bare, classes()[bare], strings.ContainsAny(tail, ",;)") || field == "—" || field == "-", strings.Contains(tail, ":")})
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
			return tokens[i].is&intro != 0 || tokens[i].colon
		}
	}
	return false
}

// past are the words of things that a sentence says are not so any more.
func past(tokens []token, words func(i int) []word) (list []word) {
	for i := range tokens {
		if n := phraseAt(tokens, i, startsBefore, before()); n > 0 {
			for j := i + n; j < len(tokens) && tokens[j].is&stop == 0; j++ {
				list = append(list, words(j)...)
				if tokens[j].ends {
					break
				}
			}
		}
		if phraseAt(tokens, i, startsBehind, behind()) > 0 {
			for j := i - 1; j >= 0 && !tokens[j].ends; j-- {
				list = append(list, words(j)...)
			}
		}
		if tokens[i].is&changed != 0 {
			for j := i + 1; j < len(tokens) && !tokens[j].ends; j++ {
				if tokens[j].raw != "from" {
					continue
				}
				for j++; j < len(tokens) && tokens[j].is&stop == 0; j++ {
					list = append(list, words(j)...)
				}
				break
			}
		}
		if tokens[i].raw == "any" && i+1 < len(tokens) && tokens[i+1].raw == "more" || tokens[i].raw == "anymore" {
			for j := i - 1; j >= 0 && tokens[j].is&negator == 0 && !tokens[j].ends; j-- {
				list = append(list, words(j)...)
			}
		}
	}
	return list
}

// phraseAt is how many tokens the first of some phrases that stands at a place has; 0: none does.
func phraseAt(tokens []token, at int, starts class, phrases [][]string) int {
	if tokens[at].is&starts != 0 {
		for _, phrase := range phrases {
			if stands(tokens, at, phrase) {
				return len(phrase)
			}
		}
	}
	return 0
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
func kindOf(raw string, is class) kind {
	switch {
	case is&numeral != 0:
		return number
	case is&weekday != 0:
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

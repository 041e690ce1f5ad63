package text

import (
	"slices"
	"strings"
)

// Bounds. What is over them is cut, never refused.
const (
	// MaxDocumentBytes is how much of a title and of a body is indexed. An entry of
	// a megabyte is a log that was pasted; its head is what it is about.
	MaxDocumentBytes = 1 << 20
	// MaxQueryBytes is how much of a query is read: a pasted stack trace fits.
	MaxQueryBytes = 16 << 10
	// MaxQueryWords is how many words of a query are looked up. They are sixteen times as
	// many as are searched, the rarest ones.
	MaxQueryWords = 1024
)

// Cut returns at most the first n bytes of text. A rune that is cut through
// reads as invalid and so as a separator.
func Cut(text string, n int) string { return text[:min(len(text), n)] }

// Telling returns the words of a query without its stop words; all of them, if there are no others.
func Telling(words []string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), StopWord)
	if len(kept) == 0 {
		return words
	}
	return kept
}

// QueryTerms returns the distinct stems that a search for the text would look
// for first, in order: its words without those that say nothing; and, apart
// from them, what may stand for several of its words at once, identifiers as a
// whole and neighbours that may be one word elsewhere.
func QueryTerms(text string) (words, whole []string) {
	var s Scanner
	s.Scan(Cut(text, MaxQueryBytes))
	all, joined := s.Query(nil, nil)
	kept := Telling(all)
	seen := make(map[string]bool, len(kept)+len(joined))
	return distinctStems(kept, seen), distinctStems(joined, seen)
}

// distinctStems returns the stems of words that are not in seen, and adds them to it.
func distinctStems(words []string, seen map[string]bool) []string {
	stems := make([]string, 0, len(words))
	for _, word := range words {
		if t := StemFolded(word); !seen[t] {
			seen[t] = true
			stems = append(stems, t)
		}
	}
	return stems
}

// RelatedTerms returns the stems that developers use for a stem, as the
// related lane of a search knows them.
func RelatedTerms(stem string) []string {
	var list []string
	for _, r := range Related()[stem] {
		list = append(list, r.Stem)
	}
	return list
}

// Stem returns the stem of a word, folded as a text's words are; of several words, of the first.
func Stem(word string) string {
	if len(word) > 2 && len(word) <= MaxWord && strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
		return StemFolded(word) // it is one word, folded
	}
	if terms := Terms(word); len(terms) > 0 {
		return terms[0]
	}
	return ""
}

// Query appends the words among the scanned tokens of a query, and what
// is looked for as a whole: identifiers, and neighbours that may be one word elsewhere.
func (s *Scanner) Query(words, whole []string) (_, _ []string) {
	end, before, former := int32(-1), "", ""
	for i, t := range s.Tokens {
		word := string(s.Buf[t.Start:t.End])
		switch t.kind {
		case compound:
			if len(whole) < MaxQueryWords {
				whole = append(whole, word)
			}
			continue
		case single:
			if inPair(s.Tokens, i) {
				continue
			}
		}
		if before != "" && t.Start >= end && len(before)+len(word) <= MaxWord && len(whole) < MaxQueryWords {
			whole = append(whole, before+word)
			if former != "" && len(former)+len(before)+len(word) <= MaxWord {
				whole = append(whole, former+before+word)
			}
		}
		words = append(words, word)
		former, before, end = before, word, t.End
	}
	return words, whole
}

// inPair tells whether token i is one character of a neighbouring pair.
func inPair(toks []Token, i int) bool {
	for j := max(i-2, 0); j < min(i+4, len(toks)); j++ {
		if p := toks[j]; j != i && p.kind == plain && p.Start <= toks[i].Start && toks[i].End <= p.End {
			return true
		}
	}
	return false
}

// Terms returns the stemmed terms of a text in order, repeated where they
// repeat: the parts of identifiers and, behind them, the identifiers as a whole.
func Terms(text string) []string {
	var s Scanner
	s.Scan(Cut(text, MaxDocumentBytes))
	out := make([]string, 0, len(s.Tokens))
	for i, t := range s.Tokens {
		if t.kind == single && inPair(s.Tokens, i) {
			continue
		}
		out = append(out, stemOf(string(s.Buf[t.Start:t.End])))
	}
	return out
}

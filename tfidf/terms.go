package tfidf

import (
	"runtime"
	"slices"
)

// QueryTerms returns the distinct stems that a search for the text would look
// for first, in order: its words without those that say nothing; and, apart
// from them, what may stand for several of its words at once, identifiers as a
// whole and neighbours that may be one word elsewhere.
func QueryTerms(text string) (words, whole []string) {
	var s scanner
	s.scan(cut(text, MaxQueryBytes))
	all, joined := queryWords(&s, nil, nil)
	kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return stopWords()[w] })
	if len(kept) == 0 {
		kept = all
	}
	seen := make(map[string]bool, len(kept)+len(joined))
	return distinctStems(kept, seen), distinctStems(joined, seen)
}

// distinctStems returns the stems of words that are not in seen, and adds them to it.
func distinctStems(words []string, seen map[string]bool) []string {
	stems := make([]string, 0, len(words))
	for _, word := range words {
		if t := stem(word); !seen[t] {
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
	for _, r := range related()[stem] {
		list = append(list, r.stem)
	}
	return list
}

// Stem returns the stem of a word, folded as a text's words are; of several words, of the first.
func Stem(word string) string {
	if terms := Terms(word); len(terms) > 0 {
		return terms[0]
	}
	return ""
}

// Frequencies returns in how many documents each stem occurs, and how many documents there are.
func (ix *Index) Frequencies(stems []string) (frequencies []int, documents int) {
	v := ix.view.Load()
	frequencies = make([]int, len(stems))
	for i, s := range stems {
		_, frequencies[i] = ix.known(s, v)
	}
	runtime.KeepAlive(ix) // and with it what the vocabulary is mapped from
	return frequencies, v.docs
}

package tfidf

import "slices"

// QueryTerms returns the distinct stems that a search for the text would look
// for first: its words without those that say nothing, in order, and behind
// them the identifiers as a whole.
func QueryTerms(text string) []string {
	var s scanner
	s.scan(cut(text, MaxQueryBytes))
	all, whole := queryWords(&s, nil, nil)
	kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return stopWords[w] })
	if len(kept) == 0 {
		kept = all
	}
	return distinctStems(append(kept, whole...))
}

func distinctStems(words []string) []string {
	seen := make(map[string]bool, len(words))
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
	return frequencies, v.docs
}

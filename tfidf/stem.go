package tfidf

import (
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// findStem finds the stem of a folded word: English for Latin letters without
// accents, Russian for Cyrillic ones. Words with digits or signs, and words of
// other scripts, are their own stems.
func findStem(word string) string {
	if len(word) <= 2 {
		return word
	}
	latin, cyrillic := true, true
	for _, r := range word {
		latin = latin && 'a' <= r && r <= 'z'
		cyrillic = cyrillic && 'а' <= r && r <= 'я'
		if !latin && !cyrillic {
			return word
		}
	}
	var s string
	switch {
	case latin:
		s = english.Stem(word, true)
	case utf8.RuneCountInString(word) > 2:
		s = russian.Stem(word, true)
	}
	if s == "" {
		return word
	}
	return s
}

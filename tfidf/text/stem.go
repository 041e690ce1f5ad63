package text

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed irregular.txt
var irregular string

// forms maps an irregular form to the stem of its word.
var forms = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, line := range wordlist.Lines(irregular, "") {
		group := strings.Fields(line)
		base := ruleStem(group[len(group)-1])
		for _, form := range group[:len(group)-1] {
			m[form] = base
		}
	}
	return m
})

// FindStem finds the stem of a folded word: that of the word it is an irregular
// form of, or else what the rules make of it.
func FindStem(word string) string {
	if stem, ok := forms()[word]; ok {
		return stem
	}
	return ruleStem(word)
}

// ruleStem finds the stem of a folded word by rules: English for Latin letters
// without accents, Russian for Cyrillic ones. Words with digits or signs, and
// words of other scripts, are their own stems.
func ruleStem(word string) string {
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

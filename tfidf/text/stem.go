package text

import (
	_ "embed"
	"strings"
	"sync"
	"sync/atomic"
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

const (
	// mostStems is how many stems are remembered: the words that make up nearly all of a team's texts, in some three megabytes.
	mostStems = 1 << 15
	// memoWord bounds the words whose stems are remembered, in bytes: longer ones are seldom words.
	memoWord = 32
)

// stemsMet are the stems of words that were met. Finding a stem takes some hundred times what looking it up does, and is most
// of the cost of reading a text. A stem is a constant of its word, so one memory serves the process; when it is full, it begins anew.
var (
	stemsMet  sync.Map
	stemsHeld atomic.Int64
)

// stemOf returns the stem of a folded word, from memory if it was met lately.
func stemOf(word string) string {
	if stem, met := stemsMet.Load(word); met {
		return stem.(string)
	}
	stem := FindStem(word)
	if len(word) <= memoWord {
		if stemsHeld.Add(1) > mostStems {
			stemsMet.Clear()
			stemsHeld.Store(0)
		}
		stemsMet.Store(strings.Clone(word), strings.Clone(stem)) // both may be parts of a whole text
	}
	return stem
}

// StemFolded is stemOf for a word that may be a name of two letters, which is its own stem.
func StemFolded(word string) string {
	if len(word) <= 2 {
		return word
	}
	return stemOf(word)
}

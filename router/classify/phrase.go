package classify

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// MaxPhraseWords bounds how much of a question is read for its intent: what is
// asked stands in a sentence, the rest is the matter.
const MaxPhraseWords = 64

// Phrase splits a question into its words: in lower case, without punctuation
// at their ends, with the short forms written out ("who's" gives who, is) and
// the possessive dropped. Ids, versions and paths stay whole.
func Phrase(query string) []string {
	query = strings.ReplaceAll(strings.ToLower(norm.NFC.String(query)), "’", "'")
	fields := strings.FieldsFunc(query, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`,;!?"()[]{}<>|`+"`", r)
	})
	words := make([]string, 0, min(len(fields), MaxPhraseWords))
	for _, f := range fields {
		f = strings.Trim(f, ".:'-–—…*_/\\=")
		if f == "" {
			continue
		}
		if len(words) >= MaxPhraseWords {
			break
		}
		head, tail, short := strings.Cut(f, "'")
		switch {
		case !short:
			words = append(words, f)
		case tail == "s" && beforeIs[head]:
			words = append(words, head, "is")
		case longForm(tail) != "":
			words = append(words, head, longForm(tail))
		case tail == "t" && strings.HasSuffix(head, "n"):
			words = append(words, strings.TrimSuffix(head, "n"), "not")
		case head != "":
			words = append(words, head)
		}
	}
	return words
}

// shortForms are the endings behind an apostrophe that stand for one word wherever they are.
var shortForms = [...]struct{ ending, word string }{{"re", "are"}, {"ve", "have"}, {"m", "am"}, {"ll", "will"}, {"d", "would"}}

// longForm is the word that an ending behind an apostrophe stands for; empty if it is none of shortForms.
func longForm(ending string) string {
	for _, one := range &shortForms {
		if one.ending == ending {
			return one.word
		}
	}
	return ""
}

// beforeIs are the words after which 's is short for "is" and no possessive.
var beforeIs = WordSet("who what where when which how there it that he she everyone anyone someone everybody anybody")

// WordSet makes a set of the words of a text.
func WordSet(text string) map[string]bool { return wordlist.Words(text) }

//go:embed function_words.txt
var functionWords string

// FunctionWords carry no content of their own in a question to the router.
var FunctionWords = wordlist.Set(functionWords, "")

// Content returns the words that carry meaning, each once, and their stems.
func Content(words []string, skip map[string]bool) (said, stems []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if FunctionWords()[w] || skip[w] {
			continue
		}
		if s := stem(w); !seen[s] {
			seen[s] = true
			said, stems = append(said, w), append(stems, s)
		}
	}
	return said, stems
}

// stem brings the forms of an English word together. What is no plain word stays as it is.
func stem(word string) string {
	if !plainWord(word) {
		return word
	}
	return english.Stem(word, false)
}

// plainWord tells whether a word is of the letters a–z alone, and so no id, number or path.
func plainWord(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// number tells whether a word is of digits alone: inside a longer one it is another.
func number(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// LeastOverlap is how much of what a question names a text must hold to be meant by it.
const LeastOverlap = 0.6

// leastPart is how long an id or path must be to be looked for inside longer ones.
const leastPart = 3

// likeWord is what a word of the thesaurus counts for where another of its group was asked.
const likeWord = 0.5

// Overlap tells how much of the asked stems a text holds, from 0 to 1. If some
// of them are ids, numbers or paths, the text must hold one of those, and then
// counts as fitting: they say more than all words around them.
func Overlap(asked []string, stored string) float64 {
	if len(asked) == 0 {
		return 0
	}
	held := map[string]bool{}
	for _, w := range phraseAll(stored) {
		held[stem(w)] = true
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("-._", r) }) {
			held[stem(part)] = true
		}
	}
	folded := strings.ToLower(stored)
	found, particular, hit, certain := 0.0, 0, 0, false
	for _, a := range asked {
		plain := plainWord(a)
		holds := held[a] || (!plain && !number(a) && len(a) >= leastPart && strings.Contains(folded, a))
		switch {
		case holds:
			found++
		case plain && slices.ContainsFunc(text.Related()[a], func(r text.Relative) bool { return held[r.Stem] }): // "sources" of src/
			found += likeWord
		}
		if !plain {
			particular++
			if holds {
				hit++
				certain = certain || len(a) >= leastPart
			}
		}
	}
	switch share := found / float64(len(asked)); {
	case particular > 0 && hit == 0:
		return 0
	case certain:
		return max(share, LeastOverlap)
	default:
		return share
	}
}

// phraseAll splits a stored text into words and the parts of compound ones.
func phraseAll(text string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
	})
}

// Has tells whether the words hold the others in this order, one after the other.
func Has(words []string, others ...string) bool { return At(words, others...) >= 0 }

// HasAny tells whether the words hold one of the phrases, whose words are parted by spaces.
func HasAny(words []string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return Has(words, strings.Fields(p)...) })
}

// At returns where the words hold the others one after the other, or −1.
func At(words []string, others ...string) int {
	for i := 0; i+len(others) <= len(words); i++ {
		match := true
		for j, o := range others {
			if words[i+j] != o {
				match = false
				break
			}
		}
		if match {
			return i
		}
	}
	return -1
}

// Numbered are the nouns before a number that names a task.
var Numbered = WordSet("task job ticket item issue bug todo card number")

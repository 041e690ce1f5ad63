package text

import (
	_ "embed"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed hints.txt
var hintsText string

// Sets of folded words; the file says what each is.
var (
	stopWords     = wordlist.Set(hintsText, "stop words")
	Settings      = wordlist.Set(hintsText, "settings")
	Programming   = wordlist.Set(hintsText, "programming")
	Times         = wordlist.Set(hintsText, "times")
	datedNouns    = wordlist.Set(hintsText, "dated nouns")
	kindQuestions = wordlist.Set(hintsText, "questions for a kind")
)

// AsksForTime tells whether the words of a query ask when.
func AsksForTime(query []string) bool {
	for i, w := range query {
		next := ""
		if i+1 < len(query) {
			next = query[i+1]
		}
		if w == "when" || (w == "what" || w == "which") && datedNouns()[next] || w == "how" && next == "long" {
			return true
		}
	}
	return false
}

// AsksForKind tells whether the words of a query may ask for a member of a kind that they name.
func AsksForKind(query []string) bool { return len(query) > 1 && kindQuestions()[query[0]] }

// StopWord tells whether a folded word, not stemmed, is one that a query drops.
func StopWord(word string) bool { return stopWords()[word] }

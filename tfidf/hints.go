package tfidf

import (
	_ "embed"

	"skillrouter/tfidf/wordlist"
)

//go:embed hints.txt
var hintsText string

// What these are is said in the file.
var (
	stopWords     = wordlist.Set(hintsText, "stop words")
	settings      = wordlist.Set(hintsText, "settings")
	programming   = wordlist.Set(hintsText, "programming")
	timeWords     = wordlist.Set(hintsText, "times")
	datedNouns    = wordlist.Set(hintsText, "dated nouns")
	kindQuestions = wordlist.Set(hintsText, "questions for a kind")
)

// asksForTime tells whether the words of a query ask when.
func asksForTime(query []string) bool {
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

// asksForKind tells whether the words of a query may ask for a member of a kind that they name.
func asksForKind(query []string) bool { return len(query) > 1 && kindQuestions()[query[0]] }

package act

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var wordsText string

// What these words are is said in the file.
var (
	// Quiet are options that change how a command speaks, not what it does.
	Quiet = wordlist.Set(wordsText, "quiet options")
	// Saying are the options whose values are read by people.
	Saying = wordlist.Set(wordsText, "options for readers")
	// Consent are options that answer a question beforehand.
	Consent = wordlist.Set(wordsText, "consent")
	// TitleStop are words that say nothing in a title.
	TitleStop = wordlist.Set(wordsText, "title words")

	keywords      = wordlist.Set(wordsText, "keywords")
	cues          = wordlist.Set(wordsText, "cues")
	negations     = wordlist.Set(wordsText, "negations")
	intents       = wordlist.Phrases(wordsText, "intents")
	sentenceWords = wordlist.Set(wordsText, "words of sentences")
	commandVars   = wordlist.Set(wordsText, "variables that hold a command")
	ports         = wordlist.Map(wordsText, "ports")
	disks         = wordlist.Set(wordsText, "disks")
	installed     = wordlist.Set(wordsText, "folders of installed programs")
	unmistakable  = wordlist.Set(wordsText, "unmistakable calls")
	choosing      = wordlist.Set(wordsText, "tests of find")

	sqlWrites   = wordlist.Set(wordsText, "verbs of SQL")
	sqlOpeners  = wordlist.Set(wordsText, "openers of SQL")
	sqlObjects  = wordlist.Set(wordsText, "objects of SQL")
	beforeNames = wordlist.Sets(wordsText, "words before names in SQL")
	afterNames  = wordlist.Sets(wordsText, "words after names in SQL")

	// What programs do with a file that they name, see secret.go.
	keeping   = wordlist.Set(wordsText, "programs that keep secrets")
	naming    = wordlist.Set(wordsText, "programs that name only")
	sending   = wordlist.Set(wordsText, "programs that send")
	searching = wordlist.Set(wordsText, "programs that search")

	kinds        = otherNames("kinds of kubernetes")
	serviceVerbs = otherNames("service verbs")
	calls        = otherNames("calls")
)

// anyOf reports whether one of the words of a list fits.
func anyOf(words map[string]bool, fits func(string) bool) bool {
	for word := range words {
		if fits(word) {
			return true
		}
	}
	return false
}

// otherNames returns what gives, for each word of the lines "name: words", the name. A name is its own.
func otherNames(heading string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		names := map[string]string{}
		for name, words := range wordlist.Pairs(wordsText, heading) {
			names[name] = name
			for word := range strings.FieldsSeq(words) {
				names[word] = name
			}
		}
		return names
	})
}

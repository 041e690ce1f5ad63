package folder

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Weights of a task's words.
const (
	weightTerm    = 2   // what looks like a name: with a digit, a dot, a slash, a dash, an underscore or inner capitals, or in backticks
	weightWord    = 1   // any other word
	weightGeneric = 0.5 // what stands in most tasks
)

// maxTokens bounds how many words of a task count.
const maxTokens = 64

//go:embed words.txt
var wordsText string

var (
	noTerms    = wordlist.Set(wordsText, "no terms")
	usualWords = wordlist.Set(wordsText, "usual in tasks")
)

// taskWord is a word of a task that counts.
type taskWord struct {
	text   string // as it was written, in lower case
	stem   string
	weight float64
}

// tokens are a task's words, the heaviest first, in their order otherwise. A
// name such as go.mod counts whole and, with less weight, by its parts.
func tokens(task string) []taskWord {
	var list []taskWord
	at := map[string]int{}
	add := func(text string, weight float64) {
		text = strings.ToLower(text)
		if len(text) < 2 || noTerms()[text] {
			return
		}
		if usualWords()[text] {
			weight = min(weight, weightGeneric)
		}
		s := stem(text)
		if i, there := at[s]; there {
			list[i].weight = max(list[i].weight, weight)
			return
		}
		at[s] = len(list)
		list = append(list, taskWord{text, s, weight})
	}
	quoted := false
	for field := range strings.FieldsSeq(task) {
		opens := strings.HasPrefix(field, "`")
		closes := strings.Count(field, "`") > 0 && (!opens || strings.Count(field, "`") > 1)
		name := strings.Trim(field, "`'\"“”‘’()[]{}<>,;:!?.…")
		parts := pieces(name)
		if quoted || opens || term(name) {
			if len(parts) > 1 && len(name) <= 80 {
				add(name, weightTerm)
			}
			for _, part := range parts {
				add(part, map[bool]float64{true: weightWord, false: weightTerm}[len(parts) > 1])
			}
		} else {
			for _, part := range parts {
				add(part, weightWord)
			}
		}
		quoted = (quoted || opens) && !closes
		if len(list) >= 4*maxTokens {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b taskWord) int { return cmp.Compare(b.weight, a.weight) })
	return list[:min(len(list), maxTokens)]
}

// term tells a word that looks like the name of a thing.
func term(word string) bool {
	for i, r := range word {
		if unicode.IsDigit(r) || i > 0 && (unicode.IsUpper(r) || strings.ContainsRune("._/-:@#", r)) {
			return true
		}
	}
	return false
}

// pieces are the runs of letters and digits in a text.
func pieces(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) })
}

// stem is what words of one kind have in common. English is what tags and
// titles are mostly in; a word of another language is cut in the same way on
// both sides.
func stem(word string) string {
	if len(word) > 64 {
		return word // no word, and not worth the time
	}
	return english.Stem(word, false)
}

// bag is the stems of texts, whole names included.
func bag(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, s := range texts {
		for field := range strings.FieldsSeq(strings.ToLower(s)) {
			name := strings.Trim(field, "`'\"“”‘’()[]{}<>,;:!?.…")
			set[stem(name)] = true
			for _, part := range pieces(name) {
				set[stem(part)] = true
			}
		}
	}
	return set
}

// fit is how far words of a task stand in a bag: 1 − 0.5^w, w the sum of the
// weights that match, so that a second match says less than the first and the
// length of the task says nothing.
func fit(task []taskWord, in map[string]bool) (share float64, matched []string) {
	sum := 0.0
	for _, t := range task {
		if in[t.stem] {
			sum += t.weight
			matched = append(matched, t.text)
		}
	}
	return 1 - math.Exp2(-sum), matched
}

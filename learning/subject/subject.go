// Package subject knows what questions of people are about: a subject has many names, and who asks for "our package manager" means the
// entry that says "pnpm".
package subject

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed subject.txt
var words string

// expandedWith bounds how many words of a subject are searched for beside a question's own words.
const expandedWith = 8

// phrases finds subjects in a text: by the first stem of their phrases, what follows it.
type phrases map[string][]rest

// rest is what follows the first stem of a phrase.
type rest struct {
	subject string
	stems   []string
}

// Subjects is what is known of them.
type Subjects struct {
	Talk        map[string]bool     // stems of small talk
	Empty       map[string]bool     // stems that say how something is done, and not what it is about
	Usual       map[string]bool     // stems that many prompts have, whatever they are about
	Search      map[string][]string // by subject: stems that find it
	both, asked phrases             // in any text, and in a question alone
}

// Known returns the subjects.
var Known = sync.OnceValue(func() *Subjects {
	s := &Subjects{Talk: stemsOf("small talk"), Empty: stemsOf("no subject"), Usual: stemsOf("usual"), both: phrases{}, asked: phrases{}, Search: map[string][]string{}}
	for name, line := range wordlist.Pairs(words, "subjects") {
		s.both.add(name, line)
		s.Search[name] = s.telling(strings.Split(line, ";"))
	}
	for name, line := range wordlist.Pairs(words, "asked") {
		s.asked.add(name, line)
	}
	return s
})

// Named are the subjects that a text names, by its stems.
func (s *Subjects) Named(stems []string) map[string]bool {
	found := map[string]bool{}
	s.both.in(stems, found)
	return found
}

// Asked are the subjects that a question is about, by its stems.
func (s *Subjects) Asked(stems []string) map[string]bool {
	found := s.Named(stems)
	s.asked.in(stems, found)
	return found
}

// Focus says of each subject that a question is about what part of the stems that say something its phrases have: all of them
// where the question is about nothing else.
func (s *Subjects) Focus(stems, telling []string) map[string]float64 {
	covered := map[string]map[string]bool{}
	for i, stem := range stems {
		for _, list := range []phrases{s.both, s.asked} {
			for _, phrase := range list[stem] {
				if !follow(stems[i+1:], phrase.stems) {
					continue
				}
				if covered[phrase.subject] == nil {
					covered[phrase.subject] = map[string]bool{}
				}
				for _, word := range append([]string{stem}, phrase.stems...) {
					covered[phrase.subject][word] = true
				}
			}
		}
	}
	focus := map[string]float64{}
	for name, words := range covered {
		focus[name] = 1
		for _, word := range telling {
			if !words[word] {
				focus[name] -= 1 / float64(len(telling))
			}
		}
	}
	return focus
}

// MostRelevant bounds the relevance of what has a question's subject, and none of its words: half.
const MostRelevant = 0.5

// About is what a question is about, by the names of its subjects.
type About map[string]bool

// Of returns what a question is about: who asks for the package manager means the
// entry that says pnpm. It is empty for a question that names no subject.
func Of(question string) About { return Known().Asked(text.Terms(question)) }

// Ask returns a question with the words that find its subjects.
func (a About) Ask(question string) string {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		question += " " + strings.Join(Known().Search[name], " ")
	}
	return question
}

// In tells whether a title names a subject of the question.
func (a About) In(title string) bool {
	for name := range Known().Named(text.Terms(title)) {
		if a[name] {
			return true
		}
	}
	return false
}

// Among returns those of what was found whose titles name a subject of the question, if they are relevant enough when none
// counts more than MostRelevant.
func Among[Hit any](a About, found []Hit, least float64, of func(*Hit) (title string, relevance *float64)) (named []Hit) {
	for i := range found {
		title, relevance := of(&found[i])
		if *relevance = min(*relevance, MostRelevant); *relevance >= least && a.In(title) {
			named = append(named, found[i])
		}
	}
	return named
}

// Notice says of an answer that it was found by its subject.
func (a About) Notice() string {
	return "found by their subject: " + strings.Join(slices.Sorted(maps.Keys(a)), ", ")
}

// telling are the stems of the first words of phrases that say something by themselves.
func (s *Subjects) telling(phrases []string) (stems []string) {
	for _, word := range strings.Fields(strings.Join(phrases, " ")) {
		stem := strings.Join(text.Terms(word), " ")
		if len(stems) < expandedWith && !text.StopWord(stem) && !s.Empty[stem] && !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	return stems
}

func stemsOf(heading string) map[string]bool {
	stems := map[string]bool{}
	for _, line := range wordlist.Lines(words, heading) {
		for _, word := range strings.Fields(line) {
			for _, stem := range text.Terms(word) {
				stems[stem] = true
			}
		}
	}
	return stems
}

func (p phrases) add(subject, line string) {
	for one := range strings.SplitSeq(line, ";") {
		if stems := text.Terms(one); len(stems) > 0 {
			p[stems[0]] = append(p[stems[0]], rest{subject, stems[1:]})
		}
	}
}

// mostBetween is how many words may stand between those of a phrase: "roll the update back" rolls back.
const mostBetween = 2

// in adds the subjects whose phrases stand in a text's stems, with at most mostBetween words between a phrase's own.
func (p phrases) in(stems []string, found map[string]bool) {
	for i, stem := range stems {
		for _, phrase := range p[stem] {
			if !found[phrase.subject] && follow(stems[i+1:], phrase.stems) {
				found[phrase.subject] = true
			}
		}
	}
}

// follow tells whether a text goes on with a phrase.
func follow(text, phrase []string) bool {
	for _, stem := range phrase {
		next := slices.Index(text[:min(len(text), mostBetween+1)], stem)
		if next < 0 {
			return false
		}
		text = text[next+1:]
	}
	return true
}

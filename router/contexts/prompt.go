package contexts

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"skillrouter"
	"skillrouter/router"
	"skillrouter/tfidf/text"
	"skillrouter/tfidf/wordlist"
)

//go:embed prompt.txt
var promptWords string

// Figures of what is told with a prompt. A person's prompt is short and in everyday words, and
// most need nothing: TestPrompts (cmd/app) holds what these give.
const (
	// mostPrompted bounds how many items a prompt is told.
	mostPrompted = 5
	// leastPrompted is the least relevance that is told, and leastBeside the part of the
	// best one's that others beside it have.
	leastPrompted, leastBeside = 0.45, 0.55
	// subjectInTitle and subjectInBody are the relevance of an item with the prompt's subject.
	subjectInTitle, subjectInBody = 0.6, 0.3
	// lexicalPart is what the words that prompt and item share add to that.
	lexicalPart = 0.5
	// rareWeight is the weight of a term that tells an item by itself: few entries have it.
	rareWeight = 0.75
	// expandedWith bounds how many words of a subject are searched for beside the prompt's own words.
	expandedWith = 8
)

// phrases finds subjects in a text: by the first stem of their phrases, what follows it.
type phrases map[string][]rest

// rest is what follows the first stem of a phrase.
type rest struct {
	subject string
	stems   []string
}

// subjects is what prompt.txt says.
type subjects struct {
	talk, empty map[string]bool     // stems
	both, asked phrases             // in any text, and in a prompt alone
	search      map[string][]string // by subject: stems that find it
}

var known = sync.OnceValue(func() subjects {
	s := subjects{talk: stemsOf("small talk"), empty: stemsOf("no subject"), both: phrases{}, asked: phrases{}, search: map[string][]string{}}
	for name, line := range wordlist.Pairs(promptWords, "subjects") {
		s.both.add(name, line)
		s.search[name] = s.telling(strings.Split(line, ";"))
	}
	for name, line := range wordlist.Pairs(promptWords, "asked") {
		s.asked.add(name, line)
	}
	return s
})

// telling are the stems of the first words of phrases that say something by themselves.
func (s *subjects) telling(phrases []string) (stems []string) {
	for _, word := range strings.Fields(strings.Join(phrases, " ")) {
		stem := strings.Join(text.Terms(word), " ")
		if len(stems) < expandedWith && !text.StopWord(stem) && !s.empty[stem] && !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	return stems
}

func stemsOf(heading string) map[string]bool {
	stems := map[string]bool{}
	for _, line := range wordlist.Lines(promptWords, heading) {
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

// in adds the subjects whose phrases stand in a text's stems, with at most one word between a phrase's own.
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
		next := slices.Index(text[:min(len(text), 2)], stem)
		if next < 0 {
			return false
		}
		text = text[next+1:]
	}
	return true
}

// asking is what a prompt asks for.
type asking struct {
	content  map[uint64]bool // hashes of the stems that say something
	subjects map[string]bool
	search   string // what the stores are asked
}

// askingOf reads a prompt. Its search is empty if it asks for nothing. It asks beside its own
// words for those of its subjects that a store has: for one that none has, each store would
// look for what may have been meant.
func askingOf(prompt string, stores []router.Frequencies) asking {
	s := known()
	stems := text.Terms(prompt)
	a := asking{content: map[uint64]bool{}}
	talk := true
	for _, stem := range stems {
		talk = talk && (s.talk[stem] || text.StopWord(stem) || !strings.ContainsFunc(stem, isWordRune))
		if !text.StopWord(stem) && !s.empty[stem] && !s.talk[stem] {
			a.content[termHash(stem)] = true
		}
	}
	if talk {
		return a
	}
	a.subjects = map[string]bool{}
	s.both.in(stems, a.subjects)
	s.asked.in(stems, a.subjects)
	a.search = prompt
	for _, name := range slices.Sorted(maps.Keys(a.subjects)) {
		for i, count := range frequencies(s.search[name], stores) {
			if count > 0 {
				a.search += " " + s.search[name][i]
			}
		}
	}
	return a
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// frequencies says in how many documents of all stores stems occur. Without a store that
// tells, each is taken to occur.
func frequencies(stems []string, stores []router.Frequencies) []int {
	sum := make([]int, len(stems))
	for _, store := range stores {
		counts, _ := store.Frequencies(stems)
		for i, count := range counts {
			sum[i] += count
		}
	}
	if len(stores) == 0 {
		for i := range sum {
			sum[i] = 1
		}
	}
	return sum
}

// choosePrompt chooses what belongs to a prompt: mostly nothing.
func (c *choice) choosePrompt(asked asking, candidates []candidate) Context {
	c.begin()
	s := known()
	var fitting []*rated
	for _, r := range once(candidates) {
		r.score = c.promptRelevance(s, asked, r)
		switch {
		case r.project != "" && r.project != c.project, r.score < leastPrompted:
			c.leave(&r.candidate, "irrelevant")
		case c.withheld(r):
		default:
			fitting = append(fitting, r)
		}
	}
	slices.SortFunc(fitting, func(a, b *rated) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id, b.id)) })
	if len(fitting) > 0 {
		least := leastBeside * fitting[0].score
		fitting = slices.DeleteFunc(fitting, func(r *rated) bool {
			if r.score < least {
				c.leave(&r.candidate, "irrelevant")
			}
			return r.score < least
		})
	}
	c.markGone(fitting)
	for i, r := range fitting {
		if i >= mostPrompted {
			c.leave(&r.candidate, "budget")
		} else {
			c.place(r)
		}
	}
	return c.write()
}

// promptRelevance is how much an item belongs to a prompt, from 0 to 1: by the subject
// that both have, and by the words that they share.
func (c *choice) promptRelevance(s subjects, asked asking, r *rated) float64 {
	about := 0.0
	if len(asked.subjects) > 0 {
		inTitle, inBody := map[string]bool{}, map[string]bool{}
		s.both.in(text.Terms(r.title), inTitle)
		s.both.in(text.Terms(skillrouter.Head(r.body, readBytes)), inBody)
		for name := range asked.subjects {
			if inTitle[name] {
				about = subjectInTitle
			} else if inBody[name] {
				about = max(about, subjectInBody)
			}
		}
	}
	shared := asked.shared(c.terms, &r.words)
	return min(1, max(shared, about+lexicalPart*shared))
}

// shared is the relevance by words, of those that say something alone: one word that both
// have finds nothing, but for a rare one in the title.
func (a *asking) shared(t taskTerms, w *words) float64 {
	held, telling := 0, false
	for term := range a.content {
		if _, has := slices.BinarySearch(w.terms, term); has {
			held++
			_, inTitle := slices.BinarySearch(w.title, term)
			telling = telling || inTitle && t.weights[term] >= rareWeight
		}
	}
	if held == 0 || held == 1 && !telling {
		return 0
	}
	return t.relevance(w)
}

package contexts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"skillrouter/learning/subject"
	"skillrouter/router"
	"skillrouter/tfidf/text"
)

// Figures of what is told with a prompt. A person's prompt is short and in everyday words, and
// most need nothing: TestPrompts (cmd/app) holds what these give.
const (
	// mostPrompted bounds how many items a prompt is told.
	mostPrompted = 5
	// leastPrompted is the least relevance that is told, and leastBeside the part of the
	// best one's that others beside it have.
	leastPrompted, leastBeside = 0.45, 0.55
	// subjectInTitle and subjectInBody are the relevance of an item with the prompt's subject, and phraseInTitle that of one
	// whose title has the very phrase by which the prompt asks for it: "format the code" and "Dart code is formatted by …".
	subjectInTitle, phraseInTitle, subjectInBody = 0.6, 0.5, 0.3
	// lexicalPart is what the words that prompt and item share add to that.
	lexicalPart = 0.5
	// rareWeight is the weight of a term that tells an item by itself: few entries have it.
	rareWeight = 0.75
)

// asking is what a prompt asks for.
type asking struct {
	content  map[uint64]bool // hashes of the stems that say something
	subjects map[string]bool
	phrases  map[string]bool // by which it asks for them
	search   string          // what the stores are asked
}

// askingOf reads a prompt. Its search is empty if it asks for nothing. It asks beside its own
// words for those of its subjects that a store has: for one that none has, each store would
// look for what may have been meant.
func askingOf(prompt string, stores []router.Frequencies) asking {
	s := subject.Known()
	stems := text.Terms(prompt)
	a := asking{content: map[uint64]bool{}}
	talk := true
	for _, stem := range stems {
		talk = talk && (s.Talk[stem] || text.StopWord(stem) || !strings.ContainsFunc(stem, isWordRune))
		if !text.StopWord(stem) && !s.Empty[stem] && !s.Talk[stem] {
			a.content[termHash(stem)] = true
		}
	}
	if talk {
		return a
	}
	a.subjects, a.phrases = s.Asked(stems), s.Phrases(stems)
	a.search = prompt
	for _, name := range slices.Sorted(maps.Keys(a.subjects)) {
		for i, count := range frequencies(s.Search[name], stores) {
			if count > 0 {
				a.search += " " + s.Search[name][i]
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
	c.begin(candidates)
	s := subject.Known()
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
			c.leave(&r.candidate, reasonBudget)
		} else {
			c.place(r)
		}
	}
	return c.write()
}

// promptRelevance is how much an item belongs to a prompt, from 0 to 1: by the subject
// that both have, and by the words that they share.
func (c *choice) promptRelevance(s *subject.Subjects, asked asking, r *rated) float64 {
	about, said := 0.0, r.said()
	if len(asked.subjects) > 0 {
		inTitle, inBody := s.Named(said.named), s.Named(said.read)
		for name := range asked.subjects {
			if inTitle[name] {
				about = subjectInTitle
			} else if inBody[name] {
				about = max(about, subjectInBody)
			}
		}
		if len(asked.phrases) > 0 && about < phraseInTitle {
			for phrase := range s.Phrases(said.named) {
				if asked.phrases[phrase] {
					about = phraseInTitle
				}
			}
		}
	}
	shared := asked.shared(c.terms, said)
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

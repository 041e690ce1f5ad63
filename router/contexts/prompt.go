package contexts

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/subject"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Figures of what is told with a prompt. A person's prompt is short and in everyday words, and most need nothing. What an
// item shares with it is weighed as evidence, in natural logarithms: how much oftener a word stands in a prompt that needs the
// item than in any prompt. TestQuietPrompts holds what these give.
const (
	// mostPrompted bounds how many items a prompt is told.
	mostPrompted = 3
	// leastEvidence is the least that is told, and leastBeside the part of the best one's that others beside it have.
	leastEvidence, leastBeside = 5.0, 0.65
	// wordEvidence is that of a word which one entry has, in its title, and usualEvidence that of one which many prompts have.
	wordEvidence, usualEvidence, emptyEvidence = 6.0, 3.2, 1.0
	// bodyPart is what counts of a word that stands in the text alone.
	bodyPart = 0.6
	// programEvidence is that of a word of a failed program's own name: what is known of the program need not be about the error.
	programEvidence = 2.0
	// subjectEvidence is that of a subject which one title names.
	subjectEvidence, subjectSpread = 7.5, 1.5
	// usualLength is how many words a prompt has that say something; of a longer one, as a log, more must be shared.
	usualLength = 8
)

// asking is what a prompt asks for.
type asking struct {
	evidence map[uint64]float64 // by the hash of each stem that says something
	least    float64            // that what is told must have
	names    map[uint64]bool    // such as package-lock.json and port 3300, which count in a text as in its title
	most     int                // items that are told
	subjects map[string]float64 // and what part of what it says is about each
	search   string             // what the stores are asked
}

// askingOf reads a prompt. Its search is empty if it asks for nothing. It asks beside its own
// words for those of its subjects that a store has: for one that none has, each store would
// look for what may have been meant.
func askingOf(prompt, project string, stores []router.Frequencies) asking {
	s := subject.Known()
	stems := text.Terms(prompt)
	a := asking{evidence: map[uint64]float64{}, names: map[uint64]bool{}, least: leastEvidence, most: mostPrompted}
	talk := true
	var telling []string
	for _, stem := range stems {
		silent := text.StopWord(stem) || !strings.ContainsFunc(stem, isWordRune)
		talk = talk && (s.Talk[stem] || silent)
		switch {
		case silent || s.Talk[stem] || !says(stem) || slices.Contains(telling, stem):
		case s.Empty[stem]:
			a.evidence[termHash(stem)] = emptyEvidence
		default:
			telling = append(telling, stem)
		}
	}
	if talk {
		return a
	}
	for _, stem := range telling {
		a.names[termHash(stem)] = isName(stems, slices.Index(stems, stem))
		a.evidence[termHash(stem)] = wordEvidence
		if s.Usual[stem] {
			a.evidence[termHash(stem)] = usualEvidence
		}
	}
	a.without(project)
	a.least += math.Log(max(1, float64(len(telling))/usualLength))
	a.subjects = s.Focus(stems, telling)
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

// askingOfFailure reads a command that failed, and what it printed: it asks for the line that says what went wrong, by what in
// it is not usual. Where the command failed for what it looked at, as a test that is red, it asks for nothing.
func askingOfFailure(failed, project string) asking {
	s := subject.Known()
	command, printed, _ := strings.Cut(failed, "\n")
	a := asking{evidence: map[uint64]float64{}, names: map[uint64]bool{}, least: leastEvidence, most: 1}
	program, line := history.SaidOf(command, printed)
	terms := text.Terms(line)
	for i, stem := range terms {
		if !text.StopWord(stem) && !s.Empty[stem] && !s.Usual[stem] && !s.Talk[stem] && says(stem) {
			a.evidence[termHash(stem)], a.search = wordEvidence, line
			a.names[termHash(stem)] = isName(terms, i)
		}
	}
	for _, stem := range text.Terms(program) {
		if _, named := a.evidence[termHash(stem)]; named {
			a.evidence[termHash(stem)] = programEvidence
		}
	}
	a.without(project)
	return a
}

// without takes the words of a project's name out: everything there is of the project.
func (a *asking) without(project string) {
	for _, stem := range text.Terms(project) {
		delete(a.evidence, termHash(stem))
	}
}

// isName tells whether the stem at i is a name of several parts, which stands behind the last of them, or has a longer number.
func isName(stems []string, i int) bool {
	joined := i > 0 && len(stems[i]) > len(stems[i-1]) && strings.HasSuffix(stems[i], stems[i-1])
	return joined || len(stems[i]) > 3 && strings.ContainsFunc(stems[i], unicode.IsDigit)
}

// says tells whether a stem by itself can name something: no two letters and no small number do.
func says(stem string) bool {
	return len(stem) > 2 || len(stem) == 2 && strings.ContainsFunc(stem, unicode.IsLetter) && strings.ContainsFunc(stem, unicode.IsDigit)
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
	c.fitting(asked, candidates)
	return c.write()
}

// fitting takes in what belongs to a prompt.
func (c *choice) fitting(asked asking, candidates []candidate) {
	s := subject.Known()
	all := once(candidates)
	all = slices.DeleteFunc(all, func(r *rated) bool {
		foreign := r.project != "" && r.project != c.project
		if foreign {
			c.leave(&r.candidate, "irrelevant")
		}
		return foreign
	})
	titled, having := map[string]int{}, map[uint64]int{} // how many titles name a subject, and how many items have a word
	for _, r := range all {
		for _, term := range r.said().terms {
			having[term]++
		}
		for name := range s.Named(r.said().named) {
			titled[name]++
		}
	}
	var fitting []*rated
	for _, r := range all {
		shared, about := asked.shared(r.said(), having), asked.about(s, r.said(), titled)
		evidence := max(shared, about) + min(shared, about)/2
		switch r.score = evidence / (evidence + asked.least); {
		case evidence < asked.least:
			c.leave(&r.candidate, "irrelevant")
		case c.withheld(r):
		default:
			r.evidence = evidence
			fitting = append(fitting, r)
		}
	}
	slices.SortFunc(fitting, func(a, b *rated) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id, b.id)) })
	if len(fitting) > 0 {
		least := leastBeside * fitting[0].evidence
		fitting = slices.DeleteFunc(fitting, func(r *rated) bool {
			if r.evidence < least {
				c.leave(&r.candidate, "irrelevant")
			}
			return r.evidence < least
		})
	}
	c.markGone(fitting)
	for i, r := range fitting {
		if i >= asked.most {
			c.leave(&r.candidate, reasonBudget)
		} else {
			c.place(r)
		}
	}
}

// shared is the evidence of the words that a prompt and an item have in common.
func (a *asking) shared(w *words, having map[uint64]int) (sum float64) {
	for _, term := range w.terms {
		evidence := max(0, a.evidence[term]-math.Log(float64(having[term])))
		if _, inTitle := slices.BinarySearch(w.title, term); !inTitle && !a.names[term] {
			evidence *= bodyPart
		}
		sum += evidence
	}
	return sum
}

// about is the evidence of a subject that the item's title names: the more titles do, the less it says.
func (a *asking) about(s *subject.Subjects, w *words, titled map[string]int) (most float64) {
	for name := range s.Named(w.named) {
		most = max(most, a.subjects[name]*(subjectEvidence-subjectSpread*math.Log(float64(titled[name]))))
	}
	return most
}

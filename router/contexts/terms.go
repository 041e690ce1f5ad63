package contexts

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Figures of relevance.
const (
	// backgroundDocuments is how many further documents a memory is taken to have, in which a
	// term is no more frequent than it is elsewhere: so that in a memory of three entries a
	// word that two of them hold still says something.
	backgroundDocuments = 1000
	// enoughTerms is how much of the task an item must hold to be as relevant as can be, in
	// rare terms: a task told in forty words is answered by an entry that holds four of them.
	enoughTerms = 3.5
	// commonWeight is what a term weighs that most documents hold: it does not tell them apart,
	// but it says what the task is about, and a team of one topic has no other words for it.
	commonWeight = 0.35
	// standIn and relatedIn are what a term counts that stands in for a misspelt one, and one
	// that developers use for another (tfidf's weights for both).
	standIn, relatedIn = 0.8, 0.4
	// BM25's constants, with a fixed average length in terms, so that what is found in
	// different stores is measured alike.
	termK, termB, termLength = 1.2, 0.75, 120.0
	// maxTaskTerms is how many terms of a task count, the rarest first, as in a search.
	maxTaskTerms = tfidf.MaxQueryTerms
	// readBytes is how much of an item's text is read for its words: its head is what it is about.
	readBytes = 4 << 10
)

var termSeed = maphash.MakeSeed()

func termHash(stem string) uint64 { return maphash.String(termSeed, stem) }

// taskTerms is what a task looks for.
type taskTerms struct {
	weights map[uint64]float64 // of the terms, and of what stands in for them
	stands  map[uint64]uint64  // what stands in for which term
	need    float64            // the weight that is enough
}

// newTaskTerms weighs the terms of a task by how rare they are in all stores
// together: near 1 for one that a single document holds, commonWeight for one
// that every document does. A word that no document holds cannot tell them apart,
// so it weighs what the others do on average: were it the weightiest for being the
// rarest, then "fix docker permission" would find nothing among a hundred notes
// on docker permissions, for want of "fix". What stands for several words
// at once is worth having, but nothing lacks it that has the words.
func newTaskTerms(task string, stores []router.Frequencies, corrected map[string]string) taskTerms {
	words, whole := text.QueryTerms(task)
	stems := slices.Concat(words, whole)
	right := make(map[string]string, len(corrected))
	for wrong, word := range corrected {
		right[text.Stem(wrong)] = text.Stem(word)
	}
	weights := rarity(stems, right, stores)
	t := taskTerms{weights: map[uint64]float64{}, stands: map[uint64]uint64{}}
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	order = order[:min(len(order), maxTaskTerms)]
	sum := 0.0
	for _, i := range order {
		t.weights[termHash(stems[i])] = weights[i]
		sum += weights[i]
	}
	t.need = min(sum, enoughTerms)
	for i := len(words); i < min(len(stems), len(words)+maxTaskTerms); i++ {
		t.weights[termHash(stems[i])] = weights[i]
	}
	for _, wrong := range slices.Sorted(maps.Keys(right)) {
		t.standFor(right[wrong], wrong, standIn)
	}
	for _, i := range order {
		for _, other := range text.RelatedTerms(stems[i]) {
			t.standFor(other, stems[i], relatedIn)
		}
	}
	return t
}

// rarity weighs stems by how rare they are, a misspelt one as what it was meant to be.
func rarity(stems []string, right map[string]string, stores []router.Frequencies) []float64 {
	meant := slices.Clone(stems)
	for i, stem := range meant {
		meant[i] = cmp.Or(right[stem], stem)
	}
	counts, documents := make([]int, len(stems)), backgroundDocuments
	for _, store := range stores {
		more, n := store.Frequencies(meant)
		documents += n
		for i := range counts {
			counts[i] += more[i]
		}
	}
	weights, held, sum := make([]float64, len(stems)), 0, 0.0
	for i, count := range counts {
		weights[i] = max(commonWeight, math.Log((float64(documents)+1)/(float64(count)+1))/math.Log(float64(documents)+1))
		if count > 0 {
			held, sum = held+1, sum+weights[i]
		}
	}
	for i, count := range counts {
		if count == 0 && held > 0 {
			weights[i] = sum / float64(held)
		}
	}
	return weights
}

func (t *taskTerms) standFor(other, stem string, part float64) {
	o, s := termHash(other), termHash(stem)
	weight, asked := t.weights[s]
	if _, known := t.weights[o]; known || !asked || other == "" {
		return
	}
	t.weights[o], t.stands[o] = weight*part, s
}

// words is what a text says, for comparing it with a task and with other texts.
type words struct {
	terms  []uint64 // distinct, sorted; those that say something
	counts []uint16 // of the terms
	title  []uint64 // distinct, sorted; those of the title
	sharp  []uint64 // distinct, sorted: numbers and negations, in which alike texts may not differ
	length int      // in terms

	named, read []string // the terms of the title and of the body's head, as they stand
}

// readWords reads a text's words.
func readWords(title, body string) *words {
	var sharp []uint64
	named, read := text.Terms(title), text.Terms(check.Head(body, readBytes))
	said := hashes(named, make([]uint64, 0, len(named)+len(read)), &sharp)
	w := words{title: distinct(slices.Clone(said)), length: len(named) + len(read), named: named, read: read}
	said = hashes(read, said, &sharp)
	slices.Sort(said)
	for i := 0; i < len(said); {
		n := i
		for n < len(said) && said[n] == said[i] {
			n++
		}
		w.terms, w.counts = append(w.terms, said[i]), append(w.counts, uint16(min(n-i, math.MaxUint16)))
		i = n
	}
	w.sharp = distinct(sharp)
	return &w
}

// hashes appends the hashes of the stems that say something; those of numbers and negations are added to sharp.
func hashes(stems []string, list []uint64, sharp *[]uint64) []uint64 {
	for _, stem := range stems {
		if learning.Sharp(stem) {
			*sharp = append(*sharp, termHash(stem))
		}
		if !text.StopWord(stem) {
			list = append(list, termHash(stem))
		}
	}
	return list
}

func distinct(list []uint64) []uint64 {
	slices.Sort(list)
	return slices.Compact(list)
}

// relevance is how much of the task a text holds, from 0 to 1: the weight of
// the task's terms that it holds, each counted by BM25's saturation and in full in the
// title, as a share of what is enough.
func (t *taskTerms) relevance(w *words) float64 {
	if t.need <= 0 {
		return 0
	}
	held := map[uint64]float64{} // by the task's term, the best that the text has for it
	for term, weight := range t.weights {
		i, there := slices.BinarySearch(w.terms, term)
		if !there {
			continue
		}
		impact := 1.0
		if _, inTitle := slices.BinarySearch(w.title, term); !inTitle {
			tf := float64(w.counts[i])
			impact = min(1, tf*(termK+1)/(tf+termK*(1-termB+termB*float64(w.length)/termLength)))
		}
		of := term
		if stem, stands := t.stands[term]; stands {
			of = stem
		}
		held[of] = max(held[of], weight*impact)
	}
	sum := 0.0
	for _, weight := range slices.Sorted(maps.Values(held)) { // in order, so that the sum is the same each time
		sum += weight
	}
	return min(1, sum/t.need)
}

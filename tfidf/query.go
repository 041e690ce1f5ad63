package tfidf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// term is one thing that a query looks for.
type term struct {
	id     uint32 // a term of the vocabulary
	text   string
	lane   string
	weight float64
	place  int // the place of its word among the words searched for, or -1
	df     int // how many live documents are taken to hold it

	factor float64 // weight · idf
}

// question is an analysed query.
type question struct {
	terms     []term
	words     []string // the query's words that are looked for
	corrected map[string]string
	unknown   []string
	time      bool // a time is asked for
	exactly   bool // see Query.Exact

	at map[uint32]int // where each term is in terms
}

// add takes t into the question; of one term the greatest weight counts.
func (q *question) add(t term) {
	if i, ok := q.at[t.id]; ok {
		q.terms[i].weight = max(q.terms[i].weight, t.weight)
		return
	}
	q.at[t.id] = len(q.terms)
	q.terms = append(q.terms, t)
}

// parse analyses a query against the vocabulary.
func (ix *Index) parse(asked string) question {
	q := question{at: map[uint32]int{}}
	w := &ix.weights
	var s text.Scanner
	var all, whole []string
	weights := map[string]float64{}
	for _, sp := range text.Spans(text.Cut(asked, text.MaxQueryBytes)) {
		s.Scan(sp.Text)
		from, fromWhole := len(all), len(whole)
		all, whole = s.Query(all, whole)
		for _, list := range [][]string{all[from:], whole[fromWhole:]} {
			for _, word := range list {
				weight := 1.0
				if sp.Quoted {
					weight = w.Quoted
				}
				if isCode(word) {
					weight *= w.Code
				}
				if text.Settings()[word] {
					weight *= w.Language
				}
				weights[word] = max(weights[word], weight)
			}
		}
	}
	q.time = text.AsksForTime(all)
	kept := text.Telling(all)
	kept = kept[:min(len(kept), text.MaxQueryWords)]
	times := map[string]int{}
	for _, word := range kept {
		times[word]++
	}
	for place, word := range kept {
		weight := weights[word] * (1 + w.Repeat*float64(min(times[word], maxRepeat)-1))
		ix.lookFor(&q, word, weight, place)
		q.words = append(q.words, word)
	}
	for _, word := range kept {
		ix.lookForParts(&q, word, w.Parts*weights[word])
	}
	for _, word := range whole {
		if id, df := ix.known(word); df > 0 {
			q.add(term{id: id, text: word, lane: LaneCompound, weight: w.Compound * weights[word], place: -1, df: df})
		}
	}
	q.keepRarest()
	ix.lookForRelated(&q, all)
	return q
}

// maxRepeat is how often at most a repeated word of a query counts.
const maxRepeat = 3

// lookFor adds a word, or what is taken for it.
func (ix *Index) lookFor(q *question, word string, weight float64, place int) {
	if id, df := ix.known(word); df > 0 {
		q.add(term{id: id, text: word, lane: LaneWord, weight: weight, place: place, df: df})
		return
	}
	if q.corrected[word] != "" || len(q.unknown) > MaxQueryTerms || slices.Contains(q.unknown, word) {
		return
	}
	id, distance := ix.typos.correct(ix.words, word)
	if id == 0 {
		q.unknown = append(q.unknown, word)
		return
	}
	if distance > 1 {
		weight *= ix.weights.Typo2
	} else {
		weight *= ix.weights.Typo1
	}
	if q.corrected == nil {
		q.corrected = map[string]string{}
	}
	right := ix.words[id]
	q.corrected[word] = right.text
	q.add(term{id: right.stem, text: right.text, lane: LaneTypo, weight: weight, place: place, df: ix.df(right.stem)})
}

// partLen is the least length, in bytes, of the parts of a compound.
const partLen = 3

// lookForParts adds the two words that a word may be made of: those of which
// the rarer one is the most frequent.
func (ix *Index) lookForParts(q *question, word string, weight float64) {
	if len(q.terms) > 2*MaxQueryTerms {
		return
	}
	var a, b uint32
	most := 0
	for i := partLen; i+partLen <= len(word); i++ {
		id, df := ix.held(word[:i])
		if df <= most {
			continue
		}
		if id2, df2 := ix.held(word[i:]); df2 > most {
			a, b, most = id, id2, min(df, df2)
		}
	}
	for _, id := range []uint32{a, b} {
		if id != 0 {
			q.add(term{id: id, text: ix.words[id].text, lane: LaneCompound, weight: weight, place: -1, df: ix.df(id)})
		}
	}
}

// held returns the term of a word that the vocabulary has as it is, and how many documents hold it.
func (ix *Index) held(word string) (id uint32, df int) {
	if id = ix.numbers[word]; id == 0 {
		return 0, 0
	}
	id = ix.words[id].stem
	return id, ix.df(id)
}

// keepRarest drops the commonest terms beyond MaxQueryTerms.
func (q *question) keepRarest() {
	if len(q.terms) <= MaxQueryTerms {
		return
	}
	slices.SortStableFunc(q.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(a.df, b.df), cmp.Compare(a.text, b.text))
	})
	q.terms = slices.Clip(q.terms[:MaxQueryTerms])
	clear(q.at)
	for i, t := range q.terms {
		q.at[t.id] = i
	}
}

// known returns the term of a word and how many documents hold it, 0 if none does.
func (ix *Index) known(word string) (id uint32, df int) {
	if id, df = ix.held(word); id == 0 {
		id = ix.numbers[text.StemFolded(word)]
		df = ix.df(id)
	}
	if df == 0 {
		return 0, 0
	}
	return id, df
}

// isCode tells whether a word has letters and digits.
func isCode(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter)
}

// Bounds of relaxing a word.
const (
	// relaxTries bounds how many words of the vocabulary are compared with one word.
	relaxTries = 2 * typoTries
	// relaxWords is how many words of a query are relaxed.
	relaxWords = 8
	// relaxEdits is how many edits a word of typoTwo letters may be away, and a shorter
	// one of typoWord letters: one more than a search allows by itself.
	relaxEdits, relaxShort = 3, 2
	// relaxPrefix is the least length, in bytes, of a word that others begin with.
	relaxPrefix = 3
)

// Relax returns, for words of a query that no document has and nothing stands
// in for in a search, a word of the vocabulary that may be meant all the same:
// one that begins with it or that it begins with, or one further away in
// spelling. It is for a query that found nothing, and dearer than a search.
func (ix *Index) Relax(text string) map[string]string {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	var instead map[string]string
	unknown := ix.parse(text).unknown
	for _, word := range unknown[:min(len(unknown), relaxWords)] {
		if near := ix.typos.nearest(ix.words, word); near != "" {
			if instead == nil {
				instead = map[string]string{}
			}
			instead[word] = near
		}
	}
	return instead
}

// nearest returns the word of a live document that a word may be the begin of, or begin with, or be misspelt for.
func (x *typoIndex) nearest(known []word, of string) string {
	if len(of) < relaxPrefix || !correctable(of) {
		return ""
	}
	most := 0
	switch n := utf8.RuneCountInString(of); {
	case n >= typoTwo:
		most = relaxEdits
	case n >= typoWord:
		most = relaxShort
	}
	id, _ := x.near(known, of, most, relaxTries, true)
	return known[id].text // of none it is empty
}

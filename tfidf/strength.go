package tfidf

import (
	"slices"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Corpus tells how rare words are over several indexes together, so that hits
// of one compare with hits of another: what is common in one and rare in the
// other is neither.
type Corpus struct {
	// Docs is how many documents the indexes have together.
	Docs int
	// Holding is, for each stem of QueryTerms, how many of them hold it.
	Holding map[string]int
}

// Add takes in what one index's Frequencies says of stems.
func (c *Corpus) Add(stems []string, frequencies []int, documents int) {
	if c.Holding == nil {
		c.Holding = make(map[string]int, len(stems))
	}
	c.Docs += documents
	for i, stem := range stems {
		c.Holding[stem] += frequencies[i]
	}
}

// Evidence is what speaks for a hit in figures that compare from one query and
// one index to another, which a Score does not. Each is from 0 to 1 but Mass.
type Evidence struct {
	// Words is the share of the query's words that the document has, the rare ones
	// counting more: their idf in the Corpus, saturated by how often they occur, what
	// stood in for a word counting less. What no index has counts half.
	Words float64
	// Compounds is the share that compounds and related words add where words are missing.
	Compounds float64
	// Letters is the share of the query's groups of four letters, likewise.
	Letters float64
	// Near is how near one another the query's neighbouring words stand.
	Near float64
	// Mass is how much the words that are there tell, in units of a word that one document
	// alone has: two error codes have 2, a word that every hundredth of 10,000 documents has 0.5.
	Mass float64
	// Best is the hit's share of the score of its result's best hit.
	Best float64
	// Title tells that the query's words are the hit's whole title, and Begins that its title or text begins with exactly these.
	Title, Begins bool
}

// What a word counts for that is not there as it was written.
const (
	unheardWord = 0.5 // one that no index has, in the whole of the query: it may be misspelt, or a number
	correctWord = 0.7 // one that stood in for a word that no index has
	doubtedWord = 0.3 // one that stood in for a word that another index has
	// presence is how soon repeating a word stops to count: once counts half of ever so often.
	presence = 1
)

// exact takes out of the question what stands in for a word of the query. What
// is left finds a document by its own words whatever other documents hold.
func (q *question) exact(corpus *Corpus, text func(term uint32) string) {
	q.exactly, q.corrected = true, nil // what is unknown is told of to nobody, see Search
	q.terms = slices.DeleteFunc(q.terms, func(t term) bool {
		if t.lane == LaneCompound && corpus != nil {
			_, asked := corpus.Holding[text(t.id)]
			return !asked
		}
		return t.lane != LaneWord && t.lane != LaneCompound
	})
	clear(q.at)
	for i, t := range q.terms {
		q.at[t.id] = i
	}
}

// evidence reads a candidate once more, for what speaks for it in the corpus.
func (s *search) evidence(of *ranked, best float64) Evidence {
	s.read(of)
	r, corpus := &s.rank.reader, s.corpus
	e := Evidence{Best: best}
	at := s.begin.of(of.doc)
	e.Title, e.Begins = at == completeTitle, at > elsewhere && len(s.begin.words) >= tellingWords
	total, words, whole, near := 0.0, 0.0, 0.0, 0.0
	for i, t := range s.q.terms {
		df, asked := corpus.Holding[s.ix.words[t.id].text]
		if !asked {
			df = t.df
		}
		mass := t.weight * idf(corpus.Docs, df)
		if asked && df == 0 && t.place >= 0 {
			if mass *= unheardWord; r.tfs[i] == 0 { // as if it were unknown: that another document has it is nobody's to be told
				mass = unheardWord * idf(corpus.Docs, 0)
			}
		}
		there := float64(r.tfs[i]) / (float64(r.tfs[i]) + presence)
		if t.place < 0 {
			whole += mass * there
			continue
		}
		total += mass
		if f := r.follows[i]; f >= 0 { // a gain is in units of the lesser of two words; how rare these are here is left out of it
			near += mass * min(r.gain[i]/min(t.factor, s.q.terms[f].factor), 1)
		}
		if t.lane == LaneTypo {
			there *= s.standIn(t.text)
		}
		words += mass * there
		if r.tfs[i] > 0 {
			e.Mass += mass
		}
	}
	for _, word := range s.q.unknown {
		if df := corpus.Holding[text.StemFolded(word)]; df > 0 {
			total += idf(corpus.Docs, df)
		} else {
			total += unheardWord * idf(corpus.Docs, 0)
		}
	}
	e.Mass /= idf(corpus.Docs, 1)
	if total > 0 {
		e.Words, e.Compounds, e.Near = min(words/total, 1), min(whole/total, 1), min(near/total, 1)
	}
	letters, most := 0.0, 0.0
	for i, x := range r.weights {
		if s.q.exactly { // how rare a group is tells of the others' documents
			x = 1
		}
		n := float64(r.counts[i])
		letters, most = letters+x*n/(n+presence), most+x
	}
	if most > 0 {
		e.Letters = letters / most
	}
	return e
}

// standIn is what a corrected word counts for.
func (s *search) standIn(right string) float64 {
	for word, instead := range s.q.corrected {
		if instead == right && s.corpus.Holding[text.StemFolded(word)] > 0 {
			return doubtedWord
		}
	}
	return correctWord
}

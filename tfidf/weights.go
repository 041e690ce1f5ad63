package tfidf

import "math"

// Weights are the constants of the ranking. They were tuned on public
// collections; docs/benchmarks.md says what each gives.
//
// The words' lane and what is said to be in its units is divided by its best
// candidate, and every other lane by its own best, so that a weight means the
// same for every query.
type Weights struct {
	K1    float64 // BM25: how soon repeating a word stops to count
	B     float64 // BM25: how much a long document is discounted, 0–1
	Title int     // how many times a word of the title counts

	Compound float64 // a compound beside its parts
	Parts    float64 // the parts of a word that may be a compound
	Typo1    float64 // a stand-in at edit distance 1
	Typo2    float64 // a stand-in at edit distance 2
	Related  float64 // a word of the developers' thesaurus
	Everyday float64 // a word of the everyday thesaurus
	Member   float64 // a member of a kind that the query asks for
	Tool     float64 // a command that does what is asked for, for each word that says so
	Repeat   float64 // what each repetition of a word in the query adds to its weight
	Quoted   float64 // factor for what is quoted: mostly a name of the asker's own
	Code     float64 // factor for what has letters and digits, as the code of an error
	Language float64 // factor for the name of a language or system: mostly the setting, not the matter

	Near      float64 // gain for nearness, in units of the words' lane
	Heading   float64 // gain for a title that the query names, in units of the words' lane
	FullTitle float64 // gain for a title that has the query's words and no others, in the same units
	Time      float64 // gain for telling a time when asked for one, in units of a mean word
	Letters   float64 // the letter groups' lane
	LettersK  float64 // how soon repeating a letter group stops to count
	LettersB  float64 // how much a long document is discounted there, 0–1
	Neighbour float64 // share of its score that a hit lends to those written next to it
	Alike     float64 // the lane of being like the best hits
}

// DefaultWeights returns the weights that an Index has unless told otherwise.
func DefaultWeights() Weights {
	return Weights{
		K1: 2.6, B: 0.75, Title: 5,
		Compound: 0.2, Parts: 0.4, Typo1: 1, Typo2: 0.6, Related: 0.4, Everyday: 0.2, Member: 0.4, Tool: 0.6, Repeat: 0.6, Quoted: 0.5, Code: 1.5, Language: 0.5,
		Near: 1, Heading: 0.3, FullTitle: 1, Time: 0.6, Letters: 0.5, LettersK: 1, LettersB: 0.5, Neighbour: 0.12, Alike: 0.25,
	}
}

// saturation is BM25's treatment of a document's length, for one average length:
// impact = tf·(k1+1) / (tf + k1·(1−b+b·length/average)) (Robertson and Zaragoza,
// "The Probabilistic Relevance Framework", 2009).
type saturation struct{ gain, base, slope float64 }

func newSaturation(w Weights, average float64) saturation {
	return saturation{gain: w.K1 + 1, base: w.K1 * (1 - w.B), slope: w.K1 * w.B / max(average, 1)}
}

func (n saturation) impact(tf, length uint32) float64 {
	f := float64(tf)
	return f * n.gain / (f + n.base + n.slope*float64(length))
}

// idf is ln(1 + (N−df+½)/(df+½)), which is never negative.
func idf(docs, df int) float64 {
	df = min(df, docs)
	return math.Log(1 + (float64(docs-df)+0.5)/(float64(df)+0.5))
}

// RelevanceBias and RelevanceWeights turn Evidence into the probability that a hit is what was meant: a logistic regression,
// fitted on one half of the judged searches over all kinds in router/search/testdata/mixed.txt. TestRelevance there fits it
// anew and compares; docs/benchmarks.md has its reliability on the other half.
const RelevanceBias = -7.09

// RelevanceWeights are what each part of Evidence counts.
var RelevanceWeights = Evidence{Words: 2.36, Compounds: 0.53, Letters: 2.48, Near: 2.38, Mass: 2.18, Best: 1.78}

// MostMass bounds what rare words give: with three of them a hit is as good as certain.
const MostMass = 3

// What a hit is relevant at least whose title is the query, and one that begins with the query's words, tellingWords at
// least. Common words tell nothing by themselves, and these in their order do. The first is TestPractice's: who asks by a
// title means that entry. The second is enough to be shown.
const (
	titleRelevance  = 0.9
	beginsRelevance = 0.3
	tellingWords    = 3
)

// Relevance is the probability, from 0 to 1, that a hit is what was meant. It means the same for every kind and query.
func (e Evidence) Relevance() float64 {
	w := &RelevanceWeights
	least := 0.0
	switch {
	case e.Title:
		least = titleRelevance
	case e.Begins:
		least = beginsRelevance
	}
	return max(least, 1/(1+math.Exp(-(RelevanceBias+w.Words*e.Words+w.Compounds*e.Compounds+w.Letters*e.Letters+w.Near*e.Near+w.Mass*min(e.Mass, MostMass)+w.Best*e.Best))))
}

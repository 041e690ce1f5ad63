package tfidf

import "math"

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

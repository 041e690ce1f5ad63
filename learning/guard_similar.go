package learning

import (
	"context"
	"math"
	"slices"
	"strings"

	"skillrouter/tfidf"
)

// Bounds and thresholds of the similarity lane. They favour precision: a
// warning that nobody needs teaches agents to ignore the ones they do.
const (
	guardSimilarCandidates = 10   // rules that are looked at closely
	guardSimilarShare      = 0.75 // of the weight of a rule's title that the text must hold; at 0.6 one in 85 lines of a manual's prose warned
	guardSimilarWords      = 2    // distinct words of it
	guardSimilarAnswers    = 3    // warnings of this lane
)

// guardSimilarity compares by the words of the rules' titles, rare words counting more.
type guardSimilarity struct {
	index  *tfidf.Index
	titles map[string][]string
	weight map[string]float64
}

// SimilarByWords builds the similarity lane that a Guard has unless told otherwise:
// tfidf finds the candidates; a rule is similar when the text holds most of what its title says.
func SimilarByWords(rules []*GuardRule) Similar {
	s := &guardSimilarity{index: tfidf.New(tfidf.Options{}), titles: map[string][]string{}, weight: map[string]float64{}}
	docs := make([]tfidf.Document, 0, len(rules))
	counts := map[string]int{}
	for _, r := range rules {
		terms := guardTerms(r.draft.Title)
		s.titles[r.draft.ID] = terms
		for _, t := range terms {
			counts[t]++
		}
		docs = append(docs, tfidf.Document{ID: r.draft.ID, Title: r.draft.Title, Body: strings.Join(r.draft.Tags, " "), Category: r.draft.Category})
	}
	for t, n := range counts {
		// The smoothed inverse document frequency, ln(1 + N/n).
		s.weight[t] = math.Log(1 + float64(len(rules))/float64(n))
	}
	s.index.Put(docs...)
	return s
}

// guardTerms are the distinct stems of a text that say something.
func guardTerms(text string) (terms []string) {
	for _, w := range guardSplitName(text) {
		if len(w) < 2 || guardTitleStop[w] || tfidf.StopWord(w) {
			continue
		}
		if t := guardStemWord(w); !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	return terms
}

// Similar implements Similar.
func (s *guardSimilarity) Similar(ctx context.Context, text string) (similar []SimilarRule) {
	if ctx.Err() != nil {
		return nil
	}
	said := map[string]bool{}
	for _, t := range guardTerms(text) {
		said[t] = true
	}
	for _, hit := range s.index.Search(tfidf.Query{Text: text, Limit: guardSimilarCandidates}).Hits {
		var have, all float64
		var words []string
		for _, t := range s.titles[hit.ID] {
			all += s.weight[t]
			if said[t] {
				have += s.weight[t]
				words = append(words, t)
			}
		}
		if len(words) >= guardSimilarWords && have >= guardSimilarShare*all {
			similar = append(similar, SimilarRule{RuleID: hit.ID, Score: have / all, Words: words})
		}
	}
	slices.SortStableFunc(similar, func(a, b SimilarRule) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return similar[:min(len(similar), guardSimilarAnswers)]
}

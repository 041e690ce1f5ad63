package rule

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Bounds and thresholds of the similarity lane. They favour precision: a
// warning that nobody needs teaches agents to ignore the ones they do.
const (
	similarCandidates = 10   // rules that are looked at closely
	similarShare      = 0.75 // of the weight of a rule's title that the text must hold; at 0.6 one in 85 lines of a manual's prose warned
	similarWords      = 2    // distinct words of it
	similarAnswers    = 3    // warnings of this lane
)

// SimilarRule is a rule whose wording is like a text's. Score lies between 0 and 1.
type SimilarRule struct {
	RuleID string
	Score  float64
	Words  []string // what they have in common
}

// SimilarByWords is the similarity lane of a Guard: tfidf finds the candidates; a rule is similar when the text holds most of what
// its title says, rare words counting more. It is safe for use by many goroutines. Nil finds nothing.
type SimilarByWords struct {
	Index *tfidf.Index

	mu     sync.RWMutex // guards what follows
	titles map[string][]string
	counts map[string]int // how many rules' titles hold a word
}

// NewSimilarByWords makes one without rules.
func NewSimilarByWords() *SimilarByWords {
	return &SimilarByWords{Index: tfidf.New(tfidf.Options{}), titles: map[string][]string{}, counts: map[string]int{}}
}

// Put adds rules, each in the place of the one with its id.
func (s *SimilarByWords) Put(rules ...*Rule) {
	if s == nil {
		return
	}
	docs := make([]tfidf.Document, 0, len(rules))
	s.mu.Lock()
	for _, r := range rules {
		s.forget(r.Draft.ID)
		terms := terms(r.Draft.Title)
		s.titles[r.Draft.ID] = terms
		for _, t := range terms {
			s.counts[t]++
		}
		docs = append(docs, tfidf.Document{ID: r.Draft.ID, Title: r.Draft.Title, Body: strings.Join(r.Draft.Tags, " "), Category: r.Draft.Category})
	}
	s.mu.Unlock()
	s.Index.Put(docs...)
}

// Remove takes the rules with the ids out.
func (s *SimilarByWords) Remove(ids ...string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	for _, id := range ids {
		s.forget(id)
	}
	s.mu.Unlock()
	s.Index.Delete(ids...)
}

// forget drops what is known of a rule; the lock is held.
func (s *SimilarByWords) forget(id string) {
	for _, t := range s.titles[id] {
		if s.counts[t]--; s.counts[t] == 0 {
			delete(s.counts, t)
		}
	}
	delete(s.titles, id)
}

// weight is the smoothed inverse document frequency of a word, ln(1 + N/n); the lock is held.
func (s *SimilarByWords) weight(term string) float64 {
	return math.Log(1 + float64(len(s.titles))/float64(max(1, s.counts[term])))
}

// terms are the distinct stems of a text that say something.
func terms(title string) (terms []string) {
	for _, w := range act.SplitName(title) {
		if len(w) < 2 || act.TitleStop()[w] || text.StopWord(w) {
			continue
		}
		if t := act.StemWord(w); !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	return terms
}

// Similar finds the rules whose wording is like the text's, best first.
func (s *SimilarByWords) Similar(ctx context.Context, text string) (similar []SimilarRule) {
	if s == nil || ctx.Err() != nil {
		return nil
	}
	said := map[string]bool{}
	for _, t := range terms(text) {
		said[t] = true
	}
	hits := s.Index.Search(tfidf.Query{Text: text, Limit: similarCandidates}).Hits
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, hit := range hits {
		var have, all float64
		var words []string
		for _, t := range s.titles[hit.ID] {
			all += s.weight(t)
			if said[t] {
				have += s.weight(t)
				words = append(words, t)
			}
		}
		if len(words) >= similarWords && have >= similarShare*all {
			similar = append(similar, SimilarRule{RuleID: hit.ID, Score: have / all, Words: words})
		}
	}
	slices.SortStableFunc(similar, func(a, b SimilarRule) int { return cmp.Compare(b.Score, a.Score) })
	return similar[:min(len(similar), similarAnswers)]
}

package tfidf

import (
	"cmp"
	"slices"
	"strings"
)

// depth is how many candidates the second pass scores. More change nothing
// that a reader of ten hits sees.
const depth = 64

// candidate is a document that the first pass found.
type candidate struct {
	score float64
	doc   *doc
}

// search is one search under way.
type search struct {
	ix     *Index
	filter Query // its Category, Project, Tags, From and To
	q      question
	sat    saturation
	corpus *Corpus // see Query

	found []candidate // the best of them, and since they were last sorted others
	want  int
	least float64 // the score that a document must reach to be among the best
	begin beginning
	rank  ranking
}

// Search answers q. It never fails: a query that nothing matches has no hits.
func (ix *Index) Search(q Query) Result {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	s := &search{ix: ix, filter: q, q: ix.parse(q.Text), corpus: q.Corpus, want: max(depth, limit)}
	if q.Exact {
		s.q.exact(q.Corpus, func(term uint32) string { return ix.words[term].text })
	}
	res := Result{Corrected: s.q.corrected}
	if !q.Exact { // which of the words are known tells of others' documents
		res.Unknown = s.q.unknown
		for _, t := range s.q.terms {
			res.Terms = append(res.Terms, t.text)
		}
	}
	if len(s.q.terms) == 0 || len(ix.byID) == 0 {
		return res
	}
	s.weigh()
	s.scan()
	s.begins(q.Text, limit)
	res.Hits = s.rerank(limit, q.Explain)
	return res
}

// weigh weighs the terms by how rare they are and orders them, the
// weightiest first. Every score is summed in this order, so that it is the
// same number however it was found.
//
// The statistics are those of the whole index, also where a filter narrows the
// search: measured, they rank better there than those of the part.
func (s *search) weigh() {
	s.sat = newSaturation(s.ix.weights, s.ix.average())
	for i := range s.q.terms {
		t := &s.q.terms[i]
		t.factor = t.weight * idf(len(s.ix.byID), t.df)
	}
	slices.SortStableFunc(s.q.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.factor, a.factor), cmp.Compare(a.text, b.text))
	})
}

// scan scores every document that has a term of the query, and finds the best.
func (s *search) scan() {
	scores := make([]float64, len(s.ix.docs))
	for _, t := range s.q.terms {
		for _, p := range s.ix.words[t.id].postings {
			scores[p.doc] += t.factor * s.sat.impact(p.tf, s.ix.lengths[p.doc])
		}
	}
	for number, score := range scores {
		if score == 0 {
			continue
		}
		if d := s.ix.docs[number]; score >= s.least && s.fits(d) {
			s.found = append(s.found, candidate{score, d})
			if len(s.found) == 2*s.want {
				s.sort()
			}
		}
	}
	s.sort()
}

// sort leaves the best of the candidates, the best first, and equal ones by ID.
func (s *search) sort() {
	slices.SortFunc(s.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.doc.id, b.doc.id))
	})
	if len(s.found) >= s.want {
		s.found = s.found[:s.want]
		s.least = s.found[s.want-1].score
	}
}

// fits tells whether a document has all that the query filters by.
func (s *search) fits(d *doc) bool {
	f := &s.filter
	switch {
	case f.From != 0 && d.moment < f.From, f.To != 0 && d.moment >= f.To,
		f.Project != "" && d.project != f.Project, f.Category != "" && d.category != f.Category:
		return false
	}
	for _, tag := range f.Tags {
		if tag != "" && !slices.Contains(d.tags, tag) {
			return false
		}
	}
	return true
}

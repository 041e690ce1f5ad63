package tfidf

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// ranking is the second pass.
type ranking struct {
	reader
	ranked []*ranked // the candidates; when it ends, the best first
}

// ranked is a candidate in the second pass.
type ranked struct {
	doc *doc

	// The parts of its score, and their sum.
	words                                               []float64 // per term of the query
	near, heading, time, letters, neighbour, alike, sum float64

	vector []weighted
	norm   float64 // the vector's length
}

// weighted is a stem and what it weighs in a document.
type weighted struct {
	stem   *stem
	weight float32
}

// score sums the parts, in the order in which reasons lists them.
func (r *ranked) score() {
	r.sum = 0
	for _, x := range r.words {
		r.sum += x
	}
	for _, part := range r.others() {
		r.sum += part.Weight
	}
}

// others are the parts besides those of the words.
func (r *ranked) others() [6]Reason {
	return [...]Reason{
		{LaneNear, "", r.near},
		{LaneTitle, "", r.heading},
		{LaneTime, "", r.time},
		{LaneLetters, "", r.letters},
		{LaneNeighbour, "", r.neighbour},
		{LaneAlike, "", r.alike},
	}
}

// rerank scores the candidates again and returns the best of them.
func (s *search) rerank(limit int, explain bool) []Hit {
	if len(s.found) == 0 {
		return nil
	}
	s.readAll()
	s.scale()
	s.lend()
	s.compare()
	s.sortByScore()
	s.leadBegun(limit)
	best := s.rank.ranked[0].sum
	hits := make([]Hit, 0, min(limit, len(s.found)))
	for _, r := range s.rank.ranked[:cap(hits)] {
		h := Hit{ID: r.doc.id, Score: r.sum}
		if explain {
			h.Why = s.reasons(r)
		}
		if s.corpus != nil {
			h.Evidence = s.evidence(r, r.sum/best)
		}
		hits = append(hits, h)
	}
	return hits
}

// readAll reads every candidate and computes the lanes that depend on it alone.
func (s *search) readAll() {
	w, terms := &s.ix.weights, s.q.terms
	s.prepare()
	mean, asked := 0.0, 0
	for _, t := range terms {
		if t.place >= 0 {
			mean += t.factor
			asked++
		}
	}
	mean /= float64(max(asked, 1))
	s.rank.ranked = make([]*ranked, len(s.found))
	for k, c := range s.found {
		r := &ranked{doc: c.doc, words: make([]float64, len(terms))}
		s.rank.ranked[k] = r
		s.read(r)
		for i, tf := range s.rank.tfs {
			if tf > 0 {
				r.words[i] = terms[i].factor * s.sat.impact(tf, r.doc.length)
			}
			r.near += w.Near * s.rank.gain[i]
		}
		r.heading = s.rank.title.score(asked, w)
		if s.rank.timed {
			r.time = w.Time * mean
		}
		r.letters = s.letterScore(r.doc.length)
	}
}

// scale divides the words' lane, with nearness, titles and time, and the letters' lane
// by the best candidate of each, and adds them up.
func (s *search) scale() {
	topWords, topLetters := 0.0, 0.0
	for _, r := range s.rank.ranked {
		sum := r.near + r.heading + r.time
		for _, x := range r.words {
			sum += x
		}
		topWords, topLetters = max(topWords, sum), max(topLetters, r.letters)
	}
	letters := 0.0
	if topLetters > 0 {
		letters = s.ix.weights.Letters / topLetters
	}
	for _, r := range s.rank.ranked {
		for i := range r.words {
			r.words[i] /= topWords
		}
		r.near /= topWords
		r.heading /= topWords
		r.time /= topWords
		r.letters *= letters
		r.score()
	}
}

// reasons lists the parts of a candidate's score.
func (s *search) reasons(r *ranked) []Reason {
	var why []Reason
	for i, x := range r.words {
		if x != 0 {
			why = append(why, Reason{s.q.terms[i].lane, s.q.terms[i].text, x})
		}
	}
	for _, part := range r.others() {
		if part.Weight != 0 {
			why = append(why, part)
		}
	}
	return why
}

// sortByScore orders the candidates, the best first.
func (s *search) sortByScore() {
	slices.SortFunc(s.rank.ranked, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), strings.Compare(a.doc.id, b.doc.id))
	})
}

const (
	// neighbours is how far apart, in the order of writing, documents lend to one another.
	neighbours = 2
	// farNeighbour is what one that is not the very next lends, as a share.
	farNeighbour = 0.8
)

// lend lets each candidate gain by the best of those written next to it.
func (s *search) lend() {
	w := s.ix.weights.Neighbour
	inOrder := slices.DeleteFunc(slices.Clone(s.rank.ranked), func(r *ranked) bool { return w == 0 || r.doc.order == 0 })
	slices.SortStableFunc(inOrder, func(a, b *ranked) int { return cmp.Compare(a.doc.order, b.doc.order) })
	for i, a := range inOrder {
		for _, b := range inOrder[i+1:] {
			apart := b.doc.order - a.doc.order
			if apart > neighbours {
				break
			}
			share := w
			if apart > 1 {
				share *= farNeighbour
			}
			a.neighbour = max(a.neighbour, share*b.sum)
			b.neighbour = max(b.neighbour, share*a.sum)
		}
	}
	for _, r := range inOrder {
		r.score()
	}
}

const (
	// models is how many of the best candidates the others are compared with.
	models = 5
	// modelPower is how fast being like a lesser one loses worth.
	modelPower = 2.5
)

// compare lets each candidate gain by being like one of the best, whose words
// the query may not have known (the cluster hypothesis: van Rijsbergen,
// "Information Retrieval", 1979, chapter 3).
func (s *search) compare() {
	w, all := s.ix.weights.Alike, s.rank.ranked
	if w == 0 || len(all) < 2 {
		return
	}
	s.sortByScore()
	for _, model := range all[:min(models, len(all))] {
		if model.norm == 0 {
			continue
		}
		worth := math.Pow(model.sum/all[0].sum, modelPower) / model.norm
		for _, e := range model.vector {
			e.stem.weight = e.weight
		}
		for _, r := range all {
			if r == model || r.norm == 0 {
				continue
			}
			product := float32(0)
			for _, e := range r.vector {
				product += e.weight * e.stem.weight
			}
			r.alike = max(r.alike, float64(product)/r.norm*worth)
		}
		for _, e := range model.vector {
			e.stem.weight = 0
		}
	}
	top := slices.MaxFunc(all, func(a, b *ranked) int { return cmp.Compare(a.alike, b.alike) }).alike
	if top == 0 {
		return
	}
	for _, r := range all {
		r.alike *= w / top
		r.score()
	}
}

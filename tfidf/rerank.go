package tfidf

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// ranking is the scratch memory of the second pass.
type ranking struct {
	reader
	words     []float64 // per candidate and term, the parts of the words' lane
	near      []float64 // per candidate, and so on
	heading   []float64
	time      []float64
	letters   []float64
	neighbour []float64
	alike     []float64
	score     []float64
	order     []int
	vectors   vectors
}

// rerank scores the candidates again and returns the best of them.
func (s *search) rerank(limit int, explain bool) []Hit {
	if len(s.found) == 0 {
		return nil
	}
	r := &s.rank
	s.readAll()
	s.scale()
	s.lend()
	s.compare()
	s.sortByScore()
	s.leadBegun(limit)
	hits := make([]Hit, 0, min(limit, len(s.found)))
	for _, k := range r.order[:cap(hits)] {
		h := Hit{ID: s.found[k].doc.id, Score: r.score[k]}
		if explain {
			h.Why = s.reasons(k)
		}
		if s.corpus != nil {
			h.Evidence = s.evidence(k, r.score[k]/r.score[r.order[0]])
		}
		hits = append(hits, h)
	}
	return hits
}

// readAll reads every candidate and computes the lanes that depend on it alone.
func (s *search) readAll() {
	r, w, terms, n := &s.rank, &s.ix.weights, s.q.terms, len(s.found)
	s.prepare()
	r.words = grown(r.words, n*len(terms))
	r.near, r.heading, r.time, r.letters = grown(r.near, n), grown(r.heading, n), grown(r.time, n), grown(r.letters, n)
	r.neighbour, r.alike, r.score = grown(r.neighbour, n), grown(r.alike, n), grown(r.score, n)
	mean, asked := 0.0, 0
	for _, t := range terms {
		if t.place >= 0 {
			mean += t.factor
			asked++
		}
	}
	mean /= float64(max(asked, 1))
	for k := range s.found {
		d := s.found[k].doc
		s.read(d)
		for i := range terms {
			x := 0.0
			if tf := r.tfs[i]; tf > 0 {
				x = terms[i].factor * s.sat.impact(tf, d.length)
			}
			r.words[k*len(terms)+i] = x
		}
		r.near[k], r.time[k] = 0, 0
		for i := range terms {
			r.near[k] += w.Near * r.gain[i]
		}
		r.heading[k] = r.title.score(asked, w)
		if r.timed {
			r.time[k] = w.Time * mean
		}
		r.letters[k] = s.letterScore(d.length)
	}
}

// scale divides the words' lane, with nearness, titles and time, and the letters' lane
// by the best candidate of each, and adds them up.
func (s *search) scale() {
	r, w, t, n := &s.rank, &s.ix.weights, len(s.q.terms), len(s.found)
	topWords, topLetters := 0.0, 0.0
	for k := range n {
		sum := r.near[k] + r.heading[k] + r.time[k]
		for _, x := range r.words[k*t : (k+1)*t] {
			sum += x
		}
		topWords, topLetters = max(topWords, sum), max(topLetters, r.letters[k])
	}
	letters := 0.0
	if topLetters > 0 {
		letters = w.Letters / topLetters
	}
	for k := range n {
		parts := r.words[k*t : (k+1)*t]
		for i := range parts {
			parts[i] /= topWords
		}
		r.near[k] /= topWords
		r.heading[k] /= topWords
		r.time[k] /= topWords
		r.letters[k] *= letters
		r.neighbour[k], r.alike[k] = 0, 0
		r.add(k, t)
	}
}

// add sums the parts of candidate k, in the order in which reasons lists them.
func (r *ranking) add(k, terms int) {
	sum := 0.0
	for _, x := range r.words[k*terms : (k+1)*terms] {
		sum += x
	}
	sum += r.near[k]
	sum += r.heading[k]
	sum += r.time[k]
	sum += r.letters[k]
	sum += r.neighbour[k]
	sum += r.alike[k]
	r.score[k] = sum
}

// reasons lists the parts of candidate k's score.
func (s *search) reasons(k int) []Reason {
	r, terms := &s.rank, s.q.terms
	var why []Reason
	for i, x := range r.words[k*len(terms) : (k+1)*len(terms)] {
		if x != 0 {
			why = append(why, Reason{terms[i].lane, terms[i].text, x})
		}
	}
	for _, part := range []Reason{
		{LaneNear, "", r.near[k]},
		{LaneTitle, "", r.heading[k]},
		{LaneTime, "", r.time[k]},
		{LaneLetters, "", r.letters[k]},
		{LaneNeighbour, "", r.neighbour[k]},
		{LaneAlike, "", r.alike[k]},
	} {
		if part.Weight != 0 {
			why = append(why, part)
		}
	}
	return why
}

// sortByScore orders the candidates, the best first.
func (s *search) sortByScore() {
	r := &s.rank
	r.order = grown(r.order, len(s.found))
	for k := range r.order {
		r.order[k] = k
	}
	slices.SortFunc(r.order, func(a, b int) int {
		if r.score[a] != r.score[b] {
			return cmp.Compare(r.score[b], r.score[a])
		}
		return strings.Compare(s.found[a].doc.id, s.found[b].doc.id)
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
	r, w := &s.rank, s.ix.weights.Neighbour
	if w == 0 {
		return
	}
	r.order = r.order[:0]
	for k := range s.found {
		if s.found[k].doc.order != 0 {
			r.order = append(r.order, k)
		}
	}
	slices.SortFunc(r.order, func(a, b int) int { return cmp.Compare(s.found[a].doc.order, s.found[b].doc.order) })
	for i, a := range r.order {
		for _, b := range r.order[i+1:] {
			apart := s.found[b].doc.order - s.found[a].doc.order
			if apart > neighbours {
				break
			}
			share := w
			if apart > 1 {
				share *= farNeighbour
			}
			r.neighbour[a] = max(r.neighbour[a], share*r.score[b])
			r.neighbour[b] = max(r.neighbour[b], share*r.score[a])
		}
	}
	for _, k := range r.order {
		if r.neighbour[k] > 0 {
			r.add(k, len(s.q.terms))
		}
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
	r, w, n := &s.rank, s.ix.weights.Alike, len(s.found)
	if w == 0 || n < 2 {
		return
	}
	s.sortByScore()
	best, worth := r.order[:min(models, n)], [models]float64{}
	r.vectors.load(best, len(r.idfs))
	for i, m := range best {
		if norm := r.vectors.norm[m]; norm > 0 {
			worth[i] = math.Pow(r.score[m]/r.score[best[0]], modelPower) / norm
		}
	}
	top := 0.0
	for k := range n {
		norm := r.vectors.norm[k]
		if norm == 0 {
			continue
		}
		dots := r.vectors.products(k)
		for i, m := range best {
			if m != k {
				r.alike[k] = max(r.alike[k], float64(dots[i])/norm*worth[i])
			}
		}
		top = max(top, r.alike[k])
	}
	if top == 0 {
		return
	}
	for k := range n {
		r.alike[k] *= w / top
		r.add(k, len(s.q.terms))
	}
}

package likeness

import "slices"

// candidateMargin is how near to deciding anything a hit must be to be weighed
// anew: what the lessons of a moment change is far less than the rest.
const candidateMargin = 0.7

// Candidates are what near found at one moment. Reports look before they wait for
// their turn, each in its own goroutine; in their turn, while all others wait,
// they only add what came in between.
type Candidates struct {
	filter LikeFilter
	hits   []LikeHit
	puts   uint64
}

// Candidates is near, to be brought up to date later.
func (l *Likeness) Candidates(of Of, filter LikeFilter) *Candidates {
	l.mu.RLock()
	puts := l.puts // before the look: what is put while it looks counts as put since
	l.mu.RUnlock()
	return &Candidates{filter: filter, hits: l.near(of, filter), puts: puts}
}

// Since returns what near finds now, from candidates and the lessons that
// were put since. Without candidates it is near.
func (l *Likeness) Since(s *Candidates, of Of, filter LikeFilter) []LikeHit {
	if s == nil {
		return l.near(of, filter)
	}
	l.mu.RLock()
	if l.puts-s.puts > recent {
		l.mu.RUnlock()
		return l.near(of, s.filter)
	}
	defer l.mu.RUnlock()
	// What decides is weighed anew: how much a word says depends on who else says it by now.
	var hits []LikeHit
	rare := l.rarities(make([]float64, 0, terms), of)
	for _, h := range s.hits {
		at, there := l.byID[h.ID]
		switch {
		case !there:
		case h.Score >= candidateMargin*recurs || h.Text >= candidateMargin*Duplicate:
			hits = l.meet(hits, of, rare, at)
		default:
			hits = append(hits, h)
		}
	}
	passes := l.passes(s.filter)
	for i := s.puts; i < l.puts; i++ {
		at := l.last[i%recent]
		if passes(at) {
			id := l.slots[at].id
			hits = slices.DeleteFunc(hits, func(h LikeHit) bool { return h.ID == id })
			hits = l.meet(hits, of, rare, at)
		}
	}
	return best(hits)
}

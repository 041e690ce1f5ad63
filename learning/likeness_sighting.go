package learning

import "slices"

// sightingMargin is how near to deciding anything a hit must be to be weighed
// anew: what the lessons of a moment change is far less than the rest.
const sightingMargin = 0.7

// sighting is what near found at one moment. Reports look before they wait for
// their turn, each in its own goroutine; in their turn, while all others wait,
// they only add what came in between.
type sighting struct {
	filter likeFilter
	hits   []likeHit
	puts   uint64
}

// sight is near, to be brought up to date later.
func (l *likeness) sight(of likenessOf, filter likeFilter) *sighting {
	l.mu.RLock()
	puts := l.puts // before the look: what is put while it looks counts as put since
	l.mu.RUnlock()
	return &sighting{filter: filter, hits: l.near(of, filter), puts: puts}
}

// since returns what near finds now, from what a sighting found and the lessons
// that were put since. Without a sighting it is near.
func (l *likeness) since(s *sighting, of likenessOf, filter likeFilter) []likeHit {
	if s == nil {
		return l.near(of, filter)
	}
	l.mu.RLock()
	if l.puts-s.puts > likenessRecent {
		l.mu.RUnlock()
		return l.near(of, s.filter)
	}
	defer l.mu.RUnlock()
	// What decides is weighed anew: how much a word says depends on who else says it by now.
	var hits []likeHit
	for _, h := range s.hits {
		at, there := l.byID[h.ID]
		switch {
		case !there:
		case h.Score >= sightingMargin*likenessRecurs || h.Text >= sightingMargin*likenessDuplicate:
			hits = l.meet(hits, of, at)
		default:
			hits = append(hits, h)
		}
	}
	passes := s.filter.passes()
	for i := s.puts; i < l.puts; i++ {
		at := l.last[i%likenessRecent]
		if slot := &l.slots[at]; passes(slot) {
			hits = slices.DeleteFunc(hits, func(h likeHit) bool { return h.ID == slot.id })
			hits = l.meet(hits, of, at)
		}
	}
	return best(hits)
}

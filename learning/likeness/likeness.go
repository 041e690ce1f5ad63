// Package likeness measures how similar two lessons are by their words, tags and commands, and finds
// the lessons that are similar to a new one. It keeps numbers of words and no text.
package likeness

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"skillrouter/learning"
)

// Bounds of the likeness. They make the cost of a report the same with a
// hundred lessons and with a hundred thousand.
const (
	ring         = 32      // the latest lessons that are kept under one key
	seen         = 128     // lessons that are looked up for one lesson
	candidates   = 24      // those of them that are compared closely: the ones with most in common under their keys
	likenessHits = 24      // the best that an answer holds
	floor        = 0.1     // a hit scores at least this, or its words fit as well as those of a duplicate
	counters     = 1 << 17 // counters of how many lessons hold a term; those that share one look more common than they are
	prior        = 64      // lessons that are taken to be there besides: in a small collection every word that two share is a common one
	visits       = 32      // keys of one lesson under which candidates are looked for, the rarest first
)

// Likeness remembers lessons by their words, tags and root causes, and finds
// those that are like another one. It holds hashes, not texts. One may write
// while many read.
//
// Candidates come from bounded lists of the latest lessons under each key: the
// root cause as a whole, each term. Rare terms are asked first. The candidates
// are then compared in full.
type Likeness struct {
	mu    sync.RWMutex
	slots []slot
	free  []uint32
	byID  map[string]uint32
	keys  map[uint32]uint32 // key → a slot, or many and a place in lists
	lists []list
	count [counters]uint32
	pool  sync.Pool
	words words
}

// many marks a value of keys as a place in lists.
const many = 1 << 31

type slot struct {
	id string // empty: free
	Of
}

// list is a ring of the latest slots under one key.
type list struct {
	next  uint32
	slots []uint32
}

// LikeFilter narrows what Like finds; its zero value narrows nothing.
type LikeFilter struct {
	Domain string                // of this domain only
	Types  []learning.LessonType // of these types only
	Self   string                // this id is not found
}

// LikeHit is a lesson that is like another. Every figure lies between 0 and 1.
type LikeHit struct {
	ID    string
	Text  float64 // how nearly the texts say the same; from Duplicate on they do
	Words float64 // how much of their words they share, whatever the rest contradicts
	Tags  float64
	Cause float64
	Score float64 // how likely they are about one problem; see likenessScore
}

// New makes an empty Likeness.
func New() *Likeness {
	l := &Likeness{byID: map[string]uint32{}, keys: map[uint32]uint32{}}
	l.pool.New = func() any { return new(scratch) }
	return l
}

// Put remembers a lesson, or anew if it is there.
func (l *Likeness) Put(id string, of Of) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, there := l.byID[id]
	switch {
	case there:
		l.tally(l.slots[at].Of, -1)
	case len(l.free) > 0:
		at = l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
	default:
		at = uint32(len(l.slots))
		l.slots = append(l.slots, slot{})
	}
	l.byID[id] = at
	l.slots[at] = slot{id, of}
	l.tally(of, 1)
	for _, key := range of.keys() {
		l.post(key, at)
	}
}

// Remove forgets a lesson. What is left of it in the lists is passed over, and
// overwritten in time.
func (l *Likeness) Remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, there := l.byID[id]
	if !there {
		return
	}
	of := l.slots[at].Of
	l.tally(of, -1)
	for _, key := range of.keys() {
		if l.keys[key] == at {
			delete(l.keys, key)
		}
	}
	delete(l.byID, id)
	l.slots[at] = slot{}
	l.free = append(l.free, at)
}

func (l *Likeness) tally(of Of, by int) {
	for _, terms := range [][]uint32{of.terms, of.tags} {
		for _, t := range terms {
			l.count[counterOf(t)] += uint32(by) //nolint:gosec // −1 wraps, as it should
		}
	}
}

func counterOf(term uint32) uint32 { return term >> flagBits % counters }

// post writes a slot behind the others under a key.
func (l *Likeness) post(key, at uint32) {
	value, there := l.keys[key]
	if !there || value == at {
		l.keys[key] = at
		return
	}
	if value&many == 0 {
		l.keys[key] = many | uint32(len(l.lists))
		l.lists = append(l.lists, list{slots: append(make([]uint32, 0, 2), value, at)})
		return
	}
	list := &l.lists[value&^many]
	if slices.Contains(list.slots, at) {
		return
	}
	if len(list.slots) < ring {
		list.slots = append(list.slots, at)
		return
	}
	list.slots[list.next] = at
	list.next = (list.next + 1) % ring
}

// weight is how much a term says: one more than the logarithm to the base of 2
// of how many lessons there are for each that holds it (an inverse document
// frequency in whole steps), more for what is exact, and for what is in a title.
func (l *Likeness) weight(term uint32) float64 { return flagged(l.rarity(term), term) }

// rarity is the part of a term's weight that does not depend on where a lesson has it. It divides by shifting: terms are weighed
// by the thousand for each report.
func (l *Likeness) rarity(term uint32) float64 {
	all, held := uint32(len(l.byID))+prior, max(l.count[counterOf(term)], 1)
	steps := bits.Len32(all) - bits.Len32(held)
	if steps < 0 {
		return 1
	}
	if all>>steps >= held {
		steps++
	}
	return float64(1 + steps)
}

// flagged is a rarity as it weighs where a lesson has the term.
func flagged(rarity float64, term uint32) float64 {
	if term&likenessExact != 0 {
		rarity *= exactWeight
	}
	if term&likenessTitle != 0 {
		rarity *= titleWeight
	}
	return rarity
}

// scratch is the memory of one search: an open table of the lessons seen.
type scratch struct {
	table [2 * seen]uint16 // place in seen+1; 0 is free
	seen  []seenSlot
	keys  []likenessKey
	rare  []float64 // the rarities of the terms that are compared with
}

type likenessKey struct{ key, held, at uint32 }

type seenSlot struct {
	slot   uint32
	fits   bool
	common float64 // weight of what it has in common
}

// see counts a lesson that stands under a key of that weight, and tells whether it was new.
func (s *scratch) see(slot uint32, weight float64) *seenSlot {
	for at := stirred(slot) % uint32(len(s.table)); ; at = (at + 1) % uint32(len(s.table)) {
		if place := s.table[at]; place != 0 {
			if seen := &s.seen[place-1]; seen.slot == slot {
				seen.common += weight
				return nil
			}
			continue
		}
		if len(s.seen) >= seen {
			return nil
		}
		s.seen = append(s.seen, seenSlot{slot: slot, common: weight})
		s.table[at] = uint16(len(s.seen))
		return &s.seen[len(s.seen)-1]
	}
}

// Like returns the remembered lessons that are most like of, best first.
func (l *Likeness) Like(of Of, filter LikeFilter) []LikeHit {
	scratch := l.pool.Get().(*scratch)
	defer l.pool.Put(scratch)
	clear(scratch.table[:])
	scratch.seen, scratch.keys = scratch.seen[:0], scratch.keys[:0]

	l.mu.RLock()
	defer l.mu.RUnlock()
	l.look(of, filter, scratch)
	seen := slices.DeleteFunc(scratch.seen, func(s seenSlot) bool { return !s.fits })
	slices.SortFunc(seen, func(a, b seenSlot) int {
		return cmp.Or(cmp.Compare(b.common, a.common), cmp.Compare(a.slot, b.slot))
	})
	var hits []LikeHit
	scratch.rare = l.rarities(scratch.rare[:0], of)
	for _, s := range seen[:min(len(seen), candidates)] {
		hits = l.meet(hits, of, scratch.rare, s.slot)
	}
	return best(hits)
}

// rarities appends those of a lesson's terms, in their order.
func (l *Likeness) rarities(to []float64, of Of) []float64 {
	for _, term := range of.terms {
		to = append(to, l.rarity(term))
	}
	return to
}

// meet compares a lesson, whose terms are that rare, closely with one that is remembered, and adds that to hits if it is like it.
func (l *Likeness) meet(hits []LikeHit, of Of, rare []float64, slot uint32) []LikeHit {
	hit := l.compare(&of, rare, &l.slots[slot].Of, floor)
	if hit.Score < floor && hit.Text < Duplicate {
		return hits
	}
	hit.ID = l.slots[slot].id
	return append(hits, hit)
}

// best puts hits in order, and keeps as many as an answer holds.
func best(hits []LikeHit) []LikeHit {
	slices.SortFunc(hits, func(a, b LikeHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Text, a.Text), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(len(hits), likenessHits)]
}

// passes returns what tells whether the filter lets a slot through. The caller holds the lock.
func (l *Likeness) passes(f LikeFilter) func(slot uint32) bool {
	types, domain := typeMask(f.Types), likenessHash("", f.Domain)
	self, there := l.byID[f.Self]
	return func(slot uint32) bool {
		s := &l.slots[slot] // a free one is of no kind
		return types&s.kind != 0 && (f.Domain == "" || s.Domain == domain) && !(there && slot == self)
	}
}

// look fills scratch with the lessons under of's keys: the cause as a whole
// first, for it is the best sign, then terms, the rarest first.
func (l *Likeness) look(of Of, filter LikeFilter, scratch *scratch) {
	keys := of.keys()
	keys = keys[:len(keys)-len(of.commands)]
	whole := len(keys) - len(of.terms) - len(of.tags)
	for i, key := range keys {
		held := uint32(0)
		switch {
		case i >= whole+len(of.terms):
			held = l.count[counterOf(of.tags[i-whole-len(of.terms)])]
		case i >= whole:
			held = l.count[counterOf(of.terms[i-whole])]
		}
		scratch.keys = append(scratch.keys, likenessKey{key, held, uint32(i)})
	}
	slices.SortFunc(scratch.keys, func(a, b likenessKey) int { return cmp.Or(cmp.Compare(a.held, b.held), cmp.Compare(a.at, b.at)) })

	passes := l.passes(filter)
	see := func(at uint32, weight float64) {
		if seen := scratch.see(at, weight); seen != nil {
			seen.fits = passes(at)
		}
	}
	for _, key := range scratch.keys[:min(len(scratch.keys), visits)] {
		weight := float64(1 + bits.Len32(uint32(len(l.byID))/max(key.held, 1)))
		value, there := l.keys[key.key]
		switch {
		case !there:
		case value&many == 0:
			see(value, weight)
		default:
			for _, at := range l.lists[value&^many].slots {
				see(at, weight)
			}
		}
	}
}

// WordsOf returns what is remembered of a lesson.
func (l *Likeness) WordsOf(id string) (Of, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	at, there := l.byID[id]
	if !there {
		return Of{}, false
	}
	return l.slots[at].Of, true
}

// Running returns the ids of the latest lessons that name a command, in no order.
func (l *Likeness) Running(command string) (ids []string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	key := commandKey(command)
	value, there := l.keys[key]
	if !there {
		return nil
	}
	slots := []uint32{value}
	if value&many != 0 {
		slots = l.lists[value&^many].slots
	}
	for _, at := range slots {
		if s := &l.slots[at]; s.id != "" && slices.Contains(s.commands, key) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// Alike compares two prepared lessons, remembered or not.
func (l *Likeness) Alike(a, b Of) LikeHit {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.compare(&a, l.rarities(nil, a), &b, 0)
}

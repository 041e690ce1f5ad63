// Package likeness measures how similar two lessons are by their words, tags and commands, and finds
// the lessons that are similar to a new one. It keeps numbers of words and no text.
package likeness

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/learning"
)

// Bounds of the likeness. They make the cost of a report the same with a
// hundred lessons and with a hundred thousand.
const (
	latest       = 32  // the lessons that are looked up under one key, those that were put last
	candidates   = 24  // those of them that are compared closely: the ones with most in common under their keys
	likenessHits = 24  // the best that an answer holds
	floor        = 0.1 // a hit scores at least this, or its words fit as well as those of a duplicate
	prior        = 64  // lessons that are taken to be there besides: in a small collection every word that two share is a common one
	visits       = 32  // keys of one lesson under which candidates are looked for, the rarest first
)

// Likeness remembers lessons by their words, tags and root causes, and finds
// those that are like another one. It holds hashes, not texts. One may write
// while many read.
//
// Candidates are the latest lessons under each key: the root cause as a whole,
// each term. Rare terms are asked first. The candidates are then compared in full.
type Likeness struct {
	mu    sync.RWMutex
	byID  map[string]*held
	keys  map[uint32][]*held // under each key, in the order in which they were put
	count map[uint32]int     // how many lessons hold each term
	puts  int
}

// held is a lesson that is remembered.
type held struct {
	id  string
	put int // its place in the order of Put
	Of
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
	return &Likeness{byID: map[string]*held{}, keys: map[uint32][]*held{}, count: map[uint32]int{}}
}

// Put remembers a lesson, or anew if it is there.
func (l *Likeness) Put(id string, of Of) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(id)
	l.puts++
	lesson := &held{id, l.puts, of}
	l.byID[id] = lesson
	l.tally(of, 1)
	for _, key := range of.keys() {
		l.keys[key] = append(l.keys[key], lesson)
	}
}

// Remove forgets a lesson.
func (l *Likeness) Remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(id)
}

func (l *Likeness) remove(id string) {
	lesson := l.byID[id]
	if lesson == nil {
		return
	}
	delete(l.byID, id)
	l.tally(lesson.Of, -1)
	for _, key := range lesson.Of.keys() {
		l.keys[key] = slices.DeleteFunc(l.keys[key], func(h *held) bool { return h == lesson })
		if len(l.keys[key]) == 0 {
			delete(l.keys, key)
		}
	}
}

func (l *Likeness) tally(of Of, by int) {
	for _, terms := range [][]uint32{of.terms, of.tags} {
		for _, t := range terms {
			if l.count[t>>flagBits] += by; l.count[t>>flagBits] == 0 {
				delete(l.count, t>>flagBits)
			}
		}
	}
}

// under returns the latest lessons under a key.
func (l *Likeness) under(key uint32) []*held {
	list := l.keys[key]
	return list[max(0, len(list)-latest):]
}

// weight is how much a term says: one more than the logarithm to the base of 2
// of how many lessons there are for each that holds it (an inverse document
// frequency in whole steps), more for what is exact, and for what is in a title.
func (l *Likeness) weight(term uint32) float64 { return flagged(l.rarity(term), term) }

// rarity is the part of a term's weight that does not depend on where a lesson has it.
func (l *Likeness) rarity(term uint32) float64 {
	return float64(1 + bits.Len(uint((len(l.byID)+prior)/max(l.count[term>>flagBits], 1))))
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

// Like returns the remembered lessons that are most like of, best first.
func (l *Likeness) Like(of Of, filter LikeFilter) []LikeHit {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var hits []LikeHit
	for _, lesson := range l.candidates(of, filter) {
		if hit := l.compare(&of, &lesson.Of); hit.Score >= floor || hit.Text >= Duplicate {
			hit.ID = lesson.id
			hits = append(hits, hit)
		}
	}
	return best(hits)
}

// best puts hits in order, and keeps as many as an answer holds.
func best(hits []LikeHit) []LikeHit {
	slices.SortFunc(hits, func(a, b LikeHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Text, a.Text), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(len(hits), likenessHits)]
}

// candidates returns the lessons with most in common under of's keys: the cause as a
// whole first, for it is the best sign, then terms and tags, the rarest first.
func (l *Likeness) candidates(of Of, filter LikeFilter) []*held {
	type ranked struct {
		key  uint32
		held int
	}
	var keys []ranked
	if cause := of.cause(); cause != 0 {
		keys = append(keys, ranked{cause, 0})
	}
	for _, t := range of.terms {
		keys = append(keys, ranked{termKey(t), l.count[t>>flagBits]})
	}
	for _, t := range of.tags {
		keys = append(keys, ranked{t, l.count[t>>flagBits]})
	}
	slices.SortStableFunc(keys, func(a, b ranked) int { return cmp.Compare(a.held, b.held) })

	types, domain := typeMask(filter.Types), likenessHash("", filter.Domain)
	common := map[*held]float64{}
	for _, key := range keys[:min(len(keys), visits)] {
		weight := float64(1 + bits.Len(uint(len(l.byID)/max(key.held, 1))))
		for _, lesson := range l.under(key.key) {
			if types&lesson.kind != 0 && (filter.Domain == "" || lesson.Domain == domain) && lesson.id != filter.Self {
				common[lesson] += weight
			}
		}
	}
	found := slices.SortedFunc(maps.Keys(common), func(a, b *held) int {
		return cmp.Or(cmp.Compare(common[b], common[a]), cmp.Compare(a.put, b.put))
	})
	return found[:min(len(found), candidates)]
}

// WordsOf returns what is remembered of a lesson.
func (l *Likeness) WordsOf(id string) (Of, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if lesson := l.byID[id]; lesson != nil {
		return lesson.Of, true
	}
	return Of{}, false
}

// Running returns the ids of the latest lessons that name a command, in no order.
func (l *Likeness) Running(command string) (ids []string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	key := commandKey(command)
	for _, lesson := range l.under(key) {
		if slices.Contains(lesson.commands, key) {
			ids = append(ids, lesson.id)
		}
	}
	return ids
}

// Alike compares two prepared lessons, remembered or not.
func (l *Likeness) Alike(a, b Of) LikeHit {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.compare(&a, &b)
}

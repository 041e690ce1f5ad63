package tfidf

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Limits of merging. Segments of like size are merged, so that their number
// grows with the logarithm of the index and each document is copied only so often.
const (
	mergeFactor = 8
	// sparse is the share of dead documents from which on a segment is written anew.
	sparse = 0.3
	// compactDocs is how many documents Compact makes one segment of at most: beyond
	// that it would copy much, and hold it twice meanwhile, to list few terms less often.
	compactDocs = 1 << 18
	// compactShare is how much larger than the others one of the segments may be.
	compactShare = 4
	// maxSegmentBytes bounds the IDs, the words and the postings that are merged into one
	// segment, which keeps their starts in 32 bits: postings may take up to four times as
	// much there as they did in several.
	maxSegmentBytes = 1 << 30
)

// tidy starts or does the merges that are due: with Run they are Run's, unless
// it has fallen far behind.
func (ix *Index) tidy() {
	if ix.running.Load() > 0 && len(ix.view.Load().segs) < 8*mergeFactor {
		select {
		case ix.wake <- struct{}{}:
		default:
		}
		return
	}
	for ix.mergeOnce(dueForMerge) {
	}
}

// Compact merges segments until few are left, so that each term is listed in
// few places: for who has read all there is, or expects no writes for a while. It
// is meant to be called in the background; writers and searches go on.
func (ix *Index) Compact() {
	for ix.mergeOnce(dueForCompaction) {
	}
}

// Run merges segments in the background until ctx ends, and returns nil.
// Without it an Index works the same, and its writers do the merging.
func (ix *Index) Run(ctx context.Context) error {
	ix.running.Add(1)
	defer ix.running.Add(-1)
	for {
		for ctx.Err() == nil && ix.mergeOnce(dueForMerge) {
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ix.wake:
		}
	}
}

// mergeOnce does one merge of the segments that due picks, and tells whether
// there was one to do.
func (ix *Index) mergeOnce(pick func([]*segment) []*segment) bool {
	ix.merging.Lock()
	defer ix.merging.Unlock()
	v := ix.view.Load()
	due := pick(v.segs)
	if len(due) == 0 {
		return false
	}
	s, moved := merge(due, ix.weights, v.average())

	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.serial++
	s.serial = ix.serial
	for i, old := range due {
		delete(ix.open, old.serial)
		for d, at := range moved[i] {
			if at == none {
				continue
			}
			if died := old.died[d].Load(); died != 0 { // while it was being copied
				s.died[at].Store(died)
				s.dead.Add(1)
			} else {
				ix.places[s.numbers[at]] = place{s.serial, at}
			}
		}
	}
	now := *ix.view.Load()
	now.segs = slices.DeleteFunc(slices.Clone(now.segs), func(s *segment) bool { return slices.Contains(due, s) })
	if s.docs() > 0 {
		ix.open[s.serial] = s
		now.segs = append(now.segs, s)
	}
	ix.view.Store(&now)
	return true
}

// dueForMerge picks the segments to merge next: those of one size class if
// there are mergeFactor of them, or one that is mostly dead.
func dueForMerge(segs []*segment) []*segment {
	classes := map[int][]*segment{}
	for _, s := range segs {
		live, class := s.docs()-int(s.dead.Load()), 0
		for n := live / tailDocs; n >= mergeFactor; n /= mergeFactor {
			class++
		}
		classes[class] = append(classes[class], s)
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if due := classes[class]; len(due) >= mergeFactor {
			if due = fitting(due); len(due) > 0 {
				return due
			}
		}
	}
	for _, s := range segs {
		if float64(s.dead.Load()) > sparse*float64(s.docs()) {
			return []*segment{s}
		}
	}
	return nil
}

// dueForCompaction picks the segments to merge where few are wanted: the
// smallest ones, as many as fit one segment of compactDocs. The largest of them
// is left out while it is compactShare times the others, so that an
// index which grows by little is not copied as a whole each time.
func dueForCompaction(segs []*segment) []*segment {
	segs = slices.Clone(segs)
	slices.SortFunc(segs, func(a, b *segment) int { return cmp.Compare(a.docs(), b.docs()) })
	sum, n := 0, 0
	for n < len(segs) && sum+segs[n].docs() <= compactDocs {
		sum += segs[n].docs()
		n++
	}
	for ; n > 1; n-- {
		largest := segs[n-1].docs()
		if sum -= largest; largest <= compactShare*sum {
			break
		}
	}
	if n < 2 {
		return nil
	}
	return fitting(segs[:n])
}

// fitting returns as many of the segments as one can hold, the first ones.
func fitting(segs []*segment) []*segment {
	ids, words, data := 0, 0, 0
	for i, s := range segs {
		ids, words, data = ids+len(s.ids), words+len(s.words), data+len(s.data)
		if max(ids, words, data) > maxSegmentBytes {
			if i < 2 { // it is as large as one can be
				return fitting(slices.Delete(slices.Clone(segs), 0, 1))
			}
			return segs[:i]
		}
	}
	if len(segs) < 2 {
		return nil
	}
	return segs
}

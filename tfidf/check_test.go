package tfidf

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Check reads all that the index holds and returns what does not fit the rest,
// or nil. Writers wait meanwhile: at a million documents about a second.
//
// Open compares sizes and checksums only, because to read every number takes
// longer than a start may. So what Check finds can only be the fault of the
// program that wrote a snapshot, or of someone who forged its checksums.
func (ix *Index) Check() error {
	ix.merging.Lock()
	defer ix.merging.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	v := ix.view.Load()
	if err := ix.vocab.check(); err != nil {
		return fmt.Errorf("the words: %w", err)
	}
	if err := ix.typos.check(ix.vocab.count.Load()); err != nil {
		return fmt.Errorf("the words by groups of letters: %w", err)
	}
	serials := map[uint32]bool{}
	docs, length := 0, uint64(0)
	for _, s := range v.segs {
		if serials[s.serial] || ix.open[s.serial] != s {
			return errors.New("two segments have one number")
		}
		serials[s.serial] = true
		if err := s.checkDocuments(ix); err != nil {
			return fmt.Errorf("segment %d: %w", s.serial, err)
		}
		if err := s.checkPostings(ix.vocab.count.Load()); err != nil {
			return fmt.Errorf("segment %d: %w", s.serial, err)
		}
		for d := range uint32(s.docs()) {
			if s.died[d].Load() == 0 {
				docs++
				length += uint64(s.lengths[d])
			}
		}
	}
	for _, d := range v.tail {
		if d.died.Load() == 0 {
			docs++
			length += uint64(d.length)
		}
	}
	if docs != v.docs || length != v.length {
		return fmt.Errorf("%d documents of length %d, and %d of %d should live", docs, length, v.docs, v.length)
	}
	return ix.checkIDs(v)
}

// check reads the words, and looks each up.
func (v *vocabulary) check() error {
	count, long := v.count.Load(), len(*v.long.Load())
	for i := range v.shards {
		slots, used := v.shards[i].slots.Load(), 0
		if slots == nil {
			continue
		}
		for j := range *slots {
			slot := (*slots)[j].Load()
			if slot == 0 {
				continue
			}
			used++
			if uint32(slot) == 0 || uint32(slot) > count {
				return fmt.Errorf("a slot of shard %d holds a number that no word has", i)
			}
		}
		if used != v.shards[i].used {
			return fmt.Errorf("shard %d holds %d words, and should hold %d", i, used, v.shards[i].used)
		}
	}
	for id := uint32(1); id <= count; id++ {
		e := v.entry(id)
		if e.size > longWord || e.stem.Load() > count {
			return fmt.Errorf("word %d is out of bounds", id)
		}
		if e.size == longWord {
			at, n := e.longAt()
			if at < 0 || n <= inlineWord || at > long || n > long-at {
				return fmt.Errorf("word %d lies outside", id)
			}
		}
	}
	for id := uint32(1); id <= count; id++ {
		if v.lookup(string(v.text(id))) != id {
			return fmt.Errorf("word %d is not found", id)
		}
	}
	return nil
}

// checkDocuments reads what the segment holds of each document.
func (s *segment) checkDocuments(ix *Index) error {
	n, count, dead := s.docs(), ix.vocab.count.Load(), 0
	var runs []uint32
	if s.idStarts[0] != 0 || s.starts[0] != 0 || !slices.IsSorted(s.idStarts) || !slices.IsSorted(s.starts) ||
		s.idStarts[n] != uint32(len(s.ids)) || s.starts[n] != uint32(len(s.words)) {
		return errors.New("the starts of its documents do not ascend")
	}
	for d := range uint32(n) {
		if s.lengths[d] > maxLength || s.norms[d] != lengthClass(s.lengths[d]) {
			return fmt.Errorf("the length of document %d is out of bounds", d)
		}
		runs = appendRun(runs, int(d), d > 0 && s.id(d-1) < s.id(d))
		if s.project[d] > count || s.category[d] > count {
			return fmt.Errorf("an attribute of document %d is no word", d)
		}
		if err := checkWords(s.wordsOf(d), count); err != nil {
			return fmt.Errorf("document %d: %w", d, err)
		}
		number := s.numbers[d]
		if int64(number) >= int64(len(ix.places)) {
			return fmt.Errorf("the number of document %d is out of bounds", d)
		}
		if s.died[d].Load() != 0 {
			dead++
		} else if ix.places[number] != (place{s.serial, d}) {
			return fmt.Errorf("document %d is not where its number leads", d)
		}
	}
	if !slices.Equal(runs, s.runs) {
		return errors.New("the runs of its ids are others")
	}
	if int64(dead) != s.dead.Load() {
		return fmt.Errorf("%d documents are dead, and should be %d", dead, s.dead.Load())
	}
	return nil
}

// checkWords reads what appendWords wrote.
func checkWords(b []byte, count uint32) error {
	next := func() (uint32, error) {
		x := uint32(0)
		for i, c := range b[:min(5, len(b))] {
			if i == 4 && c > 0xf {
				break
			}
			if x |= uint32(c&0x7f) << (7 * i); c < 0x80 {
				b = b[i+1:]
				return x, nil
			}
		}
		return 0, errors.New("its words end too soon")
	}
	list := func(n uint32) error {
		for range n {
			id, err := next()
			if err != nil {
				return err
			}
			if id == 0 || id > count {
				return errors.New("it holds a number that no word has")
			}
		}
		return nil
	}
	attrs, err := next()
	if err == nil {
		err = list(attrs)
	}
	if err != nil {
		return err
	}
	titled, err := next()
	if err != nil {
		return err
	}
	words, err := next()
	if err == nil {
		err = list(words)
	}
	if err == nil && (titled > words || len(b) > 0) {
		err = errors.New("its words are more than they should be")
	}
	return err
}

// checkPostings reads the posting lists.
func (s *segment) checkPostings(count uint32) error {
	at := 0 // the block that comes next
	for i, term := range s.terms {
		if term == 0 || term > count || i > 0 && term <= s.terms[i-1] {
			return fmt.Errorf("term %d is out of order", i)
		}
		h := s.heads[i]
		if h.count == 0 || int64(h.count) > int64(s.docs()) || h.heavy > h.count || int64(h.first) != int64(at) {
			return fmt.Errorf("the list of term %d is out of bounds", term)
		}
		for _, n := range []uint32{h.heavy, h.count - h.heavy} {
			blocks := int(blocksOf(n))
			if blocks > len(s.blocks)-at {
				return fmt.Errorf("the list of term %d has too few blocks", term)
			}
			last, left := int64(-1), int(n)
			for _, b := range s.blocks[at : at+blocks] {
				var err error
				if last, err = s.checkBlock(b, min(blockSize, left), last); err != nil {
					return fmt.Errorf("term %d: %w", term, err)
				}
				left -= blockSize
			}
			at += blocks
		}
	}
	if at != len(s.blocks) {
		return errors.New("some blocks belong to no term")
	}
	return nil
}

// checkBlock reads one block of n postings, all behind the document last, and
// returns the last of them.
func (s *segment) checkBlock(b block, n int, last int64) (int64, error) {
	if int64(b.off) >= int64(len(s.data)) {
		return 0, errors.New("a block lies outside")
	}
	head := s.data[b.off]
	docWidth, tfWidth := int(head&3), int(head>>2)
	if docWidth == 0 || tfWidth > 3 {
		return 0, errors.New("a block is of no known form")
	}
	bytes := func(width int) int { return []int{0, 1, 2, 4}[width] }
	if 1+n*(bytes(docWidth)+bytes(tfWidth)) > len(s.data)-int(b.off) {
		return 0, errors.New("a block ends too late")
	}
	if math.IsNaN(float64(b.max)) || b.max < 0 || int64(b.last) >= int64(s.docs()) {
		return 0, errors.New("a block's bounds are none")
	}
	before := uint32(max(last, 0))
	c := cursor{blocks: []block{{last: before}, b}, data: s.data, total: blockSize + n, at: 1}
	c.decode()
	for i, d := range c.docs[:n] {
		if int64(d) <= last || d > b.last {
			return 0, errors.New("its documents do not ascend")
		}
		if tf := c.tf(i); tf == 0 || tf > maxTF {
			return 0, errors.New("a frequency is out of bounds")
		}
		last = int64(d)
	}
	if last != int64(b.last) {
		return 0, errors.New("a block's last document is another")
	}
	return last, nil
}

// checkIDs looks up every document by its ID.
func (ix *Index) checkIDs(v *view) error {
	for _, number := range ix.byID {
		if int64(number) >= int64(len(ix.places)) {
			return errors.New("the table of ids holds a number that no document has")
		}
		p := ix.places[number]
		s := ix.open[p.segment]
		if p.segment == 0 && int64(p.at) >= int64(len(v.tail)) || p.segment != 0 && (s == nil || int64(p.at) >= int64(s.docs())) {
			return fmt.Errorf("number %d leads nowhere", number)
		}
	}
	if len(ix.byID) != v.docs {
		return fmt.Errorf("the table of ids holds %d, of %d documents", len(ix.byID), v.docs)
	}
	taken := make([]bool, len(ix.places))
	found := func(id string, number uint32) error {
		if n, ok := ix.byID[id]; !ok || n != number || taken[n] {
			return fmt.Errorf("the document with the id %q is not found by it", id)
		}
		taken[number] = true
		return nil
	}
	for _, s := range v.segs {
		for d := range uint32(s.docs()) {
			if s.died[d].Load() == 0 {
				if err := found(s.id(d), s.numbers[d]); err != nil {
					return err
				}
			}
		}
	}
	for _, d := range v.tail {
		if d.died.Load() == 0 {
			if err := found(d.id, d.number); err != nil {
				return err
			}
		}
	}
	for _, n := range ix.free {
		if int64(n) >= int64(len(taken)) || taken[n] {
			return fmt.Errorf("number %d is free and has a document", n)
		}
		taken[n] = true
	}
	return nil
}

// check reads the groups of a vocabulary of so many words.
func (x *typoIndex) check(count uint32) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for g := range typoGroupCount {
		last := uint32(0)
		for _, word := range x.words[g] {
			if word <= last || word > count {
				return fmt.Errorf("group %d does not ascend", g)
			}
			last = word
		}
	}
	return nil
}

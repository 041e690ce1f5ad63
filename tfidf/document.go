package tfidf

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"skillrouter/tfidf/text"
)

// posting is how often a document holds a term, words of the title counted more.
type posting struct{ term, tf uint32 }

// doc is an analysed document that is in no segment yet.
type doc struct {
	id                string
	number            uint32 // its number in the index, the same for every version of it
	length            uint32 // weighted like tf
	order             int64  // see Document.Order
	moment            int64  // see Document.At
	attrs             []uint32
	project, category uint32 // which of attrs is which; 0 if it has none
	words             []byte // see appendWords
	terms             []posting
	held              []uint32      // its distinct words, until it is counted
	died              atomic.Uint32 // the sequence number from which it is gone; 0 while it lives
}

// maxTF and maxLength bound what a posting and a segment can hold.
const (
	maxTF     = 1<<16 - 1
	maxLength = 1<<24 - 1
)

// analyzer holds the scratch memory of one analysis at a time.
type analyzer struct {
	vocab *vocabulary
	title int
	scan  text.Scanner
	ids   []uint32
	keys  []uint64
}

// analyze turns d into words and terms. It is the only place that gives numbers to words.
func (a *analyzer) analyze(d Document) *doc {
	out := &doc{id: d.ID, order: d.Order, moment: d.At}
	a.attributes(out, d)
	a.ids = a.ids[:0]
	a.add(d.Title)
	titled := len(a.ids)
	a.add(d.Body)
	out.words = appendWords(nil, out.attrs, a.ids, titled)

	held := slices.Clone(a.ids)
	slices.Sort(held)
	out.held = slices.Compact(held)

	a.keys = a.keys[:0]
	for i, id := range a.ids {
		tf := uint64(1)
		if i < titled {
			tf = uint64(a.title)
		}
		out.length = min(out.length+uint32(tf), maxLength)
		a.keys = append(a.keys, uint64(a.vocab.term(id))<<32|tf)
	}
	slices.Sort(a.keys)
	distinct := 0
	for i, k := range a.keys {
		if i == 0 || k>>32 != a.keys[i-1]>>32 {
			distinct++
		}
	}
	out.terms = make([]posting, 0, distinct)
	for i, k := range a.keys {
		if i == 0 || k>>32 != a.keys[i-1]>>32 {
			out.terms = append(out.terms, posting{term: uint32(k >> 32)})
		}
		p := &out.terms[len(out.terms)-1]
		p.tf = min(p.tf+uint32(k), maxTF)
	}
	return out
}

func (a *analyzer) add(part string) {
	a.scan.Scan(text.Cut(part, text.MaxDocumentBytes))
	for _, t := range a.scan.Tokens {
		if id := a.vocab.intern(a.scan.Buf[t.Start:t.End]); id != 0 {
			a.ids = append(a.ids, id)
		}
	}
}

// Attributes are kept in the vocabulary under names that no word can have.
const (
	projectPrefix  = "\x00p"
	categoryPrefix = "\x00c"
	tagPrefix      = "\x00t"
)

func (a *analyzer) attributes(out *doc, d Document) {
	add := func(prefix, value string) uint32 {
		if value == "" {
			return 0
		}
		id := a.vocab.intern([]byte(prefix + value))
		if id != 0 {
			out.attrs = append(out.attrs, id)
		}
		return id
	}
	out.project = add(projectPrefix, d.Project)
	out.category = add(categoryPrefix, d.Category)
	for _, t := range d.Tags[:min(len(d.Tags), MaxTags)] {
		add(tagPrefix, t)
	}
	slices.Sort(out.attrs)
	out.attrs = slices.Compact(out.attrs)
}

// appendWords appends the compact copy of a document that the second pass
// reads: its attributes, then the words in order, of which the first titled
// ones are its title.
func appendWords(buf []byte, attrs, ids []uint32, titled int) []byte {
	n := 3
	for _, id := range attrs {
		n += uvarintLen(id)
	}
	for _, id := range ids {
		n += uvarintLen(id)
	}
	buf = slices.Grow(buf, n+12)
	buf = binary.AppendUvarint(buf, uint64(len(attrs)))
	for _, id := range attrs {
		buf = binary.AppendUvarint(buf, uint64(id))
	}
	buf = binary.AppendUvarint(buf, uint64(titled))
	buf = binary.AppendUvarint(buf, uint64(len(ids)))
	for _, id := range ids {
		buf = binary.AppendUvarint(buf, uint64(id))
	}
	return slices.Clip(buf)
}

func uvarintLen(x uint32) int {
	n := 1
	for x >= 0x80 {
		x >>= 7
		n++
	}
	return n
}

// uvarint reads a number that appendWords wrote. It is binary.Uvarint without the checks.
func uvarint(b []byte) (uint32, int) {
	x := uint32(b[0])
	if x < 0x80 {
		return x, 1
	}
	x &= 0x7f
	for i, shift := 1, 7; ; i, shift = i+1, shift+7 {
		c := uint32(b[i])
		x |= c & 0x7f << shift
		if c < 0x80 {
			return x, i + 1
		}
	}
}

// wordReader reads what appendWords wrote.
type wordReader struct {
	b      []byte
	titled int // words of the title that are left
	left   int // words that are left
}

// readOn returns a reader of the words, past the attributes.
func readOn(b []byte) wordReader {
	n, at := uvarint(b)
	for range n {
		_, w := uvarint(b[at:])
		at += w
	}
	titled, w := uvarint(b[at:])
	at += w
	left, w := uvarint(b[at:])
	return wordReader{b[at+w:], int(titled), int(left)}
}

// readWords returns the attributes, appended to attrs, and a reader of the words.
func readWords(b []byte, attrs []uint32) ([]uint32, wordReader) {
	n, at := uvarint(b)
	for range n {
		id, w := uvarint(b[at:])
		attrs = append(attrs, id)
		at += w
	}
	titled, w := uvarint(b[at:])
	at += w
	left, w := uvarint(b[at:])
	return attrs, wordReader{b[at+w:], int(titled), int(left)}
}

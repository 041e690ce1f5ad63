package tfidf

import "math/bits"

// The first pass counts in whole numbers: what a term is worth in a document
// comes from a table by the class of its frequency and the class of the
// document's length, times a factor of the term. Whole numbers add up to the
// same sum in any order, so that a document's score never depends on the way in
// which it was found; and the second pass scores the chosen ones exactly.
const (
	// tfClasses and lengthClasses are the sides of the table: small enough that the
	// part of it that a collection uses stays in the nearest cache, and fine
	// enough that a length is met within 3 %.
	tfClasses     = 32
	lengthClasses = 256
	// worthBits is how fine a table's entries are.
	worthBits = 16
	// maxScore bounds a document's score, so that scores of 16 bits leave the
	// topmost bit to the sweep over them.
	maxScore = 1<<15 - 1
)

// tfClass returns the class of a frequency: its own below 16, then four to each doubling.
func tfClass(tf uint32) uint32 {
	if tf < 16 {
		return tf
	}
	n := uint32(bits.Len32(tf)) // 5 and up
	return min(16+(n-5)*4+(tf>>(n-3))&3, tfClasses-1)
}

// classTF returns a frequency that stands for a class.
func classTF(c uint32) float64 {
	if c < 16 {
		return float64(c)
	}
	n, q := (c-16)/4+5, (c-16)%4
	return float64(uint32(4+q)<<(n-3)) * 1.1
}

// tfClassOf is tfClass of what fits a byte.
var tfClassOf = func() (t [256]uint8) {
	for tf := range t {
		t[tf] = uint8(tfClass(uint32(tf)))
	}
	return t
}()

// lengthClass returns the class of a length: its own below 32, then sixteen to each doubling.
func lengthClass(length uint32) uint8 {
	if length < 32 {
		return uint8(length)
	}
	n := uint32(bits.Len32(length)) // 6 and up
	return uint8(min(16*(n-4)+length>>(n-5)&15, lengthClasses-1))
}

// classLength returns a length that stands for a class.
func classLength(c uint32) float64 {
	if c < 32 {
		return float64(c)
	}
	n := c/16 + 4
	return (float64(16+c%16) + 0.5) * float64(uint32(1)<<(n-5))
}

// worths holds what terms are worth, by the classes of frequency and length,
// at one average length, as a share of what they can be worth at most.
type worths struct {
	average float64
	of      [tfClasses * lengthClasses]uint16
}

func newWorths(w Weights, average float64) *worths {
	t := &worths{average: average}
	n := newSaturation(w, average)
	for tf := uint32(1); tf < tfClasses; tf++ {
		for l := range uint32(lengthClasses) {
			t.of[tf*lengthClasses+l] = uint16(max(1, n.share(classTF(tf), classLength(l))*(1<<worthBits-1)))
		}
	}
	return t
}

// in returns what a term with a factor is worth in a document that holds it tf
// times. It is at least 1, if the factor is, and at most the factor.
func (t *worths) in(factor, tf uint32, length uint8) uint32 {
	return scaled(uint32(t.of[tfClass(tf)*lengthClasses+uint32(length)]), factor)
}

// scaled returns a share of a factor, rounded up.
func scaled(share, factor uint32) uint32 { return (share*factor + 1<<worthBits - 1) >> worthBits }

// worthsAt returns the table for an average length. The last one that was made is kept.
func (ix *Index) worthsAt(average float64) *worths {
	if t := ix.worths.Load(); t != nil && t.average == average {
		return t
	}
	t := newWorths(ix.weights, average)
	ix.worths.Store(t)
	return t
}

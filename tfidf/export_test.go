package tfidf

// SearchExhaustive answers like Search, but scores every document.
func (ix *Index) SearchExhaustive(q Query) Result { return ix.search(q, false) }

// Segments returns how many segments there are, and how many documents, dead ones too, each holds.
func (ix *Index) Segments() (sizes []int) {
	for _, s := range ix.view.Load().segs {
		sizes = append(sizes, s.docs())
	}
	return sizes
}

// TFClass returns the class of a frequency and what the class stands for.
func TFClass(tf uint32) (class uint32, stands float64) { return tfClass(tf), classTF(tfClass(tf)) }

// LengthClass returns the class of a length and what the class stands for.
func LengthClass(length uint32) (class uint32, stands float64) {
	c := uint32(lengthClass(length))
	return c, classLength(c)
}

package tfidf

// heading weighs how far a document's title is what the query asks for: of a
// title that the query names whole, every word of the match counts; of a long
// one that has a word of the query among others, little does.
type heading struct {
	all   float64 // what the words of the title weigh
	named float64 // what those of them weigh that the query looks for
	worth float64 // the factors of these, each once
	asked int     // how many of these are words of the query, each once
}

// meet takes a word of the title that weighs idf, and is term t of the query or nil.
func (h *heading) meet(idf float64, t *term, first bool) {
	h.all += idf
	if t == nil {
		return
	}
	if t.lane == LaneRelated {
		h.named += idf * min(1, t.weight)
	} else {
		h.named += idf
	}
	if first {
		h.worth += t.factor
		if t.place >= 0 {
			h.asked++
		}
	}
}

// score returns the heading's worth, in units of the words' lane. Whoever asks
// by a title, with all of its words and no others, wants that entry.
func (h *heading) score(asked int, w *Weights) float64 {
	if h.named == 0 {
		return 0
	}
	if h.asked == asked && h.named >= fullTitle*h.all {
		return w.FullTitle * h.worth
	}
	return w.Heading * h.worth * h.named / h.all
}

// fullTitle is what of a title must be named for all of it: the sums are rounded.
const fullTitle = 0.999

package tfidf

import (
	"math"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// lookForRelated adds, as long as there is room, what people write for the
// words of a query: what the thesauri know, the tools that do what is asked for
// and, where a kind is asked for, its members. all is every word of the query,
// stop words too.
//
// A related word counts no more than the word it is related to would, however
// rare it is.
func (ix *Index) lookForRelated(q *question, all []string) {
	w, asked := &ix.weights, q.terms
	ix.lookForRelatives(q, asked, text.Related(), w.Related)
	ix.lookForTools(q, all)
	ix.lookForRelatives(q, asked, text.Everyday(), w.Everyday)
	if text.AsksForKind(all) {
		ix.lookForRelatives(q, asked, text.Members(), w.Member)
	}
}

// lookForRelatives adds the words that stand with those asked for.
func (ix *Index) lookForRelatives(q *question, asked []term, known map[string][]text.Relative, weight float64) {
	for _, t := range asked {
		if t.place < 0 {
			continue
		}
		for _, r := range known[ix.words[t.id].text] {
			ix.addRelative(q, r, t.weight*weight, t.df)
		}
	}
	for _, word := range q.unknown {
		for _, r := range known[text.StemFolded(word)] {
			ix.addRelative(q, r, weight, 0)
		}
	}
}

// addRelative adds r unless it is looked for already, as no rarer than atLeast documents.
func (ix *Index) addRelative(q *question, r text.Relative, weight float64, atLeast int) {
	if weight == 0 || len(q.terms) >= MaxQueryTerms {
		return
	}
	id := ix.numbers[r.Stem]
	if _, there := q.at[id]; there || id == 0 {
		return
	}
	if df := ix.df(id); df > 0 {
		q.add(term{id: id, text: r.Text, lane: LaneRelated, weight: weight, place: -1, df: max(df, atLeast)})
	}
}

// toolWords is how many words of a query count for one tool.
const toolWords = 3

// lookForTools adds the commands that do what the query asks for: the more of
// its words say so, the surer it is. A query that names another language than a
// shell's does not want one.
func (ix *Index) lookForTools(q *question, all []string) {
	if ix.weights.Tool == 0 || len(all) > maxToolQuery {
		return
	}
	asked := make(map[string]bool, len(all))
	order := make([]string, 0, len(all))
	for _, word := range all {
		if text.Programming()[word] {
			return
		}
		if right := q.corrected[word]; right != "" {
			word = right
		}
		if s := text.StemFolded(word); !asked[s] {
			asked[s] = true
			order = append(order, s)
		}
	}
	type match struct {
		tool  text.Relative
		df    int // of the rarest word that asks for it
		stems map[string]bool
	}
	var found []*match
	byTool := map[string]*match{}
	for _, s := range order {
	next:
		for _, way := range text.Ways()[s] {
			for _, other := range way.Stems {
				if !asked[other] {
					continue next
				}
			}
			m := byTool[way.Tool.Stem]
			if m == nil {
				m = &match{way.Tool, math.MaxInt, map[string]bool{}}
				byTool[way.Tool.Stem], found = m, append(found, m)
			}
			for _, other := range way.Stems {
				m.stems[other] = true
				if _, df := ix.held(other); df > 0 {
					m.df = min(m.df, df)
				}
			}
		}
	}
	for _, m := range found {
		id := ix.numbers[m.tool.Stem]
		if id == 0 {
			continue
		}
		_, there := q.at[id]
		df := ix.df(id)
		if df == 0 || !there && len(q.terms) >= MaxQueryTerms {
			continue
		}
		weight := ix.weights.Tool * float64(min(len(m.stems), toolWords))
		q.add(term{id: id, text: m.tool.Text, lane: LaneRelated, weight: weight, place: -1, df: max(df, m.df)})
	}
}

// maxToolQuery is the longest query, in words, that asks for a tool: what is longer was pasted.
const maxToolQuery = 64

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

package tfidf

import "math"

// lookForRelated adds, as long as there is room, what people write for the
// words of a query: what the thesauri know, the tools that do what is asked for
// and, where a kind is asked for, its members. all is every word of the query,
// stop words too.
//
// A related word counts no more than the word it is related to would, however
// rare it is.
func (ix *Index) lookForRelated(q *question, all []string) {
	w, asked := &ix.weights, q.terms
	ix.lookForRelatives(q, asked, related(), w.Related)
	ix.lookForTools(q, all)
	ix.lookForRelatives(q, asked, relatedEveryday(), w.Everyday)
	if asksForKind(all) {
		ix.lookForRelatives(q, asked, members(), w.Member)
	}
}

// lookForRelatives adds the words that stand with those asked for.
func (ix *Index) lookForRelatives(q *question, asked []term, known map[string][]relative, weight float64) {
	for _, t := range asked {
		if t.place < 0 {
			continue
		}
		for _, r := range known[string(ix.vocab.text(t.id))] {
			ix.addRelative(q, r, t.weight*weight, t.df)
		}
	}
	for _, word := range q.unknown {
		for _, r := range known[stem(word)] {
			ix.addRelative(q, r, weight, 0)
		}
	}
}

// addRelative adds r unless it is looked for already, as no rarer than atLeast documents.
func (ix *Index) addRelative(q *question, r relative, weight float64, atLeast int) {
	if weight == 0 || len(q.terms) >= MaxQueryTerms {
		return
	}
	id := ix.vocab.lookup(r.stem)
	if _, there := q.at[id]; there || id == 0 {
		return
	}
	if df := int(ix.vocab.entry(id).df.Load()); df > 0 {
		q.add(term{id: id, text: r.text, lane: LaneRelated, weight: weight, place: -1, df: max(df, atLeast)})
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
		if programming()[word] {
			return
		}
		if right := q.corrected[word]; right != "" {
			word = right
		}
		if s := stem(word); !asked[s] {
			asked[s] = true
			order = append(order, s)
		}
	}
	type match struct {
		tool  relative
		df    int // of the rarest word that asks for it
		stems map[string]bool
	}
	var found []*match
	byTool := map[string]*match{}
	for _, s := range order {
	next:
		for _, way := range ways()[s] {
			for _, other := range way.stems {
				if !asked[other] {
					continue next
				}
			}
			m := byTool[way.tool.stem]
			if m == nil {
				m = &match{way.tool, math.MaxInt, map[string]bool{}}
				byTool[way.tool.stem], found = m, append(found, m)
			}
			for _, other := range way.stems {
				m.stems[other] = true
				if _, df := ix.held(other); df > 0 {
					m.df = min(m.df, int(df))
				}
			}
		}
	}
	for _, m := range found {
		id := ix.vocab.lookup(m.tool.stem)
		if id == 0 {
			continue
		}
		_, there := q.at[id]
		df := int(ix.vocab.entry(id).df.Load())
		if df == 0 || !there && len(q.terms) >= MaxQueryTerms {
			continue
		}
		weight := ix.weights.Tool * float64(min(len(m.stems), toolWords))
		q.add(term{id: id, text: m.tool.text, lane: LaneRelated, weight: weight, place: -1, df: max(df, m.df)})
	}
}

// maxToolQuery is the longest query, in words, that asks for a tool: what is longer was pasted.
const maxToolQuery = 64

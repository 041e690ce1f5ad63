package keep

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"skillrouter/tfidf"
	"skillrouter/tfidf/text"
)

// Bounds of looking up in the Source what the index does not have yet.
const (
	// lookUpTime is how long it may take, and lookUpRows how many documents it may read.
	lookUpTime = 120 * time.Millisecond
	lookUpRows = 20_000
	// lookUpRanked is how many of them are ranked: those with the most of the words, and
	// of these the newest.
	lookUpRanked = 400
	// lookUpWords is how many words are looked for, the longest ones.
	lookUpWords = 8
)

// Search searches the index. As long as that is not whole, the answer is ranked
// among what the index found and what the Source finds in a bounded time, and
// the notice says so. Before Load it is searched for what was put. A failure of the Source is not one of the search.
func (k *Keeper) Search(ctx context.Context, q tfidf.Query) (found tfidf.Result, notice string) {
	notice = k.Notice()
	if notice == "" {
		return k.Index().Search(q), ""
	}
	found = k.Index().Search(q)
	docs := k.lookUp(ctx, q)
	if len(docs) == 0 {
		return found, notice
	}
	if ids := missingIn(found.Hits, docs); len(ids) > 0 {
		more, err := k.source.Documents(ctx, ids)
		if err != nil {
			return found, notice
		}
		docs = append(docs, more...)
	}
	small := tfidf.New(k.opts.Index)
	small.Put(docs...)
	return small.Search(q), notice
}

// lookUp returns documents that hold words of the query, as the Source finds them.
func (k *Keeper) lookUp(ctx context.Context, q tfidf.Query) []tfidf.Document {
	words := lookUpFor(q.Text)
	if len(words) == 0 {
		return nil
	}
	after := int64(0)
	if Stage(k.stage.Load()) == Rebuilding {
		after = k.highest.Load()
	}
	type candidate struct {
		doc  tfidf.Document
		held int
	}
	var kept []candidate
	fewest := func() {
		slices.SortStableFunc(kept, func(a, b candidate) int { return cmp.Compare(b.held, a.held) })
		kept = kept[:min(len(kept), lookUpRanked)]
	}
	seen := 0
	of, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	err := k.source.Containing(of, words, after, q, func(docs []tfidf.Document) bool {
		for _, d := range docs {
			kept = append(kept, candidate{d, heldOf(words, &d)})
		}
		if len(kept) > 4*lookUpRanked {
			fewest()
		}
		seen += len(docs)
		return seen < lookUpRows && of.Err() == nil
	})
	if err != nil && of.Err() == nil {
		k.opts.Log.WarnContext(ctx, "the database cannot be searched while the index is not whole", "index", k.opts.Name, "error", err)
	}
	fewest()
	docs := make([]tfidf.Document, len(kept))
	for i := range kept {
		docs[i] = kept[i].doc
	}
	return docs
}

// heldOf counts the words that a document holds.
func heldOf(words []string, d *tfidf.Document) int {
	n := 0
	title, body := strings.ToLower(d.Title), strings.ToLower(d.Body)
	for _, w := range words {
		if strings.Contains(title, w) || strings.Contains(body, w) {
			n++
		}
	}
	return n
}

// lookUpFor returns what a text must hold one of to be found by a query: the
// part of each word that its other forms have too.
func lookUpFor(question string) []string {
	var s text.Scanner
	s.Scan(text.Cut(question, text.MaxQueryBytes))
	all, _ := s.Query(nil, nil)
	kept := text.Telling(all)
	seen := map[string]bool{}
	var words []string
	for _, word := range kept[:min(len(kept), text.MaxQueryWords)] {
		if w := sharedPrefix(word, text.StemFolded(word)); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return words[:min(len(words), lookUpWords)]
}

// prefixLen is the least length, in bytes, of what words are looked up by.
const prefixLen = 3

// sharedPrefix returns what a word and its stem begin with alike, the word if that is short.
func sharedPrefix(word, stem string) string {
	n := 0
	for n < min(len(word), len(stem)) && word[n] == stem[n] {
		n++
	}
	if n < prefixLen {
		return word
	}
	return strings.ToValidUTF8(word[:n], "")
}

// missingIn returns the ids of hits that docs does not have.
func missingIn(hits []tfidf.Hit, docs []tfidf.Document) []string {
	there := make(map[string]bool, len(docs))
	for i := range docs {
		there[docs[i].ID] = true
	}
	var ids []string
	for _, h := range hits {
		if !there[h.ID] {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

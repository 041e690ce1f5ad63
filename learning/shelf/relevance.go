package shelf

import (
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Relevance is how probably a hit is what was meant, by what speaks for it. What meaning found, or what others said of a
// like question, has no words that speak for it: it is as relevant as what may just be shown.
func Relevance(e tfidf.Evidence) float64 {
	if e == (tfidf.Evidence{}) {
		return learning.ShownRelevance
	}
	return e.Relevance()
}

// corpus tells how rare a question's words are in one index alone.
func corpus(index *tfidf.Index, question string) *tfidf.Corpus {
	corpus := &tfidf.Corpus{}
	words, joined := text.QueryTerms(question)
	for _, stems := range [][]string{words[:min(len(words), tfidf.MaxQueryTerms)], joined[:min(len(joined), tfidf.MaxQueryTerms)]} {
		frequencies, rows := index.Frequencies(stems)
		corpus.Add(stems, frequencies, rows)
		corpus.Docs = rows // they are the same rows
	}
	return corpus
}

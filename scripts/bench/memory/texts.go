package main

import (
	"fmt"

	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// texts makes entries and questions.
type texts struct {
	*sidecar.Words
	words int
	named bool
}

func newTexts(seed uint64, words int, named bool) *texts {
	return &texts{sidecar.NewWords(seed), words, named}
}

// lines is n entries, one JSON object a line.
func (t *texts) lines(n int) []byte {
	return sidecar.Lines(n, func(i int) any {
		draft := knowledge.Draft{
			Category: []string{"error_solution", "pattern", "best_practice", "gotcha"}[i%4],
			Title:    t.Phrase(6), Content: t.Phrase(t.words), Tags: []string{t.Phrase(1)}, Project: fmt.Sprintf("project-%d", i%20),
		}
		if t.named {
			draft.ID = fmt.Sprintf("entry-%06d", i)
		}
		return draft
	})
}

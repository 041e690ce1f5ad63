package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"skillrouter/learning/knowledge"
	"skillrouter/scripts/bench/sidecar"
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
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for i := range n {
		draft := knowledge.Draft{
			Category: []string{"error_solution", "pattern", "best_practice", "gotcha"}[i%4],
			Title:    t.Phrase(6), Content: t.Phrase(t.words), Tags: []string{t.Phrase(1)}, Project: fmt.Sprintf("project-%d", i%20),
		}
		if t.named {
			draft.ID = fmt.Sprintf("entry-%06d", i)
		}
		_ = encoder.Encode(draft) // a buffer and plain strings cannot fail
	}
	return out.Bytes()
}

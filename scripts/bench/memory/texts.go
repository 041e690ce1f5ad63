package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"skillrouter/learning"
)

// vocabularySize is near that of a few years' notes of a team.
const vocabularySize = 40_000

// texts makes entries and questions whose words are as unevenly used as those
// of real text are (Zipf's law), always the same for a seed.
type texts struct {
	random     *rand.Rand
	zipf       *rand.Zipf
	vocabulary []string
	words      int
	named      bool
}

func newTexts(seed uint64, words int, named bool) *texts {
	random := rand.New(rand.NewPCG(seed, seed))
	t := &texts{random: random, words: words, named: named, zipf: rand.NewZipf(random, 1.1, 8, vocabularySize-1)}
	syllables := strings.Fields("ba con der ex for gen hal in jo ka ler mi nor op pre qua re sta ter un ver win xi yo za ing tion er ment able")
	for len(t.vocabulary) < vocabularySize {
		var word strings.Builder
		for range 2 + random.IntN(3) {
			word.WriteString(syllables[random.IntN(len(syllables))])
		}
		t.vocabulary = append(t.vocabulary, word.String())
	}
	return t
}

func (t *texts) phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = t.vocabulary[t.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// query is a question of 3 to 8 words.
func (t *texts) query() string { return t.phrase(3 + t.random.IntN(6)) }

// lines is n entries, one JSON object a line.
func (t *texts) lines(n int) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for i := range n {
		draft := learning.KnowledgeDraft{
			Category: []string{"error_solution", "pattern", "best_practice", "gotcha"}[i%4],
			Title:    t.phrase(6), Content: t.phrase(t.words), Tags: []string{t.phrase(1)}, Project: fmt.Sprintf("project-%d", i%20),
		}
		if t.named {
			draft.ID = fmt.Sprintf("entry-%06d", i)
		}
		_ = encoder.Encode(draft) // a buffer and plain strings cannot fail
	}
	return out.Bytes()
}

package sidecar

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// vocabularySize is near that of a few years' notes of a team.
const vocabularySize = 40_000

// Words makes texts whose words are as unevenly used as those
// of real text are (Zipf's law), always the same for a seed.
type Words struct {
	Random     *rand.Rand
	zipf       *rand.Zipf
	vocabulary []string
}

// NewWords makes Words that are always the same for a seed.
func NewWords(seed uint64) *Words {
	random := rand.New(rand.NewPCG(seed, seed))
	t := &Words{Random: random, zipf: rand.NewZipf(random, 1.1, 8, vocabularySize-1)}
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

// Phrase is n words.
func (t *Words) Phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = t.vocabulary[t.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// Query is a question of 3 to 8 words.
func (t *Words) Query() string { return t.Phrase(3 + t.Random.IntN(6)) }

// Lines is n values as JSON, one a line. They must be plain: what cannot become JSON is left out.
func Lines(n int, each func(i int) any) []byte {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for i := range n {
		_ = lines.Encode(each(i))
	}
	return out.Bytes()
}

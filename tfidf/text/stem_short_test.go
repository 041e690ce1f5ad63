package text

import (
	"math/rand/v2"
	"testing"
)

// A word that is surely one has the stem that it has in a text.
func TestStemOfOneWord(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		word := make([]byte, 1+random.IntN(MaxWord+8))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		if random.IntN(3) == 0 {
			word = append(word, []string{"ing", "ies", "ational", "s", "ed", "é", "X", "9"}[random.IntN(8)]...)
		}
		if got, want := Stem(string(word)), Terms(string(word))[0]; got != want {
			t.Errorf("%s: %q, and in a text %q", word, got, want)
		}
	}
}

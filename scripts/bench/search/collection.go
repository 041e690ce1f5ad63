package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The shape of a made-up entry: a title and a body, 60 words together.
const (
	titleWords = 5
	bodyWords  = 55
)

// planted is what every engine must find as the first of its answer: words that no other entry has.
const planted = "qualmish vexwork jukebox"

// collection makes entries like the memory of a team: word frequencies fall as
// in English and new words never cease to come. It is always the same for a size.
type collection struct {
	size int
	rng  *rand.Rand
	zipf *rand.Zipf
	made int
}

func newCollection(size int) *collection {
	rng := rand.New(rand.NewPCG(uint64(size), 2))
	return &collection{size: size, rng: rng, zipf: rand.NewZipf(rng, 1.07, 20, 200_000)}
}

// next returns up to n more entries, and none when all were made.
func (c *collection) next(n int) []entry {
	var entries []entry
	for range min(n, c.size-c.made) {
		e := entry{ID: fmt.Sprintf("0192f3a1-7b2c-7def-8%03x-%012x", c.made%4096, c.made), Title: c.phrase(titleWords), Body: c.phrase(bodyWords)}
		if c.made == c.size/2 {
			e.Title = planted
		}
		entries = append(entries, e)
		c.made++
	}
	return entries
}

func plantedID(size int) string {
	return fmt.Sprintf("0192f3a1-7b2c-7def-8%03x-%012x", size/2%4096, size/2)
}

func (c *collection) phrase(words int) string {
	var s strings.Builder
	for i := range words {
		if i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(word(c.zipf.Uint64()))
	}
	return s.String()
}

// word is the nth most frequent word: the digits of its rank as syllables.
func word(n uint64) string {
	syllables := [...]string{"ka", "lo", "mi", "ne", "ru", "sta", "ve", "zo", "pi", "dar"}
	var s strings.Builder
	for n += 10; n > 0; n /= 10 {
		s.WriteString(syllables[n%10])
	}
	return s.String()
}

// questions draws n questions of 3 to 8 successive words from entries all over the collection.
func questions(size, n int) []question {
	c := newCollection(size)
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	per := max(1, size/n)
	var out []question
	for len(out) < n {
		entries := c.next(per)
		if len(entries) == 0 {
			break
		}
		words := strings.Fields(entries[rng.IntN(len(entries))].Body)
		from := rng.IntN(len(words) - 8)
		out = append(out, question{Text: strings.Join(words[from:from+3+rng.IntN(6)], " "), Limit: hits})
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

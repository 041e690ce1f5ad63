package contexts_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// BenchmarkChoice is what a context costs beside the searches: as many
// candidates as the stores can nominate.
func BenchmarkChoice(b *testing.B) {
	random, s := rand.New(rand.NewPCG(1, 1)), &stock{}
	phrase := func(n int) string {
		words := make([]string, n)
		for i := range words { // few words often, many seldom
			words[i] = fmt.Sprintf("w%cx%dtion", 'a'+rune(random.IntN(26)), int(random.ExpFloat64()*30))
		}
		return strings.Join(words, " ")
	}
	for i := range 72 {
		s.knowledge = append(s.knowledge, entry(fmt.Sprint("k", i), phrase(6), phrase(60)+". "+phrase(20)+"."))
		s.episodes = append(s.episodes, episode.Episode{ID: fmt.Sprint("e", i), Title: phrase(6), Content: phrase(50), Importance: 0.5, CreatedAt: now})
	}
	builder, ctx := s.builder(), asReader(b)
	task := phrase(12)
	for b.Loop() {
		if _, err := builder.Build(ctx, contexts.Request{Task: task, Budget: 2000}); err != nil {
			b.Fatal(err)
		}
	}
}

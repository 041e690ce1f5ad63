package learning_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// writer makes entries of words that are about as unevenly used as real ones.
type writer struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newWriter() writer {
	random := rand.New(rand.NewPCG(7, 7))
	return writer{random, rand.NewZipf(random, 1.1, 8, 20_000)}
}

func (w writer) phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		x := w.zipf.Uint64()
		words[i] = fmt.Sprintf("%s%s", []string{"con", "ter", "pla", "sor", "min", "ver"}[x%6], strings.Repeat(string(rune('a'+x%26)), 1)+fmt.Sprint(x))
	}
	return strings.Join(words, " ")
}

func (w writer) draft(id string) knowledge.Draft {
	return knowledge.Draft{ID: id, Category: "pattern", Title: w.phrase(6), Content: w.phrase(60), Tags: []string{"t"}, Project: "p"}
}

// drafts returns a source of n drafts for Bulk, and how many bytes they hold.
func (w writer) drafts(prefix string, n int) func() (knowledge.Draft, error) {
	made := make([]knowledge.Draft, n)
	for i := range made {
		made[i] = w.draft(fmt.Sprint(prefix, i))
	}
	return func() (knowledge.Draft, error) {
		if len(made) == 0 {
			return knowledge.Draft{}, io.EOF
		}
		d := made[0]
		made = made[1:]
		return d, nil
	}
}

// BenchmarkBulk stores 5,000 entries an operation.
func BenchmarkBulk(b *testing.B) {
	m := open(b, b.TempDir(), time.Now)
	ctx := principal.With(b.Context(), principal.Open())
	w := newWriter()
	n := 0
	for b.Loop() {
		b.StopTimer()
		drafts := w.drafts(fmt.Sprint(n, "-"), 5000)
		b.StartTimer()
		if _, err := m.knowledge.Bulk(ctx, drafts); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(5000*b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkRebuild fills an index from 20,000 rows.
func BenchmarkRebuild(b *testing.B) {
	m := open(b, b.TempDir(), time.Now)
	ctx := principal.With(b.Context(), principal.Open())
	if _, err := m.knowledge.Bulk(ctx, newWriter().drafts("", 20_000)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := knowledge.NewBase(m.store, learning.Options{}).Rebuild(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(20_000*b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkSearch searches 20,000 entries, and reads the rows of what it finds.
func BenchmarkSearch(b *testing.B) {
	m := open(b, b.TempDir(), time.Now)
	ctx := principal.With(b.Context(), principal.Open())
	w := newWriter()
	if _, err := m.knowledge.Bulk(ctx, w.drafts("", 20_000)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.knowledge.Search(ctx, knowledge.Query{Query: w.phrase(5)}); err != nil {
			b.Fatal(err)
		}
	}
}

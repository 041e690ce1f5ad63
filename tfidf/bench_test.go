package tfidf_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/tfidf"
)

// bench is a made-up collection like the memory of a team: entries of 60
// words, of which the frequencies fall as in English and new ones never cease
// to come, and queries of 3 to 8 words drawn from an entry.
type bench struct {
	rng  *rand.Rand
	zipf *rand.Zipf
	docs []tfidf.Document
}

func newBench(n int) *bench {
	b := &bench{rng: rand.New(rand.NewPCG(1, 2))}
	b.zipf = rand.NewZipf(b.rng, 1.07, 20, 200000)
	for i := range n {
		b.docs = append(b.docs, tfidf.Document{
			ID: fmt.Sprintf("0192f3a1-7b2c-7def-8%03x-%012x", i%4096, i), Title: b.text(5), Body: b.text(55),
			Category: []string{"error_solution", "pattern", "best_practice", "gotcha"}[i%4], Project: fmt.Sprint("project", b.rng.IntN(max(n/500, 1))),
			Tags: []string{fmt.Sprint("tag", b.rng.IntN(50))}, Order: int64(i + 1),
		})
	}
	return b
}

func (b *bench) text(n int) string {
	var s strings.Builder
	for range n {
		s.WriteString(word(b.zipf.Uint64()))
		s.WriteByte(' ')
	}
	return s.String()
}

func (b *bench) queries(n int) []string {
	var out []string
	for range n {
		words := strings.Fields(b.docs[b.rng.IntN(len(b.docs))].Body)
		from := b.rng.IntN(len(words) - 8)
		out = append(out, strings.Join(words[from:from+3+b.rng.IntN(6)], " "))
	}
	return out
}

// quantiles reports p50 and p99 in milliseconds.
func quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func benchmarkSearch(b *testing.B, n int, narrow func(*tfidf.Query)) {
	c := newBench(n)
	before := heap()
	ix := tfidf.New(tfidf.Options{})
	for part := range slices.Chunk(c.docs, 1000) {
		ix.Put(part...)
	}
	queries := c.queries(1000)
	used := float64(heap()-before) / (1 << 20)
	for _, q := range queries[:50] {
		ix.Search(tfidf.Query{Text: q})
	}
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q := tfidf.Query{Text: queries[i%len(queries)]}
		narrow(&q)
		from := time.Now()
		ix.Search(q)
		took = append(took, time.Since(from))
	}
	quantiles(b, took)
	b.ReportMetric(used, "heap-MB")
	runtime.KeepAlive(ix)
	runtime.KeepAlive(c)
}

func BenchmarkSearch10k(b *testing.B)  { benchmarkSearch(b, 10_000, func(*tfidf.Query) {}) }
func BenchmarkSearch100k(b *testing.B) { benchmarkSearch(b, 100_000, func(*tfidf.Query) {}) }

func BenchmarkSearch1M(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes a minute to build")
	}
	benchmarkSearch(b, 1_000_000, func(*tfidf.Query) {})
}

func BenchmarkSearchProject100k(b *testing.B) {
	benchmarkSearch(b, 100_000, func(q *tfidf.Query) { q.Project = "project7" })
}

func BenchmarkSearchCategory100k(b *testing.B) {
	benchmarkSearch(b, 100_000, func(q *tfidf.Query) { q.Category = "gotcha" })
}

func BenchmarkSearchTypo100k(b *testing.B) {
	benchmarkSearch(b, 100_000, func(q *tfidf.Query) { q.Text += " " + q.Text[:3] + "x" + q.Text[3:6] })
}

func BenchmarkPut(b *testing.B) {
	c := newBench(100_000)
	for _, size := range []int{1, 256, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			n := 0
			for b.Loop() {
				ix := tfidf.New(tfidf.Options{})
				for part := range slices.Chunk(c.docs, size) {
					ix.Put(part...)
				}
				n += len(c.docs)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

// BenchmarkSearchWhilePutting measures searches beside a writer that never pauses.
func BenchmarkSearchWhilePutting(b *testing.B) {
	c := newBench(200_000)
	ix := tfidf.New(tfidf.Options{})
	ix.Put(c.docs[:100_000]...)
	queries := c.queries(1000)
	ctx, stop := context.WithCancel(b.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for i := 100_000; ctx.Err() == nil; i += 100 {
			at := i % 199_900
			ix.Put(c.docs[at : at+100]...)
		}
	})
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		from := time.Now()
		ix.Search(tfidf.Query{Text: queries[i%len(queries)]})
		took = append(took, time.Since(from))
	}
	stop()
	all.Wait()
	quantiles(b, took)
}

package learning_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// lesson makes a lesson of about the length of MNEMOSYNE's examples.
func (w writer) lesson(id string) lesson.Draft {
	return lesson.Draft{
		ID: id, Type: learning.LessonTypes()[w.random.IntN(6)], Domain: []string{"infrastructure", "security", "web", "data"}[w.random.IntN(4)],
		Category: "docker", Title: w.phrase(8), Context: w.phrase(12), Action: w.phrase(10), Outcome: w.phrase(10), RootCause: w.phrase(8), Solution: w.phrase(12),
		Tags: []string{w.phrase(1), w.phrase(1)}, SourceAgent: "CHRONOS", RelatedCommands: []string{w.phrase(3)},
	}
}

// manyLessons opens a memory with n lessons, wired as in the router.
func manyLessons(b *testing.B, n int) *lesson.Lessons {
	b.Helper()
	memory := open(b, b.TempDir(), time.Now).store
	rules, err := escalation.DefaultRules(escalation.Options{})
	if err != nil {
		b.Fatal(err)
	}
	lessons := lesson.NewLessons(memory, lesson.Options{Patterns: lesson.NewPatterns(memory, lesson.PatternOptions{}), Escalations: rules})
	ctx := principal.With(b.Context(), principal.Open())
	if err := lessons.Rebuild(ctx); err != nil {
		b.Fatal(err)
	}
	w := newWriter()
	for from := 0; from < n; from += 5000 {
		drafts := make([]lesson.Draft, min(5000, n-from))
		for i := range drafts {
			drafts[i] = w.lesson("")
		}
		if result, err := lessons.ReportAll(ctx, drafts); err != nil || result.RefusedCount > 0 {
			b.Fatal(result.Refused, err)
		}
	}
	return lessons
}

// latencies notes how long calls took, and reports their quantiles.
type latencies struct {
	mu    sync.Mutex
	taken []time.Duration
}

func (l *latencies) note(since time.Time) {
	d := time.Since(since)
	l.mu.Lock()
	l.taken = append(l.taken, d)
	l.mu.Unlock()
}

func (l *latencies) report(b *testing.B) {
	slices.SortFunc(l.taken, cmp.Compare)
	at := func(q float64) float64 { return l.taken[int(q*float64(len(l.taken)-1))].Seconds() * 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkLessons reports lessons, three new ones to one that occurs again, from
// 16 agents at a time, and asks for those that fit, in memories of several sizes.
func BenchmarkLessons(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lessons := manyLessons(b, n)
			ctx := principal.With(b.Context(), principal.Open())
			b.Run("report", func(b *testing.B) {
				var l latencies
				var work sync.WaitGroup
				var next atomic.Int64
				w := newWriter()
				w.random.IntN(b.N) // not those that are there
				drafts := make([]lesson.Draft, b.N)
				for i := range drafts {
					drafts[i] = w.lesson("")
					drafts[i].Title += fmt.Sprint(" ", b.N, i)
					if i%4 == 3 {
						drafts[i] = drafts[i-1]
					}
				}
				b.ResetTimer()
				for range 16 {
					work.Go(func() {
						for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
							begin := time.Now()
							if _, err := lessons.Report(ctx, drafts[i]); err != nil {
								b.Error(err)
							}
							l.note(begin)
						}
					})
				}
				work.Wait()
				b.StopTimer()
				l.report(b)
			})
			b.Run("relevant", func(b *testing.B) {
				var l latencies
				w := newWriter()
				for b.Loop() {
					query := lesson.Query{Context: w.phrase(12), Domain: "web"}
					begin := time.Now()
					if _, err := lessons.Relevant(ctx, query); err != nil {
						b.Fatal(err)
					}
					l.note(begin)
				}
				l.report(b)
			})
		})
	}
}

package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/principal"
	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
	"skillrouter/learning/shelf"
	"skillrouter/learning/verdict"
	"skillrouter/router"
)

// Process is what the router's process takes.
type Process struct {
	Memory     uint64 // bytes that are taken from the system
	Heap       uint64 // bytes of it in use
	Goroutines int
}

func (s *Server) figurePages() {
	s.page("/ui/figures", "figures.html", "Figures", s.figures)
	s.section(system, "Figures", "/ui/figures")
}

// figures is what the page of figures shows.
type figures struct {
	Health     *Health
	Counts     []figure
	Process    *Process
	Memories   *router.MemoryStats
	Types      []memoryRow
	Lessons    *lesson.Figures
	Experience *experience.Stats
	Embeddings *shelf.EmbeddingStatus
	Gaps       int64
}

// figure is a number with its name.
type figure struct {
	Name  string
	Count int64
}

// memoryRow is how much there is of a type of memory.
type memoryRow struct {
	Type router.MemoryType
	router.MemoryCount
	Share float64 // of the largest
}

// memoryRows are how much there is of each type of memory, by its name.
func memoryRows(stats router.MemoryStats) (rows []memoryRow) {
	var most int64 = 1
	for kind, held := range stats.Types {
		rows = append(rows, memoryRow{Type: kind, MemoryCount: held})
		most = max(most, held.Count)
	}
	slices.SortFunc(rows, func(a, b memoryRow) int { return cmp.Compare(a.Type, b.Type) })
	for i := range rows {
		rows[i].Share = float64(rows[i].Count) / float64(most)
	}
	return rows
}

// figuresFor is how long the sizes of the memories are shown as they were: they
// are counted by reading all of it, which takes a second for 100,000 entries.
const figuresFor = 30 * time.Second

// recent is what takes long to read and is shown for a while as it was. Who asks
// meanwhile waits for the one who reads, instead of reading too.
type recent[T any] struct {
	mu    sync.Mutex
	at    time.Time
	value T
}

// of returns the value, which is read if it was never, or longer ago than it may be shown. Beside an error it is the old one.
func (r *recent[T]) of(now clock.Clock, most time.Duration, read func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := now(); r.at.IsZero() || at.Sub(r.at) >= most || at.Before(r.at) {
		value, err := read()
		if err != nil {
			return r.value, err
		}
		r.at, r.value = now(), value
	}
	return r.value, nil
}

func (s *Server) memorySizes(ctx context.Context) (router.MemoryStats, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil { // as Stats asks of whoever counts
		return router.MemoryStats{}, err
	}
	return s.sizes.of(s.now, figuresFor, func() (router.MemoryStats, error) { return s.services.Introspection.Stats(ctx, "") })
}

func (s *Server) figures(v *visit) (any, error) {
	ctx := v.context()
	var page figures
	if s.services.Health != nil {
		health := s.services.Health(ctx)
		page.Health = &health
		for name, count := range health.Stats {
			page.Counts = append(page.Counts, figure{name, count})
		}
		slices.SortFunc(page.Counts, func(a, b figure) int { return strings.Compare(a.Name, b.Name) })
	}
	if s.services.Process != nil {
		process := s.services.Process()
		page.Process = &process
	}
	if s.services.Introspection != nil {
		stats, err := s.memorySizes(ctx)
		if err != nil {
			return nil, err
		}
		page.Memories, page.Types = &stats, memoryRows(stats)
	}
	if s.services.Memory != nil {
		lessons, err := s.services.Memory.Figures(ctx)
		if err != nil {
			return nil, err
		}
		page.Lessons = &lessons
	}
	if s.services.Experiences != nil {
		stats, err := s.services.Experiences.Stats(ctx)
		if err != nil {
			return nil, err
		}
		page.Experience = &stats
	}
	if s.services.Embeddings != nil {
		status, err := s.services.Embeddings.Embeddings(ctx)
		if err != nil {
			return nil, err
		}
		page.Embeddings = &status
	}
	if s.services.Verdicts != nil {
		gaps, err := s.services.Verdicts.Gaps(ctx, verdict.GapQuery{Limit: 1})
		if err != nil {
			return nil, err
		}
		page.Gaps = gaps.Total
	}
	return page, nil
}

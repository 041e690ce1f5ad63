package web

import (
	"maps"
	"slices"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/principal"
	"skillrouter/router"
)

// Process is what the router's process takes.
type Process struct {
	Memory     uint64 // bytes that are taken from the system
	Heap       uint64 // bytes of it in use
	Goroutines int
}

// systemView is what the page of the settings shows: the choices of this browser, and how the router is.
type systemView struct {
	Facts, Stats []shownFact
	Health       *Health
	Memories     *table
	Demo         bool // there is one to be had
	DemoOn       bool // its data is there
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

const (
	// countsFor is how long the navigation's counts are shown as they were, and mostCounted for how many different visitors they are kept.
	countsAge   = 2 * time.Second
	mostCounted = 64
)

// perVisitor is what is recent for each kind of visitor.
type perVisitor struct {
	mu   sync.Mutex
	held map[string]*recent[[]int]
}

func (p *perVisitor) of(key string, now clock.Clock, read func() ([]int, error)) ([]int, error) {
	p.mu.Lock()
	if p.held == nil || len(p.held) >= mostCounted {
		p.held = map[string]*recent[[]int]{}
	}
	one := p.held[key]
	if one == nil {
		one = &recent[[]int]{}
		p.held[key] = one
	}
	p.mu.Unlock()
	return one.of(now, countsAge, read)
}

func (s *Server) system(v *visit) (any, error) {
	ctx, page := v.Context(), systemView{Demo: s.services.Demo != nil, DemoOn: s.services.Demo != nil && s.services.Demo.Dashboard() != nil}
	if s.services.Health != nil {
		health := s.services.Health(ctx)
		page.Health = &health
		page.Facts = append(page.Facts, shownFact{Name: "Up for", Text: span(health.Uptime)}, shownFact{Name: "Version", Text: health.Version}, shownFact{Name: "Mesh", Text: health.Interlock})
		for _, name := range slices.Sorted(maps.Keys(health.Stats)) {
			page.Stats = append(page.Stats, shownFact{Name: sentence(name), Text: count(health.Stats[name])})
		}
	}
	if s.services.Process != nil {
		process := s.services.Process()
		page.Facts = append(page.Facts, shownFact{Name: "Memory", Text: size(process.Memory)}, shownFact{Name: "Of it in use", Text: size(process.Heap)}, shownFact{Name: "Goroutines", Text: count(process.Goroutines)})
	}
	if s.services.Introspection != nil && v.principal().Need(principal.ScopeRead) == nil { // as Stats asks of whoever counts
		stats, err := s.sizes.of(s.now, figuresFor, func() (router.MemoryStats, error) { return s.services.Introspection.Stats(ctx, "") })
		if err != nil {
			return nil, err
		}
		page.Memories = plainTable("Kind | t;Entries | w104 n;Size | w104 n")
		for _, kind := range slices.Sorted(maps.Keys(stats.Types)) {
			page.Memories.Rows = append(page.Memories.Rows, row{Cells: []cell{head("", words(kind), ""), text(count(stats.Types[kind].Count)), text(size(stats.Types[kind].Bytes))}})
		}
		for _, database := range stats.Databases {
			page.Facts = append(page.Facts, shownFact{Name: "Database " + database.Name, Text: size(database.Bytes)})
		}
	}
	return page, nil
}

package web

import (
	"slices"

	"skillrouter"
	"skillrouter/router"
)

func (s *Server) healthPages() {
	if s.services.Health == nil {
		return
	}
	s.page("/ui/health", "health.html", "Health", s.health)
	s.section(system, "Health", "/ui/health")
}

// healthDetail is what the page of the process shows.
type healthDetail struct {
	Health
	Checks []Check // nil: whoever looks may not know, or nobody checks
	Memory *router.MemoryStats
	Counts []memoryCount
}

// memoryCount is how much of one kind is remembered.
type memoryCount struct {
	Type router.MemoryType
	router.MemoryCount
}

func (s *Server) health(v *visit) (any, error) {
	d := healthDetail{Health: s.services.Health(v.Context())}
	if s.services.Doctor != nil && v.principal().Has(skillrouter.ScopeCaptain) {
		d.Checks = s.services.Doctor(v.Context())
	}
	if s.services.Introspection == nil {
		return d, nil
	}
	stats, err := s.services.Introspection.Stats(v.Context(), "")
	if err != nil {
		return nil, err
	}
	d.Memory = &stats
	for kind, n := range stats.Types {
		d.Counts = append(d.Counts, memoryCount{kind, n})
	}
	slices.SortFunc(d.Counts, func(a, b memoryCount) int {
		if a.Type < b.Type {
			return -1
		}
		return 1
	})
	return d, nil
}

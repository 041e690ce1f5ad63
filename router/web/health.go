package web

import (
	"context"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/principal"
	"skillrouter/router"
)

func (s *Server) healthPages() {
	if s.services.Health == nil {
		return
	}
	s.page("/ui/health", "health.html", "Health", s.health)
	s.section(system, "Health", "/ui/health")
	if s.services.Doctor != nil {
		s.action("/ui/health/check", "/ui/health", s.check)
	}
}

// healthDetail is what the page of the process shows.
type healthDetail struct {
	Health
	May     bool                 // whoever looks may have it checked
	Checks  []router.SystemCheck // as they were last made; nil: never yet
	Checked time.Time            // when
	Memory  *router.MemoryStats
	Counts  []memoryRow
}

func (s *Server) health(v *visit) (any, error) {
	d := healthDetail{Health: s.services.Health(v.Context())}
	if d.May = s.services.Doctor != nil && v.principal().Has(principal.ScopeCaptain); d.May {
		d.Checks, d.Checked = s.checkup.last()
	}
	if s.services.Introspection == nil {
		return d, nil
	}
	stats, err := s.memorySizes(v.Context())
	if err != nil {
		return nil, err
	}
	d.Memory, d.Counts = &stats, memoryRows(stats)
	return d, nil
}

// check has everything checked, and leads back to the page that shows it.
func (s *Server) check(v *visit) (string, error) {
	if err := v.principal().Need(principal.ScopeCaptain); err != nil {
		return "", err
	}
	s.checkup.run(v.Context(), s.services.Doctor, s.now)
	return "/ui/health", nil
}

// checkup is what doctor found the last time. Doctor reads every page of both
// databases, which takes seconds where they are large: it is asked by a button
// and not by whoever looks at the page, and for one visitor at a time.
type checkup struct {
	running sync.Mutex

	mu     sync.Mutex
	checks []router.SystemCheck
	at     time.Time
}

// last returns the checks of the last run, and when it ended.
func (c *checkup) last() ([]router.SystemCheck, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks, c.at
}

// run runs the checks. Whoever comes while they run waits, and finds what they
// found: a button that is pressed again and again costs one run at a time.
func (c *checkup) run(ctx context.Context, doctor func(context.Context) []router.SystemCheck, now clock.Clock) {
	_, before := c.last()
	c.running.Lock()
	defer c.running.Unlock()
	if _, at := c.last(); at.After(before) || ctx.Err() != nil {
		return
	}
	checks := doctor(ctx)
	if ctx.Err() != nil { // what was broken off found faults that are none
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks, c.at = checks, now()
}

package app

import (
	"context"

	"skillrouter/internal/principal"
	"skillrouter/router"
)

var _ router.SystemService = system{}

// system is the App as a service for whoever wants to know how it is.
type system struct{ app *App }

// Health implements router.SystemService.
func (s system) Health(ctx context.Context) (router.SystemHealth, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return router.SystemHealth{}, err
	}
	h := s.app.health(ctx)
	return router.SystemHealth{Status: h.Status, Version: h.Version, UptimeMS: h.UptimeMS, Timestamp: h.Timestamp, Stats: h.Stats}, nil
}

// Doctor implements router.SystemService.
func (s system) Doctor(ctx context.Context) ([]router.SystemCheck, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	return s.app.doctor(ctx), nil
}

package router

import (
	"context"

	"skillrouter/operational"
)

// SettledEscalations are escalations whose readers see what was reported
// before they asked: what is on its way between the databases is waited for.
type SettledEscalations struct {
	operational.EscalationService
	Crossing interface {
		Settle(ctx context.Context) error
	}
}

// List implements operational.EscalationService.
func (s SettledEscalations) List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	if err := s.Crossing.Settle(ctx); err != nil {
		return nil, err
	}
	return s.EscalationService.List(ctx, filter)
}

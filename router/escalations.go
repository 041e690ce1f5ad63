package router

import (
	"context"

	"github.com/skillrouter/skillrouter/operational"
)

// SettledEscalations are escalations that include everything that was reported before the
// call: a reader waits until the events on their way between the databases have arrived.
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

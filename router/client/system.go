package client

import (
	"context"

	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// System looks at the process that answers, rather than at what it holds.
type System struct{ c *Client }

// Health is what the router says of itself (GET /health).
type Health = router.Health

// Health asks how the router is. A router that wants a token and got none says
// only that it answers, which is the error of any other call then.
func (s System) Health(ctx context.Context) (Health, error) {
	h, err := Ask(ctx, s.c, router.SystemService.Health)
	if err == nil {
		err = plain.NeedsToken(h.Status, h.Server)
	}
	return h, err
}

// Outbounds lists every place of the router that may open a connection.
func (s System) Outbounds(ctx context.Context) (router.OutboundList, error) {
	return Ask(ctx, s.c, router.SystemService.Outbound)
}

// Doctor has the router check itself: settings, pragmas, indexes, disk, clock.
func (s System) Doctor(ctx context.Context) ([]router.SystemCheck, error) {
	found, err := Ask(ctx, s.c, router.SystemService.Doctor)
	return found.Checks, err
}

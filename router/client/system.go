package client

import (
	"context"
	"net/http"

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
	h, err := call[Health](ctx, s.c, http.MethodGet, at("/health"), nil)
	if err == nil {
		err = plain.NeedsToken(h.Status, h.Server)
	}
	return h, err
}

// Outbounds are every place of the router that may open a connection.
type Outbounds struct {
	Enforced bool              `json:"enforced"` // the router starts with none that leaves this machine
	Places   []router.Outbound `json:"places"`
}

// Outbounds lists every place of the router that may open a connection.
func (s System) Outbounds(ctx context.Context) (Outbounds, error) {
	return call[Outbounds](ctx, s.c, http.MethodGet, at("/api/doctor/outbound"), nil)
}

// Doctor has the router check itself: settings, pragmas, indexes, disk, clock.
func (s System) Doctor(ctx context.Context) ([]router.SystemCheck, error) {
	found, err := call[struct{ Checks []router.SystemCheck }](ctx, s.c, http.MethodGet, at("/api/doctor"), nil)
	return found.Checks, err
}

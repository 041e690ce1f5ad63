package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// Figures is operational.FigureService over HTTP.
type Figures struct{ c *Client }

var _ operational.FigureService = Figures{}

// Figures implements operational.FigureService.
func (f Figures) Figures(ctx context.Context, query operational.FigureQuery) (operational.FigureReport, error) {
	return call[operational.FigureReport](ctx, f.c, http.MethodGet, at("/api/figures").with(query), nil)
}

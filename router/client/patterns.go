package client

import (
	"context"
	"fmt"
	"net/http"

	"skillrouter/learning"
)

// Patterns is learning.PatternService over HTTP.
type Patterns struct{ c *Client }

var _ learning.PatternService = Patterns{}

// Pattern implements learning.PatternService.
func (p Patterns) Pattern(ctx context.Context, ref string) (learning.Pattern, error) {
	return onPattern[learning.Pattern](ctx, p.c, http.MethodGet, ref, "", nil)
}

// List implements learning.PatternService.
func (p Patterns) List(ctx context.Context, filter learning.PatternFilter) ([]learning.Pattern, error) {
	type listing struct {
		Patterns []learning.Pattern `json:"patterns"`
	}
	found, err := call[listing](ctx, p.c, http.MethodGet, "/patterns", values(
		"pattern_type", string(filter.Type), "status", commas(filter.Statuses), "domain", filter.Domain, "limit", filter.Limit, "offset", filter.Offset,
	), nil)
	return found.Patterns, err
}

// Confirm implements learning.PatternService.
func (p Patterns) Confirm(ctx context.Context, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error) {
	return p.judge(ctx, ref, "/confirm", draft)
}

// Deprecate implements learning.PatternService.
func (p Patterns) Deprecate(ctx context.Context, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error) {
	return p.judge(ctx, ref, "/deprecate", draft)
}

func (p Patterns) judge(ctx context.Context, ref, verb string, draft learning.ConfirmationDraft) (learning.Pattern, error) {
	type judged struct {
		Pattern learning.Pattern `json:"pattern"`
	}
	answer, err := onPattern[judged](ctx, p.c, http.MethodPost, ref, verb, draft)
	return answer.Pattern, err
}

func onPattern[Out any](ctx context.Context, c *Client, method, ref, verb string, in any) (Out, error) {
	path, err := segment("pattern_id", ref)
	if err != nil {
		var none Out
		return none, err
	}
	if path == "emerging" { // a listing is called that; no pattern is
		path = fmt.Sprintf("%%%02X%s", path[0], path[1:])
	}
	return call[Out](ctx, c, method, "/patterns/"+path+verb, nil, in)
}

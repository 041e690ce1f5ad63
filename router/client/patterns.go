package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Patterns is learning.PatternService over HTTP.
type Patterns struct{ c *Client }

var _ learning.PatternService = Patterns{}

// Pattern implements learning.PatternService.
func (p Patterns) Pattern(ctx context.Context, ref string) (learning.Pattern, error) {
	return call[learning.Pattern](ctx, p.c, http.MethodGet, patternAt(ref, ""), nil)
}

// List implements learning.PatternService.
func (p Patterns) List(ctx context.Context, filter learning.PatternFilter) ([]learning.Pattern, error) {
	return list[learning.Pattern](ctx, p.c, at("/patterns").with(filter), "patterns")
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
	answer, err := call[judged](ctx, p.c, http.MethodPost, patternAt(ref, verb), draft)
	return answer.Pattern, err
}

func patternAt(ref, below string) address {
	return at("/patterns/{pattern_id}"+below, unlike(ref, "emerging")) // a listing is called that; no pattern is
}

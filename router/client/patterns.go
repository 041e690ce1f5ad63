package client

import (
	"context"
	"net/http"

	"skillrouter/learning/lesson"
)

// Patterns is lesson.PatternService over HTTP.
type Patterns struct{ c *Client }

var _ lesson.PatternService = Patterns{}

// Pattern implements lesson.PatternService.
func (p Patterns) Pattern(ctx context.Context, ref string) (lesson.Pattern, error) {
	return call[lesson.Pattern](ctx, p.c, http.MethodGet, patternAt(ref, ""), nil)
}

// List implements lesson.PatternService.
func (p Patterns) List(ctx context.Context, filter lesson.PatternFilter) ([]lesson.Pattern, error) {
	return list[lesson.Pattern](ctx, p.c, at("/patterns").with(filter), "patterns")
}

// Confirm implements lesson.PatternService.
func (p Patterns) Confirm(ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	return p.judge(ctx, ref, "/confirm", draft)
}

// Deprecate implements lesson.PatternService.
func (p Patterns) Deprecate(ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	return p.judge(ctx, ref, "/deprecate", draft)
}

func (p Patterns) judge(ctx context.Context, ref, verb string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	type judged struct {
		Pattern lesson.Pattern `json:"pattern"`
	}
	answer, err := call[judged](ctx, p.c, http.MethodPost, patternAt(ref, verb), draft)
	return answer.Pattern, err
}

func patternAt(ref, below string) address {
	return at("/patterns/{pattern_id}"+below, unlike(ref, "emerging")) // a listing is called that; no pattern is
}

// Add implements lesson.PatternService.
func (p Patterns) Add(ctx context.Context, draft lesson.PatternDraft) (lesson.Pattern, error) {
	return call[lesson.Pattern](ctx, p.c, http.MethodPost, at("/patterns"), draft)
}

// Edit implements lesson.PatternService.
func (p Patterns) Edit(ctx context.Context, ref string, patch lesson.PatternPatch) (lesson.Pattern, error) {
	return call[lesson.Pattern](ctx, p.c, http.MethodPatch, at("/patterns/{id}", ref), patch)
}

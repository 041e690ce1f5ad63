package client

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// Lessons is what a lessons folder asks of lesson.Service, over HTTP.
type Lessons struct{ c *Client }

// ReportAll implements lesson.Service. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	return Send(ctx, l.c, lesson.Service.ReportAll, drafts)
}

// Lesson implements lesson.Service.
func (l Lessons) Lesson(ctx context.Context, ref string) (lesson.Lesson, error) {
	return Send(ctx, l.c, lesson.Service.Lesson, ref)
}

// List implements lesson.Service.
func (l Lessons) List(ctx context.Context, filter lesson.Filter) (lesson.Page, error) {
	return Send(ctx, l.c, lesson.Service.List, filter)
}

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

// The operations of services are called by their methods: what fact.Service.Recall is over HTTP is said once, in
// fact.Operations. The types of what is sent and answered follow from the method.

// Ask calls an operation that takes nothing.
func Ask[S, Out any](ctx context.Context, c *Client, method func(S, context.Context) (Out, error)) (Out, error) {
	return carry[Out](ctx, c, method)
}

// Send calls an operation that takes one thing, such as an id or a draft.
func Send[S, In, Out any](ctx context.Context, c *Client, method func(S, context.Context, In) (Out, error), in In) (Out, error) {
	if beside, is := c.beside.(S); is {
		return method(beside, ctx, in)
	}
	return carry[Out](ctx, c, method, in)
}

// SendTo calls an operation that takes what a thing is named by, and what becomes of it.
func SendTo[S, To, In, Out any](ctx context.Context, c *Client, method func(S, context.Context, To, In) (Out, error), to To, in In) (Out, error) {
	return carry[Out](ctx, c, method, to, in)
}

func carry[Out any](ctx context.Context, c *Client, method any, arguments ...any) (out Out, err error) {
	err = c.Do(ctx, operation.Find(method), &out, arguments...)
	return out, err
}

// Do calls an operation with what its method takes and reads what the method returns into out.
func (c *Client) Do(ctx context.Context, op *operation.Op, out any, arguments ...any) error {
	called := op.Called(arguments...)
	for i, id := range called.IDs {
		if text, ok := id.(string); ok {
			called.IDs[i] = unlike(text, op.Siblings()...)
		}
	}
	to := at(op.Path, called.IDs...)
	if called.Filter != nil {
		to = to.with(called.Filter)
	}
	for name, text := range called.Query {
		to = to.and(name, text)
	}
	if op.Member == "" {
		return c.call(ctx, op.Verb, to, called.Body, out)
	}
	var members map[string]json.RawMessage
	if err := c.call(ctx, op.Verb, to, called.Body, &members); err != nil || members[op.Member] == nil {
		return err
	}
	if err := json.Unmarshal(members[op.Member], out); err != nil {
		return plain.NotJSON(c.base, err)
	}
	return nil
}

package client

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client/plain"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Some of what a command does is the same on a router and on what it has read itself, and takes a service. These are.

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

// Incidents is what learning from records asks of history.Service, over HTTP.
type Incidents struct{ c *Client }

// Learn implements history.Service.
func (s Incidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	return Send(ctx, s.c, history.Service.Learn, draft)
}

// List implements history.Service.
func (s Incidents) List(ctx context.Context, filter history.Filter) (history.Page, error) {
	return Send(ctx, s.c, history.Service.List, filter)
}

// Accept implements history.Service.
func (s Incidents) Accept(ctx context.Context, decision history.Decision) (history.Decided, error) {
	return Send(ctx, s.c, history.Service.Accept, decision)
}

// Sources implements history.Service.
func (s Incidents) Sources(ctx context.Context, filter history.SourceFilter) (history.SourcePage, error) {
	return Send(ctx, s.c, history.Service.Sources, filter)
}

// Forget implements history.Service.
func (s Incidents) Forget(ctx context.Context, project string) (history.Forgotten, error) {
	return Send(ctx, s.c, history.Service.Forget, project)
}

// Import implements transfer.Service.
func (t Transfer) Import(ctx context.Context, request transfer.ImportRequest) (transfer.Imported, error) {
	return Send(ctx, t.c, transfer.Service.Import, request)
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

// Outbounds lists every place of the router that may open a connection.
func (s System) Outbounds(ctx context.Context) (router.OutboundList, error) {
	return Ask(ctx, s.c, router.SystemService.Outbound)
}

// Doctor has the router check itself: settings, pragmas, indexes, disk, clock.
func (s System) Doctor(ctx context.Context) ([]router.SystemCheck, error) {
	found, err := Ask(ctx, s.c, router.SystemService.Doctor)
	return found.Checks, err
}

// The operations of services are called by their methods: what fact.Service.Recall is over HTTP is said once, in
// fact.Operations. The types of what is sent and answered follow from the method.

// Ask calls an operation that takes nothing.
func Ask[S, Out any](ctx context.Context, c *Client, method func(S, context.Context) (Out, error)) (Out, error) {
	return carry[Out](ctx, c, method)
}

// Send calls an operation that takes one thing, such as an id or a draft.
func Send[S, In, Out any](ctx context.Context, c *Client, method func(S, context.Context, In) (Out, error), in In) (Out, error) {
	return carry[Out](ctx, c, method, in)
}

// SendTo calls an operation that takes what a thing is named by, and what becomes of it.
func SendTo[S, To, In, Out any](ctx context.Context, c *Client, method func(S, context.Context, To, In) (Out, error), to To, in In) (Out, error) {
	return carry[Out](ctx, c, method, to, in)
}

// Have calls an operation that takes one thing and answers nothing.
func Have[S, In any](ctx context.Context, c *Client, method func(S, context.Context, In) error, in In) error {
	_, err := carry[struct{}](ctx, c, method, in)
	return err
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

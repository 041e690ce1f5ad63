package client

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"skillrouter/internal/operation"
	"skillrouter/router/client/plain"
)

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

// places are the names in braces of a path.
var places = regexp.MustCompile(`{(\w+)}`)

func carry[Out any](ctx context.Context, c *Client, method any, arguments ...any) (out Out, err error) {
	err = c.Do(ctx, operation.Find(method), &out, arguments...)
	return out, err
}

// Do calls an operation with what its method takes and reads what the method returns into out.
func (c *Client) Do(ctx context.Context, op *operation.Op, out any, arguments ...any) error {
	called := op.Called(arguments...)
	var ids []any
	for _, name := range places.FindAllStringSubmatch(called.Path, -1) {
		id := called.Places[name[1]]
		if text, ok := id.(string); ok && slices.Contains(called.Siblings, text) {
			id = unlike(text, text)
		}
		ids = append(ids, id)
	}
	to := at(called.Path, ids...)
	if called.Filter != nil {
		to = to.with(called.Filter)
	}
	for name, text := range called.Query {
		to = to.and(name, text)
	}
	if called.Member == "" {
		return c.call(ctx, called.Verb, to, called.Body, out)
	}
	var members map[string]json.RawMessage
	if err := c.call(ctx, called.Verb, to, called.Body, &members); err != nil || members[called.Member] == nil {
		return err
	}
	if err := json.Unmarshal(members[called.Member], out); err != nil {
		return plain.NotJSON(c.base, err)
	}
	return nil
}

package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/strictjson"
	"skillrouter/internal/trace"
)

// tool describes a tool. Its schemas follow from its parameters and from the
// type of its answer, see add.
type tool struct {
	name, title, description string
	set                      string // its toolset; empty: the core
	former                   string // the name of a toolset that it was in first, by which it is still switched on
	holds                    string // the fields of its answer that are always there, by spaces
	input, output            *jsonschema.Schema
	effect                   effect
	readable                 bool      // who may only read may call it, whatever its effect: what it does then is less, or another tool's
	resource                 *resource // what it reads has a URI; nil: it has none
}

// effect is what calling a tool does, as its annotations say it.
type effect int

const (
	reads  effect = iota // changes nothing that anybody would miss
	adds                 // adds something; adding it again adds another
	ensure               // adds something once, however often it is called
	steers               // may end another agent's work
)

func (e effect) annotations() *mcp.ToolAnnotations {
	closed, destructive := false, e == steers
	a := &mcp.ToolAnnotations{ReadOnlyHint: e == reads, IdempotentHint: e == reads || e == ensure, OpenWorldHint: &closed}
	if e != reads { // the hint means nothing for what only reads
		a.DestructiveHint = &destructive
	}
	return a
}

// right returns a Forbidden error to who may only read, if the tool changes something. Where the arguments are good the service says so
// itself, and of what.
func (t tool) right(ctx context.Context) error {
	p := principal.Of(ctx).Keeping()
	if t.effect == reads || t.readable || !p.Has(principal.ScopeRead) {
		return nil
	}
	return p.Need(principal.ScopeAgent)
}

// add offers a tool. takes declares its parameters and binds them to the fields
// of In, mostly a draft or a query of a domain; it is called once for the schema
// and at each call, for an In of its own. What it sets beside parameters is so
// for every call. call answers the fields for programs and the text for models.
// A failed one is answered in words that a model can act on; the cause of what
// is not the caller's fault goes to the log.
func add[In, Out any](s *Server, t tool, takes func(*params, *In), call func(context.Context, In) (Out, string, error)) {
	s.add(t, reflect.TypeFor[Out](), func(p *params) func(context.Context) (any, string, error) {
		in := new(In)
		takes(p, in)
		return func(ctx context.Context) (any, string, error) { return call(ctx, *in) }
	})
}

// add is what is the same for every type: bind declares the parameters of one
// call, and returns what makes it once they are read.
func (s *Server) add(t tool, answer reflect.Type, bind func(*params) func(context.Context) (any, string, error)) {
	var declared params
	bind(&declared)
	t.input, t.output = declared.schema(), answerSchema(answer, strings.Fields(t.holds))
	record := declared.record()
	t.set = cmp.Or(t.set, ToolsetCore)
	s.tools[t.name] = offered{tool: t, span: "execute_tool " + t.name, call: func(ctx context.Context, arguments json.RawMessage) (any, string, error) {
		if err := walled(ctx, t.name); err != nil {
			return nil, "", err
		}
		if err := strictjson.CheckCrowd(arguments); err != nil {
			return nil, "", cmp.Or(t.right(ctx), err)
		}
		var p params
		call := bind(&p)
		p.stand(ctx, s)
		passed, err := p.read(arguments, t.input, record, t.effect == steers || ctx.Value(requestKey{}) == nil) // a program is told what it mistakes
		if err != nil {
			return nil, "", cmp.Or(t.right(ctx), err)
		}
		p.act(ctx, s)
		fields, text, err := call(ctx)
		if passed != "" && err == nil {
			text += "\nPassed over: " + passed + "."
		}
		return fields, text, err
	}}
	if t.resource != nil {
		t.resource.tool = t.name
		s.resources = append(s.resources, *t.resource)
	}
	s.offer(t)
}

// then puts what a service answers before a model.
func then[In, Found, Out any](ask func(context.Context, In) (Found, error), show func(Found) (Out, string)) func(context.Context, In) (Out, string, error) {
	return func(ctx context.Context, in In) (out Out, text string, err error) {
		found, err := ask(ctx, in)
		if err != nil {
			return out, "", err
		}
		out, text = show(found)
		return out, text, nil
	}
}

// change is what a tool changes, and how.
type change[ID, Draft any] struct {
	id    ID
	draft Draft
}

// changing calls a service that takes what is to be changed and how one after the other.
func changing[ID, Draft, Found any](ask func(context.Context, ID, Draft) (Found, error)) func(context.Context, change[ID, Draft]) (Found, error) {
	return func(ctx context.Context, c change[ID, Draft]) (Found, error) { return ask(ctx, c.id, c.draft) }
}

// offer adds a tool to what the library lists and calls. What is in the core is
// read by every model at every turn, and so is listed without what a model has
// no use for: its title, which its name says too, and that its world is closed,
// which is half true of what other agents write.
func (s *Server) offer(t tool) {
	listed := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: t.input, OutputSchema: t.output, Annotations: t.effect.annotations(),
	}
	if t.set == ToolsetCore {
		listed.Title, listed.OutputSchema, listed.Annotations.OpenWorldHint = "", brief(t.output), nil
	}
	s.mcp.AddTool(listed, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.answer(ctx, s.tools[t.name], req), nil
	})
}

// answer calls a tool for a session's request.
func (s *Server) answer(ctx context.Context, t offered, req *mcp.CallToolRequest) *mcp.CallToolResult {
	if parent, ok := req.Params.Meta["traceparent"].(string); ok {
		ctx = trace.Continue(ctx, parent)
	}
	ctx, span := trace.StartSpan(ctx, t.span)
	fields, text, err := t.call(context.WithValue(ctx, requestKey{}, req), req.Params.Arguments)
	if span != nil {
		span.Set("gen_ai.operation.name", "execute_tool")
		span.Set("gen_ai.tool.name", t.name)
		span.Set("gen_ai.tool.type", "function")
		span.Set("mcp.method.name", "tools/call")
		span.Content("gen_ai.tool.call.arguments", string(req.Params.Arguments))
		span.Content("gen_ai.tool.call.result", text)
		span.Finish(err)
	}
	if err != nil {
		if errs.CodeOf(err) == errs.Internal && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "tool failed", "tool", t.name, "error", err)
		}
		s.tellFailure(ctx, req.Session, t.name, err)
		return failure(t.name, err)
	}
	return &mcp.CallToolResult{
		StructuredContent: fields,
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
	}
}

// requestKey is where a call's context holds the request that made it, for the
// few tools that are about the session itself.
type requestKey struct{}

// requestOf returns the request of a session that the call is made by; nil: it
// is made outside of any.
func requestOf(ctx context.Context) *mcp.CallToolRequest {
	req, _ := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	return req
}

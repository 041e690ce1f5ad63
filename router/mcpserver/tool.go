package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
)

// tool describes a tool: what it is called, what it does, and how that is answered. Its schemas, the reading of its arguments,
// the fields that programs get and the text that a model reads follow from the types of the method that it calls.
type tool struct {
	name, title, description string // without a description: what the method's operation says of itself
	set                      string // its toolset; add says it
	effect                   effect
	readable                 bool      // who may only read may call it, whatever its effect: what it does then is less, or another tool's
	walled                   bool      // it keeps to the projects of a token that is bound to some, see operation.Op.Keeps; what is an operation says it there
	does                     any       // a method of a service or of the Server. Of the latter one that returns a text too answers by itself
	takes                    string    // the names of its parameters, see newParams
	about                    words     // what their fields' tags do not say of them
	as                       string    // the member of the answer that holds what the method returns; empty: that is the answer
	holds                    string    // the members of the answer that are always there, by spaces; empty: as
	without                  string    // members of the answer, and of its things, that no model needs
	said                     any       // a function of what the method returns: the words that the text begins with. nil: as usual
	entries                  any       // a function of a pointer to what the method returns: its things in words of their own, see entriesOf; nil: they have none
	none                     string    // the same where nothing was found
	resource                 *resource // what it reads has a URI; nil: it has none

	input, output *jsonschema.Schema
	further       string // its parameter for the cursor of what is behind
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

// within returns an error if the caller is bound to projects, and the tool does not keep to them.
func (t tool) within(ctx context.Context) error {
	if principal.Of(ctx).Walled() && !t.walled {
		return principal.Unkept("the tool " + t.name)
	}
	return nil
}

// deleted is the answer of a method that returns nothing, as what deletes does.
type deleted struct {
	Deleted string `json:"deleted"` // what it was named by
}

// add offers a tool of a toolset. The cause of a failure that is not the caller's fault goes to the log.
func (s *Server) add(set string, t tool) {
	method := reflect.ValueOf(t.does)
	kind := method.Type()
	service, returns := s.receivers[kind.In(0)], kind.Out(0)
	takes := newParams(slices.Collect(kind.Ins())[2:], t.takes, t.about)
	if kind.NumOut() == 1 {
		returns = reflect.TypeFor[deleted]()
	}
	if op := operation.Known(t.does); op != nil {
		t.walled = t.walled || op.Walled
		if t.description == "" { // its operation says what it does; which status it answers with is HTTP's
			t.description, _, _ = strings.Cut(op.Summary, "; 200 if ")
			t.description += "."
		}
	}
	t.holds, t.input = cmp.Or(t.holds, t.as), takes.schema
	if t.set = set; slices.Contains(coreTools, t.name) {
		t.set = ToolsetCore
	}
	for _, name := range []string{"cursor", "after"} {
		if t.input.Properties[name] != nil {
			t.further = name
		}
	}
	if kind.NumOut() < 3 {
		returns = t.answerType(returns)
	}
	t.output = answerSchema(returns, strings.Fields(t.holds))
	s.tools[t.name] = offered{tool: t, span: "execute_tool " + t.name, call: func(ctx context.Context, raw json.RawMessage) (fields any, text string, err error) {
		if err := t.within(ctx); err != nil {
			return nil, "", err
		}
		arguments, passed, err := takes.read(ctx, s, raw, t.effect == steers || ctx.Value(requestKey{}) == nil) // a program is told what it mistakes
		if err != nil {
			return nil, "", cmp.Or(t.right(ctx), err)
		}
		ctx = learning.ChangedBy(ctx, s.actor(ctx, ""))
		results := method.Call(append([]reflect.Value{service, reflect.ValueOf(ctx)}, arguments...))
		if err, _ := results[len(results)-1].Interface().(error); err != nil {
			return nil, "", err
		}
		if len(results) == 1 {
			results = []reflect.Value{reflect.ValueOf(deleted{takes.inputs.List[0].In(arguments).String()})}
		}
		if len(results) == 3 {
			fields, text = results[0].Interface(), results[1].String()
		} else if fields, text, err = t.answer(results[0]); err != nil {
			return nil, "", err
		}
		if passed != "" {
			text += "\nPassed over: " + passed + "."
		}
		return fields, text, nil
	}}
	if t.resource != nil {
		t.resource.tool = t.name
		s.resources = append(s.resources, *t.resource)
	}
	s.offer(t)
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

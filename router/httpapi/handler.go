package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"skillrouter/internal/operation"
)

// handler is a typed handler without its types: what it takes, what it
// answers, and how it is called. What is done for every route works on it, by
// reflection, so that a further route adds no code but its own.
type handler struct {
	input  reflect.Type // a struct; see plan
	output reflect.Type // what the body of the answer is; nil: there is none
	status int          // of an answer
	limit  int64        // of the body, in bytes
	about  string       // what is said of the parameter in the path, where its field says nothing
	open   bool         // parameters that it does not know, or that are out of bounds, are its own matter

	// call takes a pointer to an input, and returns one to an output.
	call func(ctx context.Context, input any) (output any, err error)
	// differs gives an output, by its pointer, another status than the one above; 0: it does not.
	differs func(output any) int
}

// typed makes a handler of a function. What its input takes from a request is said by its tags.
func typed[I, O any](handle func(ctx context.Context, input *I) (O, error)) handler {
	return newHandler(reflect.TypeFor[I](), reflect.TypeFor[O](), func(ctx context.Context, input any) (any, error) {
		output, err := handle(ctx, input.(*I))
		return &output, err
	})
}

func newHandler(input, output reflect.Type, call func(ctx context.Context, input any) (any, error)) handler {
	h := handler{input: input, output: output, status: http.StatusOK, limit: MaxBody}
	if output == nil {
		h.status = http.StatusNoContent
	}
	lists := listsOf(h.output)
	h.call = func(ctx context.Context, input any) (any, error) {
		output, err := call(ctx, input)
		if err == nil && output != nil {
			emptyLists(reflect.ValueOf(output).Elem(), lists)
		}
		return output, err
	}
	return h
}

// The handlers of most routes are methods of services. What they take is, in turn: nothing,
// parameters of the query, a body, an id in the path, and an id with a body that may be left out.

func bare[O any](do func(ctx context.Context) (O, error)) handler {
	return typed(func(ctx context.Context, _ *struct{}) (O, error) { return do(ctx) })
}

func asked[Query, O any](do func(ctx context.Context, query Query) (O, error)) handler {
	return typed(func(ctx context.Context, in *Query) (O, error) { return do(ctx, *in) })
}

func sent[Body, O any](do func(ctx context.Context, body Body) (O, error)) handler {
	return typed(func(ctx context.Context, in *struct{ Body Body }) (O, error) { return do(ctx, in.Body) })
}

func changed[Body, O any](do func(ctx context.Context, id string, body Body) (O, error)) handler {
	return typed(func(ctx context.Context, in *changeInput[Body]) (O, error) { return do(ctx, in.ID, given(in.Body)) })
}

// changeInput is a change of one thing. The body may be left out where every member of it may be.
type changeInput[Body any] struct {
	ID   string `path:"id" doc:"Its id; of a task, its number too"`
	Body *Body
}

// changedBy is the same with a body that must be there.
func changedBy[ID, Body, O any](do func(ctx context.Context, id ID, body Body) (O, error)) handler {
	return typed(func(ctx context.Context, in *struct {
		ID   ID `path:"id"`
		Body Body
	},
	) (O, error) {
		return do(ctx, in.ID, in.Body)
	})
}

// explained is a search by a body, which is asked for reasons in the address too, for those who search with curl.
func explained[Query, O any](search func(ctx context.Context, query Query) (O, error), explain func(query *Query) *bool) handler {
	return typed(func(ctx context.Context, in *struct {
		Explain bool `query:"explain" doc:"Say why each result was found"`
		Body    Query
	},
	) (O, error) {
		if in.Explain {
			*explain(&in.Body) = true
		}
		return search(ctx, in.Body)
	})
}

// as is a call whose result is answered in another form.
func as[In, Result, O any](do func(ctx context.Context, in In) (Result, error), form func(Result) O) func(ctx context.Context, in In) (O, error) {
	return func(ctx context.Context, in In) (O, error) {
		result, err := do(ctx, in)
		return form(result), err
	}
}

// upTo bounds the body, in bytes; without it, MaxBody does.
func (h handler) upTo(limit int64) handler {
	h.limit = limit
	return h
}

// lenient leaves it to the handler what parameters there may be, and what they may be.
func (h handler) lenient() handler {
	h.open = true
	return h
}

// saying says what the parameter in the path is.
func (h handler) saying(about string) handler {
	h.about = about
	return h
}

// created is a handler that makes something.
func created(h handler) handler {
	h.status = http.StatusCreated
	return h
}

// createdIf is a handler that makes something if its output says so: it answers 200 otherwise.
func createdIf[O any](h handler, made func(output O) bool) handler {
	h.status = http.StatusCreated
	h.differs = func(output any) int {
		if made(*output.(*O)) {
			return 0
		}
		return http.StatusOK
	}
	return h
}

// statusOf is the status of an output.
func (h handler) statusOf(output any) int {
	if h.differs != nil {
		if status := h.differs(output); status != 0 {
			return status
		}
	}
	return h.status
}

// given is a body that may have been left out.
func given[T any](body *T) T {
	if body == nil {
		var none T
		return none
	}
	return *body
}

// listsOf finds the lists of an output that JSON writes even if they are empty:
// the output itself, or members of it.
func listsOf(output reflect.Type) (fields [][]int) {
	switch {
	case output == nil:
	case output.Kind() == reflect.Slice:
		fields = append(fields, nil)
	case output.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(output) {
			if field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() != reflect.Uint8 && !strings.Contains(field.Tag.Get("json"), ",omit") {
				fields = append(fields, field.Index)
			}
		}
	}
	return fields
}

// emptyLists makes absent lists empty ones, which JSON writes as [].
func emptyLists(output reflect.Value, fields [][]int) {
	for _, index := range fields {
		list := output
		if index != nil {
			list = output.FieldByIndex(index)
		}
		if list.IsNil() {
			list.Set(reflect.MakeSlice(list.Type(), 0, 0))
		}
	}
}

// resource mounts routes below a path, which the document shows together.
type resource struct {
	server    *Server
	tag, path string
}

func (s *Server) at(tag, path string) resource { return resource{s, tag, path} }

func (r resource) get(path, summary string, h handler) { r.mount(http.MethodGet, path, summary, h) }

func (r resource) post(path, summary string, h handler) { r.mount(http.MethodPost, path, summary, h) }

func (r resource) mount(method, path, summary string, h handler) {
	r.server.mount(documented(method, r.path+path, r.tag, summary), h)
}

// offer mounts the operations of a service, if there is one, but for those that are answered in shapes of their own.
func offer[Service comparable](s *Server, list operation.List, service Service) {
	with(service, func(service Service) {
		for _, op := range list {
			if !op.ByHand {
				s.mountLater(documented(op.Verb, op.Path, op.Tag, op.Summary), func() handler { return handlerOf(op, service) })
			}
		}
	})
}

// Offer are the routes of a service's operations.
func Offer[Service comparable](list operation.List, service Service) Routes {
	return func(s *Server) { offer(s, list, service) }
}

// handlerOf has a service do an operation.
func handlerOf(op *operation.Op, service any) handler {
	h := newHandler(op.By(service))
	if op.Made {
		h.status = http.StatusCreated
		h.differs = func(output any) int {
			if op.MadeOne(output) {
				return 0
			}
			return http.StatusOK
		}
	}
	if op.MaxBody > 0 {
		h.limit = op.MaxBody
	}
	return h
}

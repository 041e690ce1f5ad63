package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"
)

// register mounts a typed handler. The error that it returns reaches the
// client through problemOf alone.
//
// What huma derives from the types (schemas to validate with, and to describe)
// costs a tenth of a millisecond a route, of which there are two hundred, and
// memory. A start pays for none: each route has a registry of its own, which its
// first request makes, and the document is made when it is first asked for.
func register[I, O any](s *Server, op huma.Operation, handle func(ctx context.Context, input *I) (*O, error)) {
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = MaxBody
	}
	op.BodyReadTimeout = bodyTimeout
	derive := func(api huma.API) {
		own := op
		parameters := pathParameters(api.OpenAPI().Components.Schemas, op.Path, reflect.TypeFor[I]())
		own.Parameters = slices.Concat(op.Parameters, parameters)
		huma.Register(api, own, func(ctx context.Context, input *I) (*O, error) {
			output, err := handle(ctx, input)
			if err != nil {
				return nil, s.fail(ctx, err)
			}
			return output, nil
		})
	}
	s.describe(derive)
	route := sync.OnceValue(func() *mounted {
		m := &mounted{}
		derive(s.newAPI(m, bodyType(reflect.TypeFor[I]())))
		return m
	})
	path := strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
	s.engine.Handle(op.Method, path, func(c *gin.Context) {
		m := route()
		m.handle(humagin.NewContext(m.op, c))
	})
}

// mounted is the one operation of a huma.API: gin has chosen the route already.
type mounted struct {
	op     *huma.Operation
	handle func(huma.Context)
}

// Handle implements huma.Adapter.
func (m *mounted) Handle(op *huma.Operation, handle func(huma.Context)) { m.op, m.handle = op, handle }

// ServeHTTP implements huma.Adapter. Nothing calls it: requests come from gin.
func (m *mounted) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
}

// bodyType is the type of an input's body; nil: it takes none, or one that each tool checks by its own type.
func bodyType(input reflect.Type) reflect.Type {
	if input.Kind() == reflect.Struct {
		if body, ok := input.FieldByName("Body"); ok && body.Type != reflect.TypeFor[*ToolArguments]() {
			return body.Type
		}
	}
	return nil
}

// newAPI makes an API that knows no operation yet, and whose one will take such a body.
func (s *Server) newAPI(adapter huma.Adapter, body reflect.Type) huma.API {
	config := huma.DefaultConfig("Skill Router", s.options.Version)
	config.CreateHooks = nil // no $schema member in answers
	config.OpenAPI = newDocument(s.options.Version)
	config.OpenAPIPath = "" // see documentRoutes
	config.DocsPath = ""    // huma's page would load scripts from another host; see readerRoutes
	config.SchemasPath = ""
	config.RejectUnknownQueryParameters = true
	config.Formats = formats(body)
	return huma.NewAPI(config, adapter)
}

// describe remembers what to add to the document when it is made.
func (s *Server) describe(add func(api huma.API)) { s.describing = append(s.describing, add) }

// makeDocument describes all that is mounted.
func (s *Server) makeDocument() *huma.OpenAPI {
	api := s.newAPI(&mounted{}, nil)
	for _, add := range s.describing {
		add(api)
	}
	s.describePlain(api.OpenAPI())
	return api.OpenAPI()
}

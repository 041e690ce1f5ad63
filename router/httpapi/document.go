package httpapi

import (
	"cmp"
	_ "embed"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/goccy/go-yaml"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// The OpenAPI document is derived from the typed handlers. What is served by
// plain handlers (streams, protocols of others, pages) is described here by
// hand, and a test holds every route that is mounted to the document.

// documentPath is where the document lies, without what its form appends.
const documentPath = "/openapi"

// bearerScheme is the document's name for a token in the Authorization header.
const bearerScheme = "token"

// newDocument makes the document that the typed routes fill.
func newDocument(version string) *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Skill Router", Version: version,
			Description: "One process beside a team of coding agents: what they learn, what they ask, what they must not do again, and what they tell each other.",
		},
		Servers: []*huma.Server{{URL: "/"}},
		// The empty alternative: on loopback no token is needed until the first is issued.
		Security: []map[string][]string{{}, {bearerScheme: {}}},
		Components: &huma.Components{
			Schemas: newRegistry(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				bearerScheme: {Type: "http", Scheme: "bearer", Description: "A token of `skillrouter token create`; needed once one is issued, and beyond loopback always."},
			},
		},
	}
}

// notInNames are the characters that the name of a component must not have.
var notInNames = lazyregexp.New(`[^A-Za-z0-9._-]`)

// roomNames are what stands before the names of a package's types.
var roomNames = map[string]string{
	"github.com/skillrouter/skillrouter/router/session":  "Session",
	"github.com/skillrouter/skillrouter/router/feed":     "Feed",
	"github.com/skillrouter/skillrouter/router/search":   "Search",
	"github.com/skillrouter/skillrouter/router/contexts": "Context",
	"github.com/skillrouter/skillrouter/router/value":    "Value",

	"github.com/skillrouter/skillrouter/learning/episode":    "Episode",
	"github.com/skillrouter/skillrouter/learning/experience": "Experience",
	"github.com/skillrouter/skillrouter/learning/fact":       "Fact",
	"github.com/skillrouter/skillrouter/learning/guard":      "Guard",
	"github.com/skillrouter/skillrouter/learning/guard/rule": "Guard",
	"github.com/skillrouter/skillrouter/learning/history":    "History",
	"github.com/skillrouter/skillrouter/learning/knowledge":  "Knowledge",
	"github.com/skillrouter/skillrouter/learning/lesson":     "Lesson",
	"github.com/skillrouter/skillrouter/learning/procedure":  "Procedure",
	"github.com/skillrouter/skillrouter/learning/share":      "Shared",
}

// schemaName names a type in the OpenAPI document. Rooms have types of the same
// name: the type's room stands before the name, as session.Draft is SessionDraft.
func schemaName(t reflect.Type, hint string) string {
	name := notInNames.ReplaceAllString(huma.DefaultSchemaNamer(t, hint), "")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if room := roomNames[t.PkgPath()]; room != "" && t.Name() != "" && !strings.HasPrefix(name, room) {
		return room + name
	}
	if t.Name() == "Reported" && strings.HasSuffix(t.PkgPath(), "/operational") {
		return "Operational" + name
	}
	return name
}

// newRegistry makes a registry of schemas that is empty.
func newRegistry() huma.Registry { return huma.NewMapRegistry("#/components/schemas/", schemaName) }

// describe remembers what to add to the document when it is made.
func (s *Server) describe(add func(document *huma.OpenAPI)) { s.describing = append(s.describing, add) }

// makeDocument describes all that is mounted.
func (s *Server) makeDocument() *huma.OpenAPI {
	document := newDocument(s.options.Version)
	for _, add := range s.describing {
		add(document)
	}
	s.describePlain(document)
	return document
}

// described is the route in the document.
func (r *route) described(registry huma.Registry) *huma.Operation {
	op := documented(r.op.Verb, r.op.Path, r.op.Tag, r.op.Summary)
	for _, in := range []operation.Source{operation.Path, operation.Query} {
		for _, one := range r.inputs.List {
			if one.Name != operation.Rest && (one.From == in || one.Asked && in == operation.Query) {
				op.Parameters = append(op.Parameters, parameter(registry, one))
			}
		}
	}
	if r.body != nil {
		schema := registry.Schema(r.body, true, op.OperationID+"Request")
		op.RequestBody = &huma.RequestBody{Required: !r.bare, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	}
	if len(op.Parameters) > 0 || r.body != nil {
		op.Errors = append(op.Errors, http.StatusUnprocessableEntity)
	}
	good := &huma.Response{Description: http.StatusText(r.status)}
	if r.output != nil {
		good.Content = map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(r.output, true, op.OperationID+"Response")}}
	}
	op.Responses = map[string]*huma.Response{strconv.Itoa(r.status): good}
	problem := registry.Schema(reflect.TypeFor[Problem](), true, "")
	for _, status := range append(op.Errors, http.StatusInternalServerError) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/problem+json": {Schema: problem}},
		}
	}
	return &op
}

// parameter describes an input that the address gives.
func parameter(registry huma.Registry, one operation.Input) *huma.Param {
	field := reflect.StructField{Name: one.Name, Type: one.Value.Type(), Tag: one.Tag}
	if field.Type == reflect.TypeFor[*bool]() { // its texts are described
		field.Type = reflect.TypeFor[string]()
	}
	schema := huma.SchemaFromField(registry, field, "")
	schema.Description = cmp.Or(one.Doc, schema.Description)
	described := &huma.Param{Name: one.Name, In: "query", Required: one.Required, Description: schema.Description, Schema: schema}
	if one.From == operation.Path {
		described.In = "path"
	} else {
		described.Explode = new(bool) // lists are separated by commas
	}
	return described
}

// describePlain adds the plain routes that are mounted to the document.
func (s *Server) describePlain(document *huma.OpenAPI) {
	mounted := map[Route]bool{}
	for _, route := range s.Routes() {
		mounted[Route{route.Method, documentedPath(route.Path)}] = true
	}
	for _, op := range plainOperations() {
		if !mounted[Route{op.Method, op.Path}] {
			continue
		}
		op.OperationID = operationID(op.Method, op.Path)
		if op.Responses["default"] == nil && !strings.HasPrefix(op.Path, chatPath) { // errors of /v1 have OpenAI's shape
			problem := document.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
			op.Responses["default"] = &huma.Response{Description: "An error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: problem}}}
		}
		document.AddOperation(&op)
	}
}

// documentedPath turns gin's :id and *id into {id}.
func documentedPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && (part[0] == ':' || part[0] == '*') {
			parts[i] = "{" + part[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

// documentRoutes serves the document in its forms, each made when it is first asked for.
func (s *Server) documentRoutes() {
	for _, form := range []struct {
		suffix, kind string
		make         func(*huma.OpenAPI) ([]byte, error)
	}{
		{".json", "application/openapi+json", (*huma.OpenAPI).MarshalJSON},
		{".yaml", "application/openapi+yaml", (*huma.OpenAPI).YAML},
		{"-3.0.json", "application/openapi+json", func(d *huma.OpenAPI) ([]byte, error) { return d.Downgrade() }},
		{"-3.0.yaml", "application/openapi+yaml", (*huma.OpenAPI).DowngradeYAML},
	} {
		text := sync.OnceValues(func() ([]byte, error) { return form.make(s.document()) })
		s.engine.GET(documentPath+form.suffix, func(c *gin.Context) {
			b, err := text()
			if err != nil {
				abort(c, s.fail(c.Request.Context(), err))
				return
			}
			c.Data(http.StatusOK, form.kind, b)
		})
	}
}

//go:embed plain.yaml
var plainPaths string

// plainOperations describes the routes that are no typed handlers, whether they are mounted or not.
func plainOperations() (list []huma.Operation) {
	var paths map[string]map[string]huma.Operation
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(plainPaths, "KINDS", strings.Join(transfer.Kinds(), ", "))), &paths); err != nil {
		panic(err) // a mistake of this program
	}
	for path, byMethod := range paths {
		for method, op := range byMethod {
			op.Method, op.Path = strings.ToUpper(method), path
			list = append(list, op)
		}
	}
	return list
}

package httpapi

import (
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter/internal/lazyregexp"
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
	"skillrouter/router/session":  "Session",
	"skillrouter/router/feed":     "Feed",
	"skillrouter/router/search":   "Search",
	"skillrouter/router/contexts": "Context",
	"skillrouter/router/value":    "Value",

	"skillrouter/learning/episode":    "Episode",
	"skillrouter/learning/experience": "Experience",
	"skillrouter/learning/fact":       "Fact",
	"skillrouter/learning/guard":      "Guard",
	"skillrouter/learning/guard/rule": "Guard",
	"skillrouter/learning/history":    "History",
	"skillrouter/learning/knowledge":  "Knowledge",
	"skillrouter/learning/lesson":     "Lesson",
	"skillrouter/learning/procedure":  "Procedure",
	"skillrouter/learning/share":      "Shared",
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
			op.Responses["default"] = problemResponse(document)
		}
		document.AddOperation(&op)
	}
}

// problemResponse describes every error.
func problemResponse(document *huma.OpenAPI) *huma.Response {
	schema := document.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	return &huma.Response{Description: "An error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schema}}}
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

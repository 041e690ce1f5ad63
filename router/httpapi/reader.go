package httpapi

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter/internal/errs"
)

// The reader shows the OpenAPI document to people. It is made on this side
// from the document alone, asks no other host for anything and runs no script.

const (
	readerPath = "/docs"
	// readerPolicy is the pages' Content-Security-Policy: our style sheet, the empty icon, and nothing else.
	readerPolicy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// schemaDepth is how far objects within objects are shown; some contain their own kind.
	schemaDepth = 5
)

//go:embed reader/*.html reader/style.css
var readerFiles embed.FS

var readerPages = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(readerFiles, "reader/*.html"))
})

// reader is the document as its pages need it.
type reader struct {
	Title, Version, Description string
	Groups                      []readerGroup
	operations                  map[string]readerOperation
}

// readerGroup is the operations of a tag.
type readerGroup struct {
	Tag        string
	Operations []readerOperation
}

// readerOperation is an operation, ready to be shown.
type readerOperation struct {
	ID, Method, Path, Summary, Description string
	Parameters                             []readerField
	Bodies, Answers                        []readerBody
	tag                                    string
}

// readerBody is a body of a type, or an answer of a status.
type readerBody struct {
	Status, Type, Description string
	Fields                    []readerField
	JSON                      string // the schema's name, or its type
}

// readerField is a parameter, or a member of a body. Members of members follow theirs, indented.
type readerField struct {
	Name, In, Type, Description string
	Required                    bool
	Depth                       int
}

// readerRoutes mounts the pages.
func (s *Server) readerRoutes() {
	pages := sync.OnceValue(func() *reader { return newReader(s.document()) })
	s.engine.GET(readerPath, func(c *gin.Context) { s.show(c, "index.html", pages()) })
	s.engine.GET(readerPath+"/style.css", func(c *gin.Context) {
		style, err := readerFiles.ReadFile("reader/style.css")
		if err != nil {
			abort(c, s.fail(c.Request.Context(), err))
			return
		}
		c.Header("Cache-Control", "no-cache")
		c.Data(http.StatusOK, "text/css; charset=utf-8", style)
	})
	s.engine.GET(readerPath+"/operations/:id", func(c *gin.Context) {
		op, ok := pages().operations[c.Param("id")]
		if !ok {
			abort(c, refusal(http.StatusNotFound, errs.NotFound, "the document has no such operation"))
			return
		}
		s.show(c, "operation.html", op)
	})
}

// show answers with a page.
func (s *Server) show(c *gin.Context, page string, value any) {
	var b bytes.Buffer
	if err := readerPages().ExecuteTemplate(&b, page, value); err != nil {
		abort(c, s.fail(c.Request.Context(), err))
		return
	}
	c.Header("Content-Security-Policy", readerPolicy)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Referrer-Policy", "no-referrer")
	c.Data(http.StatusOK, "text/html; charset=utf-8", b.Bytes())
}

// newReader reads the document.
func newReader(document *huma.OpenAPI) *reader {
	r := &reader{
		Title: document.Info.Title, Version: document.Info.Version, Description: document.Info.Description,
		operations: map[string]readerOperation{},
	}
	types := schemaReader{document.Components.Schemas}
	byTag := map[string][]readerOperation{}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		item := document.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			shown := types.operation(op)
			r.operations[shown.ID] = shown
			byTag[shown.tag] = append(byTag[shown.tag], shown)
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		r.Groups = append(r.Groups, readerGroup{Tag: tag, Operations: byTag[tag]})
	}
	return r
}

// schemaReader reads operations whose types are in a registry.
type schemaReader struct{ registry huma.Registry }

func (t schemaReader) operation(op *huma.Operation) readerOperation {
	shown := readerOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description, tag: "other"}
	if len(op.Tags) > 0 {
		shown.tag = op.Tags[0]
	}
	for _, p := range op.Parameters {
		shown.Parameters = append(shown.Parameters, readerField{
			Name: p.Name, In: p.In, Type: t.typeName(p.Schema), Description: p.Description, Required: p.Required || p.In == "path",
		})
	}
	if op.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
			shown.Bodies = append(shown.Bodies, t.body("", kind, op.RequestBody.Description, op.RequestBody.Content[kind].Schema))
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := op.Responses[status]
		if len(answer.Content) == 0 {
			shown.Answers = append(shown.Answers, readerBody{Status: status, Description: answer.Description})
		}
		for _, kind := range slices.Sorted(maps.Keys(answer.Content)) {
			schema := answer.Content[kind].Schema
			body := t.body(status, kind, answer.Description, schema)
			if status >= "3" {
				body.Fields = nil // errors are all alike, and described once
			}
			shown.Answers = append(shown.Answers, body)
		}
	}
	return shown
}

func (t schemaReader) body(status, kind, description string, schema *huma.Schema) readerBody {
	body := readerBody{Status: status, Type: kind, Description: description}
	if schema != nil {
		body.JSON, body.Fields = t.typeName(schema), t.fields(schema, 0)
	}
	return body
}

// resolve follows a reference to its schema.
func (t schemaReader) resolve(schema *huma.Schema) *huma.Schema {
	if schema != nil && schema.Ref != "" {
		return t.registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// fields lists the members of an object or of a list's objects, the required ones first.
func (t schemaReader) fields(schema *huma.Schema, depth int) (list []readerField) {
	schema = t.resolve(schema)
	for schema != nil && schema.Items != nil {
		schema = t.resolve(schema.Items)
	}
	if schema == nil || depth >= schemaDepth {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(schema.Properties), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(rank(slices.Contains(schema.Required, a)), rank(slices.Contains(schema.Required, b))),
			cmp.Compare(a, b),
		)
	})
	for _, name := range names {
		member := schema.Properties[name]
		list = append(list, readerField{
			Name: name, Type: t.typeName(member), Description: member.Description, Required: slices.Contains(schema.Required, name), Depth: depth,
		})
		list = append(list, t.fields(member, depth+1)...)
	}
	return list
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// typeName says what a value is: its type or schema, its choices and its bounds.
func (t schemaReader) typeName(schema *huma.Schema) string {
	if schema == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
		return name
	}
	name := schema.Type
	switch {
	case schema.Items != nil:
		name = "[" + t.typeName(schema.Items) + "]"
	case name == "":
		name = "any"
	case schema.Format != "":
		name += " " + schema.Format
	}
	if len(schema.Enum) > 0 {
		var choices []string
		for _, value := range schema.Enum {
			text, err := json.Marshal(value)
			if err == nil {
				choices = append(choices, string(text))
			}
		}
		name += ": " + strings.Join(choices, ", ")
	}
	return name
}

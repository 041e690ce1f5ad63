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

// operationPage is what the page of an operation shows.
type operationPage struct {
	*huma.Operation
	types huma.Registry
}

// member is a member of a body. Members of members follow theirs, indented.
type member struct {
	*huma.Schema
	Name, Type string
	Required   bool
	Depth      int
}

var readerPages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"typeName": typeNamed}).ParseFS(readerFiles, "reader/*.html"))
})

// readerRoutes mounts the pages.
func (s *Server) readerRoutes() {
	pages := sync.OnceValue(func() map[string]operationPage {
		pages, document := map[string]operationPage{}, s.document()
		for _, item := range document.Paths {
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil {
					pages[op.OperationID] = operationPage{op, document.Components.Schemas}
				}
			}
		}
		return pages
	})
	s.engine.GET(readerPath, func(c *gin.Context) {
		byTag := map[string][]operationPage{}
		for _, page := range pages() {
			byTag[page.Tags[0]] = append(byTag[page.Tags[0]], page)
		}
		for _, group := range byTag {
			slices.SortFunc(group, func(a, b operationPage) int {
				return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
			})
		}
		s.show(c, "index.html", map[string]any{"Info": s.document().Info, "Groups": byTag})
	})
	s.engine.GET(readerPath+"/style.css", func(c *gin.Context) {
		c.Header("Cache-Control", "no-cache")
		c.FileFromFS("reader/style.css", http.FS(readerFiles))
	})
	s.engine.GET(readerPath+"/operations/:id", func(c *gin.Context) {
		page, there := pages()[c.Param("id")]
		if !there {
			abort(c, refusal(http.StatusNotFound, errs.NotFound, "the document has no such operation"))
			return
		}
		s.show(c, "operation.html", page)
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

// Members lists the members of an object or of a list's objects, the required ones first; depth is how far it lies within others.
func (p operationPage) Members(schema *huma.Schema, depth int) (list []member) {
	for schema != nil && (schema.Ref != "" || schema.Items != nil) {
		if schema.Ref != "" {
			schema = p.types.SchemaFromRef(schema.Ref)
		} else {
			schema = schema.Items
		}
	}
	if schema == nil || depth >= schemaDepth {
		return nil
	}
	names := slices.Sorted(maps.Keys(schema.Properties))
	for _, required := range []bool{true, false} {
		for _, name := range names {
			if slices.Contains(schema.Required, name) == required {
				of := schema.Properties[name]
				list = append(list, member{of, name, typeNamed(of), required, depth})
				list = append(list, p.Members(of, depth+1)...)
			}
		}
	}
	return list
}

// typeNamed says what a value is: its type or schema, its choices and its bounds.
func typeNamed(schema *huma.Schema) string {
	if schema == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
		return name
	}
	name := schema.Type
	switch {
	case schema.Items != nil:
		name = "[" + typeNamed(schema.Items) + "]"
	case name == "":
		name = "any"
	case schema.Format != "":
		name += " " + schema.Format
	}
	var choices []string
	for _, value := range schema.Enum {
		text, _ := json.Marshal(value) // texts and numbers can be
		choices = append(choices, string(text))
	}
	if len(choices) > 0 {
		name += ": " + strings.Join(choices, ", ")
	}
	return name
}

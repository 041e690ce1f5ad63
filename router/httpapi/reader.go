package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// The reader shows the OpenAPI document to people, on one page. It is made on this side
// from the document alone, asks no other host for anything and runs no script.

const (
	readerPath = "/docs"
	// readerPolicy is the page's Content-Security-Policy: our style sheet, the empty icon, and nothing else.
	readerPolicy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

//go:embed reader/*.html reader/style.css
var readerFiles embed.FS

var readerPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"named": func(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") },
		"has":   func(list []string, name string) bool { return slices.Contains(list, name) },
	}).ParseFS(readerFiles, "reader/*.html"))
})

// readerRoutes mounts the page.
func (s *Server) readerRoutes() {
	s.engine.GET(readerPath, func(c *gin.Context) {
		document, byTag := s.document(), map[string][]*huma.Operation{}
		for _, item := range document.Paths {
			for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if op != nil {
					byTag[op.Tags[0]] = append(byTag[op.Tags[0]], op)
				}
			}
		}
		for _, group := range byTag {
			slices.SortFunc(group, func(a, b *huma.Operation) int {
				return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
			})
		}
		var b bytes.Buffer
		err := readerPage().ExecuteTemplate(&b, "index.html", map[string]any{"Info": document.Info, "Groups": byTag, "Types": document.Components.Schemas.Map()})
		if err != nil {
			abort(c, s.fail(c.Request.Context(), err))
			return
		}
		c.Header("Content-Security-Policy", readerPolicy)
		c.Header("X-Content-Type-Options", "nosniff")
		c.Header("Referrer-Policy", "no-referrer")
		c.Data(http.StatusOK, "text/html; charset=utf-8", b.Bytes())
	})
	s.engine.GET(readerPath+"/style.css", func(c *gin.Context) {
		c.Header("Cache-Control", "no-cache")
		c.FileFromFS("reader/style.css", http.FS(readerFiles))
	})
}

// receive reads the body of a request, of at most so many bytes.
func receive(c *gin.Context, limit int64) ([]byte, error) {
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(BodyTimeout)) // of the system's clock, as all deadlines of connections
	var from io.Reader = c.Request.Body
	defer c.Request.Body.Close()
	packed := false
	switch encoding := strings.ToLower(c.GetHeader("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, errs.Errorf(errs.Invalid, "the body is not gzip, as its Content-Encoding says")
		}
		from, packed = unpacked, true
	default:
		return nil, errs.Errorf(errs.Invalid, "the Content-Encoding of the body may be gzip, or left out")
	}
	text, err := io.ReadAll(io.LimitReader(from, limit))
	timeout, slow := errors.AsType[net.Error](err)
	switch {
	case int64(len(text)) == limit:
		return nil, &errs.Error{Code: errs.TooLarge, Message: fmt.Sprintf("request body is too large limit=%d bytes", limit)}
	case slow && timeout.Timeout():
		return nil, errs.Errorf(errs.Unavailable, "request body read timeout")
	case err != nil && packed:
		return nil, errs.Errorf(errs.Invalid, "the body is not gzip to its end, as its Content-Encoding says")
	case err != nil:
		return nil, err
	}
	if kind := c.GetHeader("Content-Type"); len(text) > 0 && kind != "" && c.ContentType() != "application/json" {
		return nil, errs.Errorf(errs.Invalid, "unknown content type: %s", kind)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil // which some shells write before what they send
}

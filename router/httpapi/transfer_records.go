package httpapi

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/strictjson"
	"skillrouter/learning/knowledge"
	"skillrouter/router/transfer"
)

// Bounds of an import.
const (
	// maxImport bounds the body, in bytes: a request has many records.
	maxImport = 16 << 20
	// importChunk is how many bytes of records are read at once, or one that is longer:
	// what they become takes several times as much memory.
	importChunk = 1 << 20
	// bulkTurn is how long a body that is held in memory waits for those before it. One is
	// read at a time, or several would be held to be written one after another.
	bulkTurn = time.Minute
)

// importBody describes the body of an import.
type importBody struct {
	Records []json.RawMessage `json:"records" doc:"Each is a memory with its kind, as an export has them" maxItems:"1000"`
	DryRun  bool              `json:"dry_run,omitempty" doc:"Change nothing, and say what would become of them"`

	ImportID string `json:"import_id,omitempty" doc:"The import_id that the first part of an import was answered with, by which all of it can be taken back"`
	Source   string `json:"source,omitempty" doc:"What is imported, for the list of imports" maxLength:"512"`
}

func (s *Server) importRoute(to transfer.Service) {
	op := documented(http.MethodPost, "/api/import", "memory", "Take memories of another router in, each once")
	op.Description = "Records keep their ids, authors and times. What is there already stays as it is, so that the same request again changes nothing. " +
		"A record that is refused stops no other. The body may also be the bare array of the records, or one record a line. It needs the scope captain, which is asked before the body is read."
	s.describe(func(document *huma.OpenAPI) {
		own, registry := op, document.Components.Schemas
		line := registry.Schema(reflect.TypeFor[json.RawMessage](), true, "Record")
		own.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json":     {Schema: registry.Schema(reflect.TypeFor[importBody](), true, "ImportBody")},
			"application/x-ndjson": {Schema: line},
		}}
		own.Responses = map[string]*huma.Response{
			"200":     {Description: "What became of the records", Content: map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(reflect.TypeFor[transfer.Imported](), true, "Imported")}}},
			"default": problemResponse(document),
		}
		document.AddOperation(&own)
	})
	turn := make(chan struct{}, 1)
	s.engine.POST(op.Path, func(c *gin.Context) {
		ctx := c.Request.Context()
		body, err := openBulk(c, principal.ScopeCaptain, maxImport)
		var imported transfer.Imported
		if err == nil {
			imported, err = takeTurn(ctx, turn, func() (transfer.Imported, error) {
				list := importReader{texts: newTexts(body, maxEntry)}
				if err := list.readAll(c.ContentType()); err != nil {
					return transfer.Imported{}, err
				}
				return importAll(ctx, to, &list)
			})
		}
		if err = body.fault(err); err != nil {
			p := s.fail(ctx, err)
			body.refuse(c, p, p)
			return
		}
		body.answer(s, c, imported)
	})
}

// takeTurn does something when nobody else does it.
func takeTurn[T any](ctx context.Context, turn chan struct{}, do func() (T, error)) (none T, err error) {
	wait, cancel := context.WithTimeout(ctx, bulkTurn)
	defer cancel()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return do()
	case <-wait.Done():
		return none, errs.Errorf(errs.Unavailable, "another such call is under way: try again")
	}
}

// importReader reads the body of an import: an object with records, or the records alone.
type importReader struct {
	*texts
	request transfer.ImportRequest // all of it but the records
	queued  []importText
}

// importText is a record of an import that is not decoded yet.
type importText struct {
	kind  int // its place in transfer.Kinds
	text  []byte
	fault error // it cannot be read
}

func (r *importReader) readAll(contentType string) error {
	first, err := r.skipSpace()
	if err != nil {
		return r.fault(err, "the body is empty")
	}
	if r.back(); first == '{' && contentType == "application/json" {
		return r.object()
	}
	return r.list()
}

// object reads the members, in any order.
func (r *importReader) object() error {
	var names []byte // an object of the names alone, which the strict reader looks at
	_, _ = r.skipSpace()
	for {
		c, err := r.skipSpace()
		if err != nil {
			return r.fault(err, "the body is not finished")
		}
		if c == '}' && names == nil {
			break
		}
		if c == ',' && names != nil {
			if c, err = r.skipSpace(); err != nil {
				return r.fault(err, "the body is not finished")
			}
		}
		if c != '"' {
			return r.malformed("the name of a member is missing")
		}
		name, err := r.name()
		if err != nil {
			return err
		}
		if names == nil {
			names = append(names, '{')
		} else {
			names[len(names)-1] = ','
		}
		names = append(append(names, name...), ":null}"...)
		if err := strictjson.Decode(names, &importBody{}); err != nil {
			return err
		}
		if string(name) == `"records"` {
			err = r.records()
		} else {
			err = r.member(string(name))
		}
		if err != nil {
			return err
		}
		if c, err = r.skipSpace(); err != nil {
			return r.fault(err, "the body is not finished")
		}
		if c == '}' {
			break
		}
		if c != ',' {
			return r.malformed("a comma or the end of the body is missing")
		}
		r.back()
	}
	if !bytes.Contains(names, []byte(`"records"`)) {
		return errs.InvalidField("records", "is required")
	}
	if err := r.end(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// name reads the rest of a member's name, and the colon behind it.
func (r *importReader) name() ([]byte, error) {
	name := []byte{'"'}
	for escaped := false; ; {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, r.fault(err, "the body is not finished")
		}
		r.offset++
		if name = append(name, c); len(name) > check.MaxName {
			return nil, errs.InvalidField("a member", "is no field of this request")
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	c, err := r.skipSpace()
	if err != nil {
		return nil, r.fault(err, "the body is not finished")
	}
	if c != ':' {
		return nil, r.malformed("a colon is missing")
	}
	return name, nil
}

// member reads the value of a member that is not the records, whose name is quoted.
func (r *importReader) member(name string) error {
	text, err := r.value("the body is not finished")
	if err != nil {
		return err
	}
	into, must := any(&r.request.DryRun), "must be true or false"
	switch name {
	case `"import_id"`:
		into, must = &r.request.ImportID, "must be a text"
	case `"source"`:
		into, must = &r.request.Source, "must be a text"
	}
	if json.Unmarshal(text, into) != nil {
		return errs.InvalidField(strings.Trim(name, `"`), "%s", must)
	}
	return nil
}

// records reads the array of the records, which more of the body may follow.
func (r *importReader) records() error {
	c, err := r.skipSpace()
	if err != nil {
		return r.fault(err, "the body is not finished")
	}
	if c != '[' {
		return errs.InvalidField("records", "must be an array")
	}
	r.array, r.inner, r.read = true, true, r.element
	return r.list()
}

// list reads the records.
func (r *importReader) list() error {
	for {
		text, err := r.text()
		if errors.Is(err, io.EOF) {
			return nil
		}
		bad, unfit := errors.AsType[*knowledge.BadRecord](err)
		if err != nil && !unfit {
			return err
		}
		if len(r.queued) == transfer.MaxImport {
			return &errs.Error{Code: errs.TooLarge, Field: "records", Message: fmt.Sprintf("holds more than %d: send them in parts", transfer.MaxImport)}
		}
		if unfit {
			r.queued = append(r.queued, importText{fault: bad.Err})
			continue
		}
		var head struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(text, &head); r.array && strictjson.NotJSON(err) {
			return r.lost()
		}
		if head.Kind == "end" && !r.array {
			continue // an export's last line
		}
		r.queued = append(r.queued, importText{kind: slices.Index(transfer.Kinds(), head.Kind), text: bytes.Clone(text)})
	}
}

// importAll hands the records on, kind by kind as an import has them, in chunks
// of a bounded size, and gathers what became of them.
func importAll(ctx context.Context, to transfer.Service, list *importReader) (transfer.Imported, error) {
	all := transfer.Imported{Results: make([]transfer.ImportResult, len(list.queued)), DryRun: list.request.DryRun}
	order := make([]int, len(list.queued))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list.queued[a].kind, list.queued[b].kind) })
	for len(order) > 0 {
		request, size := list.request, 0
		for _, i := range order {
			one := &list.queued[i]
			if size += len(one.text); size > importChunk && len(request.Records) > 0 {
				break
			}
			record := transfer.Record{Fault: one.fault}
			if one.fault == nil {
				_ = record.UnmarshalJSON(one.text) // what is wrong with a record is its fault
			}
			request.Records = append(request.Records, record)
			one.text = nil
		}
		imported, err := to.Import(ctx, request)
		if err != nil {
			return all, err
		}
		for n, result := range imported.Results {
			result.Index = order[n]
			all.Results[order[n]] = result
		}
		all.ImportID, list.request.ImportID = imported.ImportID, imported.ImportID
		all.Stored, all.Duplicates, all.Refused = all.Stored+imported.Stored, all.Duplicates+imported.Duplicates, all.Refused+imported.Refused
		order = order[len(request.Records):]
	}
	return all, nil
}

func (s *Server) exportRoute() {
	s.engine.GET("/api/export", s.export)
	op := documented(http.MethodGet, "/api/export", "memory", "Everything that is remembered, one JSON object a line")
	op.Description = "Each line is a memory with its kind. What was stored before the call is in it unless it is deleted meanwhile. It needs the scope captain. " +
		`The last line is {"kind":"end","records":N}; if the router cannot finish, the connection breaks and there is none.`
	op.Parameters = []*huma.Param{
		described("query", "kinds", "Only these, comma-separated: "+strings.Join(transfer.Kinds(), ", "), text()),
		described("query", "project", "Only what belongs to this project", text()),
	}
	s.describe(func(document *huma.OpenAPI) {
		own := op
		own.Responses = map[string]*huma.Response{
			"200":     {Description: "The memories", Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: text()}}},
			"default": problemResponse(document),
		}
		document.AddOperation(&own)
	})
}

// exportQuery reads what an export is asked for.
func exportQuery(c *gin.Context) (q transfer.ExportQuery, err error) {
	if err := onlyQuery(c, "kinds", "project"); err != nil {
		return q, err
	}
	q.Project = c.Query("project")
	for kind := range strings.SplitSeq(c.Query("kinds"), ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			q.Kinds = append(q.Kinds, kind)
		}
	}
	return q, q.Check()
}

func (s *Server) export(c *gin.Context) {
	ctx := c.Request.Context()
	err := principal.Of(ctx).Need(principal.ScopeCaptain)
	query, wrong := exportQuery(c)
	if err == nil {
		err = wrong
	}
	if err != nil {
		abort(c, s.fail(ctx, err))
		return
	}
	c.Header("Content-Type", "application/x-ndjson")
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	out := bufio.NewWriterSize(patient(ctx, c.Writer), 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	records := 0
	err = s.services.Transfer.Export(ctx, query, func(r transfer.Record) error {
		records++
		return lines.Encode(r)
	})
	if err == nil {
		err = lines.Encode(map[string]any{"kind": "end", "records": records})
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "an export broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // a proper end would make it look whole
	}
}

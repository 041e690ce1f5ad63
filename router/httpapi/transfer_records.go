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
	first, err := r.first()
	switch {
	case errors.Is(err, io.EOF):
		return errs.Errorf(errs.Invalid, "the body is empty")
	case err != nil:
		return err
	case first == '{' && contentType == "application/json":
		return r.object()
	}
	for err == nil {
		err = r.queue(r.text())
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// object reads the members, in any order.
func (r *importReader) object() error {
	r.begun, r.array = true, r.decoder()
	members := map[string]any{"dry_run": &r.request.DryRun, "import_id": &r.request.ImportID, "source": &r.request.Source, "records": nil}
	_, err := r.array.Token()
	for err == nil && r.array.More() {
		var name json.Token
		if name, err = r.array.Token(); err != nil {
			break
		}
		into, known := members[name.(string)]
		switch {
		case !known:
			return errs.InvalidField(check.Head(name.(string), check.MaxName), "is no field of this request, or is there twice")
		case into == nil:
			err = r.records()
		default:
			err = r.array.Decode(into)
			if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
				return errs.InvalidField(name.(string), "must be %s", map[bool]string{true: "true or false", false: "a text"}[name == "dry_run"])
			}
		}
		delete(members, name.(string))
	}
	if err == nil {
		_, err = r.array.Token()
	}
	if err != nil {
		return r.fault(err)
	}
	if _, missing := members["records"]; missing {
		return errs.InvalidField("records", "is required")
	}
	if _, err := r.array.Token(); !errors.Is(err, io.EOF) {
		return r.malformed("something follows the object")
	}
	return nil
}

// records reads the array of the records, which more of the body may follow.
func (r *importReader) records() error {
	if open, err := r.array.Token(); err != nil {
		return err
	} else if open != json.Delim('[') {
		return errs.InvalidField("records", "must be an array")
	}
	for r.array.More() {
		r.left = readAhead * r.most
		if err := r.queue(r.value()); err != nil {
			return err
		}
	}
	_, err := r.array.Token()
	return err
}

// queue keeps a record, or why it cannot be read.
func (r *importReader) queue(text []byte, err error) error {
	bad, unfit := errors.AsType[*knowledge.BadRecord](err)
	switch {
	case err != nil && !unfit:
		return err
	case len(r.queued) == transfer.MaxImport:
		return &errs.Error{Code: errs.TooLarge, Field: "records", Message: fmt.Sprintf("holds more than %d: send them in parts", transfer.MaxImport)}
	case unfit:
		r.queued = append(r.queued, importText{fault: bad.Err})
		return nil
	}
	var head struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(text, &head)           // what is wrong with a record is said where it is read
	if head.Kind != "end" || r.array != nil { // else it is an export's last line
		r.queued = append(r.queued, importText{kind: slices.Index(transfer.Kinds(), head.Kind), text: bytes.Clone(text)})
	}
	return nil
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

package httpapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Bounds of an import.
const (
	// maxImport bounds the body, in bytes: a request has many records.
	maxImport = 16 << 20
	// bulkTurn is how long a body that is held in memory waits for those before it. One is
	// read at a time, or several would be held to be written one after another.
	bulkTurn = time.Minute
)

// ImportBody describes the body of an import.
type ImportBody struct {
	Records []json.RawMessage `json:"records" doc:"Each is a memory with its kind, as an export has them" maxItems:"1000" opaque:"true"`
	DryRun  bool              `json:"dry_run,omitempty" doc:"Change nothing, and say what would become of them"`

	ImportID string `json:"import_id,omitempty" doc:"The import_id that the first part of an import was answered with, by which all of it can be taken back"`
	Source   string `json:"source,omitempty" doc:"What is imported, for the list of imports" maxLength:"512"`
}

func (s *Server) importRoute(to transfer.Service) {
	op := documented(http.MethodPost, "/api/import", "memory", "Take memories of another router in, each once")
	op.Description = "Records keep their ids, authors and times. What is there already stays as it is, so that the same request again changes nothing. " +
		"A record that is refused stops no other. The body may also be the bare array of the records, or one record a line. It needs the scope captain, which is asked before the body is read."
	turn := make(chan struct{}, 1)
	bulk[transfer.Record, transfer.Imported, *Problem]{
		op: op, need: principal.ScopeCaptain, limit: maxImport, record: maxEntry, object: reflect.TypeFor[ImportBody](),
		store: func(ctx context.Context, from *records[transfer.Record]) (transfer.Imported, error) {
			return takeTurn(ctx, turn, func() (transfer.Imported, error) {
				request, err := readImport(from.texts)
				if err != nil {
					return transfer.Imported{}, err
				}
				return to.Import(ctx, request)
			})
		},
		broken: func(p *Problem, _ transfer.Imported) *Problem { return p },
	}.mount(s)
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

// readImport reads the body of an import: an object with records, or the records alone, as an array or one a line.
func readImport(list *texts) (request transfer.ImportRequest, err error) {
	first, err := list.first()
	switch {
	case errors.Is(err, io.EOF):
		err = errs.Errorf(errs.Invalid, "the body is empty")
	case err == nil && first == '{' && list.json:
		err = readObject(list, &request)
	case err == nil:
		err = readRecords(list, &request)
	}
	return request, err
}

// readRecords reads records to their end.
func readRecords(list *texts, request *transfer.ImportRequest) error {
	for {
		text, err := list.text()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := addRecord(request, text, err); err != nil {
			return err
		}
	}
}

var errTooMany = &errs.Error{Code: errs.TooLarge, Field: "records", Message: fmt.Sprintf("holds more than %d: send them in parts", transfer.MaxImport)}

// addRecord adds a record, or why it cannot be used.
func addRecord(request *transfer.ImportRequest, text []byte, err error) error {
	var record transfer.Record
	if bad, unfit := errors.AsType[*knowledge.BadRecord](err); unfit {
		record.Fault = bad.Err
	} else if err != nil {
		return err
	} else if record = transfer.Sent(text); record.Kind == "end" {
		return nil // an export's last line
	}
	if request.Records = append(request.Records, record); len(request.Records) > transfer.MaxImport {
		return errTooMany
	}
	return nil
}

// readObject reads an object with records. What lies in a record is its own matter, and its bounds are a record's.
func readObject(list *texts, request *transfer.ImportRequest) error {
	text, err := io.ReadAll(list.in)
	if list.begun = true; err != nil {
		return brokenOff(err)
	}
	var body struct {
		ImportBody
		Records *[2*transfer.MaxImport + 1]json.RawMessage `json:"records" opaque:"true"` // those behind are passed over, unheld
	}
	switch err := strictjson.Decode(text, &body); {
	case err != nil && errs.FieldOf(err) == "":
		return errs.Wrap(errs.Invalid, err, "the body is not one object in valid JSON")
	case err != nil:
		return err
	}
	if body.Records == nil {
		return errs.InvalidField("records", "is required")
	}
	request.DryRun, request.ImportID, request.Source = body.DryRun, body.ImportID, body.Source
	for i, record := range body.Records {
		if record == nil {
			break // behind the last
		}
		if i == len(body.Records)-1 {
			return errTooMany // even if most are ends of exports: more may have been passed over
		}
		if err := addRecord(request, record, list.check(record)); err != nil {
			return err
		}
	}
	return nil
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
	query, wrong := exportQuery(c)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeCaptain), wrong); err != nil {
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
	err := s.services.Transfer.Export(ctx, query, func(r transfer.Record) error {
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

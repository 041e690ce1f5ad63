// Package transfer takes what is remembered in and out of a router: records of every kind, one after the other, which
// Export gives and Import takes, and which is safe to make again. It owns the form of a Record; what is true of each kind is its
// service's to say.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Service carries memories from one router to another, and from other
// systems into this one. Transfer implements it beside the databases,
// router/client over HTTP.
type Service interface {
	// Import takes records in, each once however often it is sent. It needs ScopeCaptain.
	Import(ctx context.Context, request ImportRequest) (Imported, error)
	// Export visits records, kind by kind and in the order of storing. It needs ScopeCaptain.
	//
	// Each record is as it was when it was read. What was stored before the export began is
	// in it, unless it was deleted meanwhile; what is stored later may be.
	Export(ctx context.Context, query ExportQuery, visit func(Record) error) error
	// Imports lists the imports that added something. It needs ScopeCaptain.
	Imports(ctx context.Context, filter ImportFilter) (ImportPage, error)
	// Undo takes back what an import added, part by part. It needs ScopeCaptain.
	Undo(ctx context.Context, id string, draft UndoDraft) (UndoAnswer, error)
}

// ImportRequest is records to take in.
type ImportRequest struct {
	Records []Record `json:"records"`
	DryRun  bool     `json:"dry_run,omitempty"` // change nothing, and say what would become of them
	// ImportID is the import that the request goes on with, by which all of it can be taken back; empty: a new one.
	ImportID string `json:"import_id,omitempty"`
	Source   string `json:"source,omitempty"` // what a new import reads, for who lists imports
}

// MaxSource bounds what is said of an import's source, in bytes.
const MaxSource = 512

// MaxImport bounds the records of one request: each is answered for.
const MaxImport = 1000

// maxDecoded is how many bytes of records are decoded at once, or one that is longer: what they become takes up to forty times as much memory.
const maxDecoded = 512 << 10

// ImportStatus is what became of a record.
type ImportStatus string

// The statuses of records.
const (
	ImportStored    ImportStatus = "stored"
	ImportDuplicate ImportStatus = "duplicate" // it was there already, and was left as it is
	ImportRefused   ImportStatus = "refused"
)

// ImportResult is what became of one record.
type ImportResult struct {
	Index  int          `json:"index"` // in the request, from 0
	Kind   string       `json:"kind"`
	ID     string       `json:"id,omitempty"`
	Status ImportStatus `json:"status"`
	Field  string       `json:"field,omitempty"`
	Error  string       `json:"error,omitempty"`
}

// Imported is what became of a request's records: of each, in their order.
type Imported struct {
	Results    []ImportResult `json:"results"`
	Stored     int            `json:"stored"`
	Duplicates int            `json:"duplicates"`
	Refused    int            `json:"refused"`
	DryRun     bool           `json:"dry_run,omitempty"`
	// ImportID is by what the import can be taken back; empty: it added nothing.
	ImportID string `json:"import_id,omitempty"`
}

// ExportQuery selects what is exported.
type ExportQuery struct {
	Kinds   []string `query:"kinds"`                                           // empty: all
	Project string   `query:"project" doc:"Only what belongs to this project"` // empty: all; else kinds that belong to no project are left out
}

// Transfer is the TransferService beside the databases.
type Transfer struct {
	memories []kind.Memory
	undos    map[string]kind.Undo // by the kind's name
	log      Log
	now      clock.Clock
}

var _ Service = (*Transfer)(nil)

// New makes a Transfer of those of the memories that are exported. now is time.Now if nil.
func New(memories []kind.Memory, log Log, now clock.Clock) *Transfer {
	now = now.Given()
	t := &Transfer{kind.Placed(memories, func(m kind.Memory) int { return m.Exported }), map[string]kind.Undo{}, log, now}
	for _, memory := range t.memories {
		t.undos[memory.Name] = memory.Undo
	}
	return t
}

// Import implements TransferService.
func (t *Transfer) Import(ctx context.Context, request ImportRequest) (Imported, error) {
	answer := Imported{Results: make([]ImportResult, len(request.Records)), DryRun: request.DryRun}
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return answer, err
	}
	if len(request.Records) > MaxImport {
		return answer, errs.InvalidField("records", "holds more than %d: send them in parts", MaxImport)
	}
	if err := check.Text("source", request.Source, MaxSource); err != nil {
		return answer, err
	}
	part, err := t.part(ctx, request)
	if err != nil {
		return answer, err
	}
	answer.ImportID = request.ImportID
	for _, memory := range t.memories {
		for from := 0; from < len(request.Records); {
			records, places, next := decoded(memory, request.Records, from)
			if from = next; len(places) == 0 {
				continue
			}
			taken, err := memory.Import(ctx, records, learning.Taking{DryRun: request.DryRun})
			if err != nil {
				return answer, err
			}
			for n, i := range places {
				answer.Results[i] = resultOf(i, memory.Name, taken[n])
			}
			if request.DryRun {
				continue
			}
			added, err := t.added(ctx, part, memory, taken)
			if err != nil {
				return answer, err
			}
			if added > 0 {
				answer.ImportID = part.ID
			}
		}
	}
	for i, r := range request.Records {
		if r.Fault == nil {
			r.Fault = check.OneOf("kind", r.Kind, Kinds())
		}
		if r.Fault != nil {
			answer.Results[i] = resultOf(i, r.Kind, learning.Taken{Err: r.Fault})
		}
		switch answer.Results[i].Status {
		case ImportStored:
			answer.Stored++
		case ImportDuplicate:
			answer.Duplicates++
		default:
			answer.Refused++
		}
	}
	return answer, nil
}

// decoded are records of a kind from a place on, with their places, as many as are decoded at once, and the place behind them.
func decoded(memory kind.Memory, all []Record, from int) (records []any, places []int, next int) {
	size := 0
	for next = from; next < len(all) && size < maxDecoded; next++ {
		r := &all[next]
		if r.Kind != memory.Name || r.Fault != nil {
			continue
		}
		record := r.Memory
		if text, sent := record.(json.RawMessage); sent {
			record, r.Fault = memory.Decode(text)
			size += len(text)
		}
		if r.Fault == nil {
			records, places = append(records, record), append(places, next)
		}
	}
	return records, places, next
}

func resultOf(index int, kind string, taken learning.Taken) ImportResult {
	r := ImportResult{Index: index, Kind: kind, ID: taken.ID, Status: ImportStored}
	switch {
	case taken.Err != nil:
		r.Status, r.Field, r.Error = ImportRefused, errs.FieldOf(taken.Err), errs.MessageOf(taken.Err)
	case taken.Duplicate:
		r.Status = ImportDuplicate
	}
	return r
}

// Operations is how the methods of a Service are called from outside, but for exports, which are streams.
var Operations = operation.With(
	operation.Of("memory", "/api/import", operation.Post("", "Take records in", Service.Import).Shaped("").Needs("read")),
	operation.Of("memory", "/api/imports",
		operation.Get("", "The imports that added something, newest first; for the captain", Service.Imports),
		operation.Post("/{id}/undo", "Take back what an import added, but for what was changed or used since; for the captain", Service.Undo).Needs("captain"),
	),
)

// Kinds lists the kinds of memory that are exported and imported, in that order.
var Kinds = sync.OnceValue(func() []string { return kind.Names(kind.Exported) })

// Record is one memory of one kind. As JSON it is that memory with its "kind".
type Record struct {
	Kind   string
	Memory any // a pointer, as the kind's Decode gives it; of a record that was sent its text, which Import decodes

	// Fault is what made it impossible to read the record: it is refused, beside the others.
	Fault error
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) {
	members, err := strictjson.Plain(r.Memory)
	if err != nil {
		return nil, err
	}
	if len(members) < 2 || members[0] != '{' {
		return nil, errors.New("a record without its memory")
	}
	out := append([]byte(`{"kind":"`), r.Kind...)
	out = append(out, '"')
	if members = members[1:]; members[0] != '}' {
		out = append(out, ',')
	}
	return append(out, members...), nil
}

// Sent is a record that somebody sent. What is wrong with it is its Fault, so that the others with it can be taken in.
func Sent(text []byte) Record {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Record{Fault: errs.Wrap(errs.Invalid, err, "the record must be an object with a kind")}
	}
	return Record{Kind: head.Kind, Memory: json.RawMessage(bytes.Clone(text))}
}

// DecodeRecord reads a memory of a kind, as its Decode does.
func DecodeRecord(name string, text []byte) (r Record, err error) {
	r.Kind = name
	if err = check.OneOf("kind", name, Kinds()); err == nil {
		r.Memory, err = kind.Named(name).Decode(text)
	}
	return r, err
}

// Export implements TransferService.
func (t *Transfer) Export(ctx context.Context, query ExportQuery, visit func(Record) error) error {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeCaptain), query.Check()); err != nil {
		return err
	}
	now := t.now()
	for _, memory := range t.memories {
		if len(query.Kinds) > 0 && !slices.Contains(query.Kinds, memory.Name) || query.Project != "" && !memory.OfProject {
			continue
		}
		if err := memory.Export(ctx, query.Project, now, func(record any) error { return visit(Record{Kind: memory.Name, Memory: record}) }); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses kinds that there are not, and those of which a project has none.
func (q ExportQuery) Check() error {
	for _, name := range q.Kinds {
		if err := check.OneOf("kinds", name, Kinds()); err != nil {
			return err
		}
		if q.Project != "" && !kind.Named(name).OfProject {
			return errs.InvalidField("kinds", "has %s, which belong to no project: leave one of both out", name)
		}
	}
	return check.Name("project", q.Project)
}

package transfer

import (
	"context"
	"time"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
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
}

// ImportRequest is records to take in.
type ImportRequest struct {
	Records []Record `json:"records"`
	DryRun  bool     `json:"dry_run,omitempty"` // change nothing, and say what would become of them
}

// MaxImport bounds the records of one request: each is answered for.
const MaxImport = 1000

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
	Kind   Kind         `json:"kind"`
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
}

// ExportQuery selects what is exported.
type ExportQuery struct {
	Kinds   []Kind `query:"kinds"`   // empty: all
	Project string `query:"project"` // empty: all; else kinds that belong to no project are left out
}

// Ports are what a Transfer reads and writes.
type Ports struct {
	Memory      MemoryReader
	Knowledge   *knowledge.Base
	Experiences *experience.Experiences
	Lessons     *lesson.Lessons
	Patterns    *lesson.Patterns
	Facts       *fact.Facts
	Procedures  *procedure.Procedures

	ReminderRows operational.ReminderTransfer
	Reminders    *operational.Reminders
}

// Transfer is the TransferService beside the databases.
type Transfer struct {
	ports Ports
	now   skillrouter.Clock
}

var _ Service = (*Transfer)(nil)

// New makes a Transfer. now is time.Now if nil.
func New(ports Ports, now skillrouter.Clock) *Transfer {
	if now == nil {
		now = time.Now
	}
	return &Transfer{ports: ports, now: now}
}

// Import implements TransferService.
func (t *Transfer) Import(ctx context.Context, request ImportRequest) (Imported, error) {
	answer := Imported{Results: make([]ImportResult, len(request.Records)), DryRun: request.DryRun}
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeCaptain); err != nil {
		return answer, err
	}
	if len(request.Records) > MaxImport {
		return answer, skillrouter.InvalidField("records", "holds more than %d: send them in parts", MaxImport)
	}
	for _, kind := range Kinds() {
		var places []int
		for i, r := range request.Records {
			if r.Kind == kind && r.Fault == nil {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		taken, err := t.take(ctx, kind, request, places)
		if err != nil {
			return answer, err
		}
		for n, i := range places {
			answer.Results[i] = resultOf(i, kind, taken[n])
		}
	}
	for i, r := range request.Records {
		if r.Fault == nil && !r.Kind.known() {
			r.Fault = skillrouter.CheckOneOf("kind", r.Kind, Kinds())
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

func resultOf(index int, kind Kind, taken learning.Taken) ImportResult {
	r := ImportResult{Index: index, Kind: kind, ID: taken.ID, Status: ImportStored}
	switch {
	case taken.Err != nil:
		r.Status, r.Field, r.Error = ImportRefused, skillrouter.FieldOf(taken.Err), skillrouter.MessageOf(taken.Err)
	case taken.Duplicate:
		r.Status = ImportDuplicate
	}
	return r
}

// pick collects one kind's records at their places.
func pick[T any](records []Record, places []int, of func(Record) *T) []T {
	picked := make([]T, len(places))
	for n, i := range places {
		if record := of(records[i]); record != nil {
			picked[n] = *record
		}
	}
	return picked
}

// take hands the records of one kind, at their places in the request, to who keeps that kind.
func (t *Transfer) take(ctx context.Context, kind Kind, request ImportRequest, places []int) ([]learning.Taken, error) {
	taking := learning.Taking{DryRun: request.DryRun}
	switch kind {
	case RecordKnowledge:
		return t.ports.Knowledge.Take(ctx, pick(request.Records, places, func(r Record) *knowledge.Knowledge { return r.Knowledge }), taking)
	case RecordEpisode:
		return t.ports.Experiences.Take(ctx, pick(request.Records, places, func(r Record) *experience.EpisodeRecord { return r.Episode }), taking)
	case RecordLesson:
		return t.ports.Lessons.Take(ctx, pick(request.Records, places, func(r Record) *lesson.Lesson { return r.Lesson }), taking)
	case RecordPattern:
		return t.ports.Patterns.Take(ctx, pick(request.Records, places, func(r Record) *lesson.PatternRecord { return r.Pattern }), taking)
	case RecordFact:
		return t.ports.Facts.Take(ctx, pick(request.Records, places, func(r Record) *fact.Fact { return r.Fact }), taking)
	case RecordProcedure:
		return t.ports.Procedures.Take(ctx, pick(request.Records, places, func(r Record) *procedure.Procedure { return r.Procedure }), taking)
	}
	reminders, err := t.ports.Reminders.Take(ctx, pick(request.Records, places, func(r Record) *operational.Reminder { return r.Reminder }), request.DryRun)
	taken := make([]learning.Taken, len(reminders))
	for i, r := range reminders {
		taken[i] = learning.Taken{ID: r.Key, Duplicate: r.Duplicate, Err: r.Err}
	}
	return taken, err
}

package procedure

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Store keeps procedures and their runs. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// ChangeProcedures queues a change and returns at once; changes are made in the order in
	// which they were queued, each in a durable transaction. decide may be called twice.
	// after is called after the commit, in commit order, before wait returns; not if it failed.
	ChangeProcedures(ctx context.Context, decide func(tx Tx) error, after func()) (wait func() error)
	// Stored returns the procedure of that name, a deleted one too.
	StoredProcedure(ctx context.Context, persona, name string) (p Stored, ok bool, err error)
	// Body returns what a version of a procedure says.
	ProcedureBody(ctx context.Context, procedure, version int64) (body Body, author string, ok bool, err error)
	// ProcedureVersions returns what the versions of a procedure before this one say, the latest first and at most limit, with when each was saved.
	ProcedureVersions(ctx context.Context, procedure, before int64, limit int) ([]Stored, error)
	// StepRecords returns how the steps of a procedure went, by their names.
	StepRecords(ctx context.Context, procedure int64) (map[string]StepRecord, error)
	// ListProcedures returns procedures by persona and name; up to MaxAnswer bytes of them.
	// filter.Persona is empty for everybody's, its Limit is set.
	ListProcedures(ctx context.Context, filter Filter) ([]Stored, error)
	// ProceduresByID returns the procedures with these ids (ID) that there are, in no order.
	ProceduresByID(ctx context.Context, ids []string) ([]Stored, error)
	// ScanProcedures visits every procedure that is not deleted, chunk by chunk.
	ScanProcedures(ctx context.Context, visit func(chunk []Stored) error) error
	// ProcedureFiles returns all procedures, deleted ones too, that a file may have to do with.
	ProcedureFiles(ctx context.Context) ([]Stored, error)
	// StoredRun returns a run.
	StoredRun(ctx context.Context, id string) (run StoredRun, ok bool, err error)
	// ListRuns returns runs without the results of their steps, the latest first. filter.Limit is set.
	ListRuns(ctx context.Context, filter RunFilter) ([]Run, error)
	// CountProcedures counts procedures of each persona, and runs.
	CountProcedures(ctx context.Context) (Stats, error)
}

// Tx is one transaction on procedures and runs. It is used by its
// change alone and ends with it.
type Tx interface {
	// Procedure returns the procedure of that name, a deleted one too. The name may differ in case.
	Procedure(persona, name string) (p Stored, ok bool, err error)
	// ProcedureOf returns the procedure of that number.
	ProcedureOf(number int64) (p Stored, ok bool, err error)
	// PutProcedure stores a procedure over what has its number; 0 gives it one.
	PutProcedure(p *Stored) error
	// AddVersion keeps what the procedure's latest version says.
	AddVersion(p Stored) error
	// StepRecords returns how the steps of a procedure went, by their names.
	StepRecords(procedure int64) (map[string]StepRecord, error)
	// PutStepRecord stores how a step went.
	PutStepRecord(procedure int64, record StepRecord) error
	// DropStepRecords forgets how the steps went.
	DropStepRecords(procedure int64) error
	// AddRun stores a new run and gives it its number.
	AddRun(run *StoredRun) error
	// PutRun stores a run and those of its steps, if it is still of the revision run.Rev; ok
	// is false, and nothing stored, if it is not. It leaves a run with its new revision.
	PutRun(run *StoredRun, steps []int) (ok bool, err error)
	// SetLesson notes which lesson was proposed because of a step.
	SetLesson(run int64, step int, lesson string) error
	// AddEvents appends to the event log.
	AddEvents(events ...eventlog.Event) error
}

// Body is what a version of a procedure says.
type Body struct {
	Description string          `json:"description,omitempty"`
	Category    string          `json:"category"`
	Params      []Param         `json:"params,omitempty"`
	Steps       []Step          `json:"steps"`
	LearnedFrom json.RawMessage `json:"learned_from,omitempty"`
}

// Stored is a procedure and what its store keeps of it besides.
type Stored struct {
	Number             int64
	Persona, Name      string
	Version            int64
	Body               Body
	Size               int // bytes of the body as it is stored
	Author             string
	Trust              learning.Trust
	SaidRate, SaidTime float64 // what the file says
	Runs, Succeeded    int64
	Took               float64 // seconds, of the runs that succeeded together
	File               FileMark
	CreatedAt          time.Time
	UpdatedAt          time.Time
	DeletedAt          *time.Time
}

// FileMark says how a procedure and its file stand to each other.
type FileMark struct {
	Path string // within the folder, with slashes; empty: it has none
	// Mark is of the file's content when both were last in step; empty: they never were.
	Mark    string
	Version int64 // the procedure's, then
}

// StepRecord is how the steps of one name went.
type StepRecord struct {
	Name                                string
	Succeeded, Failed, Skipped, Unknown int64
	Took                                float64  // seconds, of those that succeeded together
	Recent                              string   // the last outcomes, the latest last: s or f each
	Errors                              []string // of the last failures, the latest last
}

// StoredRun is a run and what its store keeps of it besides.
type StoredRun struct {
	Number int64
	Rev    int64
	Of     int64 // the procedure's number
	Run
}

// ID names a procedure in one text. No persona's name has a slash.
func ID(persona, name string) string { return persona + "/" + name }

// The types of the events of procedures and runs.
const (
	EventSaved      = "procedure.saved"
	EventDeleted    = "procedure.deleted"
	EventRunStarted = "run.started"
	EventRunStep    = "run.step" // a step was handed out
	EventRunEnded   = "run.ended"
)

// Event is the Data of a procedure's events. Their Subject is its ID.
type Event struct {
	Persona  string `json:"persona"`
	Name     string `json:"name"`
	Version  int64  `json:"version"`
	Category string `json:"category"`
}

// RunEvent is the Data of a run's events. Their Subject is the run's id.
type RunEvent struct {
	Persona   string    `json:"persona"`
	Procedure string    `json:"procedure"`
	Version   int64     `json:"version"`
	Status    RunStatus `json:"status"`
	Step      string    `json:"step,omitempty"` // that was handed out
	Index     *int      `json:"index,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
}

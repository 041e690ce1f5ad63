// Package procedure stores how something is done: steps with parameters and conditions, the runs of
// these steps, and how often each step succeeded.
package procedure

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Service is what can be done with procedures: steps that worked, to
// be gone through again. Procedures implements it beside the database,
// router/client over HTTP.
//
// The router runs no step. It hands them out one at a time, to whoever runs
// the procedure, and keeps what they report.
type Service interface {
	// Save stores a procedure, as a further version of what is under its name. What says
	// the same as the latest version changes nothing. It needs ScopeAgent; over what another
	// agent saved for a persona other than check.DefaultPersona and SharedPersona, ScopeCaptain. Delete does too.
	Save(ctx context.Context, draft Draft) (Saved, error)
	// Procedure returns a procedure by its name; NotFound if there is none. It needs ScopeRead.
	Procedure(ctx context.Context, ref Ref) (Procedure, error)
	// List returns a persona's procedures, by name. It needs ScopeRead.
	List(ctx context.Context, filter Filter) (Page, error)
	// Search finds the procedures that fit a need in plain words, best first. It needs ScopeRead.
	Search(ctx context.Context, query Query) (Results, error)
	// Delete removes a procedure with its file and its figures. Its runs stay, and those
	// under way go on with the steps that they began with; saved again, its versions go on. It needs ScopeAgent.
	Delete(ctx context.Context, ref Ref) error
	// Problems lists the files that hold no procedure, and why, with the line. It needs ScopeRead.
	Problems(ctx context.Context) ([]FileProblem, error)

	// Start begins a run and hands out its first step. It needs ScopeAgent.
	Start(ctx context.Context, draft RunDraft) (Run, error)
	// Run returns a run with the results of its steps. It needs ScopeRead.
	Run(ctx context.Context, id string) (Run, error)
	// Runs lists runs, the latest first, without the results of their steps. It needs ScopeRead.
	Runs(ctx context.Context, filter RunFilter) ([]Run, error)
	// Next hands out the step that is due, if that could not be done by the report before. One
	// that was handed out and not reported is a Conflict, unless the request says that it is
	// to be handed out again; it then says that it is (Attempt > 1). It needs ScopeAgent and the agent of the run.
	Next(ctx context.Context, request StepRequest) (Run, error)
	// Report takes in how the step went, and hands out the one that is due then. The same
	// report again changes nothing. It needs ScopeAgent and the agent of the run.
	Report(ctx context.Context, report StepReport) (Run, error)
	// Abandon ends a run before its end. It needs ScopeAgent and the agent of the run.
	Abandon(ctx context.Context, id, reason string) (Run, error)
	// Stats counts procedures and runs. It needs ScopeRead.
	Stats(ctx context.Context) (Stats, error)
}

// Step is one step of a procedure. Its names are those of the persona memory's files.
type Step struct {
	Name        string `json:"name,omitempty"` // empty in a draft: step-1, step-2, …
	Description string `json:"description,omitempty"`
	// Condition, in the language of condition.Compile, tells whether the step is due; empty: always.
	Condition string `json:"condition,omitempty"`
	// Action is what to do, for whoever runs the procedure: words, code, or a template of either.
	Action string `json:"action,omitempty"`
	// Run is a command line, which `skillrouter procedures run --exec` can execute itself.
	Run string `json:"run,omitempty"`
	// Timeout bounds Run, in seconds; 0: DefaultStepTimeout.
	Timeout int64 `json:"timeout,omitempty"`
	// OnFailure says what follows a failure: stop (the default) or continue.
	OnFailure string `json:"on_failure,omitempty"`
}

// Procedure is steps under a name. Names are unique within a persona.
type Procedure struct {
	Persona     string          `json:"persona"`
	Name        string          `json:"name"` // also the file's, without .yaml
	Version     int64           `json:"version"`
	Description string          `json:"description,omitempty"`
	Category    string          `json:"category"`
	Params      []Param         `json:"params,omitempty"`
	Steps       []Step          `json:"steps"`
	LearnedFrom json.RawMessage `json:"learned_from,omitempty"` // the persona's memory: a list of {episode: …}
	Author      string          `json:"agent_id,omitempty"`
	Trust       learning.Trust  `json:"trust"`
	File        string          `json:"file,omitempty"` // within the folder of procedures
	Runs        int64           `json:"runs"`           // that succeeded or failed
	Succeeded   int64           `json:"succeeded"`
	SuccessRate float64         `json:"success_rate"`         // 0 to 1; of no runs, what the file says or 0
	AvgTime     float64         `json:"avg_execution_time"`   // seconds, of the runs that succeeded
	StepStats   []StepStats     `json:"step_stats,omitempty"` // in the order of Steps
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

// Param is a parameter of a procedure.
type Param struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"` // absent: a run must give it
}

// StepStats is how a step went in all runs of the procedure's versions that have a step of the name.
type StepStats struct {
	Name      string  `json:"name"`
	Succeeded int64   `json:"succeeded"`
	Failed    int64   `json:"failed"`
	Skipped   int64   `json:"skipped"`
	Unknown   int64   `json:"unknown"`  // handed out and never reported
	AvgTime   float64 `json:"avg_time"` // seconds, of those that succeeded
}

// Ref names a procedure.
type Ref struct {
	Persona string `path:"persona" doc:"The persona's name; default is everybody's" default:"default"` // empty: DefaultPersona
	Name    string `path:"name"`
	Version int64  `query:"version" doc:"0: the latest"`
}

// Draft is what a client may say of a procedure.
type Draft struct {
	Persona     string          `json:"persona,omitempty" path:"persona" default:"default" doc:"Whose memory; default \"default\""`
	Name        string          `json:"name" path:"name" doc:"Letters, digits, . _ -"`
	Description string          `json:"description,omitempty" doc:"What it is for; it is found by this"`
	Category    string          `json:"category,omitempty" doc:"Default general"` // empty: general
	Params      []Param         `json:"params,omitempty" doc:"Each with name and maybe default; ${name} in an action is its value"`
	Steps       []Step          `json:"steps" doc:"Each with name, action and, if need be, description, condition (such as exit_code != 0), run (a command line), on_failure: continue"`
	LearnedFrom json.RawMessage `json:"learned_from,omitempty"`
	AgentID     string          `json:"agent_id,omitempty" actor:"true"`
}

// Saved says what became of a draft.
type Saved struct {
	Persona  string   `json:"persona"`
	Name     string   `json:"name"`
	Version  int64    `json:"version"`
	Changed  bool     `json:"changed"` // false: the latest version says the same
	Redacted []string `json:"redacted,omitempty"`
}

// Filter selects procedures; empty fields select everything.
type Filter struct {
	Persona  string `json:"persona,omitempty" doc:"Default: default; *: everybody's"` // empty: DefaultPersona; "*": everybody's
	Category string `json:"category,omitempty"`
	After    string `json:"after,omitempty" doc:"The answer's next of the page before"`
	Limit    int    `json:"limit,omitempty" doc:"1 to 200; 0: 50"`
}

// Page is procedures, by name.
type Page struct {
	Procedures []Procedure `json:"procedures"`
	Count      int         `json:"count"`
	Next       string      `json:"next,omitempty"`
}

// Query asks for a procedure by what it is needed for.
type Query struct {
	Query    string `json:"query"`
	Persona  string `json:"persona,omitempty"` // empty: DefaultPersona; "*": everybody's
	Category string `json:"category,omitempty"`
	AgentID  string `json:"agent_id,omitempty"` // its author
	// Since, Until and TimeRange bound when it was last saved, as an episode.Filter's do.
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	TimeRange string    `json:"time_range,omitempty"`
	Limit     int       `json:"limit,omitempty"`
	Explain   bool      `json:"explain,omitempty"`

	Corpus *tfidf.Corpus `json:"-"` // as knowledge.Query's
}

// Hit is a procedure that was found.
type Hit struct {
	Procedure
	RelevanceScore float64           `json:"relevance_score"`
	Relevance      float64           `json:"relevance"` // as knowledge.Hit's
	Why            []learning.Reason `json:"why,omitempty"`
	Evidence       tfidf.Evidence    `json:"-"` // as knowledge.Hit's
}

// Results is the answer to a Query.
type Results struct {
	Results   []Hit             `json:"results"`
	Count     int               `json:"count"`
	Corrected map[string]string `json:"corrected,omitempty"`
	Notice    string            `json:"notice,omitempty" doc:"What the caller should know about this answer"`
	Repairs   []learning.Repair `json:"tried,omitempty"` // as knowledge.Results'
}

// FileProblem is a file that holds no procedure.
type FileProblem struct {
	File    string    `json:"file"` // within the folder of procedures
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Problem string    `json:"problem"`
	At      time.Time `json:"at"`
}

// RunStatus is where a run stands.
type RunStatus string

// The statuses of a run.
const (
	RunRunning   RunStatus = "running"
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunAbandoned RunStatus = "abandoned"
)

// StepStatus is where a step of a run stands.
type StepStatus string

// The statuses of a step.
const (
	StepPending   StepStatus = "pending"    // its turn has not come
	StepHandedOut StepStatus = "handed_out" // somebody was told to do it
	StepSucceeded StepStatus = "succeeded"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped" // its condition did not hold
	StepUnknown   StepStatus = "unknown" // it was handed out, and nobody will ever say how it went
)

// RunDraft begins a run.
type RunDraft struct {
	Persona string                     `json:"persona,omitempty" path:"persona" default:"default" doc:"Whose memory; default \"default\""`
	Name    string                     `json:"name" path:"name"`
	Params  map[string]json.RawMessage `json:"params,omitempty" doc:"Their values by name"`
	AgentID string                     `json:"agent_id,omitempty" actor:"true"`
	Project string                     `json:"project,omitempty" here:"project"`
}

// Run is a procedure on its way.
type Run struct {
	ID        string                     `json:"id"`
	Persona   string                     `json:"persona"`
	Procedure string                     `json:"procedure"`
	Version   int64                      `json:"version"`
	AgentID   string                     `json:"agent_id,omitempty"`
	Project   string                     `json:"project,omitempty"`
	Params    map[string]json.RawMessage `json:"params,omitempty"`
	Status    RunStatus                  `json:"status"`
	Reason    string                     `json:"reason,omitempty"` // why it failed or was abandoned
	Steps     []RunStep                  `json:"steps"`
	Next      *RunStep                   `json:"next,omitempty"` // the step that was just handed out, or waits to be
	StartedAt time.Time                  `json:"started_at"`
	EndedAt   *time.Time                 `json:"ended_at,omitempty"`
}

// RunStep is a step of a run.
type RunStep struct {
	Index       int             `json:"index"` // from 0
	Step                        // as it was when the run began, with its parameters put in
	Status      StepStatus      `json:"status"`
	Attempt     int             `json:"attempt"` // how often it was handed out; more than 1: it was said so
	HandedOutAt *time.Time      `json:"handed_out_at,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       string          `json:"error,omitempty"`
	Reason      string          `json:"reason,omitempty"` // why it was skipped or is unknown
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
	Duration    float64         `json:"duration,omitempty"`  // seconds
	LessonID    string          `json:"lesson_id,omitempty"` // proposed because the step keeps failing
}

// StepRequest asks for the step that is due.
type StepRequest struct {
	RunID string `json:"run_id" path:"id" doc:"The run's id"`
	// Again hands out once more a step that was handed out and not reported: its outcome is unknown.
	Again bool `json:"again,omitempty" doc:"Hand out once more what was handed out and not reported: how it went then is unknown"`
}

// StepReport says how a step went.
type StepReport struct {
	RunID    string          `json:"run_id" path:"id" doc:"The run's id"`
	Index    int             `json:"index" path:"index" doc:"From 0"`
	Attempt  int             `json:"attempt,omitempty" doc:"Which handing out is reported; 0: the latest"`
	Status   StepStatus      `json:"status" doc:"succeeded, failed, skipped or unknown"`
	Result   json.RawMessage `json:"result,omitempty" doc:"Any JSON; later conditions see it as results.NAME"`
	Error    string          `json:"error,omitempty"`
	Duration *float64        `json:"duration,omitempty" doc:"Seconds; default: since it was handed out"`
}

// RunFilter selects runs; empty fields select everything.
type RunFilter struct {
	Persona   string    `query:"persona" doc:"Only runs of this persona's procedures"`
	Procedure string    `query:"procedure" doc:"Only runs of this procedure"`
	AgentID   string    `query:"agent_id" doc:"Only this agent's"`
	Status    RunStatus `query:"status" doc:"running, succeeded, failed or abandoned"`
	Limit     int       `query:"limit" doc:"1 to 200; 0: 10" usual:"10,200"`
}

// Stats is how much there is.
type Stats struct {
	Personas map[string]int64 `json:"personas"` // procedures of each
	Files    int              `json:"files"`
	Problems int              `json:"problems"`
	Running  int64            `json:"running"` // runs that have not ended
	Runs     int64            `json:"runs"`
}

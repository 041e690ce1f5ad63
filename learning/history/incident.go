// Package history learns from what agents did: from the commands in records of their sessions, which failed, how often, in how many
// sessions, and what worked instead; and from transcripts, of which it proposes episodes, facts and procedures. An incident is one failure
// of a project: a program with its subcommand, and the error that it ended with. A proposal is stored when somebody accepts it, or at once
// if its confidence is high enough. What an assistant says is no evidence of a failure; a command's end is.
package history

import (
	"context"
	"time"
)

// Service is what can be done with incidents. Incidents implements it beside the database, router/client over HTTP.
type Service interface {
	// Learn learns from steps of a session. Steps that were learned before change nothing, in whichever
	// session's record they come again. It needs ScopeAgent.
	Learn(ctx context.Context, draft Draft) (Learned, error)
	// List lists a project's incidents, or those of all projects that wait, those of the most sessions first. It needs ScopeRead.
	List(ctx context.Context, filter Filter) (Page, error)
	// Brief says in a few lines what fails in a project again and again, and what works. It needs ScopeRead.
	Brief(ctx context.Context, query BriefQuery) (Brief, error)
	// Answer says what is known of a failure. Its text is empty where nothing worked before, and where the
	// session was told the same of the same command. It needs ScopeRead.
	Answer(ctx context.Context, failure Failure) (Answer, error)
	// Accept lets incidents warn before a command, takes that back, or declines it. It needs ScopeAgent, and nobody accepts
	// what their own token taught alone.
	Accept(ctx context.Context, decision Decision) (Decided, error)
	// Sources lists the files that were read. It needs ScopeRead.
	Sources(ctx context.Context, filter SourceFilter) (SourcePage, error)
	// Forget deletes everything that was learned of a project, also which files were read. It needs ScopeAgent.
	Forget(ctx context.Context, project string) (Forgotten, error)
}

// Outcome is how a step went.
type Outcome string

// The outcomes of a step.
const (
	Worked  Outcome = "worked"
	Failed  Outcome = "failed"
	Refused Outcome = "refused" // a person or a hook refused it, or interrupted it: it says nothing
	Edited  Outcome = "edited"  // no command: a file was changed
)

// Step is one thing that an agent did.
type Step struct {
	ID      string     `json:"id,omitempty" doc:"The agent's own id of the call"`
	Command string     `json:"command,omitempty" doc:"As it was typed; of an edit the file's name"`
	Outcome Outcome    `json:"outcome" doc:"worked, failed, refused or edited"`
	Output  string     `json:"output,omitempty" doc:"What it printed, if it failed: the beginning and the end are enough"`
	Digest  string     `json:"digest,omitempty" doc:"A hash of what it printed: the same step in the copy of a session has the same"`
	Exit    int        `json:"exit,omitempty" doc:"Its exit code, if it is known"`
	At      *time.Time `json:"at,omitempty"`
}

// Draft is what is learned from: steps of one session in their order.
type Draft struct {
	Project string `json:"project,omitempty"`
	Session string `json:"session_id" doc:"The agent's own id of the session"`
	AgentID string `json:"agent_id,omitempty"`
	// Begin is true if the steps begin where the session does. Otherwise the first ones only say what went before.
	Begin bool   `json:"begin,omitempty"`
	Steps []Step `json:"steps"`
	// Source is the file that the steps are the last of, if they are of one.
	Source *Source `json:"source,omitempty"`
}

// Source is a file that was read.
type Source struct {
	ID       string `json:"id" doc:"A hash of the file's place"`
	Project  string `json:"project,omitempty"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified" doc:"Unix milliseconds"`
}

// SourceFilter selects files that were read.
type SourceFilter struct {
	IDs []string `query:"ids" doc:"Only these, separated by commas; at most 100"`
}

// SourcePage is the list of files that were read.
type SourcePage struct {
	Sources []Source `json:"sources"`
	Count   int      `json:"count"`
}

// Learned says what was learned from steps.
type Learned struct {
	Steps     int `json:"steps"`     // that were new
	Failures  int `json:"failures"`  // mistakes among them
	Repeats   int `json:"repeats"`   // of these, those that an earlier session had made
	Incidents int `json:"incidents"` // that were new
	Fixes     int `json:"fixes"`     // failures of which it is known now what worked
}

// Incident is a failure of a project, and what is known of it.
type Incident struct {
	ID       string    `json:"id"`
	Project  string    `json:"project,omitempty"`
	Program  string    `json:"program"`    // with its subcommand
	Error    string    `json:"error"`      // with paths, numbers and hashes replaced
	Example  string    `json:"example"`    // the line as it was printed the last time
	Command  string    `json:"command"`    // that failed the last time
	Count    int       `json:"count"`      // how often it was seen
	Sessions int       `json:"sessions"`   // in how many sessions
	Solved   int       `json:"solved"`     // how often the same went through afterwards
	Edits    int       `json:"edits"`      // how often edits of files alone were what made it go through
	Fixes    []Fix     `json:"fixes"`      // the best first
	Others   []Attempt `json:"failed_too"` // what failed in its place
	First    time.Time `json:"first_seen"`
	Last     time.Time `json:"last_seen"`
	Accepted bool      `json:"accepted"` // it may warn before a command
	By       string    `json:"accepted_by,omitempty"`
	Declined bool      `json:"declined,omitempty"` // somebody decided that it shall not warn: it waits for nobody
	Voices   []string  `json:"voices,omitempty"`   // the tokens in whose sessions it was seen, as of a fix
}

// Fix is what made a command go through.
type Fix struct {
	Steps   []string  `json:"steps,omitempty"` // what was run before
	Command string    `json:"command"`         // what went through then
	Worked  int       `json:"worked"`
	Failed  int       `json:"failed"`            // how often it failed in its turn
	Risky   bool      `json:"risky,omitempty"`   // it deletes or forces: shown to people and never offered
	Foreign string    `json:"foreign,omitempty"` // why it is offered only after a person accepted it, see learning.Foreign
	Last    time.Time `json:"last_worked"`

	Voices   []string `json:"voices,omitempty"`      // the tokens that taught it, "" for the owner's; none: the owner's, of before voices were kept
	By       []string `json:"learned_by,omitempty"`  // the agents that it was learned of, the first ones
	Accepted string   `json:"accepted_by,omitempty"` // who stands by it: a person, or another token than its teacher's
	Person   bool     `json:"person,omitempty"`      // it was a person who named it
}

// Attempt is a command that failed where another failed before.
type Attempt struct {
	Command string `json:"command"`
	Count   int    `json:"count"`
}

// Filter selects incidents.
type Filter struct {
	Project  string `query:"project"`
	Every    bool   `query:"every" doc:"Without a project: those of all projects, in place of those that belong to none"`
	Sessions int    `query:"sessions" doc:"Only those of at least so many sessions"`
	Waiting  bool   `query:"waiting" doc:"Only those that wait to be accepted or declined: of two sessions and more, with something to teach. Without a project: of all projects"`
	Query    string `query:"query" doc:"Only those of which the program, the error or a command has each of these words"`
	Cursor   string `query:"cursor" doc:"The answer's next of the page before"`
	Limit    int    `query:"limit" doc:"1 to 1000; 0: 100"`
}

// Page is a list of incidents.
type Page struct {
	Incidents []Incident `json:"incidents"`
	Count     int        `json:"count"`
	Sessions  int        `json:"sessions"`  // files that were learned from
	Recurring int        `json:"recurring"` // incidents of two sessions and more
	Times     int        `json:"times"`     // how often those were seen
	// Next is the cursor of the page after; empty if there is none. A page can be short, or empty, and have one: one search looks at MaxLooked incidents.
	Next string `json:"next,omitempty"`
}

// BriefQuery asks for what fails in a project.
type BriefQuery struct {
	Project string `query:"project" here:"project"`
	Folder  string `query:"folder" doc:"The working tree of a caller on the router's machine: what runs something that is no longer there stands behind"`
}

// Brief is what a session should know of what fails.
type Brief struct {
	Text  string   `json:"text"`  // lines, MaxBrief characters at most
	Shown []string `json:"shown"` // ids of the incidents
}

// Failure is a command that failed just now.
type Failure struct {
	Project string `json:"project,omitempty"`
	AgentID string `json:"agent_id,omitempty" doc:"Whose command it was; empty: the token's agent"`
	Command string `json:"command,omitempty"`
	// Tool and Args are the tool of an MCP server that failed and what it was called with, where no command was run.
	Tool    string         `json:"tool,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
	Error   string         `json:"error"` // what it printed
	Session string         `json:"session_id,omitempty" doc:"The agent's own id of its session, which is told the same of one command once"`
	Folder  string         `json:"folder,omitempty" doc:"The working tree of a caller on the router's machine: a fix that runs something that is no longer there stands behind"`
}

// Answer is what is known of a failure.
type Answer struct {
	Text     string `json:"text,omitempty"`
	Incident string `json:"incident,omitempty" doc:"What is known; without a text the session has been told of it"`
}

// Decision says which incidents may warn.
type Decision struct {
	Project string   `json:"project,omitempty"`
	IDs     []string `json:"ids,omitempty"`
	Seen    int      `json:"seen,omitempty" doc:"All that were seen in at least so many sessions"`
	Undo    bool     `json:"undo,omitempty" doc:"Take the decision back: they are undecided again"`
	Decline bool     `json:"decline,omitempty" doc:"They shall not warn, and wait no longer; takes an acceptance back too"`
	By      string   `json:"by,omitempty" doc:"Empty: the token's agent"`
}

// Decided says how many incidents a decision changed.
type Decided struct {
	Changed int `json:"changed"`
}

// Forgotten says how much was deleted.
type Forgotten struct {
	Incidents int `json:"incidents"`
	Steps     int `json:"steps"`
}

// Bounds of incidents.
const (
	// MaxSteps bounds the steps of one call; a reader sends longer sessions in parts.
	MaxSteps = 2000
	// MaxCommand and MaxOutput bound the texts of a step, in bytes: what is longer is data in a command's text.
	MaxCommand = 16 << 10
	MaxOutput  = 16 << 10
	// Window is how many steps after a failure are looked at for what made it go through.
	Window = 40
	// MaxBrief and MaxBriefLines bound a brief, in characters and lines.
	MaxBrief      = 800
	MaxBriefLines = 5
	// MaxSourceIDs bounds the files that are asked for by id: so many fit in an address.
	MaxSourceIDs = 100
	// DefaultLimit and MaxLimit bound a listing.
	DefaultLimit = 100
	MaxLimit     = 1000
	// MaxLooked bounds how many incidents one search reads, and maxQuery its words, in bytes.
	MaxLooked = 2000
	maxQuery  = 200
	// maxFixes and maxAttempts bound what an incident keeps; the worst goes first.
	maxFixes    = 5
	maxAttempts = 5
	// maxStored bounds a command that is kept, in bytes: what is longer nobody types again.
	maxStored = 600
	// maxTold is how many answers are known to have been given, 1 MB; of more, all are forgotten, and a
	// session may be told something twice.
	maxTold = 1 << 15
	// maxVoices bounds the tokens that are kept of what they taught, and maxTeachers the names.
	maxVoices   = 8
	maxTeachers = 3
	// maxFixSteps bounds the steps of a fix.
	maxFixSteps = 3
	// warnUses is how often a command must have failed, warnShare in what part of its uses, and warnSessions
	// in how many sessions it must have ended as the last time, before it is warned of. What went through since it failed is not warned of.
	warnUses     = 2
	warnShare    = 0.8
	warnSessions = 2
)

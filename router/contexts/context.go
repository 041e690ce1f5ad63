// Package contexts chooses what an agent should know for a task, from all that is remembered, within a budget of
// tokens. It gathers candidates from the domains, ranks them, folds what says the same, and cuts texts at sentences.
// Tokens are counted as o200k_base counts them, without a model or a network.
package contexts

import (
	"context"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// Service gathers what an agent should know for a task, within a budget
// of tokens. Builder implements it beside the stores, router/client over HTTP.
type Service interface {
	// Build gathers it. It needs ScopeRead.
	Build(ctx context.Context, request Request) (Context, error)
	// Show returns the whole texts of entries by their handles or ids, and says which are not found. It needs ScopeRead.
	Show(ctx context.Context, showing Showing) (Context, error)
}

// Request asks for the context of a task, or for what a session begins with.
type Request struct {
	Task   string `json:"task" doc:"What is to be done"` // may be empty at a start
	Budget int    `json:"budget" doc:"Tokens"`           // tokens, MinBudget to MaxBudget
	// Start asks for what a session begins with, whatever its task: what must never be
	// done, how the last session ended, and what is known of the project and of all
	// projects. What fits the task, if there is one, comes with it.
	Start bool `json:"start,omitempty" doc:"What a session begins with, instead of what fits a task"`
	// Prompt says that Task is what a person typed: only what belongs to it is told, of this
	// project and of none, and mostly nothing. With Start it is what a subagent was given to do, which begins with the
	// rules and decisions and that.
	Prompt bool `json:"prompt,omitempty"`
	// Failure says that Task is a command that failed, and what it printed. What the session was told before is told
	// again then, once.
	Failure bool `json:"failure,omitempty"`
	// Characters bounds the text in characters too; 0: it is not bounded.
	Characters int `json:"characters,omitempty"`
	// SessionID is the agent's own session: what was told in it is not told again while it
	// is as it was. A start begins anew, unless Resumed says that the session goes on
	// with all that it was told. What a start tells does not count as used.
	SessionID string `json:"session_id,omitempty"`
	Resumed   bool   `json:"resumed,omitempty"`
	// Persona's facts, procedures and episodes are looked at; empty: default.
	Persona string `json:"persona,omitempty"`
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Project string `json:"project,omitempty" here:"project"`
	// Folder is the working tree that the agent works in. Of a caller on this machine it is looked into: what names a
	// file, a target of a makefile, a script or a dependency that is no longer there is marked, and stands behind.
	Folder string `json:"folder,omitempty"`
	// Subfolder is where below the repository's root the agent works, and Branch what is checked out there: what was
	// written there is told first, and what was written elsewhere is marked so.
	Subfolder string `json:"subfolder,omitempty" here:"folder"`
	Branch    string `json:"branch,omitempty" here:"branch"`
	// IncludeUntrusted takes in what came from files and other systems, marked as such.
	IncludeUntrusted bool `json:"include_untrusted,omitempty" doc:"Also what came from files and other systems, marked so"`
}

// Context is what was gathered.
type Context struct {
	Text      string `json:"text"`   // ready to be put before a model; empty if there is nothing to say
	Tokens    int    `json:"tokens"` // of Text, counted; never more than the budget
	Budget    int    `json:"budget"`
	Tokenizer string `json:"tokenizer"`
	// Rules is where in Text the first part of a start ends, in bytes: rules, decisions and what fails here. Other
	// things can be put behind it; 0: there is none.
	Rules   int       `json:"rules,omitempty"`
	Items   []Item    `json:"items"` // in the order of Text
	LeftOut []LeftOut `json:"left_out"`
	// LeftOutCount is how many were left out; LeftOut lists the first of them.
	LeftOutCount int `json:"left_out_count"`
}

// Item is one item of a context.
type Item struct {
	Kind   string    `json:"kind"` // guard, principle, pattern, lesson, knowledge, fact, episode, procedure, task, session
	ID     string    `json:"id"`
	Handle string    `json:"handle,omitempty"` // the short name by which the text tells of it, which show takes
	Title  string    `json:"title,omitempty"`
	Author string    `json:"author"`
	Trust  string    `json:"trust"`
	Score  float64   `json:"score"`  // 0 to 1: relevance, confidence and recency, before diversity
	Tokens int       `json:"tokens"` // that it takes of the text, with its frame
	Date   time.Time `json:"date,omitzero"`
	Cut    bool      `json:"cut,omitempty"` // shortened, at the end of a sentence
	// Gone is what it names of the working tree that is no longer there.
	Gone []string `json:"gone,omitempty"`
}

// LeftOut is an item that is not in the context, and why.
type LeftOut struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Reason string `json:"reason"` // budget, duplicate of ID, superseded by ID, told before, untrusted, not vouched for, irrelevant
}

// note hands on what an agent was told. That a session begins is told of also where nothing was.
func (b *Builder) note(ctx context.Context, request *Request, answer *Context, chosen []*rated) {
	if b.tell == nil || len(chosen) == 0 && !request.Start {
		return
	}
	told := operational.Telling{Agent: request.AgentID, Project: request.Project, SessionID: request.SessionID, Tokens: answer.Tokens, Moment: operational.ToldAsked}
	switch {
	case request.Start:
		told.Moment = operational.ToldAtStart
	case request.Failure:
		told.Moment, told.About = operational.ToldAtFailure, request.Task
	case request.Prompt:
		told.Moment = operational.ToldAtPrompt
	}
	for _, r := range chosen {
		if r.listed {
			continue // it was offered, and not told
		}
		if r.briefed != nil {
			told.Items = append(told.Items, r.lines()...)
			continue
		}
		told.Items = append(told.Items, operational.ToldItem{Kind: r.kind, ID: r.id, Title: safetext.Visible(r.title), Own: r.project == request.Project, Tokens: r.tokens, Gives: operational.Gives(r.title + "\n" + r.body)})
	}
	b.tell(ctx, told)
}

// lines are the incidents of a brief, each told by a line. The rest of the brief's tokens are around them.
func (r *rated) lines() (items []operational.ToldItem) {
	lines := strings.Split(r.body, "\n")
	for i, id := range r.briefed[:min(len(r.briefed), len(lines))] {
		if r.cut && !strings.Contains(r.block, lines[i]) {
			break
		}
		items = append(items, operational.ToldItem{Kind: router.KindIncident, ID: id, Title: lines[i], Own: true, Text: lines[i], Gives: operational.Gives(lines[i])})
	}
	return items
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("context", "/api/context",
	operation.Post("", "What an agent should know for a task, within a budget of tokens, ready to be put before a model", Service.Build).Needs("read").Keeps(),
	operation.Post("/show", "The whole texts of entries, by the handles that an index has, or by ids", Service.Show).Needs("read").Keeps())

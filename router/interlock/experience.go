package interlock

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// experienceOf makes an experience of a build, a verification, a validation or
// an operation (docs/integrations.md has the table). Members that it does not know
// become the problem's context, beside where it comes from.
func experienceOf(d admitted) experience.Draft {
	m := members(maps.Clone(d.Data))
	draft := experience.Draft{
		ServerName: m.text("server_name", "server"), Project: m.text("project"),
		Problem:    problemOf(m),
		Solution:   solutionOf(m),
		Metadata:   metadataOf(m),
		DurationMS: m.milliseconds("duration_ms", "elapsed_ms", "duration"),
	}
	draft.ServerName = cmp.Or(draft.ServerName, d.Sender)
	of := meanings[d.Signal]
	if draft.OperationType, draft.Outcome = of.operation, of.outcome; draft.OperationType == "" {
		draft.OperationType = cmp.Or(m.text("operation_type", "operation", "type"), "operation")
	}
	if draft.Outcome == "" {
		draft.Outcome = m.result("outcome", "success", "result", "status", "verified", "passed", "approved", "ok")
	}
	if draft.Outcome == "" { // what says nothing of its outcome is no success
		draft.Outcome = learning.ResultFailure
		if d.Signal == OperationComplete {
			draft.Outcome = learning.ResultPartial
		}
	}
	draft.Metadata.Triggers = []string{d.Signal.String()}
	if of.tool != "" {
		if draft.Solution == nil {
			draft.Solution = &experience.Solution{}
		}
		draft.Solution.Tool = cmp.Or(draft.Solution.Tool, of.tool)
	}
	draft.QualityScore = m.share("quality_score", "quality", "score", "confidence")
	draft.Notes = m.text("notes", "message", "reason", "summary", "error", "details")
	if draft.Problem == nil {
		draft.Problem = &experience.Problem{}
	}
	context := map[string]any{}
	maps.Copy(context, m)
	maps.Copy(context, draft.Problem.Context)
	context["interlock"] = map[string]any{"signal": d.Signal.String(), "sender": d.Sender, "signed": d.trust == learning.TrustAgent}
	draft.Problem.Context = context
	return draft
}

// meanings are what signals say by themselves, as the original has it: what was done, how it went, and by which tool where they name none.
var meanings = map[Signal]struct {
	operation string
	outcome   learning.Result
	tool      string
}{
	BuildCompleted:     {operation: "build"},
	VerificationResult: {operation: "verification", tool: "verifier"},
	ValidationApproved: {"validation", learning.ResultSuccess, "context-guardian-validation"},
	ValidationRejected: {"validation", learning.ResultFailure, "context-guardian-validation"},
}

// problemOf takes what was to be solved: an object as the experience server has it, a text, or members of their own.
func problemOf(m members) *experience.Problem {
	p := &experience.Problem{}
	if object := members(m.object("problem")); object != nil {
		p.Query, p.Constraints, p.Context = object.text("query"), object.object("constraints"), object.object("context")
		if len(object) > 0 && p.Context == nil {
			p.Context = map[string]any{}
		}
		maps.Copy(p.Context, object)
	}
	if p.Query == "" {
		p.Query = m.text("query", "problem", "task", "target", "claim", "description", "goal")
	}
	if p.Constraints == nil {
		p.Constraints = m.object("constraints")
	}
	if p.Context == nil {
		p.Context = m.object("context")
	}
	return p
}

// solutionOf takes what was done about it.
func solutionOf(m members) *experience.Solution {
	s := &experience.Solution{}
	if object := members(m.object("solution")); object != nil {
		s.Tool, s.Params, s.Approach = object.text("tool"), object.object("params"), object.text("approach")
		if len(object) > 0 && s.Params == nil {
			s.Params = map[string]any{}
		}
		maps.Copy(s.Params, object)
	}
	if s.Tool == "" {
		s.Tool = m.text("tool")
	}
	if s.Params == nil {
		s.Params = m.object("params", "parameters")
	}
	if s.Approach == "" {
		s.Approach = m.text("approach", "solution", "method")
	}
	if s.Tool == "" && s.Approach == "" && s.Params == nil {
		return nil
	}
	return s
}

// metadataOf takes where it happened. What triggered it is the signal.
func metadataOf(m members) *experience.Metadata {
	var d experience.Metadata
	if object := members(m.object("metadata")); object != nil {
		d.Environment, d.Dependencies = object.text("environment"), object.texts("dependencies")
		if len(object) > 0 {
			m["metadata"] = map[string]any(object)
		}
	}
	if d.Environment == "" {
		d.Environment = m.text("environment")
	}
	if d.Dependencies == nil {
		d.Dependencies = m.texts("dependencies")
	}
	return &d
}

// lessonOf makes a lesson of what a peer has learned. Members that it does not know become the lesson's body.
func lessonOf(d admitted) (lesson.Draft, error) {
	m := members(maps.Clone(d.Data))
	statement := m.text("statement", "lesson_statement", "lesson", "title", "content")
	if statement == "" {
		return lesson.Draft{}, errs.InvalidField("statement", "is required")
	}
	draft := lesson.Draft{
		Type: learning.LessonType(m.text("lesson_type", "type")), Domain: m.text("domain"),
		Category: m.text("category"), Context: m.text("context", "pattern_description", "description", "summary"),
		Action: m.text("action_taken", "action"), Outcome: m.text("outcome", "result"), RootCause: m.text("root_cause"), Solution: m.text("solution"),
		Severity: learning.Severity(m.text("severity")), Tags: m.texts("tags"),
		Contexts: m.texts("contexts", "operation_types", "operation_type"), Project: m.text("project"),
		Confidence: m.share("confidence", "initial_confidence"), Trust: d.trust,
	}
	if !slices.Contains(learning.LessonTypes(), draft.Type) {
		draft.Type = learning.LessonDiscovery
	}
	if !slices.Contains(learning.Severities(), draft.Severity) {
		draft.Severity = ""
	}
	draft.Domain = cmp.Or(draft.Domain, experience.GeneralDomain)
	draft.Category = cmp.Or(draft.Category, "interlock")
	draft.Title = strings.Join(strings.Fields(statement), " ")
	if len(draft.Title) > learning.MaxTitle {
		// Before it is cut: half of a secret is not known for what it is any more.
		draft.Title, _ = redact.Text(draft.Title)
		if draft.Context != "" {
			statement += "\n\n" + draft.Context
		}
		draft.Title, draft.Context = check.Head(draft.Title, learning.MaxTitle), statement
	}
	if len(m) > 0 {
		rest, err := json.Marshal(map[string]any(m))
		if err != nil {
			return draft, errs.Wrap(errs.Invalid, err, "the data cannot be written as JSON")
		}
		draft.Body = "Heard with it: " + string(rest)
	}
	return draft, nil
}

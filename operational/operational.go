// Package operational defines what operational.db holds: agents and what they do, the messages between
// them, tasks, reminders, escalations, the findings of scans, and tokens. It owns the states of each
// and who may change them. It knows neither SQL, HTTP nor package learning.
package operational

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// Names is what the operational store knows by name, so that a question that
// names it is understood.
type Names struct {
	Agents       []string
	Projects     []string
	Environments []string
	CVEs         []string
	Findings     []string // titles
	Tasks        []TaskName
}

// TaskName is how people speak of a task.
type TaskName struct {
	Number int64
	Title  string
}

// redactEach cuts secrets out of texts before they are stored: a task's error or
// a finding's evidence is often what a tool printed.
// It returns the kinds of those it has found.
func redactEach(texts ...*string) (kinds []string) {
	var redaction redact.Redaction
	redaction.Text(texts...)
	return redaction.Kinds()
}

// reading answers what a caller with ScopeRead asks for; wrong is what is wrong with the question.
func reading[T any](ctx context.Context, wrong error, read func() (T, error)) (answer T, err error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), wrong); err != nil {
		return answer, err
	}
	return read()
}

// acting returns the agent as which the caller acts, who may name one; wrong is what is wrong with what it says.
func acting(ctx context.Context, field, named string, wrong error) (agent string, err error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeAgent), wrong); err != nil {
		return "", err
	}
	return p.ActingAs(field, named)
}

// eventOf makes an event of a row, with data whose marshalling cannot fail: structs and maps of texts, whole numbers, finite ones and times of this era.
func eventOf(kind, subject, agent, project string, at time.Time, data any) eventlog.Event {
	return eventlog.Event{Type: kind, Subject: subject, Agent: agent, Project: project, At: at}.With(data)
}

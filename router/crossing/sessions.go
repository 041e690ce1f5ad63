package crossing

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// handoverMessage is how a session that has ended arrives in its successor's
// mailbox; ok is false if it names none, or if the event cannot be read. It says only what the event says, so
// that the same event gives the same message, which is stored once.
func (c *Crossing) handoverMessage(event eventlog.Event) (draft operational.MessageDraft, ok bool) {
	var told operational.SessionEvent
	if err := json.Unmarshal(event.Data, &told); err != nil {
		c.log.Error("an event of a session cannot be read and is passed over", "seq", event.Seq, "error", err)
		return draft, false
	}
	if told.Successor == "" {
		return draft, false
	}
	// Marshalling strings and whole numbers cannot fail.
	said, _ := json.Marshal(map[string]any{
		"session_id": event.Subject, "from": told.AgentID, "persona": told.Persona, "project": event.Project, "goal": told.Goal, "summary": told.Summary,
		"task_count": told.TaskCount, "message_count": told.MessageCount, "step_count": told.StepCount, "reminder_count": told.ReminderCount,
		"text": fmt.Sprintf("%s ended a session and leaves you %s. Start a session, or read /api/sessions/%s.", told.AgentID, leftOpen(told), event.Subject),
	})
	return operational.MessageDraft{
		From: router.MailAgent, To: told.Successor, Signal: operational.SignalHandover, Context: said,
		IdempotencyKey: "session:" + event.Subject, ThreadID: event.Subject,
	}, true
}

// leftOpen says in words what a session leaves undone.
func leftOpen(told operational.SessionEvent) string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{told.TaskCount, "task", "tasks"},
		{told.MessageCount, "message", "messages"},
		{told.StepCount, "step of a procedure", "steps of procedures"},
		{told.ReminderCount, "reminder", "reminders"},
	} {
		if part.n > 0 {
			parts = append(parts, router.Amount(part.n, part.one, part.many))
		}
	}
	if len(parts) == 0 {
		return "no open task, message, step or reminder"
	}
	return strings.Join(parts, ", ")
}

package crossing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/operational"
)

// Importances of the episodes that finished tasks become: a failure teaches more.
const (
	completedImportance = 0.5
	failedImportance    = 0.7
)

// operated handles events of operational.db: a finished task becomes an
// episode of whoever held it, a session that has ended a message to its successor.
func (c *Crossing) operated(ctx context.Context, events []eventlog.Event, _ operational.Cursor) (bool, error) {
	for _, event := range events {
		if event.Type == operational.EventSessionEnded {
			if draft, ok := c.handoverMessage(event); ok {
				if err := c.post(ctx, draft); err != nil {
					return false, err
				}
			}
			continue
		}
		if event.Type != operational.EventTaskCompleted && event.Type != operational.EventTaskFailed {
			continue
		}
		var task operational.TaskEvent
		if err := json.Unmarshal(event.Data, &task); err != nil {
			c.log.Error("an event of a task cannot be read and is passed over", "seq", event.Seq, "error", err)
			continue
		}
		draft := taskEpisode(event, task)
		_, err := c.ports.Episodes.RecordOnce(ctx, fmt.Sprint("task event ", event.Subject, " ", event.Seq), event.At, draft)
		switch errs.CodeOf(err) {
		case "":
		case errs.Invalid, errs.TooLarge:
			c.log.Warn("a finished task became no episode", "task", event.Subject, "error", err)
		default:
			return false, err
		}
	}
	return false, nil
}

func taskEpisode(event eventlog.Event, task operational.TaskEvent) episode.Draft {
	kind, verb, importance := episode.EventOutcome, "completed", completedImportance
	if event.Type == operational.EventTaskFailed {
		kind, verb, importance = episode.EventError, "failed", failedImportance
	}
	draft := episode.Draft{
		AgentID: task.AgentID, EventType: kind, Title: fmt.Sprintf("Task %d %s: %s", task.Number, verb, task.Title),
		Content: task.Note, Project: event.Project, Importance: &importance,
	}
	draft.AgentID = cmp.Or(draft.AgentID, event.Agent)
	draft.Content = cmp.Or(draft.Content, task.Title)
	return draft
}

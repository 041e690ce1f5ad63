package operational

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Take takes in tasks of another router or system, with where they stand there; dryRun only says what would become of
// them. A task is known again by its id, and gets a number of this router. It may wait for one that comes later. It needs ScopeCaptain.
func (t *Tasks) Take(ctx context.Context, tasks []Task, dryRun bool) ([]Taken, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	now, taken := t.now.Stamp(), make([]Taken, len(tasks))
	for i, task := range tasks {
		taken[i].Key = task.ID
		if taken[i].Err = task.take(now); taken[i].Err != nil {
			continue
		}
		taken[i].Key = task.ID
		if dryRun {
			_, err := t.store.Task(ctx, TaskRef{ID: task.ID})
			if taken[i].Duplicate = err == nil; err != nil && errs.CodeOf(err) != errs.NotFound {
				return taken, err
			}
			continue
		}
		stored, existed, err := t.store.CreateTask(ctx, task, func(task Task) eventlog.Event {
			return taskEvent(EventTaskCreated, principal.Of(ctx).AgentID, "", "", task, now)
		})
		if errs.CodeOf(err) == errs.Invalid {
			taken[i].Err = err
		} else if err != nil {
			return taken, err
		}
		taken[i].Number, taken[i].Duplicate = stored.Number, existed
	}
	return taken, nil
}

// take checks a task as Create checks a draft, and makes its times agree with its status.
func (t *Task) take(now time.Time) error {
	if err := cmp.Or(
		TaskDraft{Title: t.Title, Description: t.Description, Project: t.Project, Priority: t.Priority, AgentID: t.AgentID, After: t.After}.check(),
		check.OneOf("status", t.Status, TaskStatuses()),
		check.OptionalAgent("created_by", t.CreatedBy),
		check.Range("progress", float64(t.Progress), 0, completionProgress),
		check.Texts(MaxTaskText, "note", t.Note, "blocked_reason", t.BlockedReason, "result", t.Result, "error", t.Error),
	); err != nil {
		return err
	}
	t.ID = cmp.Or(t.ID, check.NewID())
	for _, id := range append([]*string{&t.ID}, pointers(t.After)...) {
		parsed, err := uuid.Parse(*id)
		if err != nil {
			return errs.InvalidField("id", "must be a UUID, and those of after too")
		}
		*id = parsed.String()
	}
	if (t.Status == TaskClaimed || t.Status == TaskInProgress) && t.AgentID == "" {
		return errs.InvalidField("agent_id", "is required of a task that is %s", t.Status)
	}
	redactEach(&t.Title, &t.Description, &t.Note, &t.BlockedReason, &t.Result, &t.Error)
	t.Title, t.WaitsFor, t.Number = strings.TrimSpace(t.Title), nil, 0
	t.CreatedAt, t.UpdatedAt = past(t.CreatedAt, now), past(t.UpdatedAt, now)
	t.ClaimedAt, t.FinishedAt = t.when(t.ClaimedAt, t.AgentID != "", now), t.when(t.FinishedAt, !t.Status.Open(), now)
	return nil
}

// when is a time of a task's life, if it has come.
func (t *Task) when(said *time.Time, come bool, now time.Time) *time.Time {
	if !come {
		return nil
	}
	if said == nil {
		said = &t.UpdatedAt
	}
	at := past(*said, now)
	return &at
}

func pointers(texts []string) (list []*string) {
	for i := range texts {
		list = append(list, &texts[i])
	}
	return list
}

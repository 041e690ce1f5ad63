package kind

import (
	"context"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// What is known of what is kept beside the memory. Tasks, findings and messages have no index in their domain: the search makes them a Memory.
var (
	Task = Kind{
		Name: router.KindTask, Plural: "tasks", Searched: 5, OfProject: true, HasAuthor: true, Categories: safetext.Strings(operational.TaskStatuses()), Exported: 8,
		Decode: decoded[operational.Task],
		Page: Page{
			Folder: "tasks", Title: "title", Key: []string{"id"}, Text: "description", Parts: []Part{{"Result", "result"}, {"Error", "error"}}, Drop: []string{"number", "waits_for"},
		},
	}
	Finding = Kind{
		Name: router.KindFinding, Plural: "findings", Searched: 6, OfProject: true, Categories: safetext.Strings(operational.Severities()),
	}
	Message  = Kind{Name: router.KindMessage, Plural: "messages", Searched: 8, HasAuthor: true, Private: true}
	Reminder = Kind{
		Name: router.KindReminder, Plural: "reminders", Exported: 7, OfProject: true,
		Decode:  decoded[operational.Reminder],
		Page:    Page{Folder: "reminders", Title: "task", Key: []string{"id"}, Text: "task", Parts: []Part{{"Note", "note"}}, StoreIDs: true},
		Counted: 4, Held: router.HeldMemory{Type: router.ProspectiveMemory, Also: "reminders"},
	}
	Session = Kind{
		Name: router.KindSession, Plural: "sessions",
		Counted: 5, Held: router.HeldMemory{Type: router.WorkingMemory, Also: "sessions", Keep: "working memory ends with its session"},
	}
)

// Tasks is how the tasks of a service, which searches found, are carried between routers.
func Tasks(found Memory, service *operational.Tasks, rows interface {
	// TasksAfter returns tasks of a project (of all, if it is empty) whose number is greater than after, in order.
	TasksAfter(ctx context.Context, project string, after int64) ([]operational.Task, error)
},
) Memory {
	found.Export = paged(func(ctx context.Context, project string, _ time.Time, last operational.Task, _ int) ([]operational.Task, error) {
		return rows.TasksAfter(ctx, project, last.Number)
	})
	found.Import = takenThere(service.Take)
	found.Undo = Undo{func(ctx context.Context, ref string) (any, error) {
		task, err := service.Task(ctx, ref)
		task.WaitsFor = nil // it follows from other tasks
		return task, err
	}, func(ctx context.Context, ref string) error {
		_, err := service.Cancel(ctx, ref, operational.TaskNote{Note: Undone})
		return unlessOver(err)
	}}
	return found
}

// takenThere is taken of what is kept beside the memory, and known by its number.
func takenThere[T any](take func(ctx context.Context, records []T, dryRun bool) ([]operational.Taken, error)) func(context.Context, []any, learning.Taking) ([]learning.Taken, error) {
	return taken(func(ctx context.Context, records []T, taking learning.Taking) ([]learning.Taken, error) {
		list, err := take(ctx, records, taking.DryRun)
		all := make([]learning.Taken, len(list))
		for i, r := range list {
			all[i] = learning.Taken{ID: r.Key, Ref: strconv.FormatInt(r.Number, 10), Duplicate: r.Duplicate, Err: r.Err}
		}
		return all, err
	})
}

// Reminders are the reminders of a service.
func Reminders(service *operational.Reminders, rows interface {
	RemindersAfter(ctx context.Context, project string, after int64, limit int) ([]operational.Reminder, error)
	ReminderHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{
		Kind: Reminder.holding(rows.ReminderHoldings, service.Clear),
		Export: paged(func(ctx context.Context, project string, _ time.Time, last operational.Reminder, limit int) ([]operational.Reminder, error) {
			return rows.RemindersAfter(ctx, project, last.Number, limit)
		}),
		Import: takenThere(service.Take),
		Undo: Undo{func(ctx context.Context, ref string) (any, error) {
			number, err := strconv.ParseInt(ref, 10, 64)
			if err != nil {
				return nil, err
			}
			return service.Reminder(ctx, number)
		}, func(ctx context.Context, ref string) error {
			number, err := strconv.ParseInt(ref, 10, 64)
			if err == nil {
				_, err = service.Cancel(ctx, number, operational.ReminderNote{Note: Undone})
			}
			return unlessOver(err)
		}},
	}
}

// Sessions are the sessions of a store.
func Sessions(rows interface {
	SessionHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{Kind: Session.holding(rows.SessionHoldings, nil)}
}

package kind

import (
	"context"
	"strconv"
	"time"

	"skillrouter/internal/safetext"
	"skillrouter/internal/tally"
	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router"
)

// What is known of what is kept beside the memory. Tasks, findings and messages have no index in their domain: the search makes them a Memory.
var (
	Task = Kind{
		Name: router.KindTask, Plural: "tasks", Searched: 5, OfProject: true, HasAuthor: true, Categories: safetext.Strings(operational.TaskStatuses()),
	}
	Finding = Kind{
		Name: router.KindFinding, Plural: "findings", Searched: 6, OfProject: true, Categories: safetext.Strings(operational.Severities()),
	}
	Message  = Kind{Name: router.KindMessage, Plural: "messages", Searched: 8, HasAuthor: true, Private: true}
	Reminder = Kind{
		Name: router.KindReminder, Plural: "reminders", Exported: 7, OfProject: true,
		Decode:  decoded(func(in *reminderRecord) *operational.Reminder { return &in.Reminder }),
		Page:    Page{Folder: "reminders", Title: "task", Key: []string{"id"}, Text: "task", Parts: []Part{{"Note", "note"}}, StoreIDs: true},
		Counted: 4, Held: router.HeldMemory{Type: router.ProspectiveMemory, Also: "reminders"},
	}
	Session = Kind{
		Name: router.KindSession, Plural: "sessions",
		Counted: 5, Held: router.HeldMemory{Type: router.WorkingMemory, Also: "sessions", Keep: "working memory ends with its session"},
	}
)

type reminderRecord struct {
	head
	operational.Reminder
}

// Reminders are the reminders of a service.
func Reminders(service *operational.Reminders, rows interface {
	operational.ReminderTransfer
	ReminderHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{
		Kind: Reminder.holding(rows.ReminderHoldings, service.Clear),
		Export: paged(func(ctx context.Context, project string, _ time.Time, last operational.Reminder, limit int) ([]operational.Reminder, error) {
			return rows.RemindersAfter(ctx, project, last.Number, limit)
		}),
		Import: taken(func(ctx context.Context, records []operational.Reminder, taking learning.Taking) ([]learning.Taken, error) {
			reminders, err := service.Take(ctx, records, taking.DryRun)
			taken := make([]learning.Taken, len(reminders))
			for i, r := range reminders {
				taken[i] = learning.Taken{ID: r.Key, Ref: strconv.FormatInt(r.Number, 10), Duplicate: r.Duplicate, Err: r.Err}
			}
			return taken, err
		}),
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

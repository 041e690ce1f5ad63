package mcpserver

import (
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/operational"
)

// task is what a model needs of a reminder.
type task struct {
	ID           int64                      `json:"id"`
	Task         string                     `json:"task"`
	Status       operational.ReminderStatus `json:"status"`
	Trigger      string                     `json:"trigger"`
	Context      json.RawMessage            `json:"context"`             // null if there is none, or if it is cut
	CutBytes     int                        `json:"cut_bytes,omitempty"` // of the task and its context
	Persona      string                     `json:"persona"`
	AgentID      string                     `json:"agent_id,omitempty"`
	CreatedBy    string                     `json:"created_by,omitempty"`
	DeliveredTo  string                     `json:"delivered_to,omitempty"`
	Recurring    string                     `json:"recurring,omitempty"`
	ScheduledFor *time.Time                 `json:"scheduled_for,omitempty"`
	Next         *time.Time                 `json:"next,omitempty"`
	Missed       bool                       `json:"missed,omitempty"`
	Note         string                     `json:"note,omitempty"`
}

type oneTask struct {
	Task task `json:"task"`
}

type tasks struct {
	Tasks  []task `json:"tasks"`
	Notice string `json:"notice,omitempty"`
}

type happened struct {
	Fired int `json:"fired"`
}

// addReminderTools offers the persona's prospective memory, in a toolset of its own.
func (s *Server) addReminderTools() {
	reminders := s.services.Reminders
	add(s, tool{
		name: "schedule_task", title: "Schedule a task", set: ToolsetReminders, effect: adds, holds: "task",
		description: "Remember to do something later: it comes into the mailbox as the signal reminder, and is in get_pending_tasks until it is completed.",
	}, described[operational.ReminderDraft]("task!", "trigger!", "context", "recurring", "timezone", "persona", "agent_id", "conversation_id", "project"), then(reminders.Schedule, func(r operational.Reminder) (oneTask, string) {
		when := "waits for its " + string(r.TriggerType)
		if r.Next != nil {
			when = "comes due at " + r.Next.Format(time.RFC3339)
		}
		return oneTask{shownTask(r)}, fmt.Sprintf("Task %d %s.", r.Number, when)
	}))
	add(s, tool{
		name: "get_pending_tasks", title: "Pending tasks", set: ToolsetReminders, effect: reads, holds: "tasks",
		description: "What is due now, for you and for the persona.",
	}, described[operational.PendingQuery]("persona", "agent_id", "include_scheduled", "limit"), then(reminders.Pending, func(found []operational.Reminder) (tasks, string) {
		out := tasks{Tasks: views(found, shownTask)}
		return out, listing(out.Tasks, &out.Notice, taskEntry, "Nothing is due.", "%s. Say complete_task when one is done.", count(len(found), "task", "tasks")).String()
	}))
	note := describedOne[int64, operational.ReminderNote]("task_id!", "", "note")
	add(s, tool{
		name: "complete_task", title: "Complete a task", set: ToolsetReminders, effect: ensure, holds: "task",
		description: "Say that a scheduled task is done. One that recurs waits for its next time.",
	}, note, then(changing(reminders.Complete), changedTask))
	add(s, tool{
		name: "cancel_task", title: "Cancel a task", set: ToolsetReminders, effect: ensure, holds: "task",
		description: "End a scheduled task that is not wanted any more, a recurring one for good.",
	}, note, then(changing(reminders.Cancel), changedTask))
	add(s, tool{
		name: "snooze_task", title: "Snooze a task", set: ToolsetReminders, effect: adds, holds: "task",
		description: "Let a task come again later.",
	}, describedOne[int64, operational.ReminderSnooze]("task_id!", "", "for!"), then(changing(reminders.Snooze), changedTask))
	add(s, tool{
		name: "report_event", title: "Report an event", set: ToolsetReminders, effect: adds, holds: "fired",
		description: "Tell of something by name, such as deployment, so that the tasks come due that wait for event:deployment.",
	}, described[operational.Happening]("name!", "data", "project"), then(reminders.Happened, func(n int) (happened, string) { return happened{n}, count(n, "task", "tasks") + " came due." }))
}

func changedTask(r operational.Reminder) (oneTask, string) {
	said := fmt.Sprintf("Task %d is %s", r.Number, r.Status)
	if r.Next != nil {
		said += ", and comes due at " + r.Next.Format(time.RFC3339)
	}
	return oneTask{shownTask(r)}, said + "."
}

func shownTask(r operational.Reminder) task {
	return task{
		ID: r.Number, Task: r.Task, Status: r.Status, Trigger: string(r.TriggerType) + ":" + r.TriggerValue, Context: r.Context, Persona: r.Persona,
		AgentID: r.AgentID, CreatedBy: r.CreatedBy, DeliveredTo: r.DeliveredTo, Recurring: r.Recurring, ScheduledFor: r.ScheduledFor, Next: r.Next,
		Missed: r.Missed, Note: r.Note,
	}
}

// taskEntry shows a task. A context that is cut is JSON no more, and is left out of the fields.
func taskEntry(one *task) entry {
	about := string(one.Context)
	return entry{[]*string{&one.Task, &one.Note, &about}, func(cut int) (string, []string) {
		if len(about) < len(one.Context) {
			one.Context = nil
		}
		one.CutBytes = cut
		label := fmt.Sprintf("task %d, %s, set by %s", one.ID, one.Status, author(one.CreatedBy))
		if one.ScheduledFor != nil {
			label += ", for " + one.ScheduledFor.Format(time.RFC3339)
		}
		if one.Missed {
			label += ", MISSED while the router was away"
		}
		return label, []string{
			attributes("trigger", one.Trigger, "persona", one.Persona, "agent", one.AgentID, "recurring", one.Recurring),
			one.Task, part("Context", about), part("Note", one.Note), cutNote(cut),
		}
	}}
}

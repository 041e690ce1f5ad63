package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/operational"
)

type scheduleTask struct {
	Task           string          `json:"task"`
	Trigger        string          `json:"trigger"`
	Context        json.RawMessage `json:"context"`
	Recurring      string          `json:"recurring"`
	Timezone       string          `json:"timezone"`
	Persona        string          `json:"persona"`
	AgentID        string          `json:"agent_id"`
	ConversationID string          `json:"conversation_id"`
	Project        string          `json:"project"`
}

type pendingTasks struct {
	Persona          string `json:"persona"`
	AgentID          string `json:"agent_id"`
	IncludeScheduled bool   `json:"include_scheduled"`
	Limit            int    `json:"limit"`
}

type endTask struct {
	ID   int64  `json:"task_id"`
	Note string `json:"note"`
}

type snoozeTask struct {
	ID  int64  `json:"task_id"`
	For string `json:"for"`
}

type reportEvent struct {
	Name    string          `json:"name"`
	Data    json.RawMessage `json:"data"`
	Project string          `json:"project"`
}

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

// addReminderTools offers seed 002's prospective memory, in a toolset of its own.
func (s *Server) addReminderTools() {
	id, persona := required(whole("task_id", "")), text("persona", "Whose memory; default \"default\"")
	add(s, tool{
		name: "schedule_task", title: "Schedule a task", set: ToolsetReminders, effect: adds,
		description: "Remember to do something later: it comes into the mailbox as the signal reminder, and is in get_pending_tasks until it is completed.",
		input: arguments(
			required(text("task", "")),
			required(text("trigger", "time:+1hour, time:+1 day 2 hours, time:<RFC 3339>, event:<name, * and ? allowed>, condition:<such as fact(\"q.length\") > 100>, or cron:0 9 * * MON-FRI")),
			anObject("context", "What will be needed then"),
			text("recurring", "Cron expression of the times after the first"),
			text("timezone", "Of the cron expression, such as Europe/Berlin; default UTC"),
			persona,
			text("agent_id", "Whom it is for; default whoever works for the persona, you first"),
			text("conversation_id", ""),
			text("project", ""),
		),
		output: holds("task"),
	}, s.scheduleTask)
	add(s, tool{
		name: "get_pending_tasks", title: "Pending tasks", set: ToolsetReminders, effect: reads,
		description: "What is due now, for you and for the persona.",
		input: arguments(
			persona,
			text("agent_id", "Another agent than you"),
			boolean("include_scheduled", "What is not due yet too"),
			integer("limit", "", 1, operational.MaxLimit),
		),
		output: holds("tasks"),
	}, s.pendingTasks)
	add(s, tool{
		name: "complete_task", title: "Complete a task", set: ToolsetReminders, effect: ensure,
		description: "Say that a scheduled task is done. One that recurs waits for its next time.",
		input:       arguments(id, text("note", "")), output: holds("task"),
	}, s.completeTask)
	add(s, tool{
		name: "cancel_task", title: "Cancel a task", set: ToolsetReminders, effect: ensure,
		description: "End a scheduled task that is not wanted any more, a recurring one for good.",
		input:       arguments(id, text("note", "")), output: holds("task"),
	}, s.cancelTask)
	add(s, tool{
		name: "snooze_task", title: "Snooze a task", set: ToolsetReminders, effect: adds,
		description: "Let a task come again later.",
		input:       arguments(id, required(text("for", "10min, 2 hours, 1 day"))), output: holds("task"),
	}, s.snoozeTask)
	add(s, tool{
		name: "report_event", title: "Report an event", set: ToolsetReminders, effect: adds,
		description: "Tell of something by name, such as deployment, so that the tasks come due that wait for event:deployment.",
		input:       arguments(required(text("name", "")), anObject("data", ""), text("project", "")), output: holds("fired"),
	}, s.reportEvent)
}

func (s *Server) scheduleTask(ctx context.Context, in scheduleTask) (reply[oneTask], error) {
	r, err := s.services.Reminders.Schedule(ctx, operational.ReminderDraft{
		Task: in.Task, Trigger: in.Trigger, Context: in.Context, Recurring: in.Recurring, Timezone: in.Timezone, Persona: in.Persona,
		AgentID: in.AgentID, ConversationID: in.ConversationID, Project: in.Project, CreatedBy: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[oneTask]{}, err
	}
	when := "waits for its " + string(r.TriggerType)
	if r.Next != nil {
		when = "comes due at " + r.Next.Format(time.RFC3339)
	}
	return reply[oneTask]{oneTask{shownTask(r)}, fmt.Sprintf("Task %d %s.", r.Number, when)}, nil
}

func (s *Server) pendingTasks(ctx context.Context, in pendingTasks) (reply[tasks], error) {
	found, err := s.services.Reminders.Pending(ctx, operational.PendingQuery{
		Persona: in.Persona, AgentID: s.actor(ctx, in.AgentID), IncludeScheduled: in.IncludeScheduled, Limit: in.Limit,
	})
	if err != nil {
		return reply[tasks]{}, err
	}
	out := tasks{Tasks: []task{}}
	for _, r := range found {
		out.Tasks = append(out.Tasks, shownTask(r))
	}
	if len(out.Tasks) == 0 {
		return reply[tasks]{out, "Nothing is due."}, nil
	}
	out.Notice = notice
	f := newFence("%s. Say complete_task when one is done.", count(len(out.Tasks), "task", "tasks"))
	f.addTasks(out.Tasks)
	return reply[tasks]{out, f.String()}, nil
}

func (s *Server) completeTask(ctx context.Context, in endTask) (reply[oneTask], error) {
	r, err := s.services.Reminders.Complete(ctx, in.ID, operational.ReminderNote{Note: in.Note, AgentID: s.actor(ctx, "")})
	return changedTask(r, err)
}

func (s *Server) cancelTask(ctx context.Context, in endTask) (reply[oneTask], error) {
	r, err := s.services.Reminders.Cancel(ctx, in.ID, operational.ReminderNote{Note: in.Note, AgentID: s.actor(ctx, "")})
	return changedTask(r, err)
}

func (s *Server) snoozeTask(ctx context.Context, in snoozeTask) (reply[oneTask], error) {
	r, err := s.services.Reminders.Snooze(ctx, in.ID, operational.ReminderSnooze{For: in.For, AgentID: s.actor(ctx, "")})
	return changedTask(r, err)
}

func (s *Server) reportEvent(ctx context.Context, in reportEvent) (reply[happened], error) {
	n, err := s.services.Reminders.Happened(ctx, operational.Happening{Name: in.Name, Data: in.Data, Project: in.Project, AgentID: s.actor(ctx, "")})
	if err != nil {
		return reply[happened]{}, err
	}
	return reply[happened]{happened{n}, count(n, "task", "tasks") + " came due."}, nil
}

func changedTask(r operational.Reminder, err error) (reply[oneTask], error) {
	if err != nil {
		return reply[oneTask]{}, err
	}
	said := fmt.Sprintf("Task %d is %s", r.Number, r.Status)
	if r.Next != nil {
		said += ", and comes due at " + r.Next.Format(time.RFC3339)
	}
	return reply[oneTask]{oneTask{shownTask(r)}, said + "."}, nil
}

func shownTask(r operational.Reminder) task {
	return task{
		ID: r.Number, Task: r.Task, Status: r.Status, Trigger: string(r.TriggerType) + ":" + r.TriggerValue, Context: r.Context, Persona: r.Persona,
		AgentID: r.AgentID, CreatedBy: r.CreatedBy, DeliveredTo: r.DeliveredTo, Recurring: r.Recurring, ScheduledFor: r.ScheduledFor, Next: r.Next,
		Missed: r.Missed, Note: r.Note,
	}
}

// addTasks shortens the tasks to what an answer may hold and appends them. A
// context that is cut is JSON no more, and is left out of the fields.
func (f *fence) addTasks(list []task) {
	shown, items := make([]string, len(list)), make([][]*string, len(list))
	for i := range list {
		shown[i] = string(list[i].Context)
		items[i] = []*string{&list[i].Task, &list[i].Note, &shown[i]}
	}
	left := fitTexts(items)
	f.explain()
	for i := range list {
		one := &list[i]
		if len(shown[i]) < len(one.Context) {
			one.Context = nil
		}
		one.CutBytes = left[i]
		label := fmt.Sprintf("%d. task %d, %s, set by %s", i+1, one.ID, one.Status, author(one.CreatedBy))
		if one.ScheduledFor != nil {
			label += ", for " + one.ScheduledFor.Format(time.RFC3339)
		}
		if one.Missed {
			label += ", MISSED while the router was away"
		}
		f.add(label, attributes("trigger", one.Trigger, "persona", one.Persona, "agent", one.AgentID, "recurring", one.Recurring),
			one.Task, part("Context", shown[i]), part("Note", one.Note), cutNote(one.CutBytes))
	}
}

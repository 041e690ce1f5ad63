package mcpserver

import "github.com/skillrouter/skillrouter/operational"

// reminderTools are the persona's prospective memory, in a toolset of its own.
func reminderTools() []tool {
	list := []tool{
		{
			name: "schedule_task", title: "Schedule a task", effect: adds, as: "task",
			description: "Remember to do something later: it comes into the mailbox as the signal reminder, and is in get_pending_tasks until it is completed.",
			does:        operational.ReminderService.Schedule, takes: "task! trigger! context recurring timezone persona agent_id conversation_id project",
		},
		{
			name: "get_pending_tasks", title: "Pending tasks", effect: reads, as: "tasks",
			description: "What is due now, for you and for the persona. Say complete_task when one is done.",
			does:        operational.ReminderService.Pending, takes: "persona agent_id include_scheduled limit", none: "Nothing is due",
		},
		{name: "complete_task", title: "Complete a task", effect: ensure, as: "task", does: operational.ReminderService.Complete, takes: "task_id! note"},
		{name: "cancel_task", title: "Cancel a task", effect: ensure, as: "task", does: operational.ReminderService.Cancel, takes: "task_id! note"},
		{name: "snooze_task", title: "Snooze a task", effect: adds, as: "task", does: operational.ReminderService.Snooze, takes: "task_id! for!"},
		{name: "report_event", title: "Report an event", effect: adds, as: "fired", does: operational.ReminderService.Happened, takes: "name! data project"},
	}
	for i := range list {
		list[i].without = "conversation_id message_id created_at updated_at"
	}
	return list
}

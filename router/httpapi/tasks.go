package httpapi

import (
	"skillrouter/operational"
)

// TaskList is the answer of GET /api/tasks.
type TaskList struct {
	Tasks []operational.Task `json:"tasks"`
	Count int                `json:"count" doc:"How many are in this answer"`
}

func (s *Server) taskRoutes(tasks operational.TaskService) {
	at := s.at("tasks", "/api/tasks")
	at.post("", "Create a task; with agent_id it is claimed at once", created(sent(tasks.Create)))
	at.get("", "List tasks: open ones by priority, then finished ones, the latest first",
		asked(as(tasks.List, func(list []operational.Task) TaskList { return TaskList{list, len(list)} })))
	at.get("/summary", "Count tasks by status", asked(tasks.Summary))
	at.post("/claim", "Claim the next waiting task, by priority, then by number", sentOrNot(tasks.ClaimNext))
	at.get("/{id}", "One task", named(tasks.Task).saying("The task's id or number"))
	at.post("/{id}/claim", "Claim this task", changed(tasks.Claim))
	at.post("/{id}/progress", "Report how far it has come", changed(tasks.Progress))
	at.post("/{id}/block", "Say that it cannot go on, and why", changed(tasks.Block))
	at.post("/{id}/unblock", "Let it go on", changed(tasks.Unblock))
	at.post("/{id}/complete", "End it with its result", changed(tasks.Complete))
	at.post("/{id}/fail", "End it with its error", changed(tasks.Fail))
	at.post("/{id}/release", "Give it back for another to claim", changed(tasks.Release))
	at.post("/{id}/cancel", "End it, because it is not wanted any more", changed(tasks.Cancel))
	at.post("/{id}/reassign", "Hand it to an agent, whoever holds it; for the Captain", changed(tasks.Reassign))
}

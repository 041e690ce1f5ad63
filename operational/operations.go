package operational

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of each service here are called from outside.
var Operations = struct{ Tasks, Recon, Reminders, Escalations, Tokens operation.List }{
	Tasks: operation.Of("tasks", "/api/tasks",
		operation.Post("", "Create a task; with agent_id it is claimed at once", TaskService.Create).Makes(),
		operation.Get("", "List tasks: open ones by priority, then finished ones, the latest first", TaskService.List).Holds("tasks"),
		operation.Get("/ready", "List the tasks that can be claimed: nobody holds them, and they wait for no unfinished task", TaskService.Ready).Holds("tasks"),
		operation.Get("/summary", "Count tasks by status", TaskService.Summary),
		operation.Post("/claim", "Claim the next waiting task, by priority, then by number", TaskService.ClaimNext),
		operation.Get("/{id}", "One task", TaskService.Task).Named(aTask),
		operation.Post("/{id}/claim", "Claim this task", TaskService.Claim).Named(aTask),
		operation.Post("/{id}/progress", "Report how far it has come", TaskService.Progress).Named(aTask),
		operation.Post("/{id}/block", "Say that it cannot go on, and why", TaskService.Block).Named(aTask),
		operation.Post("/{id}/unblock", "Let it go on", TaskService.Unblock).Named(aTask),
		operation.Post("/{id}/complete", "End it with its result", TaskService.Complete).Named(aTask),
		operation.Post("/{id}/fail", "End it with its error", TaskService.Fail).Named(aTask),
		operation.Post("/{id}/release", "Give it back for another to claim", TaskService.Release).Named(aTask),
		operation.Post("/{id}/cancel", "End it, because it is not wanted any more", TaskService.Cancel).Named(aTask),
		operation.Post("/{id}/restore", "Let a cancelled one wait to be claimed again", TaskService.Restore).Named(aTask),
		operation.Post("/{id}/wait", "Say which tasks must be finished first, in the place of those that it waits for", TaskService.Wait).Named(aTask),
		operation.Post("/{id}/reassign", "Hand it to an agent, whoever holds it; for the Captain", TaskService.Reassign).Named(aTask).Needs("captain"),
	),
	Recon: operation.Of("recon", "/api/recon",
		operation.Post("/environments", "Add an environment, or change the one of that name", ReconService.StoreEnvironment),
		operation.Get("/environments", "List environments by name", ReconService.Environments).Takes("project").Holds("environments"),
		operation.Post("/scans", "Record a scan; its environment is added if it is not known", ReconService.StartScan).Makes(),
		operation.Get("/scans", "List scans, the latest first", ReconService.Scans).Holds("scans"),
		operation.Post("/scans/{id}/finish", "End a running scan", ReconService.FinishScan),
		operation.Post("/findings", "Report a finding; a known one is counted, and open again if it had been fixed", ReconService.Report).
			MakesIf(func(r Reported) bool { return r.New }),
		operation.Post("/findings/bulk", "Report up to 1000 findings; bad ones are refused by their place", ReconService.ReportAll),
		operation.Get("/findings", "List findings, the worst first, then the latest seen", ReconService.Findings).Holds("findings"),
		operation.Get("/findings/{id}", "One finding", ReconService.Finding),
		operation.Post("/findings/{id}/status", "Decide about a finding: open, confirmed, fixed, accepted, false_positive", ReconService.Decide),
		operation.Get("/findings/{id}/history", "What was decided about a finding, the oldest first", ReconService.History).Holds("changes"),
		operation.Get("/summary", "Count findings by severity, status and environment", ReconService.Summary),
	),
	Reminders: operation.Of("reminders", "/api/reminders",
		operation.Post("", "Schedule a reminder: a task, and the trigger that it waits for", ReminderService.Schedule).Makes(),
		operation.Get("", "List reminders: those that are due first, then by number", ReminderService.List).Holds("reminders"),
		operation.Get("/pending", "What is due for an agent or a persona; what was delivered to nobody counts as delivered to the agent that asks", ReminderService.Pending).
			Holds("reminders"),
		operation.Get("/stats", "Count reminders by persona and status", ReminderService.Stats),
		operation.Post("/events", "Tell of something by name; the reminders that wait for it come due", ReminderService.Happened).Holds("fired"),
		operation.Get("/{id}", "One reminder", ReminderService.Reminder).Named(aReminder),
		operation.Patch("/{id}", "Change what an open reminder says: the fields that are sent", ReminderService.Edit).Named(aReminder),
		operation.Post("/{id}/complete", "Say that it is done; one that recurs waits for its next time", ReminderService.Complete).Named(aReminder),
		operation.Post("/{id}/cancel", "End it, because it is not wanted any more", ReminderService.Cancel).Named(aReminder),
		operation.Post("/{id}/restore", "Let a cancelled one wait again; if its time has passed, it comes due at once", ReminderService.Restore).Named(aReminder),
		operation.Post("/{id}/snooze", "Let it come again later: for 10min, 2h, 1 day, or until a time", ReminderService.Snooze).Named(aReminder),
	),
	Escalations: operation.Of("escalations", "/escalations",
		operation.Get("", "List escalations, the most urgent first, and among these the latest", EscalationService.List).Holds("escalations"),
		operation.Get("/{id}", "One escalation with its history", EscalationService.Escalation),
		operation.Post("/{id}/review", "Say that somebody has looked at it", EscalationService.Review),
		operation.Post("/{id}/resolve", "Say that it is settled; if the matter recurs, it is raised anew", EscalationService.Resolve),
		operation.Post("/{id}/dismiss", "Say that it is no matter for its agent; it is never raised again for this reason", EscalationService.Dismiss),
	),
	Tokens: operation.With(
		operation.Of("tokens", "/api/whoami", operation.Get("", "Who is calling, by the token, and with which rights", TokenService.Self).Keeps()),
		operation.Of("tokens", "/api/tokens",
			operation.Post("", "Issue a token; its secret is shown in this answer and never again", TokenService.Issue).Makes().Needs("admin"),
			operation.Get("", "List tokens, without their secrets, the latest first", TokenService.List).Holds("tokens"),
			operation.Delete("/{id}", "Revoke a token, at once and for good", TokenService.Revoke).Needs("admin"),
		),
	),
}

// What ids are, for those who give them.
const (
	aTask     = "The task's id or number"
	aReminder = "The reminder's number"
)

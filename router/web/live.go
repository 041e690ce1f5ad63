package web

import "strings"

// eventTypes are the events that a page may hear of. A browser's EventSource
// hears an event that has a name only by its name.
var eventTypes = []string{
	"agent.joined", "agent.state", "agent.status",
	"episode.cleared", "episode.recorded",
	"escalation.raised", "escalation.reviewed", "escalation.settled", "escalation.supervisors",
	"experience.recorded", "experience.swept",
	"fact.deleted", "fact.expired", "fact.stored", "fact.updated",
	"finding.decided", "finding.reopened", "finding.reported", "finding.seen",
	"guard.checked", "guard.demoted", "guard.restored", "guard.settled",
	"knowledge.deleted", "knowledge.stored", "knowledge.updated",
	"lesson.applied", "lesson.edited", "lesson.occurred", "lesson.promoted", "lesson.reported", "lesson.restored", "lesson.retired", "lesson.validated",
	"message.sent",
	"pattern.confirmed", "pattern.deprecated", "pattern.emerged", "pattern.seen", "pattern.swept",
	"procedure.deleted", "procedure.saved",
	"proposal.accepted", "proposal.rejected",
	"reminder.cancelled", "reminder.cleared", "reminder.completed", "reminder.delivered", "reminder.due", "reminder.scheduled", "reminder.snoozed", "reminder.unjudged",
	"run.ended", "run.started", "run.step",
	"scan.finished", "scan.started",
	"session.ended", "session.started",
	"task.blocked", "task.cancelled", "task.claimed", "task.completed", "task.created", "task.failed", "task.progress", "task.reassigned", "task.released", "task.unblocked",
}

// liveTypes is eventTypes as the pages' script reads it.
var liveTypes = strings.Join(eventTypes, " ")

package app

import (
	"net/http"

	"skillrouter/comms"
	"skillrouter/learning"
	learningstore "skillrouter/learning/store"
	"skillrouter/operational"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
)

// parts is what wire has built so far, for what is built on it.
type parts struct {
	memory     *learningstore.Store
	operations *operationalstore.Store
	tasks      *operational.Tasks
	presence   *comms.Presence
	mailbox    *comms.Mailbox
	knowledge  *learning.KnowledgeBase
	episodes   *learning.Episodes
	lessons    *learning.Lessons
	patterns   *learning.Patterns
	guards     *learning.Guards
	facts      *learning.Facts
	border     borderServices

	procedures    learning.ProcedureService
	consolidation learning.ConsolidationService
	reminders     operational.ReminderService
	sessions      router.SessionService
	context       router.ContextService
	chat          http.Handler
}

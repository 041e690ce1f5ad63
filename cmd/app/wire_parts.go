package app

import (
	"net/http"

	"skillrouter/comms"
	"skillrouter/learning"
	learningstore "skillrouter/learning/store"
	"skillrouter/operational"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
	"skillrouter/router/contexts"
	"skillrouter/router/feed"
	"skillrouter/router/llm"
	"skillrouter/router/search"
	"skillrouter/router/session"
	"skillrouter/router/transfer"
	"skillrouter/router/web"
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

	// model is what the router itself may ask, and embedder makes vectors; each is nil unless it is
	// configured (llm.base_url with llm.model, llm.embedding_model). wireLLM sets them, before all others.
	model    llm.Model
	vectors  *learning.Vectors
	embedder learning.Embedder
	endpoint *llm.Endpoint // what model is at, and /v1 is in front of; nil without llm.base_url

	procedures    *learning.Procedures
	consolidation learning.ConsolidationService
	reminders     *operational.Reminders
	sessions      session.Service
	context       contexts.Service
	chat          http.Handler
	gaps          *learning.Gaps
	answered      *learning.Answered
	search        *search.Searcher
	experiences   *learning.Experiences
	transfer      transfer.Service

	feed           feed.Service
	events, socket http.Handler // the feed's two transports

	// What the dashboard shows beside the above; set when all parts are wired.
	tokens        *operational.Tokens
	queries       router.Service
	introspection router.IntrospectionService
	web           *web.Server // the dashboard

	mesh       comms.MeshService
	meshStatus func() comms.Mesh // for the metrics; nil: it is off
}

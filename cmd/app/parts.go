package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/comms"
	"skillrouter/comms/lease"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/learning/shelf"
	learningstore "skillrouter/learning/store"
	"skillrouter/learning/verdict"
	"skillrouter/operational"
	"skillrouter/operational/person"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
	"skillrouter/router/contexts"
	"skillrouter/router/decision"
	"skillrouter/router/feed"
	"skillrouter/router/httpapi"
	"skillrouter/router/kind"
	"skillrouter/router/llm"
	"skillrouter/router/mcpserver"
	"skillrouter/router/search"
	"skillrouter/router/session"
	"skillrouter/router/transfer"
	"skillrouter/router/value"
	"skillrouter/router/web"
)

// parts is what wire has built so far, for what is built on it.
type parts struct {
	memory     *learningstore.Store
	operations *operationalstore.Store
	tasks      *operational.Tasks
	presence   *comms.Presence
	mailbox    *comms.Mailbox
	leases     *lease.Leases
	knowledge  *knowledge.Base
	episodes   *episode.Episodes
	lessons    *lesson.Lessons
	patterns   *lesson.Patterns
	guards     *guard.Guards
	facts      *fact.Facts
	crossing   crossingServices

	// model is what the router itself may ask, and embedder makes vectors; each is nil unless it is
	// configured (llm.base_url with llm.model, llm.embedding_model). wireLLM sets them, before all others.
	model    llm.Model
	vectors  *shelf.Vectors
	embedder shelf.Embedder
	endpoint *llm.Endpoint // what model is at, and /v1 is in front of; nil without llm.base_url

	procedures    *procedure.Procedures
	consolidation history.ConsolidationService
	reminders     *operational.Reminders
	sessions      session.Service
	context       contexts.Service
	chat          http.Handler
	verdicts      *verdict.Verdicts
	kinds         []kind.Memory
	indexes       []namedIndex // of the kinds that join
	routes        []httpapi.Routes
	tools         []mcpserver.Tools
	search        *search.Searcher
	experiences   *experience.Experiences
	incidents     *history.Incidents
	tellings      *operational.Tellings
	value         *value.Values
	decisions     *decision.Decisions
	transfer      transfer.Service

	feed           feed.Service
	timeline       feed.TimelineService
	events, socket http.Handler // the feed's two transports

	// What the dashboard shows beside the above; set when all parts are wired.
	tokens        *operational.Tokens
	persons       *person.Persons
	queries       router.Service
	introspection router.IntrospectionService
	web           *web.Server // the dashboard

	mesh       comms.MeshService
	meshStatus func() comms.Mesh // for the metrics; nil: it is off

	registry *prometheus.Registry
}

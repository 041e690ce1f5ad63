package app_test

// factAccess has the routes of facts.
var factAccess = map[string][]access{
	"PUT /api/facts/:persona/:key": {
		{may: agents, path: "/api/facts/default/{key}", body: `{"value":1}`},
		{may: asAgentA, path: "/api/facts/default/{key}", body: `{"value":1,"agent_id":"a"}`},
	},
	"GET /api/facts/:persona/:key": {{may: anyone, path: "/api/facts/default/{fact}"}},
	"PATCH /api/facts/:persona/:key": {
		{may: agents, path: "/api/facts/default/{fact}", body: `{"value":2}`},
		{may: asAgentA, path: "/api/facts/default/{fact}", body: `{"value":2,"agent_id":"a"}`},
	},
	"DELETE /api/facts/:persona/:key": {{may: agents, path: "/api/facts/default/{fact}"}},
	"POST /api/facts/search":          {{may: anyone, path: "/api/facts/search", body: `{"pattern":"*"}`}},
	"GET /api/facts/categories":       {{may: anyone, path: "/api/facts/categories"}},
	"GET /api/facts/stats":            {{may: anyone, path: "/api/facts/stats"}},
	"POST /api/facts/cache": {
		{may: agents, path: "/api/facts/cache", body: `{"key":"{key}"}`},
		{may: asAgentA, path: "/api/facts/cache", body: `{"key":"{key}","agent_id":"a"}`},
	},
	"POST /api/facts/cache/complete": {{may: agents, path: "/api/facts/cache/complete", body: `{"lease":"{lease}","value":1}`}},
	"POST /api/facts/cache/renew":    {{may: agents, path: "/api/facts/cache/renew", body: `{"lease":"{lease}"}`}},
	"POST /api/facts/cache/release":  {{may: agents, path: "/api/facts/cache/release", body: `{"lease":"{lease}"}`}},
}

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
}

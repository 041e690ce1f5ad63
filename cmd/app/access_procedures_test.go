package app_test

// procedureAccess has the routes of procedures and their runs.
var procedureAccess = map[string][]access{
	"GET /api/procedures":                {{may: anyone, path: "/api/procedures"}},
	"POST /api/procedures/search":        {{may: anyone, path: "/api/procedures/search", body: `{"query":"x"}`}},
	"GET /api/procedures/problems":       {{may: anyone, path: "/api/procedures/problems"}},
	"GET /api/procedures/stats":          {{may: anyone, path: "/api/procedures/stats"}},
	"GET /api/procedures/:persona/:name": {{may: anyone, path: "/api/procedures/default/{procedure}"}},
	"PUT /api/procedures/:persona/:name": {
		{may: agents, path: "/api/procedures/default/{key}", body: `{"steps":[{"action":"x"}]}`},
		{may: asAgentA, path: "/api/procedures/default/{key}", body: `{"steps":[{"action":"x"}],"agent_id":"a"}`},
	},
	"DELETE /api/procedures/:persona/:name": {{may: agents, path: "/api/procedures/default/{procedure}"}},
	"POST /api/procedures/:persona/:name/runs": {
		{may: agents, path: "/api/procedures/default/{procedure}/runs"},
		{may: asAgentA, path: "/api/procedures/default/{procedure}/runs", body: `{"agent_id":"a"}`},
	},
	"GET /api/runs":                   {{may: anyone, path: "/api/runs"}},
	"GET /api/runs/:id":               {{may: anyone, path: "/api/runs/{run}"}},
	"POST /api/runs/:id/next":         {{may: asAgentA, path: "/api/runs/{run}/next", body: `{"again":true}`}},
	"POST /api/runs/:id/steps/:index": {{may: asAgentA, path: "/api/runs/{run}/steps/0", body: `{"status":"succeeded"}`}},
	"POST /api/runs/:id/abandon":      {{may: asAgentA, path: "/api/runs/{run}/abandon", body: `{}`}},
}

package app_test

// queryAccess has the routes of verdicts and of what memory is worth.
var queryAccess = map[string][]access{
	"GET /api/value":                 {{may: anyone, path: "/api/value"}},
	"GET /api/gaps":                  {{may: anyone, path: "/api/gaps"}},
	"DELETE /api/gaps/:id":           {{may: agents, path: "/api/gaps/{gap}"}},
	"POST /api/knowledge/:id/used":   {{may: agents, path: "/api/knowledge/{entry}/used", body: `{"query":"which one"}`}},
	"GET /api/knowledge/:id/used":    {{may: anyone, path: "/api/knowledge/none/used"}},
	"DELETE /api/knowledge/:id/used": {{may: agents, path: "/api/knowledge/none/used"}},
}

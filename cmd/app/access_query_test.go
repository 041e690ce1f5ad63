package app_test

// queryAccess has the routes by which the router and the search are taught.
var queryAccess = map[string][]access{
	"POST /query/feedback":           {{may: agents, path: "/query/feedback", body: `{"query":"{new}","query_type":"episode"}`}},
	"GET /query/feedback":            {{may: anyone, path: "/query/feedback"}},
	"DELETE /query/feedback":         {{may: captains, path: "/query/feedback?agent_id=nobody"}},
	"POST /api/knowledge/:id/used":   {{may: agents, path: "/api/knowledge/{entry}/used", body: `{"query":"which one"}`}},
	"GET /api/knowledge/:id/used":    {{may: anyone, path: "/api/knowledge/none/used"}},
	"DELETE /api/knowledge/:id/used": {{may: agents, path: "/api/knowledge/none/used"}},
	"DELETE /query/feedback/:id":     {{may: captains, path: "/query/feedback/{feedback}"}},
}

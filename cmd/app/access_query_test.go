package app_test

// queryAccess has the routes of verdicts, of what memory is worth, and of what is shared by git.
var queryAccess = map[string][]access{
	"GET /api/value":                 {{may: anyone, path: "/api/value"}},
	"GET /api/shared":                {{may: anyone, path: "/api/shared?project=p"}},
	"POST /api/shared":               {{may: agents, path: "/api/shared", body: `{"ids":[],"project":"p"}`}},
	"POST /api/shared/decide":        {{may: captains, path: "/api/shared/decide", body: `{"project":"p","answers":[]}`, personal: true, proved: true}},
	"GET /api/gaps":                  {{may: anyone, path: "/api/gaps"}},
	"DELETE /api/gaps/:id":           {{may: agents, path: "/api/gaps/{gap}"}},
	"POST /api/knowledge/:id/used":   {{may: agents, path: "/api/knowledge/{entry}/used", body: `{"query":"which one"}`}},
	"GET /api/knowledge/:id/used":    {{may: anyone, path: "/api/knowledge/none/used"}},
	"DELETE /api/knowledge/:id/used": {{may: agents, path: "/api/knowledge/none/used"}},
}

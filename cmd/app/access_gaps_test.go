package app_test

// gapsAccess has the routes of this part.
var gapsAccess = map[string][]access{
	"GET /api/value":             {{may: anyone, path: "/api/value"}},
	"GET /api/gaps":              {{may: anyone, path: "/api/gaps"}},
	"GET /api/gaps/:id":          {{may: anyone, path: "/api/gaps/{gap}"}},
	"POST /api/gaps/:id/check":   {{may: agents, path: "/api/gaps/{gap}/check"}},
	"POST /api/gaps/:id/dismiss": {{may: agents, path: "/api/gaps/{gap}/dismiss", body: `{"reason":"r"}`}},
	"POST /api/gaps/:id/reopen":  {{may: agents, path: "/api/gaps/{gap}/reopen"}},
}

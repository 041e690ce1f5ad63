package app_test

import "net/http"

// gapsAccess has the routes of this part.
var gapsAccess = map[string][]access{
	"GET /api/gaps":              {{may: anyone, path: "/api/gaps"}},
	"GET /api/gaps/:id":          {{may: anyone, path: "/api/gaps/none", answers: http.StatusNotFound}},
	"POST /api/gaps/:id/check":   {{may: agents, path: "/api/gaps/none/check", answers: http.StatusNotFound}},
	"POST /api/gaps/:id/dismiss": {{may: agents, path: "/api/gaps/none/dismiss", body: `{"reason":"r"}`, answers: http.StatusNotFound}},
	"POST /api/gaps/:id/reopen":  {{may: agents, path: "/api/gaps/none/reopen", answers: http.StatusNotFound}},
}

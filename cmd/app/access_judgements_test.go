package app_test

import "net/http"

// judgementAccess has the routes of this part.
var judgementAccess = map[string][]access{
	"POST /api/judgements":         {{may: agents, path: "/api/judgements", body: `{"question":"q","good":["none"]}`, answers: http.StatusBadRequest}},
	"GET /api/judgements":          {{may: anyone, path: "/api/judgements"}},
	"GET /api/judgements/:id":      {{may: anyone, path: "/api/judgements/none", answers: http.StatusNotFound}},
	"DELETE /api/judgements/:id":   {{may: agents, path: "/api/judgements/none", answers: http.StatusNotFound}},
	"POST /api/judgements/measure": {{may: agents, path: "/api/judgements/measure"}},
}

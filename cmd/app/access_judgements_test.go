package app_test

// judgementAccess has the routes of this part.
var judgementAccess = map[string][]access{
	"POST /api/judgements":         {{may: agents, path: "/api/judgements", body: `{"question":"q","good":["{entry}"]}`}},
	"GET /api/judgements":          {{may: anyone, path: "/api/judgements"}},
	"GET /api/judgements/:id":      {{may: anyone, path: "/api/judgements/{judgement}"}},
	"DELETE /api/judgements/:id":   {{may: captains, path: "/api/judgements/{judgement}"}},
	"POST /api/judgements/measure": {{may: agents, path: "/api/judgements/measure"}},
}

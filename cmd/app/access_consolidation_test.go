package app_test

// consolidationAccess has the routes of transcripts and what they propose.
var consolidationAccess = map[string][]access{
	"POST /api/consolidations": {
		{may: agents, path: "/api/consolidations", body: `{"text":"{new}"}`},
		{may: asAgentA, path: "/api/consolidations", body: `{"text":"{new}","agent_id":"a"}`},
	},
	"GET /api/proposals":             {{may: anyone, path: "/api/proposals"}},
	"GET /api/proposals/:id":         {{may: anyone, path: "/api/proposals/{proposal}"}},
	"POST /api/proposals/:id/accept": {{may: asAgentA, path: "/api/proposals/{proposal}/accept"}},
	"POST /api/proposals/:id/reject": {{may: asAgentA, path: "/api/proposals/{proposal}/reject", body: `{"reason":"r"}`}},
}

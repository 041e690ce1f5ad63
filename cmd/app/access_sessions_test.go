package app_test

// sessionAccess has the routes of sessions.
var sessionAccess = map[string][]access{
	"POST /api/sessions": {
		{may: asAgentA, path: "/api/sessions", body: `{"agent_id":"a"}`},
		{may: asAgentA, path: "/api/sessions", body: `{"action":"end","session_id":"{session}"}`},
	},
	"POST /api/sessions/:id/end": {
		{may: asAgentA, path: "/api/sessions/{session}/end", body: `{}`},
		{may: asAgentA, path: "/api/sessions/current/end", body: `{"agent_id":"a","summary":"{session}"}`},
	},
	"GET /api/sessions":          {{may: anyone, path: "/api/sessions"}},
	"GET /api/sessions/:id":      {{may: anyone, path: "/api/sessions/{session}"}},
	"GET /api/sessions/handover": {{may: anyone, path: "/api/sessions/handover?agent_id=heir"}},
}

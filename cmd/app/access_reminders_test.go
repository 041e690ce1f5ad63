package app_test

// reminderAccess has the routes of reminders.
var reminderAccess = map[string][]access{
	"POST /api/reminders": {
		{may: agents, path: "/api/reminders", body: `{"task":"t","trigger":"time:+1h"}`},
		{may: asAgentA, path: "/api/reminders", body: `{"task":"t","trigger":"time:+1h","created_by":"a"}`},
	},
	"GET /api/reminders":         {{may: anyone, path: "/api/reminders"}},
	"GET /api/reminders/pending": {{may: anyone, path: "/api/reminders/pending?agent_id=a"}},
	"GET /api/reminders/stats":   {{may: anyone, path: "/api/reminders/stats"}},
	"POST /api/reminders/events": {
		{may: agents, path: "/api/reminders/events", body: `{"name":"deployment"}`},
		{may: asAgentA, path: "/api/reminders/events", body: `{"name":"deployment","agent_id":"a"}`},
	},
	"GET /api/reminders/:id": {{may: asAgentA, path: "/api/reminders/{reminder}", hidden: true}},
	"POST /api/reminders/:id/complete": {
		{may: asAgentA, path: "/api/reminders/{reminder}/complete", body: `{}`},
		{may: asAgentA, path: "/api/reminders/{reminder}/complete", body: `{"agent_id":"a"}`},
	},
	"POST /api/reminders/:id/cancel":  {{may: asAgentA, path: "/api/reminders/{reminder}/cancel", body: `{"note":"n"}`}},
	"POST /api/reminders/:id/restore": {{may: asAgentA, path: "/api/reminders/{cancelled reminder}/restore", body: `{}`}},
	"PATCH /api/reminders/:id":        {{may: asAgentA, path: "/api/reminders/{reminder}", body: `{"task":"other"}`}},
	"POST /api/reminders/:id/snooze":  {{may: asAgentA, path: "/api/reminders/{reminder}/snooze", body: `{"for":"10min"}`}},
}

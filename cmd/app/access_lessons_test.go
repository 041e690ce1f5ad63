package app_test

import (
	"fmt"
	"maps"
)

// asAgentB are those who may do what agent a, whom it is about, may not.
var asAgentB = []string{agentB, captain, admin}

// lessonAccess has the routes of lessons.
var lessonAccess = map[string][]access{
	"POST /lessons/report": {
		{may: agents, path: "/lessons/report", body: `{{new lesson}}`},
		{may: asAgentA, path: "/lessons/report", body: `{{new lesson},"source_agent":"a"}`},
	},
	"POST /lessons/bulk":            {{may: agents, path: "/lessons/bulk", body: `[{{new lesson}}]`}},
	"POST /claude-code/session-end": {{may: agents, path: "/claude-code/session-end", body: `[{{new lesson}}]`}},
	"POST /query/relevant":          {{may: anyone, path: "/query/relevant", body: `{"context":"x"}`}},
	"POST /lessons/search":          {{may: anyone, path: "/lessons/search", body: `{"context":"x"}`}},
	"GET /lessons":                  {{may: anyone, path: "/lessons"}},
	"GET /lessons/review":           {{may: anyone, path: "/lessons/review"}},
	"GET /lessons/:id":              {{may: anyone, path: "/lessons/{lesson}"}},
	"PATCH /lessons/:id":            {{may: asAgentA, path: "/lessons/{lesson}", body: `{"solution":"other"}`}},
	"POST /lessons/:id/validate": {
		{may: asAgentA, path: "/lessons/{lesson}/validate?validated=false&validated_by=a"},
		{may: asAgentB, path: "/lessons/{lesson}/validate", body: `{"validated":true,"validated_by":"b"}`},
	},
	"POST /lessons/:id/apply": {
		{may: agents, path: "/lessons/{lesson}/apply", body: `{"outcome":"success"}`},
		{may: asAgentA, path: "/lessons/{lesson}/apply", body: `{"outcome":"success","agent":"a"}`},
	},
	"POST /lessons/:id/promote": {{may: agents, path: "/lessons/{promotable}/promote"}},
	"POST /lessons/:id/retire":  {{may: asAgentA, path: "/lessons/{lesson}/retire", body: `{"reason":"r"}`}},
	"POST /lessons/:id/restore": {{may: asAgentA, path: "/lessons/{retired}/restore"}},
	"GET /lessons/:id/history":  {{may: anyone, path: "/lessons/{lesson}/history"}},

	"GET /patterns":                {{may: anyone, path: "/patterns"}},
	"GET /patterns/emerging":       {{may: anyone, path: "/patterns/emerging"}},
	"POST /patterns":               {{may: agents, path: "/patterns", body: `{"pattern_type":"best_practice","pattern_name":"n","description":"d","domain":"git"}`}, {may: asAgentA, path: "/patterns", body: `{"pattern_type":"best_practice","pattern_name":"n","description":"d","domain":"git","by":"a"}`}},
	"PATCH /patterns/:id":          {{may: captains, path: "/patterns/{learned pattern}", body: `{"description":"other","by":"c"}`}},
	"GET /patterns/:id":            {{may: anyone, path: "/patterns/{learned pattern}"}},
	"POST /patterns/:id/confirm":   {{may: asAgentA, path: "/patterns/{learned pattern}/confirm?confirmed_by=a"}},
	"POST /patterns/:id/deprecate": {{may: asAgentA, path: "/patterns/{learned pattern}/deprecate", body: `{"confirmed_by":"a"}`}},
}

// join makes one matrix of several.
func join(parts ...map[string][]access) map[string][]access {
	whole := map[string][]access{}
	for _, part := range parts {
		maps.Copy(whole, part)
	}
	return whole
}

// newLesson is the members of a lesson that is like no other.
func newLesson(n int) string {
	return fmt.Sprintf(`"lesson_type":"failure","domain":"d%d","category":"c","title":"title %d","context":"context %d","action_taken":"","outcome":""`, n, n, n)
}

package app_test

// introspectionAccess has the routes that tell of all memories, and clear them.
var introspectionAccess = map[string][]access{
	"GET /api/memory/categories": {{may: anyone, path: "/api/memory/categories"}},
	"GET /api/memory/stats":      {{may: anyone, path: "/api/memory/stats"}},
	"POST /api/memory/clear": {
		{may: anyone, path: "/api/memory/clear", body: `{"category":"c"}`},
		{may: captains, path: "/api/memory/clear", body: `{"category":"c","confirm":true}`},
	},
}

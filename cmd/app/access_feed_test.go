package app_test

import "net/http"

// feedAccess has the routes of the feed. What each caller sees there is
// TestFeedIdentity's to hold.
var feedAccess = map[string][]access{
	"GET /ws":           {{may: anyone, path: "/ws", answers: http.StatusBadRequest}}, // no upgrade: it gets past the door, and no further
	"GET /events":       {{may: anyone, path: "/events"}},
	"GET /api/events":   {{may: anyone, path: "/api/events"}},
	"GET /api/timeline": {{may: anyone, path: "/api/timeline"}},
}

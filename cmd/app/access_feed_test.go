package app_test

// feedAccess has the routes of the feed. What each caller sees there is
// TestFeedIdentity's to hold.
var feedAccess = map[string][]access{
	"GET /events":     {{may: anyone, path: "/events"}},
	"GET /api/events": {{may: anyone, path: "/api/events"}},
}

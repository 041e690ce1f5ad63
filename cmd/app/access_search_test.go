package app_test

// searchAccess has the routes of this part. Whose messages they find, TestSearchKeepsMailboxes holds.
var searchAccess = map[string][]access{
	"GET /api/search":  {{may: anyone, path: "/api/search?q=x"}},
	"POST /api/search": {{may: anyone, path: "/api/search", body: `{"query":"x"}`}},
}

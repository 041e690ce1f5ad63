package app_test

// meshAccess has the routes of this part.
var meshAccess = map[string][]access{
	"GET /api/interlock": {{may: anyone, path: "/api/interlock"}},
}

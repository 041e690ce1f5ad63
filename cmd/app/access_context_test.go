package app_test

// contextAccess has the routes of the context builder.
var contextAccess = map[string][]access{
	"POST /api/context/show": {{may: anyone, path: "/api/context/show", body: `{"handles":["k1"]}`}},
	"POST /api/context":      {{may: anyone, path: "/api/context", body: `{"task":"deploy","budget":500}`}},
}

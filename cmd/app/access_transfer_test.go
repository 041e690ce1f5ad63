package app_test

// transferAccess has the routes of this part.
var transferAccess = map[string][]access{
	"GET /api/export":  {{may: captains, path: "/api/export"}},
	"POST /api/import": {{may: captains, path: "/api/import", body: `{"records":[{"kind":"knowledge","category":"c","content":"{new}"}]}`}},
	"GET /api/backup": {
		{may: captains, path: "/api/backup"},
		{may: adminsOnly, path: "/api/backup?owner_token=true"},
	},
}

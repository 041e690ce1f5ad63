package app_test

// transferAccess has the routes of this part.
var transferAccess = map[string][]access{
	"GET /api/export":            {{may: captains, path: "/api/export"}},
	"GET /api/imports":           {{may: captains, path: "/api/imports"}},
	"POST /api/imports/:id/undo": {{may: captains, path: "/api/imports/{import}/undo"}},
	"POST /api/import":           {{may: captains, path: "/api/import", body: `{"records":[{"kind":"knowledge","category":"c","content":"{new}"}]}`}},
	"GET /api/backup": {
		{may: captains, path: "/api/backup"},
		{may: adminsOnly, path: "/api/backup?owner_token=true"},
	},
}

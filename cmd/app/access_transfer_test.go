package app_test

// transferAccess has the routes of this part.
var transferAccess = map[string][]access{
	"GET /api/backup": {
		{may: captains, path: "/api/backup"},
		{may: adminsOnly, path: "/api/backup?owner_token=true"},
	},
}

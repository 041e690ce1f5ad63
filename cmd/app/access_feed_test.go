package app_test

// feedAccess has the routes of this part.
var feedAccess = map[string][]access{}

package app_test

// webAccess has the routes of this part.
var webAccess = map[string][]access{}

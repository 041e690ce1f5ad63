package app_test

// gapsAccess has the routes of this part.
var gapsAccess = map[string][]access{}

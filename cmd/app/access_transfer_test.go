package app_test

// transferAccess has the routes of this part.
var transferAccess = map[string][]access{}

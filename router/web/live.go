package web

import (
	"strings"

	"skillrouter/router/feed"
)

// liveTypes are the types of all events, as the pages' script reads them: a
// browser's EventSource hears an event that has a name only by its name.
var liveTypes = func() string {
	var types []string
	for _, one := range feed.Types() {
		types = append(types, one.Type)
	}
	return strings.Join(types, " ")
}()

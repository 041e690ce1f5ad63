package feed

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Type is a type of event that the feed may hold.
type Type struct {
	Type   string
	Kinds  []string // the names in its log, if the experience server names it
	Source operational.FeedSource
	Data   string // the members of its data
	When   string
}

// eventsText is what is said of the types of events; its lines are told in it.
//
//go:embed events.txt
var eventsText string

// cells are the parts of the lines under a heading of the text.
func cells(heading string) (rows [][]string) {
	for _, line := range wordlist.Lines(eventsText, heading) {
		row := strings.Split(line, "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// Types lists every type of event in the feed, log by log, those of the
// kinds of memory last. A type that is not here cannot be asked for.
var Types = sync.OnceValue(func() (types []Type) {
	members := wordlist.Map(eventsText, "members")()
	for _, source := range []operational.FeedSource{operational.FeedLearning, operational.FeedOperational, operational.FeedMessages} {
		for _, row := range cells(string(source)) {
			data := row[2]
			if name, several := strings.CutPrefix(data, "$"); several {
				data = members[name]
			}
			types = append(types, Type{row[0], strings.Fields(row[1]), source, data, row[3]})
		}
	}
	return append(types, typesOfKinds()...)
})

// typesOfKinds are the events that the kinds of memory tell of.
func typesOfKinds() (types []Type) {
	for _, k := range kind.All() {
		for _, e := range k.Events {
			types = append(types, Type{e.Type, nil, operational.FeedLearning, e.Data, e.When})
		}
	}
	return types
}

// names has every name that an event may be asked for by.
var names = sync.OnceValue(func() (names []string) {
	for _, t := range Types() {
		names = append(append(names, t.Type), t.Kinds...)
	}
	return names
})

// knownType tells whether a type, or a group such as "task.*", is that of any event.
func knownType(name string) bool {
	group, ok := strings.CutSuffix(name, "*")
	if !ok {
		return slices.Contains(names(), name)
	}
	return group == "" || strings.HasSuffix(group, ".") && slices.ContainsFunc(names(), func(known string) bool { return strings.HasPrefix(known, group) })
}

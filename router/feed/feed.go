// Package feed is the one stream of what happened in both databases and in the mailboxes. It gives each event a number
// that never changes, keeps the numbers in a journal, and answers readers from a tail in memory or from the logs. It
// changes nothing in the domains.
package feed

import (
	"context"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Service is the one stream of what happened in both databases and in the
// mailboxes: every event has a number of its own, in the order in which the
// feed took it up, which never changes afterwards.
type Service interface {
	// Feed returns the events after a number that the caller may see and asked for, in order.
	Feed(ctx context.Context, query Query) (Page, error)
	// FeedBell rings when there is more.
	FeedBell() *committer.Bell
}

// Now is what Query.After is for somebody who wants what happens from
// now on: nothing lies beyond it, and the page's Seen is the end of the feed.
const Now = math.MaxInt64

// Query says which events are asked for.
type Query struct {
	// After is the number of the last event that the caller has. One beyond the end, as
	// from another data folder, is taken for the end.
	After   int64    `query:"after" minimum:"0" doc:"Only events of a greater seq; a page's seen is what to ask after next; 0: from the beginning; one beyond the end: nothing but where the feed ends"`
	Types   []string `query:"type" doc:"Only of these types, or groups such as task.*, separated by commas"` // such as "task.claimed", "task.*"; by either name of an event that has two; empty: all
	Agent   string   `query:"agent" doc:"Only what this agent did, what happened to it, and messages to it"`
	Project string   `query:"project" doc:"Only of this project"`            // empty: all
	Limit   int      `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"` // 0: DefaultLimit; at most MaxLimit
}

// Bounds of a Query.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
	// MaxTypes bounds a query's types: as many as there are, and every group of them.
	MaxTypes = 128
)

// Event is an event with its place in the feed.
type Event struct {
	eventlog.Event        // Seq is the feed's own number
	Kind           string `json:"kind,omitempty"` // the type in its log, if Type is the name that the experience server gives it
	Source         string `json:"source"`         // the log that it is from: learning, operational or messages
}

// Page is what Feed found.
type Page struct {
	Events []Event `json:"events"`
	// Seen is the number up to which was looked, whether it passed the query or not: what to ask after next.
	Seen int64 `json:"seen"`
	More bool  `json:"more"` // there may be more at once
}

// Operations is how the methods of a Service and a TimelineService are called from outside.
var Operations = struct{ Feed, Timeline operation.List }{
	Feed: operation.Of("events", "/api/events",
		operation.Get("", "What happened, in the order of the feed: events with seq, type and data", Service.Feed).Keeps()),
	Timeline: operation.Of("events", "/api/timeline",
		operation.Get("", "What happened to the team, told for people, the newest first: tool calls, checks, messages, tasks, what agents were told", TimelineService.Timeline).Keeps()),
}

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

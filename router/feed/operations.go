package feed

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service and a TimelineService are called from outside.
var Operations = struct{ Feed, Timeline operation.List }{
	Feed: operation.Of("events", "/api/events",
		operation.Get("", "What happened, in the order of the feed: events with seq, type and data", Service.Feed).Keeps()),
	Timeline: operation.Of("events", "/api/timeline",
		operation.Get("", "What happened to the team, told for people, the newest first: tool calls, checks, messages, tasks, what agents were told", TimelineService.Timeline).Keeps()),
}

package session

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("sessions", "/api/sessions",
	operation.Post("", "Begin a session, or with action end, end one; 200 if nothing new began", Service.Start).Shaped(""),
	operation.Post("/{id}/end", "End a session: what is open goes to the successor; current is the one that the agent is in", Service.End).Else(Current).Shaped(""),
	operation.Get("", "List sessions, the latest first", Service.List).Holds("sessions"),
	operation.Get("/handover", "The session whose hand-over an agent works on, or that waits for it", Service.Handover).Takes("agent_id"),
	operation.Get("/{id}", "One session, with what it left undone", Service.Session),
)

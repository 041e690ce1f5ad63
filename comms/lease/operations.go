package lease

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("leases", "/api/leases",
	operation.Post("", "Take a lease of files, or take one again that the agent holds", Service.Take),
	operation.Get("", "The leases that are held, the latest first", Service.Leases).Holds("leases"),
	operation.Post("/release", "Give leases back: those with lease_ids, or all of the agent's", Service.Release).Holds("leases"),
	operation.Post("/ask", "Send a message to the holder of a lease", Service.Ask),
	operation.Post("/check", "What speaks against changes of files", Service.Check),
)

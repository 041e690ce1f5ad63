package httpapi

import (
	"github.com/gin-gonic/gin"

	"skillrouter/internal/principal"
)

// keepsWalls are the routes that keep to the projects of a token that is bound to some: nothing that they answer
// shows or counts what is of another project, or of none, and what they write is of the token's. All others
// are refused to such a token, so that a route that joins shows it nothing.
var keepsWalls = setOf(
	"GET /health", "GET /api/whoami", "GET /docs", "GET /docs/style.css", "GET /docs/operations/:id",
	"POST /heartbeat", "POST /status", "GET /shutdown-check", "GET /messages", "GET /messages/inbox", "POST /messages/ack", "POST /messages/read", "POST /signal",
	"GET /events", "GET /ws", "GET /api/events", "GET /api/timeline",
	"GET /api/agents", "GET /api/agents/:id",
	"POST /lessons/report", "POST /query/relevant", "POST /lessons/search", "GET /lessons", "GET /lessons/:id", "GET /lessons/:id/history",
	"POST /lessons/:id/validate", "POST /lessons/:id/apply", "POST /lessons/:id/retire", "POST /lessons/:id/restore",
	"POST /query", "GET /api/search", "POST /api/search", "POST /api/context",
	"GET /api/knowledge", "POST /api/knowledge", "POST /api/knowledge/bulk", "POST /api/knowledge/search", "GET /api/knowledge/:id", "PUT /api/knowledge/:id", "DELETE /api/knowledge/:id",
	"POST /api/episodes", "GET /api/episodes/recent", "POST /api/episodes/search", "GET /episodes/:id", "PATCH /episodes/:id", "DELETE /episodes/:id",
	"GET /api/value",
	"GET /api/gaps", "DELETE /api/gaps/:id",
	"POST /check/anti-pattern", "POST /check/outcome",
	"GET /api/tools", "POST /api/tools/:name", "GET /mcp", "POST /mcp", "DELETE /mcp",
	"GET /openapi.json", "GET /openapi.yaml", "GET /openapi-3.0.json", "GET /openapi-3.0.yaml",
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// walled returns an error if the principal of a request is bound to projects, and the route does not keep to them.
func walled(c *gin.Context, caller principal.Principal) error {
	if !caller.Walled() || c.FullPath() == "" { // what is no route shows nothing
		return nil
	}
	if route := c.Request.Method + " " + c.FullPath(); !keepsWalls[route] {
		return principal.Unkept(route)
	}
	return nil
}

package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"skillrouter/internal/principal"
)

// rights are the scopes that writes need, where that is not ScopeAgent. They are asked for before the body is read, so that
// a caller without the right costs no more than the refusal. Services ask again, for what only they know.
var rights = func() map[string]principal.Scope {
	needs := map[string]principal.Scope{"POST /api/tokens": principal.ScopeAdmin, "DELETE /api/tokens/:id": principal.ScopeAdmin}
	for scope, routes := range map[principal.Scope][]string{
		principal.ScopeRead: {
			"POST /query", "POST /query/relevant", "POST /lessons/search", "POST /api/context", "POST /api/search", "POST /api/facts/search",
			"POST /api/knowledge/search", "POST /api/episodes/search", "POST /api/procedures/search", "POST /api/lessons/applicable",
			"POST /api/incidents/answer", "POST /check/explain",
			"POST /api/memory/clear",                            // without confirm it deletes nothing
			"POST /api/tools/:name", "POST /mcp", "DELETE /mcp", // each tool says what it needs
			"POST /api/knowledge/bulk", "POST /lessons/bulk", "POST /claude-code/session-end", "POST /api/import", // they ask by themselves, see openBulk
		},
		principal.ScopeCaptain: {
			"POST /api/incidents/forget", "POST /api/imports/:id/undo",
			"POST /check/packs", "POST /check/packs/add", "DELETE /check/packs/:id", "POST /check/rules/:id/restore", "POST /api/tasks/:id/reassign",
			"PATCH /patterns/:id",
		},
	} {
		for _, route := range routes {
			needs[route] = scope
		}
	}
	return needs
}()

// checkRight refuses a write to a caller who lacks the route's right. The dashboard's forms have checks of their own.
func (s *Server) checkRight(c *gin.Context) {
	route := c.FullPath()
	if c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead || route == "" || s.isWeb(c) {
		c.Next()
		return
	}
	need, named := rights[c.Request.Method+" "+route]
	if !named {
		need = principal.ScopeAgent
		if strings.HasPrefix(route, chatPath) {
			need = principal.ScopeRead
		}
	}
	if err := principal.Of(c.Request.Context()).Keeping().Need(need); err != nil { // walls were looked at
		abort(c, s.fail(c.Request.Context(), err))
		return
	}
	c.Next()
}

package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// access is what a route asks of its caller before the body is read, so that a caller without the right costs no more than the refusal.
type access struct {
	scope  principal.Scope // of a token that writes; empty: ScopeAgent
	walled bool            // it keeps to the projects of a token that is bound to some, see operation.Op.Keeps
}

// accessOf is the access of every route: an operation's stands in its entry.
func accessOf() map[string]access {
	routes := map[string]access{
		"POST /query/relevant": {principal.ScopeRead, true},
		// These ask by themselves: each tool and each line says what it needs.
		"POST /api/tools/:name": {principal.ScopeRead, true}, "POST /mcp": {principal.ScopeRead, true}, "DELETE /mcp": {principal.ScopeRead, true},
		"POST /api/knowledge/bulk": {principal.ScopeRead, true}, "POST /claude-code/session-end": {scope: principal.ScopeRead},
	}
	for _, path := range []string{
		"/docs", "/docs/style.css", "/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/openapi-3.0.yaml",
		"/messages", "/events", "/ws", "/mcp", "/api/tools", "/api/search",
	} {
		routes[http.MethodGet+" "+path] = access{walled: true}
	}
	for _, op := range operation.All() {
		routes[op.Verb+" "+ginText.Replace(op.Path)] = access{principal.Scope(op.Scope), op.Walled}
	}
	return routes
}

// checkRight refuses a write to a caller who lacks the route's right. The dashboard's forms have checks of their own.
func (s *Server) checkRight(c *gin.Context) {
	route := c.FullPath()
	if c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead || route == "" || s.isWeb(c) {
		c.Next()
		return
	}
	need := cmp.Or(s.needs()[c.Request.Method+" "+route].scope, principal.ScopeAgent)
	if strings.HasPrefix(route, chatPath) {
		need = principal.ScopeRead
	}
	if err := principal.Of(c.Request.Context()).Keeping().Need(need); err != nil { // walls were looked at
		abort(c, s.fail(c.Request.Context(), err))
		return
	}
	c.Next()
}

// walled returns an error if the principal of a request is bound to projects, and the route does not keep to them.
func (s *Server) walled(c *gin.Context, caller principal.Principal) error {
	if !caller.Walled() || c.FullPath() == "" { // what is no route shows nothing
		return nil
	}
	if route := c.Request.Method + " " + c.FullPath(); !s.needs()[route].walled {
		return principal.Unkept(route)
	}
	return nil
}

package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"skillrouter/learning/fact"
)

const factsPath = "/api/facts"

// factOfPath takes a path of a fact apart.
func factOfPath(path string) (persona, key string, ok bool) {
	persona, key, ok = strings.Cut(strings.TrimPrefix(path, factsPath+"/"), "/")
	if !ok || strings.Contains(key, "/") {
		return "", "", false
	}
	if strings.IndexByte(path, '%') < 0 {
		return persona, key, true
	}
	var errPersona, errKey error
	persona, errPersona = url.PathUnescape(persona)
	key, errKey = url.PathUnescape(key)
	return persona, key, errPersona == nil && errKey == nil
}

func (s *Server) factRoutes(facts fact.Service) {
	offer(s, fact.Operations, facts)
	s.hot[factsPath+"/:persona/:key"] = s.factShortCut(facts)
}

// factShortCut answers the plain reading of a fact, which agents do all the
// time, without the typed route's machinery. Everything else, and every
// reading with a parameter or a body, goes on to that.
func (s *Server) factShortCut(facts fact.Service) func(c *gin.Context) bool {
	return func(c *gin.Context) bool {
		r := c.Request
		if r.Method != http.MethodGet || r.URL.RawQuery != "" || r.ContentLength != 0 || r.Header.Get("Accept") != "" && !plainAccept(r.Header.Get("Accept")) {
			return false
		}
		persona, key, ok := factOfPath(r.URL.EscapedPath())
		if !ok {
			return false
		}
		ctx := r.Context()
		fact, err := facts.Recall(ctx, fact.Ref{Persona: persona, Key: key})
		if err != nil {
			abort(c, s.fail(ctx, err))
			return true
		}
		c.Writer.Header()["Content-Type"] = jsonType
		_, _ = c.Writer.Write(appendFact(make([]byte, 0, len(fact.Value)+len(fact.Probe)+768), &fact)) // a client that has gone cannot be told
		return true
	}
}

// jsonType is shared by all answers; none changes it.
var jsonType = []string{"application/json"}

// plainAccept tells whether JSON is plainly what a client wants.
func plainAccept(accept string) bool {
	return accept == "*/*" || strings.HasPrefix(accept, "application/json")
}

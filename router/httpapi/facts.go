package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"skillrouter/learning/fact"
)

const factsPath = "/api/facts"

// factKey is a fact's place in the path. Any key can be reached: "/" as %2F, "%" as %25.
type factKey struct {
	Persona string `path:"persona" doc:"The persona's name; default is everybody's"`
	Key     string `path:"key" doc:"The fact's key, percent-encoded as one segment of the path"`
}

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

// FactBody is what PUT stores. A fact's place is in the path.
type FactBody struct {
	Value     json.RawMessage `json:"value" doc:"Any JSON, at most 1 MiB without its white space"`
	Category  string          `json:"category,omitempty" doc:"Default: general"`
	TTL       *int64          `json:"ttl,omitempty" doc:"Seconds; 0: for ever; default: 3600"`
	Probe     string          `json:"probe,omitempty" doc:"The command or URL by which its owner verifies it; it is kept and shown, never run"`
	Source    string          `json:"source,omitempty"`
	AgentID   string          `json:"agent_id,omitempty"`
	IfVersion *int64          `json:"if_version,omitempty" doc:"Store only over this version; 0: only if nothing is there"`
	Exact     bool            `json:"exact,omitempty" doc:"Refuse a value that holds a secret, instead of cutting the secret out"`
}

// FactCategories is the answer of GET /api/facts/categories.
type FactCategories struct {
	Categories []fact.Category `json:"categories"`
	Count      int             `json:"count"`
}

func (s *Server) factRoutes(facts fact.Service) {
	const one = "/{persona}/{key}"
	at := s.at("facts", factsPath)
	at.put(one, "Store a value under a key, over what is there; 200 if a live fact was there",
		createdIf(typed(func(ctx context.Context, in *struct {
			factKey
			Body FactBody
		},
		) (fact.Stored, error) {
			return facts.Remember(ctx, fact.Draft{
				Persona: in.Persona, Key: in.Key, Value: in.Body.Value, Category: in.Body.Category, TTL: in.Body.TTL,
				Probe: in.Body.Probe, Source: in.Body.Source, AgentID: in.Body.AgentID, IfVersion: in.Body.IfVersion, Exact: in.Body.Exact,
			})
		}), func(s fact.Stored) bool { return !s.Replaced }))
	at.get(one, "The fact under a key; the access is counted", asked(facts.Recall))
	at.patch(one, "Change the fields that are sent, and let the time to live begin anew",
		typed(func(ctx context.Context, in *struct {
			factKey
			Body fact.Patch
		},
		) (fact.Fact, error) {
			return facts.Update(ctx, fact.Ref{Persona: in.Persona, Key: in.Key}, in.Body)
		}))
	at.delete(one, "Delete a fact", asked(silent(func(ctx context.Context, in factKey) error {
		return facts.Forget(ctx, fact.Ref{Persona: in.Persona, Key: in.Key})
	})))
	at.post("/search", "The facts of a persona whose category and key fit, by key", sent(facts.Search))
	at.get("/categories", "The categories of a persona's facts", typed(func(ctx context.Context, in *struct {
		Persona string `query:"persona"`
	},
	) (FactCategories, error) {
		list, err := facts.Categories(ctx, in.Persona)
		return FactCategories{list, len(list)}, err
	}))
	at.get("/stats", "How many facts each persona has, and what readers found since the start", bare(facts.Stats))
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

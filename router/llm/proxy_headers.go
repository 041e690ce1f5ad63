package llm

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// The headers that switch memory per request. They go no further, and so may
// say what the endpoint need not know.
const (
	HeaderAgent   = "X-Skillrouter-Agent"   // who asks; a token's own agent if left out
	HeaderProject = "X-Skillrouter-Project" // whose memory counts more
	HeaderPersona = "X-Skillrouter-Persona" // whose facts, procedures and episodes are looked at
	HeaderBudget  = "X-Skillrouter-Budget"  // tokens of memory, instead of the setting's
	HeaderRecord  = "X-Skillrouter-Record"  // off: this exchange is not remembered
	// HeaderMemory is off for no memory. In answers it says what was put in front.
	HeaderMemory = "X-Skillrouter-Memory"
	headerPrefix = "X-Skillrouter-"
)

// Bounds of a budget that a header asks for, in tokens: those of the contexts'.
const (
	MinBudget = 50
	MaxBudget = 200_000
)

// wishes are what a request's headers ask for.
type wishes struct {
	agent, project, persona string
	budget                  int
	memory, record          bool
}

// wishesOf reads and checks them. What is wrong is refused, not passed over: who asks
// for another agent's memory should not get everybody's.
func wishesOf(r *http.Request, budget int) (wishes, error) {
	w := wishes{budget: budget, memory: true, record: true}
	caller := principal.Of(r.Context())
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return w, err
	}
	if w.agent = strings.TrimSpace(r.Header.Get(HeaderAgent)); w.agent == "" {
		w.agent = caller.AgentID
	} else if err := check.AgentID(HeaderAgent, w.agent); err != nil {
		return w, err
	} else if err := caller.ActAs(w.agent); err != nil {
		return w, err
	}
	for _, header := range []struct {
		name string
		into *string
	}{{HeaderProject, &w.project}, {HeaderPersona, &w.persona}} {
		*header.into = strings.TrimSpace(r.Header.Get(header.name))
		if err := check.Name(header.name, *header.into); err != nil {
			return w, err
		}
	}
	if asked := strings.TrimSpace(r.Header.Get(HeaderBudget)); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < MinBudget || n > MaxBudget {
			return w, errs.InvalidField(HeaderBudget, "must be a number of tokens between %d and %d", MinBudget, MaxBudget)
		}
		w.budget = n
	}
	for _, header := range []struct {
		name string
		into *bool
	}{{HeaderMemory, &w.memory}, {HeaderRecord, &w.record}} {
		switch strings.ToLower(strings.TrimSpace(r.Header.Get(header.name))) {
		case "", "on":
		case "off":
			*header.into = false
		default:
			return w, errs.InvalidField(header.name, "must be on or off")
		}
	}
	return w, nil
}

// onlyHere are headers of requests that are about this router and the way to it: whose
// token, which site, which page. The endpoint gets a key and a host of its own.
var onlyHere = []string{
	"Authorization", "Cookie", "Origin", "Referer", "Host", "Content-Length", "Expect", "Forwarded",
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Connection", "Upgrade", "Te",
}

// onlyThere are headers of answers that are about the endpoint's own site: a browser
// would take them for this router's.
var onlyThere = []string{"Set-Cookie", "Alt-Svc", "Strict-Transport-Security", "Clear-Site-Data", "Content-Security-Policy"}

// strip takes out the headers that go no further, of a request or of an answer; httputil has taken out those of one connection.
func strip(header http.Header, besides []string) {
	for _, name := range besides {
		header.Del(name)
	}
	maps.DeleteFunc(header, func(name string, _ []string) bool {
		return strings.HasPrefix(name, headerPrefix) || strings.HasPrefix(name, "Access-Control-")
	})
}

package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	operations "github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// byContent are calls that need a captain only by what they are about: who wrote it may call them too, or who is its supervisor.
var byContent = []string{
	"POST /escalations/:id/review", "POST /escalations/:id/resolve", "POST /escalations/:id/dismiss",
}

// TestRightsBeforeBodies sends what nobody can read, and a list of many empty objects, to every route that a token may not write to. A
// refusal of the right is the only answer: 400 would say that the body was read first.
func TestRightsBeforeBodies(t *testing.T) {
	s := serve(t)
	s.issue()
	s.world()
	bodies := map[string]string{"garbage": `{"`, "crowd": `{"each":[` + strings.Repeat("{},", 200_000) + `{}]}`, "nothing": ""}
	wider := func(c access) bool { return len(c.may) > len(captains) }
	asked := 0
	s.eachRoute(func(route httpapi.Route, calls []access) {
		if route.Method == http.MethodGet || strings.HasPrefix(route.Path, "/ui/") {
			return
		}
		for _, call := range calls {
			for _, who := range []string{reader1, agentB} {
				may := func(c access) bool { return slices.Contains(c.may, who) }
				if slices.ContainsFunc(calls, may) || who == agentB && (slices.ContainsFunc(calls, wider) || slices.Contains(byContent, route.Method+" "+route.Path) || call.personal) {
					continue
				}
				path := strings.NewReplacer("{", "", "}", "", " ", "").Replace(call.path)
				for name, body := range bodies {
					asked++
					if status, answer := s.do(who, route.Method, path, body, nil); status != http.StatusForbidden {
						t.Errorf("%s %s with %s as %s: %d %.200s", route.Method, path, name, who, status, answer)
					}
				}
			}
		}
	})
	if asked < 300 {
		t.Errorf("only %d calls were made", asked)
	}
	for _, tool := range []string{"store_knowledge", "record_episode", "report_lesson", "send_signal"} {
		if status, answer := s.do(reader1, http.MethodPost, "/api/tools/"+tool, `{"arguments":{"no such":[`+strings.Repeat("{},", 100)+`{}]}}`, nil); status != http.StatusForbidden {
			t.Errorf("the tool %s as a reader: %d %.200s", tool, status, answer)
		}
	}
}

// TestCrowdedBodies sends a megabyte of empty objects to every list that a body may have, as who has every right.
func TestCrowdedBodies(t *testing.T) {
	s := serve(t)
	s.issue()
	crowd := "[" + strings.Repeat("{},", 330_000) + "{}]"
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPost, "/check/offline", `{"checks":` + crowd + `}`},
		{http.MethodPost, "/api/incidents/learn", `{"session_id":"s","steps":` + crowd + `}`},
		{http.MethodPost, "/api/recon/findings/bulk", crowd},
		{http.MethodPost, "/messages/ack", `{"agent_id":"a","message_ids":` + crowd + `}`},
		{http.MethodPost, "/api/tools/record_experience", `{"arguments":{"a":` + crowd + `}}`},
		{http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record_experience","arguments":{"a":` + crowd + `}}}`},
	} {
		status, answer := s.do(admin, c.method, c.path, c.body, nil)
		if status != http.StatusRequestEntityTooLarge && status != http.StatusBadRequest || !strings.Contains(answer, "send it in parts") {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, status, answer)
		}
		if len(answer) > 4<<10 {
			t.Errorf("%s %s is answered with %d bytes", c.method, c.path, len(answer))
		}
	}
	// A request with many unknown names is told of a hundred.
	var names []string
	for i := range 9_000 {
		names = append(names, fmt.Sprintf(`"n%d":1`, i))
	}
	_, answer := s.do(admin, http.MethodPost, "/api/incidents/learn", `{"session_id":"s",`+strings.Join(names, ",")+`}`, nil)
	if n := bytes.Count([]byte(answer), []byte(`"field":"n`)); n < 90 || n > 101 {
		t.Errorf("9,000 unknown names: %d faults: %.300s", n, answer)
	}
}

// TestServicesAskForRights opens the door: no entry of an operation says which scope it needs. Whoever may not make a call is refused by the
// service just the same, so that what an entry says early is what its service says late.
func TestServicesAskForRights(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a thousand calls, one after the other")
	}
	for _, op := range operations.All() { // no test of this package runs beside one that is not parallel
		defer func(scope string) { op.Scope = scope }(op.Scope)
		if op.Scope != "" && !slices.Contains(principal.Scopes(), principal.Scope(op.Scope)) {
			t.Errorf("%s %s needs %q, which is no scope", op.Verb, op.Path, op.Scope)
		}
		op.Scope = string(principal.ScopeRead)
	}
	s := serve(t)
	s.issue()
	s.world()
	asked := 0
	s.eachRoute(func(route httpapi.Route, calls []access) {
		if route.Method == http.MethodGet || strings.HasPrefix(route.Path, "/ui/") {
			return
		}
		for _, call := range calls {
			if call.public {
				continue
			}
			call = s.sample(call)
			for _, who := range []string{reader1, agentB} {
				if slices.Contains(call.may, who) {
					continue
				}
				asked++
				if status, answer := s.do(who, route.Method, call.path, call.body, nil); status != http.StatusForbidden && !(call.hidden && status == http.StatusNotFound) {
					t.Errorf("%s %s as %s is not refused by its service: %d %.200s", route.Method, call.path, who, status, answer)
				}
			}
		}
	})
	if asked < 150 {
		t.Errorf("only %d calls were made", asked)
	}
}

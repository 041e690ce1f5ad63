package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestAcceptedIncidentIsALesson has an accepted incident become a lesson of the team, which says what works now, and which is
// taken out of use with the acceptance.
func TestAcceptedIncidentIsALesson(t *testing.T) {
	m := openMemories(t)
	m.asPerson()
	sessions := 0
	learn := func(steps ...string) { // pairs of a command and what it printed; what begins with "!" failed
		sessions++
		list := []fields{}
		for i := 0; i < len(steps); i += 2 {
			output, failed := strings.CutPrefix(steps[i+1], "!")
			step := fields{"id": fmt.Sprint(sessions, "-", i), "command": steps[i], "outcome": "worked", "digest": output}
			if failed {
				step["outcome"], step["output"], step["exit"] = "failed", output, 1
			}
			list = append(list, step)
		}
		body, err := json.Marshal(fields{"project": "shop", "session_id": fmt.Sprint("s", sessions), "begin": true, "steps": list})
		if err != nil {
			t.Fatal(err)
		}
		m.send(http.MethodPost, "/api/incidents/learn", string(body), http.StatusOK)
	}
	lessons := func() (found []fields) {
		all, _ := m.send(http.MethodGet, "/lessons?project=shop", "", http.StatusOK)["lessons"].([]any)
		for _, l := range all {
			found = append(found, l.(fields))
		}
		return found
	}
	const watch, said = "npx tool build src --watch", "!error: unknown option '--watch'"
	learn(watch, said, "npx tool build src -w", "ok")
	m.send(http.MethodPost, "/api/incidents/accept", `{"project":"shop","seen":1}`, http.StatusOK)
	if got := lessons(); len(got) != 0 {
		t.Errorf("a lesson of one session: %v", got)
	}
	learn(watch, said, "npx tool build src -w", "ok")
	if got := lessons(); len(got) != 1 || !strings.Contains(fmt.Sprint(got[0]["solution"]), "build src -w") || got[0]["project"] != "shop" {
		t.Fatalf("%v", got)
	}
	for range 2 { // what worked works no more
		learn(watch, said, "npx tool build src -w", said, "npx tool build src --serve", "ok")
	}
	if got := lessons(); len(got) != 1 || !strings.Contains(fmt.Sprint(got[0]["solution"]), "--serve") {
		t.Fatalf("it says what worked once: %v", got)
	}
	m.send(http.MethodPost, "/api/incidents/accept", `{"project":"shop","seen":1,"undo":true}`, http.StatusOK)
	if got := lessons(); len(got) != 0 {
		t.Errorf("it is still in use: %v", got)
	}
	const serve, gone = "npx tool start --port 80", "!error: unknown option '--port'"
	for range 2 {
		learn(serve, gone, "npx tool start -p 80", "ok")
	}
	m.send(http.MethodPost, "/api/incidents/accept", `{"project":"shop","seen":1}`, http.StatusOK)
	if got := lessons(); len(got) == 0 {
		t.Fatal("it is no lesson")
	}
	m.send(http.MethodPost, "/api/incidents/forget", `{"project":"shop"}`, http.StatusOK)
	if got := lessons(); len(got) != 0 {
		t.Errorf("what was learned of a project that was forgotten is still in use: %v", got)
	}
	retired, _ := m.send(http.MethodGet, "/lessons?project=shop&status=retired", "", http.StatusOK)["lessons"].([]any)
	if len(retired) != 2 { // with that of what was forgotten
		t.Errorf("retired: %v", retired)
	}
}

package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var checkbox = regexp.MustCompile(`type="checkbox" form="choice" name="item" value="([^"]+)"`)

// picks are the values of the page's checkboxes of one kind.
func picks(page, kind string) (values []string) {
	for _, found := range checkbox.FindAllStringSubmatch(page, -1) {
		if value := html.UnescapeString(found[1]); strings.Contains(value, "kind="+kind+"&") {
			values = append(values, value)
		}
	}
	return values
}

// decide sends the form of the page, and returns what is shown then.
func (s site) decide(verb string, status int, items ...string) string {
	s.t.Helper()
	match := tokenOfForm.FindStringSubmatch(s.get("/ui/decide", http.StatusOK))
	if match == nil {
		s.t.Fatal("the page has no form")
	}
	w := s.do(http.MethodPost, "/ui/inbox/do", "application/x-www-form-urlencoded", url.Values{"token_of_form": {match[1]}, "do": {verb}, "item": items}.Encode())
	if w.Code != status {
		s.t.Errorf("%s of %q answers %d: %s", verb, items, w.Code, heading(w.Body.String()))
	}
	return w.Body.String()
}

// incidents has two sessions fail alike and mend it alike, with so many programs.
func (s site) incidents(programs int) {
	s.t.Helper()
	for session := range 2 {
		var steps []map[string]any
		for n := range programs {
			steps = append(steps,
				map[string]any{"id": fmt.Sprint(session, n, "a"), "command": fmt.Sprintf("prog%d -m pytest core/tests/test_%d.py", n, session), "outcome": "failed", "exit": 1, "output": fmt.Sprintf("/opt/bin/prog%d: No module named plugin%c <script>alert(1)</script>", n, rune('a'+n))},
				map[string]any{"id": fmt.Sprint(session, n, "b"), "command": fmt.Sprintf("bin/test%d core/tests/test_%d.py", n, session), "outcome": "worked", "digest": fmt.Sprint(session, n)})
		}
		s.api(http.MethodPost, "/api/incidents/learn", map[string]any{"project": "shop", "session_id": fmt.Sprint("s", session), "begin": true, "steps": steps})
	}
}

// TestDecide decides on some of each kind, and on each by itself.
func TestDecide(t *testing.T) {
	s := openSite(t).asPerson()
	s.shows("/ui/decide", "Nothing waits for you")
	s.incidents(4)
	s.api(http.MethodPost, "/api/consolidations", map[string]any{"agent_id": "ann", "session_id": "s", "text": "The API listens on port 8080. The database listens on port 5432."})
	page := s.shows("/ui/decide", "prog1 -m pytest core/tests/test_1.py")
	if strings.Contains(page, "<script>alert") {
		t.Error("what a command printed is markup")
	}
	incidents, proposals := picks(page, "incident"), picks(page, "proposal")
	if len(incidents) != 4 || len(proposals) == 0 {
		t.Fatalf("%d incidents, %d proposals wait", len(incidents), len(proposals))
	}

	first, _ := url.ParseQuery(incidents[0])
	s.shows("/ui/inbox?kind=incident&id="+first.Get("id"), "2 times in 2 sessions", "What worked instead", "bin/test")

	everything := append(append([]string{}, incidents[:2]...), proposals...)
	page = s.decide("incident.accept", http.StatusOK, everything...) // of the others' buttons nothing was pressed
	if n := strings.Count(page[:strings.Index(page, `id="list"`)], `class="chip good"`); n != 2 {
		t.Errorf("%d outcomes of two: %s", n, page[:strings.Index(page, `id="list"`)])
	}
	if len(picks(page, "incident")) != 2 || len(picks(page, "proposal")) != len(proposals) {
		t.Error("something else was decided")
	}
	page = s.decide("incident.accept", http.StatusOK, incidents[1], incidents[2])
	if !strings.Contains(page, "decided so already") || !strings.Contains(page, "chip good") {
		t.Error("what was accepted already is not told apart")
	}
	page = s.decide("incident.decline", http.StatusOK, incidents[3])
	if len(picks(page, "incident")) != 0 {
		t.Error("a declined incident waits on")
	}
	if page := s.api(http.MethodGet, "/api/incidents?project=shop", nil); strings.Count(fmt.Sprint(page["incidents"]), "accepted:true") != 3 {
		t.Errorf("%v", page)
	}
	s.decide("proposal.reject", http.StatusOK, proposals[0])
	page = s.decide("proposal.accept", http.StatusOK, append(proposals[1:], proposals[0])...)
	if len(picks(page, "proposal")) != 0 {
		t.Error("proposals wait on")
	}
	s.shows("/ui/decide", "Nothing waits for you")
}

// TestDecideForged sends what the page does not offer.
func TestDecideForged(t *testing.T) {
	s := openSite(t)
	s.incidents(2)
	items := picks(s.get("/ui/decide", http.StatusOK), "incident")
	if len(items) != 2 {
		t.Fatalf("%d incidents wait", len(items))
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = "kind=incident&id=00000000000000ff"
	}
	for _, c := range []struct {
		verb   string
		items  []string
		status int
	}{
		{"", items, 400},
		{"incident.delete", items, 400},
		{"incident.accept", nil, 400},
		{"incident.accept", []string{"%zz"}, 400},
		{"incident.accept", []string{"kind=incident"}, 400},
		{"proposal.accept", items, 400},
		{"incident.accept", many, 400},
		{"approval.approve", []string{"kind=approval&id=a&number=1"}, 400}, // it is allowed on its own page alone
	} {
		s.decide(c.verb, c.status, c.items...)
	}
	for verb, item := range map[string]string{
		"incident.accept": "kind=incident&id=00000000000000ff&title=" + url.QueryEscape(hostile), "approval.deny": "kind=approval&id=x&id=-1",
		"escalation.resolve": "kind=escalation&id=x&id=y", "proposal.accept": "kind=proposal&id=x", "proposal.reject": "kind=proposal&id=",
	} {
		page := s.decide(verb, http.StatusOK, item)
		if outcomes := page[:strings.Index(page, `id="list"`)]; !strings.Contains(outcomes, "refused") || strings.Contains(outcomes, "<script>alert") || strings.Contains(outcomes, "\u202e") {
			t.Errorf("%s of %s: %s", verb, item, outcomes)
		}
	}
	w := s.do(http.MethodPost, "/ui/inbox/do", "application/x-www-form-urlencoded", url.Values{"do": {"incident.accept"}, "item": items}.Encode())
	if w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: %d", w.Code)
	}
	if got := picks(s.get("/ui/decide", http.StatusOK), "incident"); len(got) != 2 {
		t.Errorf("%d incidents wait after forged forms", len(got))
	}
}

// TestNoLinkToNowhere follows what agents were told to its page, shows a tool's call as people read it, and each matter's address once.
func TestNoLinkToNowhere(t *testing.T) {
	s := openSite(t)
	s.lesson("anti_pattern", "Never wipe the cache", map[string]any{"severity": "critical", "related_commands": []string{"cachectl wipe"}})
	s.api(http.MethodPost, "/check/anti-pattern", map[string]any{"agent": "ann", "tool": "Bash", "folder": "/w", "args": map[string]any{"command": "cachectl wipe --all", "cwd": "/w"}})
	s.api(http.MethodPost, "/check/anti-pattern", map[string]any{"agent": "ann", "tool": "Write", "args": map[string]any{"content": strings.Repeat("x", 5000), "file_path": "/w/main.go"}})
	if page := s.shows("/ui/timeline", "Bash cachectl wipe --all", "Write /w/main.go"); strings.Contains(page, "file_path") || strings.Contains(page, "cwd") {
		t.Error("a call is shown as JSON")
	}
	s.shows("/ui/guard/ledger?rule=editing", "No check fits")
	made := s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "t", "content": "c", "tags": []string{"one", "two"}})
	s.shows("/ui/memory?kind=knowledge&id="+fmt.Sprint(made["knowledge_id"]), "one", "two")
}

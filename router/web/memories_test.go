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

// remembered fills a site with a memory of each kind, and returns the path of each one's page by its kind.
func (s site) remembered() map[string]string {
	s.t.Helper()
	entry := s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "runbook", "title": "Gateway certificates", "content": "certbot renew " + hostile, "project": "billing", "agent_id": "builder-1"})
	episode := s.api(http.MethodPost, "/api/episodes", map[string]any{"event_type": "error", "title": "The gateway fell over", "content": hostile, "agent_id": "builder-1", "project": "billing"})
	s.api(http.MethodPut, "/api/facts/default/gateway.url", map[string]any{"value": "https://gateway.example", "ttl": 0})
	s.api(http.MethodPut, "/api/facts/team-a/gateway.port", map[string]any{"value": 8443, "ttl": 0})
	s.api(http.MethodPut, "/api/procedures/default/renew", map[string]any{"description": "Renew the gateway's certificate", "steps": []map[string]any{{"name": "renew", "run": "certbot renew"}}})
	return map[string]string{
		"knowledge": memoryPage("knowledge", entry["knowledge_id"].(string)), "episode": memoryPage("episode", episode["episode_id"].(string)),
		"fact": memoryPage("fact", "default/gateway.url"), "procedure": memoryPage("procedure", "default/renew"),
	}
}

func memoryPage(kind, id string) string {
	return "/ui/memory?" + url.Values{"kind": {kind}, "id": {id}}.Encode()
}

func TestAllMemoryOfNothing(t *testing.T) {
	s := openSite(t)
	s.shows("/ui/memory", "Memory", "Knowledge", "Facts", "Episodes", "Procedures", "Incidents", "Lessons", "Patterns")
	for _, kind := range []string{"knowledge", "fact", "episode", "procedure"} {
		s.shows("/ui/memory?kind="+kind, "There is nothing here yet.")
		s.shows("/ui/memory?q=anything&kind="+kind, "Nothing here has")
	}
	s.shows("/ui/incidents", "No command failed here")
	for path, status := range map[string]int{
		"/ui/memory?kind=none": 400, "/ui/memory?kind=message": 400, "/ui/memory?kind=reminder": 400, "/ui/memory?id=x": 400,
		"/ui/memory?kind=knowledge&cursor=x": 400, "/ui/memory?kind=episode&cursor=-1": 400, "/ui/memory?kind=procedure&cursor=x": 400, "/ui/memory?kind=episode&category=x": 400,
		"/ui/memory?kind=knowledge&id=none": 404, "/ui/memory?kind=episode&id=none": 404, "/ui/memory?kind=fact&id=default/none": 404, "/ui/memory?kind=procedure&id=default/none": 404,
		"/ui/memory?kind=fact&persona=..": 400, "/ui/memory/edit?kind=knowledge&id=none": 404, "/ui/memory/edit?kind=pattern&id=none": 404,
		"/ui/incident?id=none": 400, "/ui/incident?id=0123456789abcdef": 404, "/ui/incidents?cursor=x": 400,
	} {
		s.get(path, status)
	}
}

func TestMemoryLists(t *testing.T) {
	s := openSite(t)
	pages := s.remembered()
	for kind, shown := range map[string]string{"knowledge": "Gateway certificates", "episode": "The gateway fell over", "fact": "gateway.url", "procedure": "Renew the gateway's certificate"} {
		s.shows("/ui/memory?kind="+kind, shown)
		page := s.shows("/ui/memory?q=gateway&kind="+kind, shown, "The likeliest first")
		if !strings.Contains(page, html.EscapeString(pages[kind])) {
			t.Errorf("the list of %s does not lead to %s", kind, pages[kind])
		}
		s.shows("/ui/memory?q=zork&kind="+kind, "Nothing here has")
		s.shows(pages[kind], "What it said before", "Where it was told", "Change it", "Remove")
	}
	s.shows("/ui/memory", "Gateway certificates", "The gateway fell over", "gateway.url", "Renew the gateway's certificate")
	if list := s.get("/ui/memory?kind=fact", http.StatusOK); strings.Contains(list, "gateway.port") || !strings.Contains(list, `value="team-a"`) {
		t.Error("the facts of one persona are shown, and the others can be chosen")
	}
	s.shows("/ui/memory?kind=fact&persona=team-a&q=port", "gateway.port", memoryPage("fact", "team-a/gateway.port"))
	s.shows("/ui/memory?kind=knowledge&project=billing&category=runbook&author=builder-1", "Gateway certificates")
	for _, none := range []string{"project=shop", "category=x", "author=nobody"} {
		s.shows("/ui/memory?kind=knowledge&"+none, "There is nothing here yet.")
	}
}

// TestMemoryListsHaveTheirParts pages through more than a page holds: each row comes once.
func TestMemoryListsHaveTheirParts(t *testing.T) {
	s := openSite(t)
	const rows = 120
	for i := range rows {
		s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": fmt.Sprintf("entry %d %s", i, hostile), "content": strings.Repeat("long ", 200)})
		s.api(http.MethodPost, "/api/episodes", map[string]any{"event_type": "action", "title": fmt.Sprint("episode ", i), "content": "x"})
		s.api(http.MethodPut, fmt.Sprintf("/api/facts/default/key-%03d", i), map[string]any{"value": i, "ttl": 0})
		s.api(http.MethodPut, fmt.Sprintf("/api/procedures/default/steps-%03d", i), map[string]any{"steps": []map[string]any{{"name": "a", "run": "true"}}})
	}
	older := regexp.MustCompile(`href="([^"]+)" rel="next"`)
	for _, kind := range []string{"knowledge", "episode", "fact", "procedure"} {
		seen, row := map[string]bool{}, regexp.MustCompile(`<th scope="row" class="t"><span class="line"><a href="([^"]+)"`)
		next, parts := "/ui/memory?kind="+kind, 0
		for ; next != "" && parts < 5; parts++ {
			page := s.get(next, http.StatusOK)
			if len(page) > 150<<10 {
				t.Errorf("%s has %d bytes", next, len(page))
			}
			for _, match := range row.FindAllStringSubmatch(page, -1) {
				if seen[match[1]] {
					t.Errorf("%s: %s comes twice", kind, match[1])
				}
				seen[match[1]] = true
			}
			next = ""
			if match := older.FindStringSubmatch(page); match != nil {
				next = html.UnescapeString(match[1])
			}
		}
		if len(seen) != rows || parts != 3 {
			t.Errorf("%s: %d of %d rows on %d pages", kind, len(seen), rows, parts)
		}
	}
}

func TestMemoryIsChangedAndUndone(t *testing.T) {
	s := openSite(t)
	pages := s.remembered()
	mark := regexp.MustCompile(`name="mark" value="([^"]+)"`)
	for kind, change := range map[string]struct{ member, text, shown string }{
		"knowledge": {"content", "acme.sh --renew\r\nthen reload", "acme.sh --renew"},
		"fact":      {"value", `"https://other.example"`, "https://other.example"},
		"procedure": {"steps", `[{"name":"renew","run":"acme.sh --renew"}]`, "acme.sh --renew"},
		"episode":   {"learned", "watch the dates", "watch the dates"},
	} {
		page := pages[kind]
		edit := strings.Replace(page, "/ui/memory?", "/ui/memory/edit?", 1)
		id := s.query(page).Get("id")
		found := mark.FindStringSubmatch(s.get(edit, http.StatusOK))
		if found == nil {
			t.Fatalf("%s cannot be changed", kind)
		}
		fields := []string{"kind", kind, "id", id, "mark", found[1], change.member, change.text}
		to := s.send(edit, "/ui/memory/edit", http.StatusSeeOther, fields...)
		s.shows(to, "It is changed.", change.shown)
		// Who had the page open before does not write over it, and is shown what it says now.
		w := s.send(edit, "/ui/memory/edit", http.StatusConflict, append(fields[:len(fields)-1:len(fields)-1], "7")...)
		if w != "" {
			t.Errorf("%s: a change of what was changed meanwhile leads to %s", kind, w)
		}
		if kind == "episode" {
			s.shows(page, "is not kept")
			continue
		}
		version := regexp.MustCompile(`name="version" value="([^"]+)"`).FindStringSubmatch(s.shows(page, "Say this again"))
		if version == nil {
			t.Fatalf("%s has no version", kind)
		}
		s.send(page, "/ui/memory/revert", http.StatusNotFound, "kind", kind, "id", id, "version", "123456789")
		now := s.shows(s.send(page, "/ui/memory/revert", http.StatusSeeOther, "kind", kind, "id", id, "version", version[1]), "It says again what it said then.")
		if facts, _, _ := strings.Cut(now, `id="told"`); strings.Contains(facts, change.shown) {
			t.Errorf("%s still says %q", kind, change.shown)
		}
	}
	entry := s.api(http.MethodGet, "/api/knowledge/"+s.query(pages["knowledge"]).Get("id"), nil)
	if entry["content"] != "certbot renew "+hostile {
		t.Errorf("the entry says %q", entry["content"])
	}
}

// query is the query of a path.
func (s site) query(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Query()
}

// TestUnchangedFieldsStay: a form sends all that it shows, with the browser's ends of lines, and what cannot be seen is shown otherwise. None of it is a change.
func TestUnchangedFieldsStay(t *testing.T) {
	s := openSite(t)
	content := "first\nsecond \u202e third\n\n"
	id := s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "t", "content": content, "tags": []string{"a", "b"}})["knowledge_id"].(string)
	edit := "/ui/memory/edit?kind=knowledge&id=" + id
	page := s.get(edit, http.StatusOK)
	mark := regexp.MustCompile(`name="mark" value="([^"]+)"`).FindStringSubmatch(page)
	shown := html.UnescapeString(regexp.MustCompile(`(?s)<textarea id="f-content"[^>]*>\n(.*?)</textarea>`).FindStringSubmatch(page)[1])
	s.send(edit, "/ui/memory/edit", http.StatusSeeOther, "kind", "knowledge", "id", id, "mark", mark[1], "content", strings.ReplaceAll(shown, "\n", "\r\n"), "tags", "a\r\nb", "title", "t", "category", "other")
	entry := s.api(http.MethodGet, "/api/knowledge/"+id, nil)
	if entry["content"] != content || entry["category"] != "other" || fmt.Sprint(entry["tags"]) != "[a b]" {
		t.Errorf("the entry is %q", entry)
	}
	for member, text := range map[string]string{"title": "", "category": strings.Repeat("x", 5000)} {
		mark := regexp.MustCompile(`name="mark" value="([^"]+)"`).FindStringSubmatch(s.get(edit, http.StatusOK))
		s.send(edit, "/ui/memory/edit", http.StatusBadRequest, "kind", "knowledge", "id", id, "mark", mark[1], member, text)
	}
	w := s.do(http.MethodPost, "/ui/memory/edit", "application/x-www-form-urlencoded", "kind=knowledge&title=forged&id="+id)
	if w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: %d", w.Code)
	}
}

// TestRemovedIsTakenBack: what was removed of any kind can be taken back, with what it said before.
func TestRemovedIsTakenBack(t *testing.T) {
	s := openSite(t)
	pages := s.remembered()
	s.api(http.MethodPut, "/api/procedures/default/renew", map[string]any{"description": "Renew it on Fridays", "steps": []map[string]any{{"name": "renew", "run": "certbot renew"}}})
	page := s.shows(pages["procedure"], "you can take this back", "Say this again")
	if strings.Contains(page, "This is final") {
		t.Error("a procedure's end is called final")
	}
	s.send(pages["procedure"], "/ui/memory/restore", http.StatusNotFound, "kind", "procedure", "id", "default/renew")
	s.send(pages["procedure"], "/ui/memory/remove", http.StatusBadRequest, "kind", "procedure", "id", "default/renew")
	to := s.send(pages["procedure"], "/ui/memory/remove", http.StatusSeeOther, "kind", "procedure", "id", "default/renew", "sure", "1")
	s.shows(to, "It is removed", "default/renew is removed", "Take it back")
	s.get(pages["procedure"], http.StatusNotFound)
	s.shows(s.send(to, "/ui/memory/restore", http.StatusSeeOther, "kind", "procedure", "id", "default/renew"), "It is there again.", "Renew it on Fridays", "Renew the gateway's certificate")
	s.shows("/ui/memory?kind=procedure&q=fridays", "Renew it on Fridays")
	s.send(pages["procedure"], "/ui/memory/restore", http.StatusNotFound, "kind", "procedure", "id", "default/none")
	for _, kind := range []string{"knowledge", "fact", "episode"} {
		if page := s.shows(pages[kind], "you can take this back"); strings.Contains(page, "This is final") {
			t.Errorf("the end of a %s is called final", kind)
		}
		id := s.query(pages[kind]).Get("id")
		to := s.send(pages[kind], "/ui/memory/remove", http.StatusSeeOther, "kind", kind, "id", id, "sure", "1")
		s.shows(to, "It is removed", "Take it back")
		s.shows(s.send(to, "/ui/memory/restore", http.StatusSeeOther, "kind", kind, "id", id), "It is there again.")
	}
}

func TestLessonsAreSearchedAndChanged(t *testing.T) {
	s := openSite(t)
	a := s.lesson("failure", "The gateway certificate expires on Sundays", map[string]any{"root_cause": hostile})
	s.lesson("workaround", "On Sundays the gateway certificate expires", map[string]any{"domain": "network"})
	s.shows("/ui/lessons?q=gateway+certificate", "The likeliest first", "expires on Sundays", "On Sundays the gateway")
	if list := s.get("/ui/lessons?q=gateway&type=failure&domain=databases&tag=", http.StatusOK); strings.Contains(list, "On Sundays the gateway") {
		t.Error("a lesson of another type is shown")
	}
	s.shows("/ui/lessons?q=zork", "Nothing here has")
	page := "/ui/lesson?id=" + a
	s.shows(page, "Where it was told")
	edit := "/ui/memory/edit?kind=lesson&id=" + a
	mark := regexp.MustCompile(`name="mark" value="([^"]+)"`).FindStringSubmatch(s.get(edit, http.StatusOK))
	s.shows(s.send(edit, "/ui/memory/edit", http.StatusSeeOther, "kind", "lesson", "id", a, "mark", mark[1], "solution", "renew it on Fridays"), "It is changed.", "renew it on Fridays")
}

func TestWhereAMemoryWasTold(t *testing.T) {
	s := openSite(t)
	id := s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "Renew the gateway certificate", "content": "run certbot renew", "project": "shop"})["knowledge_id"].(string)
	s.shows(memoryPage("knowledge", id), "No session has received it yet")
	s.api(http.MethodPost, "/api/context", map[string]any{"task": "renew the gateway certificate", "agent_id": "planner", "project": "shop", "session_id": "s1", "budget": 1000})
	s.shows(memoryPage("knowledge", id), "The latest tellings", "planner", "asked")
}

func TestIncidentPages(t *testing.T) {
	s := openSite(t).asPerson()
	for _, session := range []string{"one", "two"} {
		s.api(http.MethodPost, "/api/incidents/learn", map[string]any{"project": "shop", "session_id": session, "agent_id": "builder-1", "begin": true, "steps": []map[string]any{
			{"command": "npm test -- " + hostile, "outcome": "failed", "output": "Error: Cannot find module 'left-pad' " + hostile, "digest": session + "1"},
			{"command": "npm install left-pad", "outcome": "worked", "digest": session + "2"},
			{"command": "npm test -- " + hostile, "outcome": "worked", "digest": session + "3"},
		}})
	}
	list := s.shows("/ui/incidents", "npm test", "left-pad")
	match := regexp.MustCompile(`/ui/memory\?id=([0-9a-f]{16})`).FindStringSubmatch(list)
	if match == nil {
		t.Fatal("no incident is listed")
	}
	s.shows("/ui/incidents?project=shop&query=left-pad", "npm test")
	s.shows("/ui/incidents?project=shop&query=fixes", "Nothing here has") // a word of the record, not of the incident
	s.shows("/ui/incidents?project=shop&query=%25", "Nothing here has")
	s.shows("/ui/incidents?project=other", "No command failed here")
	page := "/ui/incident?id=" + match[1]
	s.shows(page, "npm install left-pad", "What worked instead", "Accept it")
	s.shows(s.send(page, "/ui/incident/accept", http.StatusSeeOther, "id", match[1], "by", "captain-1"), "It is accepted", "Take it back", "captain-1")
	s.shows(s.send(page, "/ui/incident/undo", http.StatusSeeOther, "id", match[1]), "The acceptance is taken back")
	s.send(page, "/ui/incident/accept", http.StatusNotFound, "id", "0123456789abcdef")
	s.send(page, "/ui/incident/accept", http.StatusBadRequest, "id", "x")
	if w := s.do(http.MethodPost, "/ui/incident/accept", "application/x-www-form-urlencoded", "id="+match[1]); w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: %d", w.Code)
	}
	if now := s.get(page, http.StatusOK); strings.Contains(now, "captain-1") {
		t.Error("the forged form was obeyed")
	}
}

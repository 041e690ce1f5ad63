package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const sessionCookie = "skillrouter_session_8025"

// logIn logs the browser in with a token.
func (b *browser) logIn(secret string) {
	b.t.Helper()
	if w := b.submit("/ui/login", url.Values{"secret": {secret}}); w.Code != http.StatusSeeOther || b.cookies[sessionCookie] == "" {
		b.t.Fatalf("the login: %d %s", w.Code, alert(w))
	}
}

// TestDashboardSessionIsNew: the id of a session is never one that was there before the login, and the one before ends.
func TestDashboardSessionIsNew(t *testing.T) {
	b := browse(t)
	_, secret := b.issue(`{"agent_id":"lead","scopes":["captain"]}`)
	planted := strings.Repeat("A", 43)
	b.cookies[sessionCookie] = planted
	b.logIn(secret)
	first := b.cookies[sessionCookie]
	if first == planted {
		t.Fatal("the session has the id that was planted")
	}
	b.logIn(secret)
	second := b.cookies[sessionCookie]
	for id, want := range map[string]int{planted: http.StatusUnauthorized, first: http.StatusUnauthorized, second: http.StatusOK} {
		b.cookies[sessionCookie] = id
		if w := b.send(http.MethodGet, "/ui/agents", nil, nil); w.Code != want {
			t.Errorf("the session %s: %d, want %d", id, w.Code, want)
		}
	}
}

// TestDashboardLoginLeadsNowhereElse: where a login leads is a page of the dashboard, and no part of a header.
func TestDashboardLoginLeadsNowhereElse(t *testing.T) {
	b := browse(t)
	_, secret := b.issue(`{"scopes":["read"]}`)
	for next, want := range map[string]string{
		"/ui/tasks?status=pending": "/ui/tasks?status=pending", "//evil.example": "/", "/\\evil.example": "/", "https://evil.example": "/", "/ui/../..//evil.example": "/",
		"/ui/agents\r\nSet-Cookie: a=b": "/", "/api/tokens": "/", "/ui/logout": "/",
	} {
		w := b.submit("/ui/login", url.Values{"secret": {secret}, "next": {next}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(w.Result().Cookies()) != 1 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q leads to %q, want %q: %d %v", next, w.Header().Get("Location"), want, w.Code, w.Header())
		}
	}
}

// TestDashboardFormsOfASession: a form's token is one session's, and counts in the form alone.
func TestDashboardFormsOfASession(t *testing.T) {
	b := browse(t)
	_, secret := b.issue(`{"agent_id":"lead","scopes":["captain"]}`)
	read := func() string {
		return formToken.FindStringSubmatch(b.send(http.MethodGet, "/ui/login", nil, nil).Body.String())[1]
	}
	strangers := read()
	b.logIn(secret)
	first := read()
	b.cookies = map[string]string{}
	b.logIn(secret)
	own := read()
	for name, c := range map[string]struct {
		path, token string
		want        int
	}{
		"its own":             {"/ui/task/new", own, http.StatusSeeOther},
		"a stranger's":        {"/ui/task/new", strangers, http.StatusForbidden},
		"another session's":   {"/ui/task/new", first, http.StatusForbidden},
		"one in the address":  {"/ui/task/new?token_of_form=" + own, "", http.StatusForbidden},
		"one with an ending":  {"/ui/task/new", own + "A", http.StatusForbidden},
		"logging another out": {"/ui/logout", strangers, http.StatusForbidden},
	} {
		if w := b.send(http.MethodPost, c.path, url.Values{"title": {"t"}, "token_of_form": {c.token}}, nil); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
}

// TestDashboardCookieOnTheFeed: the feed takes the cookie from the dashboard's own pages alone.
func TestDashboardCookieOnTheFeed(t *testing.T) {
	b := browse(t)
	_, secret := b.issue(`{"scopes":["read"]}`)
	b.logIn(secret)
	for name, header := range map[string]map[string]string{
		"another port":             {"Origin": "http://localhost:3000"},
		"another site":             {"Origin": "https://evil.example"},
		"a file":                   {"Origin": "null"},
		"a script of another port": {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
	} {
		for _, path := range []string{"/events", "/ws", "/ui/agents"} {
			if w := b.send(http.MethodGet, path, nil, header); w.Code != http.StatusForbidden {
				t.Errorf("%s from %s: %d", path, name, w.Code)
			}
		}
	}
	for _, path := range []string{"/mcp", "/api/tasks", "/signal"} {
		if w := b.send(http.MethodPost, path, nil, map[string]string{"Content-Type": "application/json"}); w.Code != http.StatusUnauthorized {
			t.Errorf("the cookie opens POST %s: %d", path, w.Code)
		}
	}
}

// TestDashboardNames: a name that never checked in has a page, which says so.
func TestDashboardNames(t *testing.T) {
	b := browse(t)
	b.api(http.MethodPost, "/signal", `{"from_agent_id":"captain","to_agent_id":"later","signal":"message","context":{"text":"begin with #1"}}`, nil)
	for _, name := range []string{"captain", "later"} {
		w := b.send(http.MethodGet, "/ui/agent?id="+name, nil, nil)
		page := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(page, "No agent of this name has checked in") || !strings.Contains(page, "begin with #1") || strings.Contains(page, "/ui/agent/stop") {
			t.Errorf("%s: %d %s", name, w.Code, page)
		}
	}
	if w := b.submit("/ui/agent/signal", url.Values{"id": {"later"}, "signal": {"message"}, "text": {"and then #2"}}); w.Code != http.StatusSeeOther {
		t.Fatalf("a signal that waits: %d %s", w.Code, alert(w))
	}
	b.api(http.MethodPost, "/heartbeat", `{"agent_id":"later"}`, nil)
	var inbox struct{ Messages []any }
	if b.api(http.MethodGet, "/messages/inbox?agent_id=later", "", &inbox); len(inbox.Messages) != 2 {
		t.Errorf("it finds %v", inbox.Messages)
	}
	_, secret := b.issue(`{"scopes":["read"]}`)
	b.logIn(secret)
	if w := b.send(http.MethodGet, "/ui/agent?id=captain", nil, nil); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "begin with") {
		t.Errorf("a reader sees the mail: %d", w.Code)
	}
}

// TestDashboardOfABoundToken: a token that is bound to a project logs in, is led to pages that it is shown and to no others, sees its
// project alone, and writes into it.
func TestDashboardOfABoundToken(t *testing.T) {
	b := browse(t)
	for _, project := range []string{"shop", "web"} {
		b.api(http.MethodPost, "/api/knowledge", `{"category":"c","title":"quokka`+project+`","content":"c","project":"`+project+`"}`, nil)
	}
	_, secret := b.issue(`{"agent_id":"w","scopes":["agent"],"projects":["shop"]}`)
	b.cookies["skillrouter_project_8025"] = "web" // of somebody who used the browser before
	b.logIn(secret)
	overview := b.send(http.MethodGet, "/", nil, nil).Body.String()
	if !strings.Contains(overview, "<strong>shop</strong>") || strings.Contains(overview, "web") {
		t.Errorf("the overview: %s", overview)
	}
	paths := map[string]bool{}
	nav, _, _ := strings.Cut(overview[strings.Index(overview, "<nav"):], "</nav>")
	for _, match := range pageLinks.FindAllStringSubmatch(nav, -1) {
		paths[match[1]] = true
	}
	if len(paths) < 6 {
		t.Errorf("the navigation has %v", paths)
	}
	for path := range paths {
		if w := b.send(http.MethodGet, path, nil, nil); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, alert(w))
		}
	}
	for _, path := range []string{"/ui/tasks", "/ui/sessions", "/ui/guard", "/ui/memory?kind=fact"} {
		if w := b.send(http.MethodGet, path, nil, nil); paths[path] || w.Code == http.StatusOK || !strings.Contains(w.Body.String(), "keep") && path != "/ui/memory?kind=fact" {
			t.Errorf("%s: %d %s", path, w.Code, alert(w))
		}
	}
	if w := b.submit("/ui/task/new", url.Values{"title": {"t"}}); w.Code != http.StatusForbidden {
		t.Errorf("it makes a task: %d", w.Code)
	}
	for project, want := range map[string]int{"": http.StatusSeeOther, "shop": http.StatusSeeOther, "web": http.StatusForbidden} {
		if w := b.submit("/ui/knowledge/new", url.Values{"title": {"in " + project}, "content": {"c " + project}, "category": {"note"}, "project": {project}}); w.Code != want {
			t.Errorf("it remembers something in %q: %d %s", project, w.Code, alert(w))
		}
	}
	var moved struct {
		ID string `json:"knowledge_id"`
	}
	b.api(http.MethodPost, "/api/knowledge", `{"category":"c","title":"to be moved","content":"m","project":"shop"}`, &moved)
	b.api(http.MethodPut, "/api/knowledge/"+moved.ID, `{"title":"quokkamoved","project":"web"}`, nil)
	if w := b.send(http.MethodGet, "/ui/timeline", nil, nil); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "quokkamoved") || !strings.Contains(w.Body.String(), "quokkashop") {
		t.Errorf("what happened, with an entry that is another project's now: %d %s", w.Code, w.Body)
	}
	list := b.send(http.MethodGet, "/ui/memory?kind=knowledge", nil, nil).Body.String()
	if !strings.Contains(list, "quokkashop") || strings.Contains(list, "quokkaweb") {
		t.Errorf("it is shown %s", list)
	}
}

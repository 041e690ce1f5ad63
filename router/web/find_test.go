package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

// as makes a request as the bearer of a token, with cookies.
func (s site) as(token, method, path string, form url.Values, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(form.Encode()))
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if method == http.MethodGet && w.Code == http.StatusFound {
		return s.as(token, method, w.Header().Get("Location"), nil, cookies...)
	}
	harmless(s.t, path, w.Body.Bytes())
	return w
}

// issue issues a token as the owner.
func (s site) issue(draft string) string {
	s.t.Helper()
	owner, err := locate.ReadOwnerToken(s.data)
	if err != nil {
		s.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://127.0.0.1/api/tokens", strings.NewReader(draft))
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+owner)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	var issued struct {
		Secret string `json:"token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &issued); err != nil || issued.Secret == "" {
		s.t.Fatalf("no token is issued: %d %s", w.Code, w.Body)
	}
	return issued.Secret
}

// found is the part of the page that lists what was found.
func found(page string) string {
	_, rest, _ := strings.Cut(page, `<div id="found">`)
	list, _, _ := strings.Cut(rest, `<p class="muted">Begin with`)
	return list
}

func TestFind(t *testing.T) {
	s := openSite(t)
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "planner", "current_task": hostile})
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "builder-1", "project": "shop"})
	task := s.api(http.MethodPost, "/api/tasks", map[string]any{"title": "Mend the cart " + hostile, "project": "shop"})
	taskID, _ := task["id"].(string)
	s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "Gateway certificates", "content": "certbot renew"})
	message := s.api(http.MethodPost, "/signal", map[string]any{"from_agent_id": "planner", "to_agent_id": "builder-1", "signal": "message", "context": map[string]any{"text": "Is the gateway up?"}})["message_id"].(string)
	s.lesson("failure", "The vault is open "+hostile, nil)
	session := s.api(http.MethodPost, "/api/sessions", map[string]any{"agent_id": "planner", "goal": "Plan it"})
	id, _ := session["session_id"].(string)
	if taskID == "" || id == "" {
		t.Fatalf("no ids in %v and %v", task, session)
	}

	for q, want := range map[string][]string{
		"":                     {"Overview", "Remember something", "New task"},
		"gaps":                 {`href="/ui/inbox?kind=gap"`},
		"plan":                 {`href="/ui/agents?id=planner&kind=agent"`},
		"builder":              {`href="/ui/agents?id=builder-1&kind=agent"`},
		"stop pla":             {`href="/ui/agents?id=planner&kind=agent#stop"`},
		"send builder":         {`href="/ui/agents?id=builder-1&kind=agent#signal"`, "Send to every agent"},
		"answer":               {`href="/ui/messages"`},
		"remember use pnpm":    {"/ui/memory?kind=knowledge&new=1&title=use"},
		"approve":              {`href="/ui/inbox"`},
		"task buy milk":        {"/ui/work?kind=task&new=1&title=buy"},
		"cart":                 {"Mend the cart"},
		"gateway certificates": {"Gateway certificates"},
		hostile:                nil,
		"%' OR 1=1 --":         nil,
		"zzzzzz":               {"Nothing found"},
	} {
		page := s.get("/ui/find?q="+url.QueryEscape(q), http.StatusOK)
		for _, text := range want {
			if !strings.Contains(found(page), strings.ReplaceAll(text, "&", "&amp;")) {
				t.Errorf("%q does not find %s", q, text)
			}
		}
	}
	s.get("/ui/find?q="+strings.Repeat("x", 257), http.StatusBadRequest)
	if list := found(s.get("/ui/find?q=stop+zzz", http.StatusOK)); strings.Contains(list, "#stop") {
		t.Error("an agent is offered that was not meant")
	}
	if gaps := s.api(http.MethodGet, "/api/gaps", nil)["gaps"].([]any); len(gaps) != 0 {
		t.Errorf("what was typed left gaps: %v", gaps)
	}

	if to := s.send("/ui/memory?kind=knowledge", "/ui/knowledge/new", http.StatusSeeOther, "title", "Use pnpm", "content", "The lockfile is pnpm-lock.yaml. "+hostile, "category", "note", "project", "shop"); to == "" {
		t.Error("nothing was remembered")
	} else {
		s.shows(to, "Use pnpm", "It is remembered")
	}
	s.send("/ui/memory?kind=knowledge", "/ui/knowledge/new", http.StatusBadRequest, "title", "", "content", "x", "category", "note")

	// Whoever may not read others' messages finds none of them, by words or by id, and is offered nothing that it may not do.
	secret, reader := s.issue(`{"agent_id":"scout","scopes":["agent"]}`), s.issue(`{"scopes":["read"]}`)
	for _, token := range []string{secret, reader} {
		for _, q := range []string{message, "answer gateway", "is the gateway up", "send every"} {
			if list := found(s.as(token, http.MethodGet, "/ui/find?q="+url.QueryEscape(q), nil).Body.String()); strings.Contains(list, "Is the gateway up") || strings.Contains(list, "Message 1") || strings.Contains(list, "every agent") {
				t.Errorf("%q shows another's: %s", q, list)
			}
		}
	}
	if list := found(s.as(reader, http.MethodGet, "/ui/find?q=stop+planner", nil).Body.String()); strings.Contains(list, "#stop") {
		t.Error("who only reads is offered to stop an agent")
	}
	if w := s.as(reader, http.MethodPost, "/ui/knowledge/new", url.Values{"title": {"t"}, "content": {"c"}, "category": {"n"}}); w.Code != http.StatusForbidden {
		t.Errorf("who only reads writes: %d", w.Code)
	}
}

func TestSettings(t *testing.T) {
	s := openSite(t)
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "a", "project": "shop"})
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "b", "project": "web"})
	for project, title := range map[string]string{"shop": "Mend the cart", "web": "Draw the banner"} {
		s.api(http.MethodPost, "/api/tasks", map[string]any{"title": title, "project": project})
		s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "of " + project, "content": "the matter of " + project, "project": project})
	}
	token := tokenOfForm.FindStringSubmatch(s.get("/ui/settings", http.StatusOK))[1]
	choose := func(status int, fields url.Values) *httptest.ResponseRecorder {
		t.Helper()
		w := s.as("", http.MethodPost, "/ui/settings", fields)
		if w.Code != status {
			t.Errorf("%v: %d", fields, w.Code)
		}
		return w
	}
	w := choose(http.StatusSeeOther, url.Values{"token_of_form": {token}, "project": {"shop"}, "theme": {"dark"}, "next": {"/ui/work?project=web&cursor=7&status=pending"}})
	if to := w.Header().Get("Location"); to != "/ui/work?status=pending" {
		t.Errorf("it leads to %q", to)
	}
	cookies := w.Result().Cookies()
	for _, cookie := range cookies {
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
			t.Errorf("the cookie is %+v", cookie)
		}
	}
	if len(cookies) != 2 {
		t.Fatalf("%d cookies", len(cookies))
	}
	look := func(path string, cookies ...*http.Cookie) string {
		w := s.as("", http.MethodGet, path, nil, cookies...)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		return w.Body.String()
	}
	for path, want := range map[string][2]string{
		"/ui/tasks": {"Mend the cart", "Draw the banner"}, "/ui/agents": {`id=a&amp;kind`, `id=b&amp;kind`},
		"/ui/tasks?project=web": {"Draw the banner", "Mend the cart"}, "/ui/search?q=matter": {"of shop", "of web"}, "/ui/timeline": {"Mend the cart", "Draw the banner"},
	} {
		page := look(path, cookies...)
		if !strings.Contains(page, want[0]) || strings.Contains(page, want[1]) {
			t.Errorf("%s shows another project's, or not its own", path)
		}
		if !strings.Contains(page, `<html lang="en" data-theme="dark">`) || !strings.Contains(page, `<option value="shop"`) {
			t.Errorf("%s lacks the theme or the choice", path)
		}
	}
	if page := look("/ui/tasks?project=", cookies...); !strings.Contains(page, "Mend the cart") || !strings.Contains(page, "Draw the banner") {
		t.Error("an address that names no project is not obeyed")
	}
	look("/ui/task?id=1", cookies...)

	// What could not have been chosen is none.
	for _, forged := range []*http.Cookie{
		{Name: "skillrouter_theme", Value: url.QueryEscape(`dark" onload="x`)},
		{Name: "skillrouter_project", Value: url.QueryEscape(strings.Repeat("x", 5000))},
		{Name: "skillrouter_project", Value: "%zz"},
		{Name: "skillrouter_project", Value: "a%00b"},
	} {
		if page := look("/ui/tasks", forged); strings.Contains(page, "data-theme") || !strings.Contains(page, "Mend the cart") {
			t.Errorf("%s=%.20s is obeyed", forged.Name, forged.Value)
		}
	}
	look("/ui/tasks", &http.Cookie{Name: "skillrouter_project", Value: url.QueryEscape("<script>alert(1)</script>")})

	choose(http.StatusForbidden, url.Values{"project": {"web"}})
	choose(http.StatusForbidden, url.Values{"project": {"web"}, "token_of_form": {strings.Repeat("A", len(token))}})
	choose(http.StatusBadRequest, url.Values{"theme": {"pink"}, "token_of_form": {token}})
	choose(http.StatusBadRequest, url.Values{"project": {"a\nb"}, "token_of_form": {token}})
	for _, next := range []string{"https://evil.example/", "//evil.example", "/api/backup", "/ui/login", "javascript:alert(1)", ""} {
		if to := choose(http.StatusSeeOther, url.Values{"theme": {"light"}, "next": {next}, "token_of_form": {token}}).Header().Get("Location"); to != "/" {
			t.Errorf("%q leads to %q", next, to)
		}
	}
	gone := choose(http.StatusSeeOther, url.Values{"project": {""}, "token_of_form": {token}}).Result().Cookies()
	if len(gone) != 1 || gone[0].MaxAge >= 0 {
		t.Errorf("all projects: %v", gone)
	}
}

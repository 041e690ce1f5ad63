package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
)

// browser is somebody who looks at the dashboard of a router in this process.
type browser struct {
	t       *testing.T
	app     *app.App
	owner   string // the owner's token
	data    string // the router's folder
	ahead   atomic.Int64
	cookies map[string]string
}

func browse(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, cookies: map[string]string{}}
	cfg := settings(t)
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{
		Now: func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, a)
	b.app, b.data = a, cfg.Data
	if b.owner, err = locate.ReadOwnerToken(cfg.Data); err != nil {
		t.Fatal(err)
	}
	return b
}

// send makes a request as a browser does, and keeps the cookies of the answer.
func (b *browser) send(method, path string, form url.Values, header map[string]string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, "http://localhost:8025"+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://localhost:8025")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range header {
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.app.Handler().ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		b.cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	if to := w.Header().Get("Location"); method == http.MethodGet && w.Code == http.StatusFound { // an address of an earlier release
		return b.send(method, to, nil, header)
	}
	return w
}

// submit sends a form with the token of a page that the browser has loaded.
func (b *browser) submit(path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	page := b.send(http.MethodGet, "/ui/login", nil, nil).Body.String()
	match := formToken.FindStringSubmatch(page)
	if match == nil {
		b.t.Fatal("the page has no form's token")
	}
	form.Set("token_of_form", match[1])
	return b.send(http.MethodPost, path, form, nil)
}

// api calls the API as the owner.
func (b *browser) api(method, path, body string, out any) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, "http://localhost:8025"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+b.owner)
	w := httptest.NewRecorder()
	b.app.Handler().ServeHTTP(w, r)
	if w.Code/100 != 2 {
		b.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			b.t.Fatal(err)
		}
	}
}

// issue issues a token; from then on every call needs one.
func (b *browser) issue(draft string) (id, secret string) {
	b.t.Helper()
	var issued struct {
		ID     string `json:"id"`
		Secret string `json:"token"`
	}
	b.api(http.MethodPost, "/api/tokens", draft, &issued)
	return issued.ID, issued.Secret
}

func TestDashboardLogin(t *testing.T) {
	b := browse(t)
	if w := b.send(http.MethodGet, "/", nil, nil); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `name="secret"`) {
		t.Fatalf("without tokens the dashboard is open: %d", w.Code)
	}
	id, secret := b.issue(`{"agent_id":"lead","scopes":["captain"]}`)
	w := b.send(http.MethodGet, "/ui/agents?state=online", nil, nil)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `value="/ui/agents?state=online"`) || strings.Contains(w.Body.String(), `aria-label="Pages"`) {
		t.Fatalf("a stranger sees %d %s", w.Code, w.Body)
	}
	if w := b.submit("/ui/login", url.Values{"secret": {"skr_wrong"}}); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "skr_wrong") || len(b.cookies) != 0 {
		t.Errorf("a wrong token: %d %s", w.Code, w.Body)
	}
	w = b.submit("/ui/login", url.Values{"secret": {secret}, "next": {"/ui/agents?state=online"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/agents?state=online" {
		t.Fatalf("a right token: %d %v", w.Code, w.Header())
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || strings.Contains(cookie.Value, secret) || cookie.Name != "skillrouter_session_8025" {
		t.Errorf("the cookie is %+v", cookie)
	}
	if w := b.send(http.MethodGet, "/ui/agents", nil, nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Log out") || !strings.Contains(w.Body.String(), ">lead<") {
		t.Errorf("logged in: %d", w.Code)
	}
	for _, path := range []string{"/api/agents", "/api/tokens", "/metrics", "/messages?agent_id=lead", "/docs"} {
		if w := b.send(http.MethodGet, path, nil, nil); w.Code != http.StatusUnauthorized {
			t.Errorf("the cookie opens %s: %d", path, w.Code)
		}
	}
	if w := b.send(http.MethodGet, "/ui/agents", nil, map[string]string{"Authorization": "Bearer skr_wrong"}); w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token beside a right cookie: %d", w.Code)
	}
	if w := b.submit("/ui/logout", url.Values{}); w.Code != http.StatusSeeOther || len(b.cookies) != 0 {
		t.Errorf("logged out: %d %v", w.Code, b.cookies)
	}
	b.cookies[cookie.Name] = cookie.Value
	if w := b.send(http.MethodGet, "/", nil, nil); w.Code != http.StatusUnauthorized {
		t.Errorf("the cookie of a session that was ended still opens the dashboard: %d", w.Code)
	}

	b.cookies = map[string]string{}
	b.submit("/ui/login", url.Values{"secret": {secret}})
	b.api(http.MethodDelete, "/api/tokens/"+id, "", nil)
	if w := b.send(http.MethodGet, "/", nil, nil); w.Code != http.StatusUnauthorized {
		t.Errorf("a session outlives its token: %d", w.Code)
	}
	b.cookies = map[string]string{}
	b.submit("/ui/login", url.Values{"secret": {b.owner}})
	if w := b.send(http.MethodGet, "/", nil, nil); w.Code != http.StatusOK {
		t.Errorf("the owner's token: %d", w.Code)
	}
	b.ahead.Store(int64(13 * time.Hour))
	if w := b.send(http.MethodGet, "/", nil, nil); w.Code != http.StatusUnauthorized {
		t.Errorf("a session lasts for ever: %d", w.Code)
	}
}

// TestDashboardGuessing: wrong tokens run out.
func TestDashboardGuessing(t *testing.T) {
	b := browse(t)
	b.issue(`{"scopes":["read"]}`)
	for i := range 200 {
		if w := b.submit("/ui/login", url.Values{"secret": {fmt.Sprint("skr_guess", i)}}); w.Code == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("200 guesses in a row were answered")
}

// TestDashboardForms: nothing is done for a form that is not from a page of the dashboard.
func TestDashboardForms(t *testing.T) {
	b := browse(t)
	b.api(http.MethodPost, "/heartbeat", `{"agent_id":"a"}`, nil)
	token := formToken.FindStringSubmatch(b.send(http.MethodGet, "/ui/tasks", nil, nil).Body.String())[1]
	form := func(token string) url.Values {
		return url.Values{"id": {"a"}, "sure": {"1"}, "token_of_form": {token}}
	}
	for name, c := range map[string]struct {
		form   url.Values
		header map[string]string
		want   int
	}{
		"no token":               {form(""), nil, http.StatusForbidden},
		"another's token":        {form(strings.Repeat("A", len(token))), nil, http.StatusForbidden},
		"a foreign origin":       {form(token), map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		"another port":           {form(token), map[string]string{"Origin": "http://localhost:3000"}, http.StatusForbidden},
		"no origin to be named":  {form(token), map[string]string{"Origin": "null"}, http.StatusForbidden},
		"another site's request": {form(token), map[string]string{"Origin": "", "Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		"a sibling's request":    {form(token), map[string]string{"Origin": "", "Sec-Fetch-Site": "same-site"}, http.StatusForbidden},
		"a file's form":          {form(token), map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, http.StatusUnsupportedMediaType},
		"text as a form":         {form(token), map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType},
		"more than a form holds": {url.Values{"token_of_form": {token}, "id": {strings.Repeat("x", 2<<20)}}, nil, http.StatusRequestEntityTooLarge},
		"without being sure":     {url.Values{"token_of_form": {token}, "id": {"a"}}, nil, http.StatusBadRequest},
		"of nobody":              {url.Values{"token_of_form": {token}, "sure": {"1"}}, nil, http.StatusBadRequest},
	} {
		if w := b.send(http.MethodPost, "/ui/agent/stop", c.form, c.header); w.Code != c.want {
			t.Errorf("%s: %d, want %d: %.300s", name, w.Code, c.want, w.Body)
		}
	}
	stopped := func() bool {
		var agent struct {
			ShouldStop bool `json:"should_stop"`
		}
		b.api(http.MethodGet, "/api/agents/a", "", &agent)
		return agent.ShouldStop
	}
	if stopped() {
		t.Fatal("one of them stopped the agent")
	}
	if w := b.send(http.MethodPost, "/ui/agent/stop", form(token), nil); w.Code != http.StatusSeeOther || !stopped() {
		t.Errorf("the right form: %d %s", w.Code, w.Body)
	}
	if w := b.send(http.MethodPost, "/api/tasks", url.Values{"title": {"t"}}, nil); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("the API takes a form: %d", w.Code)
	}
}

// TestDashboardActions does each thing that the pages of operations can, without a script.
func TestDashboardActions(t *testing.T) {
	b := browse(t)
	for _, agent := range []string{"a", "b"} {
		b.api(http.MethodPost, "/heartbeat", `{"agent_id":"`+agent+`"}`, nil)
	}
	follow := func(path string, form url.Values, says string) {
		t.Helper()
		w := b.submit(path, form)
		if w.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, w.Code, alert(w))
		}
		page := b.send(http.MethodGet, w.Header().Get("Location"), nil, nil)
		if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), says) {
			t.Errorf("%s leads to %s, which does not say %q: %d", path, w.Header().Get("Location"), says, page.Code)
		}
	}
	refused := func(path string, form url.Values, status int, says string) {
		t.Helper()
		if w := b.submit(path, form); w.Code != status || !strings.Contains(alert(w), says) {
			t.Errorf("%s %v: %d %s, want %d %s", path, form, w.Code, alert(w), status, says)
		}
	}
	follow("/ui/task/new", url.Values{"title": {"Write the notes"}, "priority": {"3"}}, "#1 Write the notes")
	follow("/ui/task/reassign", url.Values{"id": {"1"}, "agent_id": {"a"}}, "another holder")
	b.api(http.MethodPost, "/api/tasks/1/block", `{"reason":"no paper"}`, nil)
	follow("/ui/task/unblock", url.Values{"id": {"1"}, "note": {"paper came"}}, "The task goes on")
	follow("/ui/task/release", url.Values{"id": {"1"}}, "waits for anybody")
	follow("/ui/task/cancel", url.Values{"id": {"1"}, "sure": {"1"}}, "is cancelled")
	follow("/ui/agent/signal", url.Values{"id": {"a"}, "signal": {"message"}, "text": {"look at #1"}, "ack_required": {"1"}}, "The signal is stored")
	follow("/ui/thread/new", url.Values{"signal": {"pause"}, "sure": {"1"}}, "for every agent")
	var inbox struct {
		Messages []struct {
			From    string          `json:"from_agent_id"`
			Signal  string          `json:"signal"`
			Context json.RawMessage `json:"context"`
		} `json:"messages"`
	}
	b.api(http.MethodGet, "/messages/inbox?agent_id=a", "", &inbox)
	if len(inbox.Messages) != 2 || inbox.Messages[0].From != "dashboard" || string(inbox.Messages[0].Context) != `{"text":"look at #1"}` || inbox.Messages[1].Signal != "pause" {
		t.Errorf("the agent finds %+v", inbox.Messages)
	}

	refused("/ui/task/cancel", url.Values{"id": {"1"}, "sure": {"1"}}, http.StatusConflict, "")
	refused("/ui/task/reassign", url.Values{"id": {"1"}, "agent_id": {"no such/agent"}}, http.StatusBadRequest, "agent_id")
	refused("/ui/task/new", url.Values{"title": {" "}}, http.StatusBadRequest, "title")
	refused("/ui/task/new", url.Values{"title": {"t"}, "priority": {"much"}}, http.StatusBadRequest, "priority")
	refused("/ui/agent/signal", url.Values{"id": {"a"}, "signal": {"stop"}}, http.StatusBadRequest, "signal")
	refused("/ui/task/release", url.Values{"id": {"999"}}, http.StatusNotFound, "")

	_, secret := b.issue(`{"agent_id":"b","scopes":["agent"]}`)
	b.submit("/ui/login", url.Values{"secret": {secret}})
	b.api(http.MethodPost, "/api/tasks", `{"title":"of a","agent_id":"a"}`, nil)
	refused("/ui/task/cancel", url.Values{"id": {"2"}, "sure": {"1"}}, http.StatusForbidden, "")
	refused("/ui/task/reassign", url.Values{"id": {"2"}, "agent_id": {"b"}}, http.StatusForbidden, "")
	follow("/ui/agent/signal", url.Values{"id": {"a"}, "signal": {"message"}}, "The signal is stored")
	b.api(http.MethodGet, "/messages/inbox?agent_id=a", "", &inbox)
	if last := inbox.Messages[len(inbox.Messages)-1]; last.From != "b" {
		t.Errorf("what an agent's token sends is from %s", last.From)
	}
}

var alerts = regexp.MustCompile(`role="alert">(.*)</p>`)

func alert(w *httptest.ResponseRecorder) string {
	if match := alerts.FindStringSubmatch(w.Body.String()); match != nil {
		return match[1]
	}
	return ""
}

// TestDashboardHostile puts what would break out of a page into every field that is shown.
func TestDashboardHostile(t *testing.T) {
	b := browse(t)
	const hostile = "</td></textarea><script>alert(1)</script><img src=x onerror=alert(1)>\" onmouseover=\"alert(1)\" '{{.}}`${1}\u202egnp.exe"
	quoted, _ := json.Marshal(hostile)
	for path, body := range map[string]string{
		"/heartbeat":     `{"agent_id":"a..","status":"s","config_name":"<b>c","project_path":%s,"current_task":%s,"model":"<i>m","role":"<u>r"}`,
		"/api/tasks":     `{"title":%s,"description":%s,"project":"<b>p"}`,
		"/signal":        `{"from_agent_id":"a..","to_agent_id":"a..","signal":"<script>alert(2)</script>","thread_id":"\"><script>alert(3)</script>","context":{"x":%s,"y":%s},"ack_required":true}`,
		"/api/sessions":  `{"agent_id":"a..","goal":%s,"data":{"x":%s}}`,
		"/api/reminders": `{"task":%s,"trigger":"time:+1h","context":{"x":%s}}`,
	} {
		b.api(http.MethodPost, path, fmt.Sprintf(body, quoted, quoted), nil)
	}
	b.api(http.MethodPost, "/api/tasks/1/claim", `{"agent_id":"a.."}`, nil)
	b.api(http.MethodPost, "/api/tasks/1/block", fmt.Sprintf(`{"reason":%s}`, quoted), nil)
	var inbox struct {
		Messages []struct {
			ID string `json:"message_id"`
		} `json:"messages"`
	}
	b.api(http.MethodGet, "/messages/inbox?agent_id=a..", "", &inbox)
	seen := 0
	for _, path := range []string{
		"/", "/ui/agents", "/ui/agent?id=a..", "/ui/agent/stop?id=a..", "/ui/tasks", "/ui/task?id=1", "/ui/messages", "/ui/message?id=" + inbox.Messages[0].ID,
		"/ui/messages?thread=" + url.QueryEscape(`"><script>alert(3)</script>`), "/ui/messages/overdue?minutes=0", "/ui/sessions", "/ui/reminders",
		"/ui/tasks?text=" + url.QueryEscape(hostile), "/ui/agents?project=" + url.QueryEscape(hostile), "/ui/health",
	} {
		w := b.send(http.MethodGet, path, nil, nil)
		page := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, alert(w))
		}
		for _, bad := range []string{"<script>alert", "<img", "onmouseover=\"alert", "\u202e", "<b>", "<i>m", "<u>r", "ZgotmplZ"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if strings.Contains(page, "&lt;script&gt;") {
			seen++
		}
	}
	if seen < 9 {
		t.Errorf("only %d pages show the hostile text at all", seen)
	}
}

// TestDashboardHeaders: what a browser is told about every page.
func TestDashboardHeaders(t *testing.T) {
	b := browse(t)
	for path, want := range map[string]int{
		"/": 200, "/ui/nothing": 404, "/ui/task?id=999": 404, "/ui/tasks?status=lost": 400, "/ui/agents?cursor=-1": 400, "/ui/agent": 200, "/ui/agent?id=nobody": 200, "/ui/agent/stop?id=nobody": 200, "/ui/agent?id=no/body": 400,
		"/ui/messages?agent=a/b": 400, "/ui/tasks?text=" + strings.Repeat("x", 5000): 413, "/ui/work?%zz": 400, "/ui/tasks?text=%ff": 400,
	} {
		w := b.send(http.MethodGet, path, nil, map[string]string{"Accept": "text/html"})
		if w.Code != want {
			t.Errorf("%.60s: %d, want %d: %s", path, w.Code, want, alert(w))
		}
		h := w.Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" ||
			!strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			t.Errorf("%.60s: %v", path, h)
		}
	}
	if w := b.send(http.MethodGet, "/nothing", nil, nil); w.Code != 404 || !strings.Contains(w.Header().Get("Content-Type"), "problem+json") {
		t.Errorf("an API client's mistake is answered with a page: %v", w.Header())
	}
	name := styles.FindStringSubmatch(b.send(http.MethodGet, "/", nil, nil).Body.String())[1]
	for encoding, zipped := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false} {
		w := b.send(http.MethodGet, "/assets/"+name, nil, map[string]string{"Accept-Encoding": encoding})
		if w.Code != 200 || (w.Header().Get("Content-Encoding") == "gzip") != zipped || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("an asset for %q: %d %v", encoding, w.Code, w.Header())
		}
	}
	if w := b.send(http.MethodGet, "/assets/0123456789ab/app.css", nil, nil); w.Code != 404 {
		t.Errorf("an asset of another content: %d", w.Code)
	}
}

// TestDashboardMoved: every address of an earlier release leads to a page, and /ui to the overview.
func TestDashboardMoved(t *testing.T) {
	b := browse(t)
	b.api(http.MethodPost, "/api/tasks", `{"title":"Write the notes"}`, nil)
	for path, shows := range map[string]string{
		"/ui": "Overview", "/ui/": "Overview", "/ui/decide": "Inbox", "/ui/tasks": "Write the notes", "/ui/task?id=1": "#1 Write the notes", "/ui/guard/ledger": "Checks", "/ui/search?q=notes": "Memory",
		"/ui/value": "What it is worth", "/ui/health": "Settings", "/ui/remember?title=x": "Remember something", "/ui/agent?id=nobody": "No agent of this name", "/ui/lessons?type=failure": "Lessons",
	} {
		if w := b.send(http.MethodGet, path, nil, nil); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), shows) {
			t.Errorf("%s: %d %s", path, w.Code, alert(w))
		}
	}
}

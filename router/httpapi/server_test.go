package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// secrets is an Authenticator over a map.
type secrets map[string]principal.Principal

func (s secrets) Authenticate(_ context.Context, secret string) (principal.Principal, error) {
	if p, ok := s[secret]; ok {
		return p, nil
	}
	return principal.Principal{}, errs.Errorf(errs.Unauthenticated, "no such token")
}

func (s secrets) Issued(context.Context) (bool, error) { return len(s) > 0, nil }

func serve(t *testing.T, auth secrets, options httpapi.Options) *httpapi.Server {
	t.Helper()
	return httpapi.New(httpapi.Services{
		Auth:   auth,
		System: shaken{},
	}, options)
}

// shaken is a SystemService that is well and does not bear to be looked at.
type shaken struct{ router.SystemService }

func (shaken) Health(context.Context) (router.Health, error) {
	return router.Health{Status: "healthy"}, nil
}

func (shaken) Doctor(context.Context) (router.Doctor, error) { panic("boom") }

func call(s http.Handler, method, target string, header map[string]string, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8025"
	for k, v := range header {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestEveryCodeHasAStatus(t *testing.T) {
	seen := map[int]errs.Code{}
	for _, code := range errs.Codes() {
		status := httpapi.Status(code)
		// Clients of the seeds know a missing right by 403. That a person must decide is one, and its code says more.
		if other, twice := seen[status]; twice && code != errs.PassphraseNeeded && other != errs.PassphraseNeeded {
			t.Errorf("%s and %s share status %d", code, other, status)
		}
		seen[status] = code
		if status == http.StatusInternalServerError && code != errs.Internal {
			t.Errorf("%s has no status of its own", code)
		}
	}
}

func TestHostAndOrigin(t *testing.T) {
	local := serve(t, nil, httpapi.Options{AllowedHosts: []string{"box.lan", "ui.lan"}})
	guarded := serve(t, secrets{"s": principal.Open()}, httpapi.Options{AllowedHosts: []string{"ui.lan"}})
	public := serve(t, secrets{"s": principal.Open()}, httpapi.Options{RequireToken: true})
	for name, c := range map[string]struct {
		server *httpapi.Server
		header map[string]string
		want   int
	}{
		"loopback address":       {local, nil, 200},
		"localhost, any port":    {local, map[string]string{"Host": "LOCALHOST:99"}, 200},
		"IPv6 loopback":          {local, map[string]string{"Host": "[::1]:8025"}, 200},
		"allowed name":           {local, map[string]string{"Host": "box.lan"}, 200},
		"rebound name":           {local, map[string]string{"Host": "evil.example"}, 403},
		"name that begins alike": {local, map[string]string{"Host": "localhost.evil.example"}, 403},
		"other address":          {local, map[string]string{"Host": "10.1.2.3:8025"}, 403},
		"no host":                {local, map[string]string{"Host": ""}, 403},
		"same origin":            {local, map[string]string{"Origin": "http://127.0.0.1:8025"}, 200},
		"allowed origin, token":  {guarded, map[string]string{"Origin": "http://ui.lan:3000", "Authorization": "Bearer s"}, 200},
		"foreign origin":         {local, map[string]string{"Origin": "https://evil.example"}, 403},
		"other port":             {local, map[string]string{"Origin": "http://127.0.0.1:3000"}, 403},
		"null origin":            {local, map[string]string{"Origin": "null"}, 403},
		"image of another site":  {local, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403},
		"script of another port": {local, map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403},
		"frame of another site":  {local, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"link of another site":   {local, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		"address that is typed":  {local, map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"page of its own":        {local, map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, 200},
		"public bind by address": {public, map[string]string{"Host": "10.1.2.3:8025", "Authorization": "Bearer s"}, 200},
		"public bind by name":    {public, map[string]string{"Host": "evil.example", "Authorization": "Bearer s"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			if w := call(c.server, "GET", "/health", c.header, ""); w.Code != c.want {
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
		})
	}
}

// TestAllowedOrigin: a page of an allowed host reads answers in a browser, with a token. Others get no leave.
func TestAllowedOrigin(t *testing.T) {
	server := serve(t, secrets{"s": principal.Open()}, httpapi.Options{AllowedHosts: []string{"ui.lan"}})
	const page = "http://ui.lan:3000"
	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		want         int
		leave        string
	}{
		"with a token":         {"GET", "/api/stats", map[string]string{"Origin": page, "Authorization": "Bearer s"}, 200, page},
		"without a token":      {"GET", "/api/stats", map[string]string{"Origin": page}, 401, page},
		"with a wrong token":   {"GET", "/api/stats", map[string]string{"Origin": page, "Authorization": "Bearer x"}, 401, page},
		"preflight":            {"OPTIONS", "/signal", map[string]string{"Origin": page, "Access-Control-Request-Method": "POST"}, 204, page},
		"preflight of a foe":   {"OPTIONS", "/signal", map[string]string{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, 403, ""},
		"foe":                  {"GET", "/api/stats", map[string]string{"Origin": "http://ui.lan.evil.example", "Authorization": "Bearer s"}, 403, ""},
		"rebound host":         {"GET", "/api/stats", map[string]string{"Origin": page, "Host": "evil.example", "Authorization": "Bearer s"}, 403, ""},
		"two origins":          {"GET", "/api/stats", map[string]string{"Origin": page + ", http://evil.example", "Authorization": "Bearer s"}, 403, ""},
		"page of its own":      {"GET", "/api/stats", map[string]string{"Origin": "http://127.0.0.1:8025", "Authorization": "Bearer s"}, 200, ""},
		"dashboard by a proxy": {"GET", "/ui", map[string]string{"Origin": page}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(server, c.method, c.path, c.header, "")
			if leave := w.Header().Get("Access-Control-Allow-Origin"); leave != c.leave || w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("leave is given to %q, want %q", leave, c.leave)
			}
			if c.path != "/ui" && w.Code != c.want && !(c.want == 200 && w.Code == 404) { // a server without services
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
		})
	}
}

// TestNavigation: a page of another site sends a browser to an address, by a link
// or a redirect. Only pages for people may be opened so. S7.
func TestNavigation(t *testing.T) {
	server := serve(t, nil, httpapi.Options{})
	for path, page := range map[string]bool{
		"/": true, "/ui": true, "/ui/search?q=x": true, "/docs": true, "/docs/operations/x": true,
		"/uix": false, "/docsx": false, "/ui../api/search": false, "/health": false, "/openapi.json": false, "/metrics": false, "/api/search?q=x": false, "/messages": false,
		"/messages/inbox?agent_id=victim": false, "/api/reminders/pending": false, "/api/backup": false, "/api/export": false, "/v1/models": false, "/mcp": false, "/ws": false, "/events": false,
	} {
		for _, site := range []string{"cross-site", "same-site"} {
			w := call(server, "GET", path, map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "")
			if refused := w.Code == http.StatusForbidden; refused == page {
				t.Errorf("%s, opened from %s: %d", path, site, w.Code)
			}
			for _, dest := range []string{"iframe", "object", "embed"} {
				if w := call(server, "GET", path, map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": dest}, ""); w.Code != http.StatusForbidden {
					t.Errorf("%s, as %s: %d", path, dest, w.Code)
				}
			}
		}
		if w := call(server, "POST", path, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, ""); w.Code != http.StatusForbidden {
			t.Errorf("a form sent to %s: %d", path, w.Code)
		}
		for name, header := range map[string]map[string]string{
			"curl": nil, "an old browser": {"Accept": "text/html"}, "a script of a page of its own": {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
			"a link of a page of its own": {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
		} {
			if w := call(server, "GET", path, header, ""); w.Code == http.StatusForbidden {
				t.Errorf("%s, asked by %s: %d", path, name, w.Code)
			}
		}
	}
	typed := map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for path, want := range map[string]bool{"/health": true, "/docs": true, "/api/search?q=x": false, "/messages/inbox?agent_id=victim": false, "/messages?agent_id=victim": false} {
		if w := call(server, "GET", path, typed, ""); (w.Code != http.StatusForbidden) != want {
			t.Errorf("%s, typed into a browser, or sent on from an address that was: %d", path, w.Code)
		}
	}
}

// TestQueryAndContentType: a parameter that is given twice is refused, and a
// media type is one in any case. S9e, S9f.
func TestQueryAndContentType(t *testing.T) {
	server := echoServer()
	if w := call(server, "GET", "/api/agents?limit=1&limit=2", nil, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"field":"limit"`) {
		t.Errorf("limit twice: %d %s", w.Code, w.Body)
	}
	for _, kind := range []string{"APPLICATION/JSON", "Application/Json; Charset=UTF-8", "application/json;charset=utf-8", "application/json"} {
		if w := call(server, "POST", "/heartbeat", map[string]string{"Content-Type": kind}, `{"agent_id":"a"}`); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
	for _, kind := range []string{"text/plain", "TEXT/PLAIN", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""} {
		if w := call(server, "POST", "/heartbeat", map[string]string{"Content-Type": kind}, `{"agent_id":"a"}`); w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %d %s", kind, w.Code, w.Body)
		}
	}
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		auth   secrets
		option httpapi.Options
		header string
		want   int
	}{
		"open on loopback":                    {nil, httpapi.Options{}, "", 200},
		"a token issued":                      {secrets{"s": principal.Open()}, httpapi.Options{}, "", 401},
		"the right token":                     {secrets{"s": principal.Open()}, httpapi.Options{}, "Bearer s", 200},
		"the scheme in other letters":         {secrets{"s": principal.Open()}, httpapi.Options{}, "bearer  s ", 200},
		"a wrong token":                       {secrets{"s": principal.Open()}, httpapi.Options{}, "Bearer x", 401},
		"another scheme":                      {secrets{"s": principal.Open()}, httpapi.Options{}, "Basic s", 401},
		"a wrong token while none is needed":  {nil, httpapi.Options{}, "Bearer x", 401},
		"beyond loopback and no token issued": {nil, httpapi.Options{RequireToken: true}, "", 401},
	} {
		t.Run(name, func(t *testing.T) {
			header := map[string]string{}
			if c.header != "" {
				header["Authorization"] = c.header
			}
			w := call(serve(t, c.auth, c.option), "GET", "/metrics", header, "")
			if w.Code != c.want {
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			// Finding B13: a liveness probe has no token, and is told that somebody answers, and nothing else.
			probe := call(serve(t, c.auth, c.option), "GET", "/health", header, "")
			switch {
			case c.header != "" && probe.Code != c.want, c.header == "" && probe.Code != 200:
				t.Errorf("GET /health: status %d: %s", probe.Code, probe.Body)
			case c.header == "" && c.want == 401 && probe.Body.String() != `{"status":"healthy"}`:
				t.Errorf("GET /health without a token says %s", probe.Body)
			}
			if w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		})
	}
}

func TestRefusalsAreProblems(t *testing.T) {
	s := serve(t, nil, httpapi.Options{})
	for name, c := range map[string]struct {
		method, path string
		header       map[string]string
		body         string
		want         int
		code         errs.Code
	}{
		"unknown path":         {"GET", "/nowhere", nil, "", 404, errs.NotFound},
		"wrong method":         {"DELETE", "/health", nil, "", 405, errs.Invalid},
		"unknown parameter":    {"GET", "/health?x=1", nil, "", 400, errs.Invalid},
		"form as a body":       {"POST", "/health", map[string]string{"Content-Type": "text/plain"}, "{}", 415, errs.Invalid},
		"panic in the handler": {"GET", "/api/doctor", nil, "", 500, errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(s, c.method, c.path, c.header, c.body)
			var p httpapi.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != c.want || p.Status != c.want || p.Code != c.code || p.Detail == "" || p.Message != p.Detail {
				t.Errorf("status %d, problem %+v; want %d %s", w.Code, p, c.want, c.code)
			}
			if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type %q", got)
			}
			if strings.Contains(w.Body.String(), "boom") {
				t.Error("the cause is shown to the client")
			}
		})
	}
}

func TestACallThatIsGivenUpIsNoFailureOfOurs(t *testing.T) {
	w := httptest.NewRecorder()
	httpapi.WriteProblem(w, fmt.Errorf("read the agents: %w", context.Canceled))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "agents") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestMetricsAndRequestID(t *testing.T) {
	s := serve(t, nil, httpapi.Options{})
	w := call(s, "GET", "/health", map[string]string{"X-Request-Id": "mine-1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "")
	if w.Header().Get("X-Request-Id") != "mine-1" || w.Header().Get("traceparent") == "" {
		t.Errorf("headers %v", w.Header())
	}
	if id := call(s, "GET", "/health", map[string]string{"X-Request-Id": "bad id\n"}, "").Header().Get("X-Request-Id"); id == "" || strings.Contains(id, "bad") {
		t.Errorf("request id %q", id)
	}
	body := call(s, "GET", "/metrics", nil, "").Body.String()
	if !strings.Contains(body, `skillrouter_http_requests_total{method="GET",route="/health",status="200"} 2`) {
		t.Errorf("metrics:\n%s", body)
	}
}

package app_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// serving is a router in this process, and the secrets of its callers.
type serving struct {
	t       *testing.T
	app     *app.App
	through string // another node of its cluster, which is asked in its place; empty: it is asked itself
	stop    func()
	secrets map[string]string
	person  string // the secret of a person's session, with which things are made; empty: none is needed
	made    int
}

func serve(t *testing.T) *serving {
	t.Helper()
	return serveWith(t, settings(t))
}

func serveWith(t *testing.T, cfg config.Config) *serving {
	t.Helper()
	return serveAs(t, cfg, app.Options{Version: "test"})
}

func serveAs(t *testing.T, cfg config.Config, options app.Options) *serving {
	t.Helper()
	a, stop, through := runningThrough(t, cfg, options)
	owner, err := locate.ReadOwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	return &serving{t: t, app: a, through: through, stop: stop, secrets: map[string]string{forger: "skr_" + strings.Repeat("x", 43), admin: owner}}
}

// issue issues the tokens; from then on nobody is let in without one.
func (s *serving) issue() {
	for _, token := range []struct{ who, draft string }{
		{reader1, `{"scopes":["read"]}`},
		{agentA, `{"agent_id":"a","scopes":["agent"]}`},
		{agentB, `{"agent_id":"b","scopes":["agent"]}`},
		{captain, `{"agent_id":"captain","scopes":["captain"]}`},
	} {
		var issued struct {
			Secret string `json:"token"`
		}
		s.must(admin, http.MethodPost, "/api/tokens", token.draft, &issued)
		s.secrets[token.who] = issued.Secret
	}
}

// stay follows no redirect: what a form answers is its own answer.
var stay = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do makes a call and returns its status, and its body unless that is a stream.
func (s *serving) do(who, method, path, body string, header map[string]string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, cmp.Or(s.through, s.app.URL())+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/ui/") {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if path == "/mcp" {
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Method", "tools/list")
		if method == http.MethodPost {
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		}
	}
	if secret := s.secrets[who]; secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	answer, err := stay.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if to := answer.Header.Get("Location"); method == http.MethodGet && answer.StatusCode == http.StatusFound && (strings.HasPrefix(to, "/ui/") && to != "/ui/" || strings.HasPrefix(to, "/?")) { // an address of an earlier release
		return s.do(who, method, to, "", header)
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return answer.StatusCode, ""
	}
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// tool calls a tool over MCP with arguments, which are JSON.
func (s *serving) tool(who, name, arguments string) (int, string) {
	s.t.Helper()
	message := strings.Replace(callTool, `"tools/list","params":{`, fmt.Sprintf(`"tools/call","params":{"name":%q,"arguments":%s,`, name, arguments), 1)
	return s.do(who, http.MethodPost, "/mcp", message, map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": name})
}

// asPerson is the header by which a person is known, if one is needed.
func (s *serving) asPerson() map[string]string {
	if s.person == "" {
		return nil
	}
	return map[string]string{"Skill-Router-Person": s.person}
}

func (s *serving) must(who, method, path, body string, out any) {
	s.t.Helper()
	status, raw := s.do(who, method, path, body, s.asPerson())
	if status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, status, raw)
	}
	if err := json.Unmarshal([]byte(raw), out); err != nil {
		s.t.Fatal(err)
	}
}

// sample puts real things into the braces of a call.
func (s *serving) sample(call access) access {
	s.t.Helper()
	s.made++
	make := func(path, body string) string {
		var out map[string]any
		s.must(admin, http.MethodPost, path, body, &out)
		for _, name := range []string{"message_id", "knowledge_id", "lease", "check_id", "lesson_id", "id"} {
			if id, ok := out[name].(string); ok {
				return id
			}
		}
		for _, name := range []string{"token", "finding"} {
			if inner, ok := out[name].(map[string]any); ok {
				return inner["id"].(string)
			}
		}
		s.t.Fatalf("%s answers without an id: %v", path, out)
		return ""
	}
	recorded := func() string {
		var out struct {
			EpisodeID json.Number `json:"episode_id"`
		}
		s.must(admin, http.MethodPost, "/api/experience", `{"operation_type":"o","outcome":"success"}`, &out)
		return out.EpisodeID.String()
	}
	learned := func() (lesson, pattern string) {
		var out struct {
			LessonID  json.Number `json:"lesson_id"`
			PatternID json.Number `json:"pattern_id"`
		}
		s.must(admin, http.MethodPost, "/api/lessons/learn",
			fmt.Sprintf(`{"pattern_description":"d","episode_ids":[%s,%s,%s],"lesson_statement":"s"}`, recorded(), recorded(), recorded()), &out)
		return out.LessonID.String(), out.PatternID.String()
	}
	procedure := func() string {
		s.must(admin, http.MethodPut, fmt.Sprintf("/api/procedures/default/p%d", s.made), `{"steps":[{"action":"x"}]}`, &struct{}{})
		return fmt.Sprint("p", s.made)
	}
	entry := func(text string) string {
		return make("/api/knowledge", fmt.Sprintf(`{"category":"c","title":"t %d","content":"%s","agent_id":"a"}`, s.made, text))
	}
	change := func(id, patch string) string {
		s.must(admin, http.MethodPut, "/api/knowledge/"+id, patch, &struct{}{})
		return id
	}
	made := map[string]func() string{
		"{experience}":      recorded,
		"{experiences}":     func() string { return "[" + recorded() + "," + recorded() + "," + recorded() + "]" },
		"{learned}":         func() string { lesson, _ := learned(); return lesson },
		"{learned pattern}": func() string { _, pattern := learned(); return pattern },
		"{episode}": func() string {
			return make("/api/episodes", `{"event_type":"action","title":"t","content":"c","agent_id":"a"}`)
		},
		"{new}": func() string { return fmt.Sprint("text ", s.made) },
		"{message}": func() string {
			return make("/signal", `{"from_agent_id":"a","to_agent_id":"a","signal":"note","thread_id":"`+canary("thread")+`","context":{"text":"`+canary("message")+`"}}`)
		},
		"{entry}": func() string {
			return make("/api/knowledge", fmt.Sprintf(`{"category":"c","title":"t","content":"c %d %s","agent_id":"a"}`, s.made, canary("knowledge")))
		},
		"{entry twice}":   func() string { return entry("twice") },
		"{marked entry}":  func() string { return s.field("/edit", entry("marked"), "mark") },
		"{changed entry}": func() string { return s.field("", change(entry("changed"), `{"content":"other"}`), "version") },
		"{merged entry}":  func() string { return change(entry("merged"), `{"superseded_by":"`+entry("into")+`"}`) },
		"{incident}": func() string {
			var out struct {
				Incidents []struct {
					ID string `json:"id"`
				} `json:"incidents"`
			}
			s.must(admin, http.MethodPost, "/api/incidents/learn", `{"project":"p","session_id":"s","begin":true,"steps":[{"command":"make","outcome":"failed","output":"make: no rule"}]}`, &struct{}{})
			s.must(admin, http.MethodGet, "/api/incidents?project=p", "", &out)
			return out.Incidents[0].ID
		},
		"{new lesson}": func() string { return newLesson(s.made) },
		"{lesson}":     func() string { return make("/lessons/report", `{`+newLesson(s.made)+`,"source_agent":"a"}`) },
		"{retired}": func() string {
			id := make("/lessons/report", `{`+newLesson(s.made)+`,"source_agent":"a"}`)
			s.must(admin, http.MethodPost, "/lessons/"+id+"/retire", `{"reason":"r"}`, &struct{}{})
			return id
		},
		"{held}": func() string {
			var out struct {
				ID json.Number `json:"lease_id"`
			}
			s.must(admin, http.MethodPost, "/api/leases", fmt.Sprintf(`{"agent_id":"a","project":"p","patterns":["lease-%d"],"why":"w"}`, s.made), &out)
			return out.ID.String()
		},
		"{task}": func() string { return make("/api/tasks", `{"title":"`+canary("task")+`","agent_id":"a"}`) },
		"{free}": func() string { return make("/api/tasks", `{"title":"t"}`) },
		"{blocked}": func() string {
			id := make("/api/tasks", `{"title":"t","agent_id":"a"}`)
			s.must(admin, http.MethodPost, "/api/tasks/"+id+"/block", `{"reason":"r"}`, &struct{}{})
			return id
		},
		"{cancelled}": func() string {
			id := make("/api/tasks", `{"title":"t","agent_id":"a"}`)
			s.must(admin, http.MethodPost, "/api/tasks/"+id+"/cancel", `{}`, &struct{}{})
			return id
		},
		"{finding}": func() string {
			return make("/api/recon/findings", fmt.Sprintf(`{"environment":"mss","title":"t %d","severity":"low"}`, s.made))
		},
		"{check}": func() string {
			return make("/check/anti-pattern", `{"proposed_action":"rm -rf /data # `+canary("check")+`","context":"`+canary("checkcontext")+`","agent":"a"}`)
		},
		"{blocked action}": func() string { return s.blocked("a", fmt.Sprintf("git push --force # %d %s", s.made, canary("check"))) },
		"{permission}": func() string {
			id := s.blocked("a", fmt.Sprintf("git push --force origin x%d", s.made))
			if status, _ := s.do(admin, http.MethodPost, "/check/approvals/"+id+"/approve", `{"always":true}`, s.asPerson()); status != http.StatusOK {
				return id // while no token was issued nobody may
			}
			var list struct {
				Permissions []struct {
					ID string `json:"permission_id"`
				} `json:"permissions"`
			}
			s.must(admin, http.MethodGet, "/check/permissions", "", &list)
			return list.Permissions[0].ID
		},
		"{scan}":  func() string { return make("/api/recon/scans", `{"environment":"mss","scanner":"s"}`) },
		"{token}": func() string { return make("/api/tokens", `{"scopes":["read"],"note":"`+canary("note")+`"}`) },

		"{import}": func() string {
			var out struct {
				ID string `json:"import_id"`
			}
			s.must(admin, http.MethodPost, "/api/import", fmt.Sprintf(`{"records":[{"kind":"knowledge","category":"c","content":"import %d"}]}`, s.made), &out)
			return out.ID
		},
		"{reminder}": func() string {
			var out struct {
				ID json.Number `json:"id"`
			}
			s.must(admin, http.MethodPost, "/api/reminders", `{"task":"`+canary("reminder")+`","context":{"text":"`+canary("remindercontext")+`"},"trigger":"time:+1h","agent_id":"a","created_by":"a"}`, &out)
			return out.ID.String()
		},
		"{cancelled reminder}": func() string {
			var out struct {
				ID json.Number `json:"id"`
			}
			s.must(admin, http.MethodPost, "/api/reminders", `{"task":"t","trigger":"time:+1h","agent_id":"a","created_by":"a"}`, &out)
			s.must(admin, http.MethodPost, "/api/reminders/"+out.ID.String()+"/cancel", `{}`, &struct{}{})
			return out.ID.String()
		},
		"{session}": func() string { return make("/api/sessions", `{"agent_id":"a","goal":"`+canary("goal")+`"}`) },
		"{ended}": func() string {
			id := make("/api/sessions", `{"agent_id":"a"}`)
			s.must(admin, http.MethodPost, "/api/sessions/"+id+"/end", `{"summary":"`+canary("summary")+`"}`, &struct{}{})
			return id
		},
		"{gap}": func() string {
			question := fmt.Sprintf("unheard%d flugelhorn%d", s.made, s.made)
			s.must(admin, http.MethodPost, "/api/knowledge/search", `{"query":"`+question+`"}`, &struct{}{})
			return s.await("/api/gaps", "gaps", question)
		},
		"{escalation}": func() string {
			make("/lessons/report", `{`+newLesson(s.made)+`,"source_agent":"a","severity":"critical"}`)
			return s.await("/escalations/pending", "escalations", fmt.Sprintf("title %d", s.made))
		},
		"{promotable}": func() string {
			var other, own struct {
				ID string `json:"lesson_id"`
			}
			s.must(agentB, http.MethodPost, "/lessons/report", `{`+newLesson(s.made)+`,"source_agent":"b","project":"p"}`, &other) // and of two projects: without tokens all agents are one voice
			s.made++
			s.must(agentA, http.MethodPost, "/lessons/report", `{`+newLesson(s.made)+`,"source_agent":"a","source_case_ids":["`+other.ID+`"]}`, &own)
			return own.ID
		},
		"{pattern}": func() string {
			var pattern struct {
				ID string `json:"id"`
			}
			_, number := learned()
			s.must(admin, http.MethodGet, "/patterns/"+number, "", &pattern)
			return pattern.ID
		},
		"{proposal}": func() string {
			var out struct {
				Proposals []struct {
					ID string `json:"id"`
				} `json:"proposals"`
			}
			s.must(admin, http.MethodPost, "/api/consolidations", fmt.Sprintf(`{"agent_id":"a","session_id":"s%d-`+canaryMark+`proposal","text":"The API listens on port 8080."}`, s.made), &out)
			return out.Proposals[0].ID
		},
		"{key}": func() string { return fmt.Sprint("key-", s.made) },
		"{fact}": func() string {
			s.must(admin, http.MethodPut, fmt.Sprintf("/api/facts/default/f%d", s.made), `{"value":"`+canary("fact")+`"}`, &struct{}{})
			return fmt.Sprint("f", s.made)
		},
		"{procedure}": procedure,
		"{removed procedure}": func() string {
			name := procedure()
			s.do(admin, http.MethodDelete, "/api/procedures/default/"+name, "", nil)
			return name
		},
		"{deleted entry}": func() string {
			id := entry("deleted")
			s.do(admin, http.MethodDelete, "/api/knowledge/"+id, "", nil)
			return id
		},
		"{run}":   func() string { return make("/api/procedures/default/"+procedure()+"/runs", `{"agent_id":"a"}`) },
		"{form}":  s.formToken,
		"{asset}": func() string { return s.found(styles) },
	}
	for brace, one := range made {
		if strings.Contains(call.path+call.body, brace) {
			id := one()
			call.path, call.body = strings.ReplaceAll(call.path, brace, id), strings.ReplaceAll(call.body, brace, id)
		}
	}
	return call
}

// blocked is the approval of a command that the guard blocks in /w; while no token was issued there is none, and the id is made up.
func (s *serving) blocked(agent, command string) string {
	s.t.Helper()
	var out struct {
		Decision   string `json:"decision"`
		ApprovalID string `json:"approval_id"`
	}
	body, _ := json.Marshal(map[string]string{"proposed_action": command, "agent": agent, "folder": "/w"}) // strings cannot fail
	s.must(admin, http.MethodPost, "/check/anti-pattern", string(body), &out)
	if out.Decision != "block" {
		s.t.Fatalf("%s: %s", command, out.Decision)
	}
	return cmp.Or(out.ApprovalID, "5b0cf7e0-0000-8000-8000-000000000000")
}

// world makes what every sample needs.
func (s *serving) world() {
	for _, agent := range []string{"a", "b"} {
		s.must(admin, http.MethodPost, "/heartbeat", `{"agent_id":"`+agent+`"}`, &struct{}{})
	}
	s.must(admin, http.MethodPost, "/api/recon/environments", `{"name":"mss"}`, &struct{}{})
	s.must(admin, http.MethodPost, "/api/sessions", `{"agent_id":"b"}`, &struct{}{})
	s.must(admin, http.MethodPost, "/api/sessions/current/end", `{"agent_id":"b","successor":"heir"}`, &struct{}{})
}

// eachRoute calls visit for each route that is served, with its calls.
func (s *serving) eachRoute(visit func(route httpapi.Route, calls []access)) {
	s.t.Helper()
	routes := s.app.Routes()
	if len(routes) < 50 {
		s.t.Fatalf("only %d routes are served", len(routes))
	}
	served := map[string]bool{}
	for _, route := range routes {
		name := route.Method + " " + route.Path
		served[name] = true
		calls := matrix[name]
		if len(calls) == 0 {
			s.t.Errorf("%s is not in the authorization matrix: say who may call it", name)
			continue
		}
		visit(route, calls)
	}
	for name := range matrix {
		if !served[name] {
			s.t.Errorf("%s is in the authorization matrix and is not served", name)
		}
	}
}

// TestAuthorization makes every call of the matrix as every caller, and looks
// at what the answers hold (see canaries). Each operation succeeds for somebody,
// or says in unshown why it does not here.
func TestAuthorization(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of calls, one after the other")
	}
	t.Parallel() // it waits most of its time
	s := serve(t)
	s.issue()
	s.world()
	s.plant()
	seen, shown := canariesSeen{}, map[string]bool{}
	defer func() {
		for name := range matrix {
			if why := unshown[name]; !shown[name] && why == "" {
				t.Errorf("%s succeeds for nobody: nothing is shown of who may what", name)
			} else if shown[name] && why != "" {
				t.Errorf("%s succeeds, and is listed as one that does not: %s", name, why)
			}
		}
		s.probe(t, seen)
		seen.complete(t)
	}()
	s.eachRoute(func(route httpapi.Route, calls []access) {
		for _, call := range calls {
			call = s.sample(call)
			for _, who := range callers {
				status, body := s.do(who, route.Method, call.path, call.body, nil)
				seen.note(t, who, route.Method+" "+call.path, body)
				shown[route.Method+" "+route.Path] = shown[route.Method+" "+route.Path] || status < 400
				complain := func(want string) {
					t.Errorf("%s %s %s as %s: %d, want %s: %.200s", route.Method, call.path, call.body, who, status, want, body)
				}
				switch {
				case call.public: // what it may show to whom is its own tests' matter
					if who != forger && (call.answers != 0 && status != call.answers || call.answers == 0 && status/100 != 2) {
						complain("success")
					}
				case who == stranger:
					if status != http.StatusUnauthorized {
						complain("401")
					}
				case who == forger:
					if status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
						complain("401, or 429 after many")
					}
				case !slices.Contains(call.may, who):
					if status != http.StatusForbidden && !(call.hidden && status == http.StatusNotFound) {
						complain("403")
					}
				case who == call.may[0]: // the first who may: the things that the call is about are as they were made
					if call.answers != 0 && status != call.answers || call.answers == 0 && status/100 != 2 {
						complain("success")
					}
				case status == http.StatusUnauthorized || status == http.StatusForbidden || status >= 500 && status != call.answers:
					complain("neither 401 nor 403")
				}
			}
		}
	})
}

// TestOpenMode makes every call without a token while none was issued: all
// but the issuing of tokens is open.
func TestOpenMode(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of calls, one after the other")
	}
	t.Parallel() // it waits most of its time
	s := serve(t)
	s.world()
	s.eachRoute(func(route httpapi.Route, calls []access) {
		if strings.Contains(route.Path, "tokens") {
			if status, _ := s.do(stranger, route.Method, strings.ReplaceAll(calls[0].path, "{token}", "x"), calls[0].body, nil); status != http.StatusForbidden {
				t.Errorf("%s %s: %d, want 403", route.Method, route.Path, status)
			}
			return
		}
		for _, call := range calls[:1] { // further ones leave out who calls, which only a token can say
			call = s.sample(call)
			status, body := s.do(stranger, route.Method, call.path, call.body, nil)
			if call.personal {
				if status != http.StatusForbidden {
					t.Errorf("%s %s takes a person: %d, want 403", route.Method, call.path, status)
				}
			} else if call.answers != 0 && status != call.answers || call.answers == 0 && status/100 != 2 {
				t.Errorf("%s %s: %d %.200s", route.Method, call.path, status, body)
			}
			status, _ = s.do(forger, route.Method, call.path, call.body, nil)
			switch {
			case strings.HasPrefix(route.Path, "/v1/"): // OpenAI's clients cannot be without a key: any is as good as none
				if status != call.answers {
					t.Errorf("%s %s with a made-up key: %d, want %d", route.Method, call.path, status, call.answers)
				}
			case status != http.StatusUnauthorized && status != http.StatusTooManyRequests:
				t.Errorf("%s %s with a wrong token: %d, want 401", route.Method, call.path, status)
			}
		}
	})
}

// TestForeignHostAndOrigin sends every call as a web page of another site, or
// a name that was rebound to this machine, would make a browser send it.
func TestForeignHostAndOrigin(t *testing.T) {
	s := serve(t)
	s.world()
	for _, header := range []map[string]string{
		{"Host": "evil.example"},
		{"Host": "127.0.0.1.evil.example:8025"},
		{"Origin": "https://evil.example"},
		{"Origin": "null"},
		{"Origin": "http://localhost.evil.example", "Sec-Fetch-Site": "cross-site"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
		{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
	} {
		s.eachRoute(func(route httpapi.Route, calls []access) {
			for _, who := range []string{stranger, admin} {
				status, body := s.do(who, route.Method, calls[0].path, calls[0].body, header)
				if status != http.StatusForbidden || !bytes.Contains([]byte(body), []byte(`"code":"forbidden"`)) {
					t.Errorf("%s %s with %v as %s: %d %.200s", route.Method, calls[0].path, header, who, status, body)
				}
			}
		})
	}
}

// TestMCPAuthorization calls tools with tokens that may not.
func TestMCPAuthorization(t *testing.T) {
	s := serve(t)
	s.issue()
	s.world()
	for _, c := range []struct {
		tool, arguments string
		may             []string
	}{
		{"search_knowledge", `{"query":"x"}`, anyone},
		{"search_episodes", `{"query":"x"}`, anyone},
		{"get_recent_episodes", `{}`, anyone},
		{"route_query", `{"query":"which agents are stale?"}`, anyone},
		{"store_knowledge", `{"category":"c","title":"t","content":"c"}`, agents},
		{"record_episode", `{"event_type":"action","title":"t","content":"c"}`, agents},
		{"send_signal", `{"to_agent_id":"b","signal":"message"}`, agents},
		{"check_messages", `{}`, agents},
		{"check_messages", `{"agent_id":"a"}`, asAgentA},
		{"check_messages", `{"agent_id":"a","ack":true,"ack_through":1}`, asAgentA},
	} {
		for _, who := range anyone {
			status, body := s.tool(who, c.tool, c.arguments)
			forbidden := strings.Contains(body, "failed (forbidden)")
			if status != http.StatusOK || forbidden == slices.Contains(c.may, who) || !forbidden && strings.Contains(body, `"isError":true`) {
				t.Errorf("%s %s as %s: %d %.300s", c.tool, c.arguments, who, status, body)
			}
		}
	}
}

package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/httpapi"
)

// walled bears a token that is bound to the project shop.
const walled = "walled"

// bind issues the token of agent w; without a project it is bound to none.
func (s *serving) bind(projects string) {
	var issued struct {
		Secret string `json:"token"`
	}
	s.must(admin, http.MethodPost, "/api/tokens", `{"agent_id":"w","scopes":["agent"],"projects":`+projects+`}`, &issued)
	s.secrets[walled] = issued.Secret
}

// beyond stores a row of each kind in a project, with a canary in every text that it has, and one in each number.
func (s *serving) beyond(project string) {
	post := func(path, body string) {
		s.t.Helper()
		body = strings.NewReplacer("PROJECT", project, "SECRET", canary("beyond"), "KEY", canaryMark+"beyond").Replace(body)
		s.must(admin, http.MethodPost, path, body, &struct{}{})
	}
	post("/heartbeat", `{"agent_id":"KEY","project":"PROJECT","role":"KEY","current_task":"SECRET"}`)
	post("/api/knowledge", `{"category":"KEY","title":"SECRET","content":"SECRET 918273645","tags":["KEY"],"source":"SECRET","project":"PROJECT","agent_id":"KEY"}`)
	s.delete(admin, strings.NewReplacer("PROJECT", project, "SECRET", canary("beyond")).Replace(`{"category":"c","title":"SECRET gone","content":"SECRET 918273645 gone","project":"PROJECT"}`))
	post("/api/episodes", `{"event_type":"decision","title":"SECRET","content":"SECRET 918273645","project":"PROJECT","agent_id":"KEY","session_id":"KEY"}`)
	post("/lessons/report", `{"lesson_type":"failure","domain":"KEY","category":"KEY","title":"SECRET","context":"SECRET 918273645","action_taken":"SECRET","outcome":"SECRET","project":"PROJECT","source_agent":"KEY"}`)
	post("/lessons/report", `{"lesson_type":"anti_pattern","domain":"KEY","category":"c","title":"SECRET rule","context":"SECRET","action_taken":"never","outcome":"SECRET","severity":"critical","related_commands":["wreckit --all"],"alternatives":["SECRET"],"project":"PROJECT","source_agent":"KEY"}`)
	post("/api/tasks", `{"title":"SECRET","description":"SECRET 918273645","project":"PROJECT","agent_id":"KEY"}`)
	post("/api/reminders", `{"task":"SECRET","trigger":"time:+1h","project":"PROJECT","agent_id":"KEY","created_by":"KEY"}`)
	post("/api/sessions", `{"agent_id":"KEY","goal":"SECRET","project":"PROJECT"}`)
	post("/api/leases", `{"agent_id":"KEY","project":"`+cmp.Or(project, "other")+`","patterns":["KEY/**"],"why":"SECRET"}`)
	post("/signal", `{"from_agent_id":"KEY","to_agent_id":"","signal":"note","context":{"text":"SECRET"}}`)
	post("/api/knowledge/search", `{"query":"`+canaryMark+`unheard SECRET","project":"PROJECT"}`)
	post("/check/anti-pattern", `{"proposed_action":"wreckit --all","context":"SECRET","project":"PROJECT","agent":"KEY"}`)
}

// inside stores what the token may see.
func (s *serving) inside() {
	for i, text := range []string{"the deploy of the zeppelin shop goes through staging", "rotate the deploy key of the shop each month", "carts are kept in redis for two days"} {
		for _, call := range []struct{ path, body string }{
			{"/api/knowledge", `{"category":"note","title":"own %d","content":"%s","project":"shop"}`},
			{"/api/episodes", `{"event_type":"decision","title":"own %d","content":"%s","project":"shop"}`},
			{"/lessons/report", `{"lesson_type":"failure","domain":"web","category":"c","title":"own %d %[2]s","context":"%[2]s","action_taken":"a","outcome":"o","project":"shop"}`},
		} {
			s.must(walled, http.MethodPost, call.path, fmt.Sprintf(call.body, i, text), &struct{}{})
		}
	}
}

// wallLeaks are the canaries of other projects in an answer. What the caller itself said may come back.
func wallLeaks(body string) []string {
	var found []string
	for kind := range canaries {
		if holdsWord(body, canaryMark+kind) {
			found = append(found, kind)
		}
	}
	if holdsWord(body, canaryMark+"beyond") || strings.Contains(body, "918273645") {
		found = append(found, "beyond")
	}
	return found
}

// wallCalls makes every call of the matrix, of further probes, of every tool and of every stream as the bearer of the token, and
// reports each answer with the status; of a stream that is refused 403.
func (s *serving) wallCalls(t *testing.T, visit func(name string, status int, body string)) {
	s.eachRoute(func(route httpapi.Route, calls []access) {
		for _, call := range calls {
			call = s.sample(call)
			call.path, call.body = asOwn.Replace(call.path), asOwn.Replace(call.body)
			status, body := s.do(walled, route.Method, call.path, call.body, nil)
			visit(route.Method+" "+route.Path, status, body)
		}
	})
	for _, p := range probes {
		call := s.sample(access{path: p.path, body: p.body})
		for _, replace := range []*strings.Replacer{strings.NewReplacer(), asOwn} {
			status, body := s.do(walled, p.method, replace.Replace(call.path), replace.Replace(call.body), nil)
			visit(p.method+" "+p.path, status, body)
		}
	}
	var list struct {
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	s.must(admin, http.MethodGet, "/api/tools", "", &list)
	for _, tool := range list.Tools {
		var schema struct {
			Properties map[string]struct {
				Enum []any `json:"enum"`
			} `json:"properties"`
			Required []string `json:"required"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		arguments := map[string]any{}
		for name, property := range schema.Properties {
			value, known := toolArguments[tool.Name+"."+name]
			if !known && slices.Contains(schema.Required, name) {
				if value = toolArguments[name]; len(property.Enum) > 0 {
					value = property.Enum[0]
				}
				known = true
			}
			if known {
				arguments[name] = value
			}
		}
		text, _ := json.Marshal(arguments) // of texts and numbers: it cannot fail
		call := s.sample(access{body: unquoted.Replace(string(text))})
		call.body = asOwn.Replace(call.body)
		status, body := s.do(walled, http.MethodPost, "/api/tools/"+tool.Name, call.body, nil)
		visit("tool "+tool.Name, status, body)
		status, body = s.tool(walled, tool.Name, call.body)
		visit("MCP "+tool.Name, status, body)
	}
	for _, method := range []string{"resources/list", "prompts/list"} {
		message := strings.Replace(callTool, "tools/list", method, 1)
		status, body := s.do(walled, http.MethodPost, "/mcp", message, map[string]string{"Mcp-Method": method})
		visit(method, status, body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var streams sync.WaitGroup
	var mu sync.Mutex
	for _, path := range []string{"/messages?agent_id=w&last_event_id=0", "/messages?agent_id=a&last_event_id=0", "/events?after=0", "/ws?after=0"} {
		streams.Go(func() {
			heard := s.hear(ctx, walled, path, func() {})
			mu.Lock()
			defer mu.Unlock()
			visit("stream "+path, http.StatusOK, heard)
		})
	}
	streams.Wait()
}

// asOwn has the bearer of the token act as itself.
var asOwn = strings.NewReplacer(`"agent_id":"a"`, `"agent_id":"w"`, "agent_id=a", "agent_id=w", `"from_agent_id":"a"`, `"from_agent_id":"w"`, `"agent":"a"`, `"agent":"w"`)

// serveProjects is a router with rows of several projects and of none, and a token that is bound to some of them.
func serveProjects(t *testing.T, bound string) *serving {
	s := serve(t)
	s.issue()
	s.bind(bound)
	s.must(walled, http.MethodPost, "/heartbeat", `{"agent_id":"w","project":"shop"}`, &struct{}{})
	s.world()
	s.plant()
	s.beyond("web")
	s.beyond("")
	s.inside()
	return s
}

// TestWallsByContent: a token that is bound to a project is shown nothing of another's by any route, tool or stream; what does
// not keep to projects is refused. The control lifts the wall, and the same calls show what they must not.
func TestWallsByContent(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of calls, one after the other")
	}
	t.Parallel() // it waits most of its time
	for name, projects := range map[string]string{"bound": `["shop"]`, "control": `[]`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveProjects(t, projects)
			leaks, refused, kept := map[string][]string{}, 0, 0
			s.wallCalls(t, func(name string, status int, body string) {
				if found := wallLeaks(body); len(found) > 0 {
					leaks[name] = found
					if projects != `[]` {
						t.Errorf("%s shows %v: %.600s", name, found, body)
					}
				}
				if status == http.StatusInternalServerError {
					t.Errorf("%s: %s", name, body)
				}
				if status == http.StatusForbidden {
					refused++
				} else if status < 400 {
					kept++
				}
			})
			t.Logf("%d answers with success, %d refused, %d calls leak", kept, refused, len(leaks))
			switch {
			case projects == `[]` && len(leaks) < 50:
				t.Errorf("without the wall only %d calls show anything of others: the test sees nothing", len(leaks))
			case projects != `[]` && (kept < 60 || refused < 100):
				t.Errorf("%d answers succeed and %d are refused", kept, refused)
			}
		})
	}
}

// wallQuestions are what the two routers of TestWallsDoNotCount are asked.
var wallQuestions = []struct{ method, path, body string }{
	{http.MethodPost, "/api/knowledge/search", `{"query":"deploy the shop","explain":true}`},
	{http.MethodPost, "/api/knowledge/search", `{"query":"deplyo stagign","explain":true}`},
	{http.MethodPost, "/api/knowledge/search", `{"query":"quux frobnicate"}`},
	{http.MethodPost, "/api/knowledge/search", `{"query":"deploy","project":"web"}`},
	{http.MethodPost, "/api/knowledge/search", `{"query":"deploy","project":"none"}`},
	{http.MethodPost, "/api/episodes/search", `{"query":"deploy key","explain":true}`},
	{http.MethodPost, "/lessons/search", `{"context":"deploy key rotate","explain":true}`},
	{http.MethodPost, "/lessons/search", `{"context":"frobnicate"}`},
	{http.MethodPost, "/api/search", `{"query":"deploy redis key","explain":true,"limit":50}`},
	{http.MethodPost, "/api/search", `{"query":"frobnicate quux deplyo"}`},
	{http.MethodPost, "/api/search", `{"query":"frobnicate","kinds":["knowledge"],"category":"c"}`},
	{http.MethodGet, "/api/search?q=wreckage", ""},
	{http.MethodPost, "/query", `{"query":"how do I deploy the shop?"}`},
	{http.MethodPost, "/query", `{"query":"what happened yesterday with the deploy?"}`},
	{http.MethodPost, "/query", `{"query":"which agents are busy on web?"}`},
	{http.MethodPost, "/query", `{"query":"frobnicate the quux"}`},
	{http.MethodPost, "/api/context", `{"task":"deploy the shop","budget":2000}`},
	{http.MethodPost, "/api/context", `{"task":"why does the deploy fail","budget":2000,"prompt":true}`},
	{http.MethodPost, "/api/context", `{"start":true,"budget":2000,"agent_id":"w"}`},
	{http.MethodGet, "/api/knowledge?limit=200", ""},
	{http.MethodGet, "/api/trash", ""},
	{http.MethodGet, "/api/trash?limit=1", ""},
	{http.MethodGet, "/api/trash?project=web", ""},
	{http.MethodGet, "/api/trash?mine=true&limit=100", ""},
	{http.MethodPost, "/api/trash/undo", `{}`},
	{http.MethodPost, "/api/trash/undo", `{"project":"web"}`},
	{http.MethodPost, "/api/trash/restore", `{"kind":"knowledge","id":"0"}`},
	{http.MethodGet, "/api/episodes/recent?limit=200&session_id=*", ""},
	{http.MethodGet, "/lessons?limit=200", ""},
	{http.MethodGet, "/api/gaps?limit=200", ""},
	{http.MethodGet, "/api/agents", ""},
	{http.MethodGet, "/messages/inbox?agent_id=w", ""},
	{http.MethodPost, "/heartbeat", `{"agent_id":"w"}`},
	{http.MethodGet, "/api/timeline?limit=200", ""},
	{http.MethodGet, "/api/timeline?project=web", ""},
	{http.MethodGet, "/health", ""},
	{http.MethodGet, "/api/whoami", ""},
	{http.MethodGet, "/metrics", ""},
	{http.MethodPost, "/signal", `{"from_agent_id":"w","to_agent_id":"webber","signal":"note"}`},
	{http.MethodPost, "/signal", `{"from_agent_id":"w","to_agent_id":"nobody","signal":"note"}`},
}

var (
	wallIDs     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|memory-[0-9a-f]{8}|(?:learning|operational):\d+`)
	wallTimes   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9]{8}T[0-9.]{6,}Z|[0-9]{4}-[0-9]{2}-[0-9]{2}`)
	wallNumbers = regexp.MustCompile(`"(number|seq|last_seq|uptime_ms|use_count|tokens)":\d+`)
	wallFigures = regexp.MustCompile(`\d+\.\d{5,}(e-\d+)?|\d+e-\d+`)
)

// alike is an answer without its ids, times and running numbers. Scores stay, to five digits: part of some is how long ago a row was written.
func alike(body string) string {
	body = wallNumbers.ReplaceAllString(wallTimes.ReplaceAllString(wallIDs.ReplaceAllString(body, "ID"), "TIME"), `"$1":N`)
	return wallFigures.ReplaceAllStringFunc(body, func(figure string) string {
		var x float64
		_, _ = fmt.Sscan(figure, &x) // it is a number
		return fmt.Sprintf("%.4f", x)
	})
}

// alikePage is a page without what differs from one look to the next.
func alikePage(body string) string {
	return alike(pageTokens.ReplaceAllString(pageTimes.ReplaceAllString(body, "TIME"), "TOKENS"))
}

// unlike are the lines in which two texts differ.
func unlike(a, b string) string {
	were, text := strings.Split(a, "\n"), ""
	for line := range strings.Lines(b) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(were, line) {
			text += "+ " + line + "\n"
		}
	}
	are := strings.Split(b, "\n")
	for _, line := range were {
		if !slices.Contains(are, line) {
			text += "- " + line + "\n"
		}
	}
	return text
}

// TestWallsDoNotCount: what a token that is bound to a project is answered is the same whether or not other projects have rows that share
// its words. The control lifts the wall, and the answers differ.
func TestWallsDoNotCount(t *testing.T) {
	for name, projects := range map[string]string{"bound": `["shop"]`, "control": `[]`} {
		t.Run(name, func(t *testing.T) {
			var answers [2][]string
			pages := [2]map[string][]string{{}, {}}
			for i, others := range []bool{false, true} {
				s := serve(t)
				s.issue()
				s.bind(projects)
				other := func(n int) {
					if !others {
						return
					}
					for _, project := range []string{"web", ""} {
						text := fmt.Sprintf("deploy key frobnicate quux stagign deplyo rotate redis wreckage %d", n)
						s.must(admin, http.MethodPost, "/heartbeat", `{"agent_id":"webber","project":"web","status":"busy"}`, &struct{}{})
						s.must(admin, http.MethodPost, "/api/knowledge", fmt.Sprintf(`{"category":"c","title":"web %d","content":"%s","project":"%s"}`, n, text, project), &struct{}{})
						s.delete(admin, fmt.Sprintf(`{"category":"c","title":"web gone %d","content":"gone %s","project":"%s"}`, n, text, project))
						s.must(admin, http.MethodPost, "/api/episodes", fmt.Sprintf(`{"event_type":"error","title":"web %d","content":"%s","project":"%s","agent_id":"webber"}`, n, text, project), &struct{}{})
						s.must(admin, http.MethodPost, "/lessons/report", fmt.Sprintf(`{"lesson_type":"failure","domain":"web","category":"c","title":"web %d %s %[3]s","context":"%[2]s","action_taken":"a","outcome":"o","project":"%[3]s"}`, n, text, project), &struct{}{})
						s.must(admin, http.MethodPost, "/api/knowledge/search", fmt.Sprintf(`{"query":"zyzzyva%d","project":"%s"}`, n, project), &struct{}{})
						s.must(admin, http.MethodPost, "/signal", `{"from_agent_id":"webber","to_agent_id":"","signal":"note","context":{"text":"`+text+`"}}`, &struct{}{})
					}
				}
				s.must(walled, http.MethodPost, "/heartbeat", `{"agent_id":"w","project":"shop"}`, &struct{}{})
				other(1)
				s.inside()
				other(2)
				s.must(walled, http.MethodPost, "/api/knowledge", `{"category":"note","title":"late","content":"the deploy of the shop is by hand on fridays","project":"shop"}`, &struct{}{})
				s.delete(walled, `{"category":"note","title":"gone","content":"the shop closes at noon","project":"shop"}`)
				other(3)
				if others {
					s.await("/api/gaps?project=web", "gaps", "zyzzyva1")
				}
				for _, q := range wallQuestions {
					<-time.After(2 * time.Millisecond) // what finds nothing is listed by when it was asked last
					status, body := s.do(walled, q.method, q.path, q.body, nil)
					if status >= http.StatusInternalServerError {
						t.Errorf("%s %s %s: %d %s", q.method, q.path, q.body, status, body)
					}
					if q.path == "/metrics" && projects == `[]` {
						body = ""
					}
					answers[i] = append(answers[i], alike(fmt.Sprint(status, " ", body)))
				}
				if projects == `[]` { // its pages show more of all kinds, which TestWalledPagesByContent looks at
					continue
				}
				for _, asked := range []string{"frobnicate the quux", "wreckage"} { // which are noted a moment later
					s.await("/api/gaps?project=shop", "gaps", asked)
				}
				s.crawl(nil, func(path string, status int, body string) {
					path = alike(path)
					pages[i][path] = append(pages[i][path], alikePage(fmt.Sprint(status, " ", body)))
				})
			}
			for path, beside := range pages[1] {
				slices.Sort(beside)
				slices.Sort(pages[0][path])
				if alone := pages[0][path]; !slices.Equal(alone, beside) {
					t.Errorf("the page %s: %s", path, unlike(strings.Join(alone, "\n"), strings.Join(beside, "\n")))
				}
			}
			if len(pages[0]) != len(pages[1]) {
				t.Errorf("%d pages alone, and %d beside others", len(pages[0]), len(pages[1]))
			}
			differ := 0
			for i, q := range wallQuestions {
				if answers[0][i] != answers[1][i] {
					differ++
					if projects != `[]` {
						t.Errorf("%s %s %s: alone\n%.1500s\nbeside others\n%.1500s", q.method, q.path, q.body, answers[0][i], answers[1][i])
					}
				}
			}
			if projects == `[]` && differ < 15 {
				t.Errorf("without the wall only %d of %d answers differ", differ, len(wallQuestions))
			}
		})
	}
}

// wallRows finds the id of a list's first row.
var wallRows = regexp.MustCompile(`"(?:id|knowledge_id|lesson_id)":"([^"]+)"`)

var (
	pageLinks = regexp.MustCompile(`(?:href|hx-get)="(/[^"#]*)`)
	// pageTimes are times, and what a lane draws by them, whose events stand in the rows below it, too.
	pageTimes = regexp.MustCompile(`<time [^>]*>[^<]*</time>|data-x="\d+"|name="token_of_form" value="[^"]*"|name="mark" value="[^"]*"|name="version" value="[^"]*"|\d+ (s|min) ago|data-y="0\.\d+"|<rect class="(?:bar|band)[^>]*>(?:<title>[^<]*</title></rect>)?|<span>\d\d:\d\d</span>`)
	// pageTokens are how long random ids are in tokens.
	pageTokens = regexp.MustCompile(`data-label="Tokens">\d+|<dt>Tokens</dt><dd>\d+|<dt>Tokens</dt><dd><span class="prose">\d+|TIME</td><td data-y="\d+">\d+</td></tr>|Tokens</dt><dd class="number">\d+|<td class="w88 n x">\d+</td></tr>`)
)

// wallPages are queries of the dashboard's pages beyond those that its own links lead to.
var wallPages = []string{
	"/ui/search?q=deploy+redis+key", "/ui/search?q=deplyo+stagign", "/ui/search?q=frobnicate+quux", "/ui/search?q=" + canaryWord, "/ui/search?q=deploy&project=web",
	"/ui/memory?kind=knowledge&q=" + canaryWord, "/ui/memory?kind=episode&q=" + canaryWord, "/ui/memory?kind=knowledge&project=web", "/ui/memory?kind=episode&project=web&author=webber",
	"/ui/memory?kind=fact", "/ui/memory?kind=procedure", "/ui/memory?kind=reminder&id=1", "/ui/memory?kind=knowledge&author=" + canaryMark + "beyond",
	"/ui/lessons?q=" + canaryWord, "/ui/lessons?domain=web", "/ui/lessons?domain=" + canaryMark + "beyond", "/ui/lessons?status=retired",
	"/ui/gaps?project=web", "/ui/agents?project=web", "/ui/agent?id=webber", "/ui/agent?id=nobody", "/ui/agent?id=" + canaryMark + "beyond", "/ui/agent/stop?id=webber",
	"/ui/messages?thread=t", "/ui/messages?agent=w", "/ui/messages/overdue?minutes=0", "/ui/timeline?project=web", "/ui/timeline?project=shop", "/ui/timeline?kind=lesson",
	"/ui/value?days=90", "/ui/value?project=web", "/ui/find?q=1", "/ui/find?q=webber", "/ui/find?q=" + canaryWord, "/ui/find?q=" + canaryMark, "/ui/find?q=answer", "/ui/find?q=approve",
	"/ui/find?q=stop", "/ui/find?q=send+web", "/ui/find?q=project", "/ui/find?q=task", "/ui/settings", "/ui/nothing",
}

// crawl looks at every page that is served, with the ids of rows, and at all that these lead to, as the bearer of the bound token.
func (s *serving) crawl(ids []string, visit func(path string, status int, body string)) {
	s.t.Helper()
	paths := slices.Clone(wallPages)
	for _, route := range s.app.Routes() {
		if route.Method == http.MethodGet && (route.Path == "/" || strings.HasPrefix(route.Path, "/ui/")) {
			paths = append(paths, route.Path)
			for _, id := range ids {
				if route.Path == "/ui/memory" || route.Path == "/ui/memory/edit" {
					for _, kind := range []string{"knowledge", "episode", "fact", "procedure", "lesson"} {
						paths = append(paths, route.Path+"?kind="+kind+"&id="+url.QueryEscape(id))
					}
				} else {
					paths = append(paths, route.Path+"?id="+url.QueryEscape(id))
				}
			}
		}
	}
	seen := map[string]bool{}
	for i := 0; i < len(paths); i++ {
		if seen[paths[i]] {
			continue
		}
		if len(seen) > 6000 {
			s.t.Fatalf("there are more than %d pages: %q", len(seen), paths[i:min(i+20, len(paths))])
		}
		seen[paths[i]] = true
		status, body := s.do(walled, http.MethodGet, paths[i], "", map[string]string{"Accept": "text/html"})
		visit(paths[i], status, body)
		for _, match := range pageLinks.FindAllStringSubmatch(body, -1) {
			if to := html.UnescapeString(match[1]); !strings.HasPrefix(to, "/assets/") && !strings.HasPrefix(to, "/docs") {
				paths = append(paths, to)
			}
		}
	}
}

// TestWalledPagesByContent: no page that a bound token is served, whatever is asked of it, shows a word of another project's rows; the
// control lifts the wall, and they do.
func TestWalledPagesByContent(t *testing.T) {
	for name, projects := range map[string]string{"bound": `["shop"]`, "control": `[]`} {
		t.Run(name, func(t *testing.T) {
			s := serveProjects(t, projects)
			var ids []string
			for _, path := range []string{"/api/knowledge?limit=200", "/api/episodes/recent?limit=200&session_id=*", "/lessons?limit=200", "/api/gaps?limit=200", "/api/tasks?limit=200", "/api/sessions?limit=200"} {
				_, raw := s.do(admin, http.MethodGet, path, "", nil)
				found := regexp.MustCompile(`"(?:id|knowledge_id|lesson_id|number)":"?([^",}]+)`).FindAllStringSubmatch(raw, -1)
				for _, match := range found[:min(len(found), 6)] {
					ids = append(ids, match[1])
				}
			}
			shown, leaks := 0, 0
			s.crawl(ids, func(path string, status int, body string) {
				switch {
				case status >= http.StatusInternalServerError:
					t.Errorf("%s: %d %.300s", path, status, body[max(0, strings.Index(body, `role="alert"`)):])
				case status == http.StatusOK:
					shown++
				}
				asked, _ := url.QueryUnescape(path) // what the bearer says itself comes back
				if found := wallLeaks(strings.NewReplacer(canaryMark+"beyond", "", html.EscapeString(asked), "").Replace(body)); strings.Contains(asked, canaryMark+"beyond") && len(found) == 0 {
					return
				}
				if found := wallLeaks(body); len(found) > 0 && !strings.Contains(asked, canaryMark+"beyond") {
					leaks++
					if projects != `[]` {
						t.Errorf("%s shows %v: %.1000s", path, found, body)
					}
				}
			})
			t.Logf("%d pages are shown, %d leak", shown, leaks)
			if shown < 40 || projects == `[]` && leaks < 40 {
				t.Errorf("%d pages are shown, %d leak: the test sees too little", shown, leaks)
			}
		})
	}
}

// TestWalledPagesChangeNothingElse: no form that a bound token sends changes a row of another project, also where it names one of its own beside.
func TestWalledPagesChangeNothingElse(t *testing.T) {
	s := serve(t)
	s.issue()
	s.bind(`["shop"]`)
	s.must(walled, http.MethodPost, "/heartbeat", `{"agent_id":"w","project":"shop"}`, &struct{}{})
	s.beyond("web")
	s.inside()
	shown := func(path, project string) string {
		if strings.Contains(path, "/search") { // scores are of the moment: the first hit is read
			_, raw := s.do(admin, http.MethodPost, path, `{"query":"`+canaryWord+`","project":"`+project+`","limit":1}`, nil)
			if found := wallRows.FindStringSubmatch(raw); found != nil {
				_, raw = s.do(admin, http.MethodGet, "/episodes/"+found[1], "", nil)
			}
			return raw
		}
		_, raw := s.do(admin, http.MethodGet, path+"&project="+project, "", nil)
		return regexp.MustCompile(`"confidence":[0-9.]+`).ReplaceAllString(raw, "") // it falls by itself
	}
	lists := map[string]string{"knowledge": "/api/knowledge?limit=200", "lesson": "/lessons?limit=200", "episode": "/api/episodes/search", "gap": "/api/gaps?limit=200"}
	s.must(admin, http.MethodPost, "/api/knowledge/search", `{"query":"zyzzyva","project":"web"}`, &struct{}{})
	s.await("/api/gaps?project=web", "gaps", "zyzzyva")
	before := map[string]string{}
	for kind, path := range lists {
		before[kind] = shown(path, "web")
	}
	sent, done := 0, 0
	for kind, path := range lists {
		theirs := wallRows.FindStringSubmatch(before[kind])
		ours := wallRows.FindStringSubmatch(shown(path, "shop"))
		if theirs == nil || ours == nil && kind != "gap" {
			t.Fatalf("there are no rows of %s: %s", kind, before[kind])
		}
		own := ""
		if ours != nil {
			own = ours[1]
		}
		for _, route := range s.app.Routes() {
			if route.Method != http.MethodPost || !strings.HasPrefix(route.Path, "/ui/") {
				continue
			}
			for _, pair := range [][2]string{{theirs[1], own}, {theirs[1], theirs[1]}, {own, theirs[1]}} {
				body := url.Values{
					"id": {pair[0]}, "from": {pair[1]}, "superseded_by": {pair[1]}, "kind": {kind}, "sure": {"1"}, "by": {"w"}, "reason": {"r"}, "notes": {"n"}, "title": {"changed"}, "content": {"changed"},
					"category": {"c"}, "validation_type": {"refuted"}, "outcome": {"failure"}, "version": {"1"}, "project": {"web"}, "signal": {"note"}, "to": {canaryMark + "beyond"}, "thread": {"t"}, "text": {"x"},
				}
				status, _ := s.do(walled, http.MethodPost, route.Path, body.Encode(), nil)
				if sent++; status < 400 {
					done++
				}
			}
		}
	}
	for kind, path := range lists {
		if after := shown(path, "web"); after != before[kind] {
			t.Errorf("rows of %s are changed: %s", kind, unlike(before[kind], after))
		}
	}
	if t.Logf("%d forms are sent, %d do something", sent, done); sent < 300 || done == 0 {
		t.Errorf("%d forms are sent, %d do something: the test sees too little", sent, done)
	}
}

// TestWalledTrash: a bound token neither sees nor changes what was deleted in another project, also where its own agent wrote and deleted it
// there under another token, and it has no task wait for one that it may not see.
func TestWalledTrash(t *testing.T) {
	s := serve(t)
	s.issue()
	s.bind(`[]`) // agent w, bound to nothing yet
	theirs := s.delete(walled, `{"category":"c","title":"`+canary("beyond")+`","content":"beyond","project":"web"}`)
	s.must(admin, http.MethodPut, "/api/facts/default/beyond", `{"value":1}`, &struct{}{})
	s.do(admin, http.MethodDelete, "/api/facts/default/beyond", "", nil)
	var task struct {
		ID string `json:"id"`
	}
	s.must(admin, http.MethodPost, "/api/tasks", `{"title":"`+canary("beyond")+`","project":"web"}`, &task)
	_, before := s.do(admin, http.MethodGet, "/api/trash", "", nil)
	number := regexp.MustCompile(`"number":(\d+),"operation":"delete","kind":"knowledge"`).FindStringSubmatch(before)
	if number == nil {
		t.Fatalf("what was deleted: %s", before)
	}
	_, tasks := s.do(admin, http.MethodGet, "/api/tasks", "", nil)
	call := func(wanted int, method, path, body string) {
		t.Helper()
		if status, answer := s.do(walled, method, path, body, nil); status != wanted || len(wallLeaks(answer)) > 0 || strings.Contains(answer, task.ID) && !strings.Contains(body+path, task.ID) {
			t.Errorf("%s %s %s: %d, want %d: %.300s", method, path, body, status, wanted, answer)
		}
	}
	undone, _ := s.do(walled, http.MethodPost, "/api/trash/undo", `{"change":`+number[1]+`}`, nil)
	if undone != http.StatusOK {
		t.Errorf("the control: what is bound to nothing sees its own change with %d", undone)
	}
	s.bind(`["shop"]`)
	for _, c := range []struct {
		wanted             int
		method, path, body string
	}{
		{http.StatusOK, http.MethodGet, "/api/trash?mine=true", ""},
		{http.StatusNotFound, http.MethodPost, "/api/trash/restore", `{"kind":"knowledge","id":"` + theirs + `"}`},
		{http.StatusNotFound, http.MethodPost, "/api/trash/restore", `{"kind":"knowledge","id":"0"}`},
		{http.StatusNotFound, http.MethodPost, "/api/trash/restore", `{"kind":"fact","id":"default/beyond"}`},
		{http.StatusForbidden, http.MethodPost, "/api/trash/forget", `{"kind":"knowledge","id":"` + theirs + `"}`},
		{http.StatusNotFound, http.MethodPost, "/api/trash/undo", `{"confirm":true}`},
		{http.StatusNotFound, http.MethodPost, "/api/trash/undo", `{"confirm":true,"project":"web"}`},
		{http.StatusNotFound, http.MethodPost, "/api/trash/undo", `{"confirm":true,"change":` + number[1] + `}`},
		{http.StatusForbidden, http.MethodGet, "/api/tasks/ready", ""},
		{http.StatusForbidden, http.MethodPost, "/api/tasks", `{"title":"t","project":"shop","after":["` + task.ID + `"]}`},
		{http.StatusForbidden, http.MethodPost, "/api/tasks", `{"title":"t","project":"shop","after":["1"]}`},
		{http.StatusForbidden, http.MethodPost, "/api/tasks/1/wait", `{"after":["` + task.ID + `"]}`},
		{http.StatusForbidden, http.MethodPost, "/api/tasks/1/wait", `{"after":["77"]}`},
	} {
		call(c.wanted, c.method, c.path, c.body)
	}
	s.must(walled, http.MethodPost, "/heartbeat", `{"agent_id":"w","project":"shop"}`, &struct{}{})
	own := s.delete(walled, `{"category":"c","title":"own","content":"own","project":"shop"}`)
	if _, list := s.do(walled, http.MethodGet, "/api/trash", "", nil); !strings.Contains(list, own) || !strings.Contains(list, `"count":1`) {
		t.Errorf("it sees of its own: %s", list)
	}
	call(http.StatusOK, http.MethodPost, "/api/trash/restore", `{"kind":"knowledge","id":"`+own+`"}`)
	if _, after := s.do(admin, http.MethodGet, "/api/trash", "", nil); after != before {
		t.Errorf("what was deleted was\n%s\nand is\n%s", before, after)
	}
	if _, after := s.do(admin, http.MethodGet, "/api/tasks", "", nil); after != tasks {
		t.Errorf("the tasks were\n%s\nand are\n%s", tasks, after)
	}
}

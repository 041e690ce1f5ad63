package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// site is a whole router as a browser sees it, without tokens.
type site struct {
	t       *testing.T
	handler http.Handler
	data    string // its folder

	person, token string // what its calls show, if anything
}

func openSite(t *testing.T) site {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return site{t: t, handler: a.Handler(), data: settings.Data}
}

func (s site) do(method, path, contentType, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("Sec-Fetch-Site", "same-origin") // as a browser says of what is clicked on a page of ours
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if s.person != "" {
		r.Header.Set(principal.PersonHeader, s.person)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// asPerson is the site as it is seen by a person, who has set a passphrase and gave it.
func (s site) asPerson() site {
	s.t.Helper()
	owner := s
	var err error
	if owner.token, err = locate.ReadOwnerToken(s.data); err != nil {
		s.t.Fatal(err)
	}
	phrase := map[string]any{"passphrase": "correct horse battery staple"}
	owner.api(http.MethodPut, "/api/passphrase", phrase)
	s.person, _ = owner.api(http.MethodPost, "/api/passphrase/person", phrase)["person"].(string)
	return s
}

// api makes a call of the programs' interface, which must succeed.
func (s site) api(method, path string, body any) map[string]any {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	w := s.do(method, path, "application/json", string(raw))
	out := map[string]any{}
	if w.Code >= 300 || w.Body.Len() > 0 && json.Unmarshal(w.Body.Bytes(), &out) != nil {
		s.t.Fatalf("%s %s answers %d %s", method, path, w.Code, w.Body)
	}
	return out
}

// get fetches a page, which must answer with the status, and holds what every page must be.
func (s site) get(path string, status int) string {
	s.t.Helper()
	w := s.do(http.MethodGet, path, "", "")
	if w.Code == http.StatusFound { // an address of an earlier release
		w = s.do(http.MethodGet, w.Header().Get("Location"), "", "")
	}
	page := w.Body.String()
	if w.Code != status {
		s.t.Errorf("GET %s answers %d: %s", path, w.Code, heading(page))
	}
	if w.Header().Get("Content-Security-Policy") == "" {
		s.t.Errorf("GET %s may load anything", path)
	}
	harmless(s.t, path, w.Body.Bytes())
	return page
}

// shows fetches a page and wants texts in it.
func (s site) shows(path string, texts ...string) string {
	s.t.Helper()
	page := s.get(path, http.StatusOK)
	for _, text := range texts {
		if !strings.Contains(page, html.EscapeString(text)) {
			s.t.Errorf("GET %s does not show %q", path, text)
		}
	}
	return page
}

var tokenOfForm = regexp.MustCompile(`name="token_of_form" value="([^"]+)"`)

// send sends a form of a page, and returns where it leads. Fields are pairs.
func (s site) send(page, action string, status int, fields ...string) string {
	s.t.Helper()
	s.get(page, http.StatusOK)
	match := tokenOfForm.FindStringSubmatch(s.get("/ui/settings", http.StatusOK))
	form := url.Values{"token_of_form": {match[1]}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	w := s.do(http.MethodPost, action, "application/x-www-form-urlencoded", form.Encode())
	if w.Code != status {
		s.t.Errorf("POST %s answers %d: %s", action, w.Code, heading(w.Body.String()))
	}
	return w.Header().Get("Location")
}

func heading(page string) string {
	if at := strings.Index(page, `role="alert"`); at >= 0 {
		return page[at:min(len(page), at+200)]
	}
	return page[:min(len(page), 200)]
}

// harmless parses a page as a browser does, and wants nothing in it that runs or loads from elsewhere.
func harmless(t *testing.T, path string, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for node := range root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		for _, attribute := range node.Attr {
			value := strings.ToLower(strings.TrimSpace(attribute.Val))
			switch key := attribute.Key; {
			case strings.HasPrefix(key, "on"), key == "style", key == "srcdoc":
				t.Errorf("%s: <%s %s=%q>", path, node.Data, key, value)
			case key == "src" || key == "href" || key == "action" || key == "hx-get":
				if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") || strings.HasPrefix(value, "//") {
					t.Errorf("%s: <%s %s=%q> leads elsewhere", path, node.Data, key, value)
				}
			}
		}
		switch node.Data {
		case "script":
			if node.FirstChild != nil {
				t.Errorf("%s has a script in it", path)
			}
		case "img", "iframe", "object", "embed", "base", "b":
			t.Errorf("%s has a <%s>", path, node.Data)
		}
	}
}

const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'><b>[x](javascript:alert(3))</b>` + "\u202e\x07{{.Token}}"

// lesson reports a lesson and returns its id.
func (s site) lesson(kind, title string, more map[string]any) string {
	s.t.Helper()
	draft := map[string]any{
		"lesson_type": kind, "domain": "databases", "category": "operations", "title": title, "context": "while deploying " + title,
		"action_taken": "ran it by hand", "outcome": "the shop stood still", "severity": "medium", "source_agent": "builder-1",
	}
	for key, value := range more {
		draft[key] = value
	}
	return s.api(http.MethodPost, "/lessons/report", draft)["lesson_id"].(string)
}

var memoryPaths = []string{
	"/ui/search", "/ui/search?q=gateway", "/ui/lessons", "/ui/patterns", "/ui/guard", "/ui/guard/ledger", "/ui/escalations", "/ui/proposals", "/ui/gaps", "/ui/value", "/ui/value?days=30&project=shop", "/ui/figures",
}

func TestMemoryPagesOfNothing(t *testing.T) {
	s := openSite(t)
	for _, path := range memoryPaths {
		page := s.get(path, http.StatusOK)
		if !strings.Contains(page, "<h1>") || !strings.Contains(page, `aria-current="page"`) {
			t.Errorf("%s has no head or no place in the navigation", path)
		}
	}
	for path, status := range map[string]int{
		"/ui/lesson?id=none": 404, "/ui/lesson?id=999": 404, "/ui/pattern?id=none": 404, "/ui/gaps?order=x": 400,
		"/ui/guard/ledger?rule=none": 200, "/ui/lessons?status=x": 400, "/ui/lessons?cursor=x": 400, "/ui/patterns?cursor=x": 400,
		"/ui/patterns?cursor=-1": 400, "/ui/guard?cursor=x": 400, "/ui/search?q=x&kind=none": 400,
		"/ui/escalations?status=none": 400, "/ui/guard/ledger?decision=none": 400, "/ui/search?q=" + strings.Repeat("x", 5000): 413,
	} {
		s.get(path, status)
	}
}

func TestSearchPageExplains(t *testing.T) {
	s := openSite(t)
	s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "runbook", "title": "Gateway certificates", "content": "certbot renew " + hostile, "project": "billing"})
	s.api(http.MethodPost, "/api/episodes", map[string]any{"event_type": "error", "title": "The gateway certificate expired", "content": hostile})
	s.api(http.MethodPut, "/api/facts/default/gateway.url", map[string]any{"value": "https://gateway.example"})
	s.lesson("failure", "Gateway certificates expire on Sundays", nil)
	page := s.shows("/ui/search?q=gateway+certificates", "Lessons", "Knowledge", "Episodes", "Facts", "certbot renew", "gateway.url", "Why", "gateway")
	// The episode says what the entry says, and is told with it.
	if n := strings.Count(page, `<details class="why">`); n != 3 || !strings.Contains(page, "The gateway certificate expired") {
		t.Errorf("%d of 3 hits are explained", n)
	}
	if page = s.shows("/ui/search?q=gateway&kind=fact", "Facts"); strings.Contains(page, "certbot") {
		t.Error("one kind was asked for, and another is shown")
	}
	if page = s.shows("/ui/search?q=gateway&project=billing", "certbot"); strings.Contains(page, "The gateway certificate expired") {
		t.Error("an episode of another project is shown")
	}
}

// TestSearchPageFolds: what says nearly the same is named beneath the likeliest, with links; what differs in a number stands for itself.
func TestSearchPageFolds(t *testing.T) {
	s := openSite(t)
	var ids []string
	for _, content := range []string{"run certbot renew on the gateway of the shop", "run certbot renew on the gateway of the shop again", "run certbot renew on the gateway of shop 2"} {
		made := s.api(http.MethodPost, "/api/knowledge", map[string]any{"category": "runbook", "title": "Renew the gateway certificate", "content": content})
		ids = append(ids, made["knowledge_id"].(string))
	}
	page := s.shows("/ui/search?q=renew+the+gateway+certificate", "And 1 more like it:")
	if n := strings.Count(page, `<details class="why">`); n != 2 {
		t.Errorf("%d hits are shown of two matters", n)
	}
	for _, id := range ids {
		if !strings.Contains(page, "id="+id) {
			t.Errorf("%s has no link", id)
		}
	}
	if found := s.api(http.MethodPost, "/api/search", map[string]any{"query": "renew the gateway certificate"}); found["count"].(float64) != 3 {
		t.Errorf("the API answers with %v", found["count"])
	}
}

func TestLessonPageAndItsActions(t *testing.T) {
	s := openSite(t)
	id := s.lesson("anti_pattern", "Never drop the orders table", map[string]any{"severity": "high", "related_commands": []string{"DROP TABLE orders"}, "solution": hostile, "tags": []string{"sql"}})
	page := "/ui/lesson?id=" + id
	s.shows(page, "Never drop the orders table", "Confidence", "reported", "Retire", "builder-1")
	s.shows("/ui/lessons", "Never drop the orders table")
	s.shows("/ui/lessons?type=anti_pattern&level=case&domain=databases&tag=sql", "Never drop")
	if list := s.get("/ui/lessons?status=retired", http.StatusOK); strings.Contains(list, "Never drop") {
		t.Error("it is among the retired ones")
	}
	for _, act := range []struct {
		verb   string
		fields []string
		want   string
	}{
		{"validate", []string{"validation_type", "confirmed", "by", "captain-1", "notes", "seen " + hostile}, "confirmed: seen"},
		{"apply", []string{"outcome", "success", "by", "builder-2"}, "Times applied"},
		{"retire", []string{"reason", "no such table any more", "by", "captain-1"}, "no such table any more"},
		{"restore", []string{"notes", "it is back"}, "it is back"},
	} {
		to := s.send(page, "/ui/lesson/"+act.verb, http.StatusSeeOther, append(act.fields, "id", id)...)
		if !strings.HasPrefix(to, "/ui/memory?") {
			t.Fatalf("%s leads to %q", act.verb, to)
		}
		s.shows(to, act.want)
	}
	s.send(page, "/ui/lesson/promote", http.StatusConflict, "id", id)
	s.send(page, "/ui/lesson/validate", http.StatusBadRequest, "id", id, "validation_type", "by heart", "by", "captain-1")
	s.send(page, "/ui/lesson/validate", http.StatusNotFound, "id", "none", "validation_type", "confirmed", "by", "captain-1")
	w := s.do(http.MethodPost, "/ui/lesson/retire", "application/x-www-form-urlencoded", "id="+id+"&reason=x")
	if w.Code != http.StatusForbidden {
		t.Errorf("a form of another site: %d", w.Code)
	}
	if lesson := s.api(http.MethodGet, "/lessons/"+id, nil); lesson["status"] != "candidate" || lesson["times_applied"] != 1.0 {
		t.Errorf("the lesson is %v, applied %v times", lesson["status"], lesson["times_applied"])
	}
}

func TestGuardPages(t *testing.T) {
	s := openSite(t)
	id := s.lesson("anti_pattern", "Never drop the orders table", map[string]any{"severity": "high", "block_action": true, "related_commands": []string{"DROP TABLE orders"}})
	for i := range 3 {
		check := s.api(http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": "psql -c 'DROP TABLE orders'", "agent": fmt.Sprint("builder-", i)})
		if check["blocked"] != true {
			t.Fatalf("check %+v", check)
		}
		s.api(http.MethodPost, "/check/outcome", map[string]any{"check_id": check["check_id"], "outcome": "overridden", "result": "success", "agent": fmt.Sprint("builder-", i), "notes": hostile})
	}
	s.shows("/ui/guard?kind=rule&demoted=true&source=lesson", "Never drop the orders table", "demoted")
	s.shows("/ui/guard?kind=rule&id="+id, "Overridden with success", "50 %")
	s.shows("/ui/guard/ledger?rule="+id, "DROP TABLE orders", "overridden", "builder-2", "Never drop the orders table")
	if list := s.get("/ui/guard/ledger?outcome=heeded", http.StatusOK); strings.Contains(list, "DROP TABLE") {
		t.Error("none was heeded")
	}
	s.shows(s.send("/ui/guard?kind=rule&demoted=true", "/ui/rule/restore", http.StatusSeeOther, "id", id, "by", "captain-1"), "blocks again")
	if rule := s.api(http.MethodGet, "/check/rules/"+id, nil); rule["demoted"] != false {
		t.Errorf("rule %v", rule)
	}
	s.send("/ui/lesson?id="+id, "/ui/rule/restore", http.StatusNotFound, "id", "none")
}

func TestDecisionPages(t *testing.T) {
	s := openSite(t)
	lesson := s.lesson("failure", "The vault is open "+hostile, map[string]any{"severity": "critical", "domain": "security"})
	var id string
	for deadline := time.Now().Add(20 * time.Second); id == ""; {
		if list, _ := s.api(http.MethodGet, "/escalations", nil)["escalations"].([]any); len(list) > 0 {
			id = list[0].(map[string]any)["id"].(string)
		} else if time.Now().After(deadline) {
			t.Fatal("nothing was escalated")
		}
	}
	s.shows("/ui/escalations", "The vault is open", "critical")
	s.shows("/ui/inbox?kind=escalation&id="+id, "The vault is open", "Settle…")
	s.send("/ui/escalations", "/ui/escalation/review", http.StatusSeeOther, "id", id, "by", "captain-1")
	s.shows("/ui/escalations", "reviewed")
	s.send("/ui/escalations", "/ui/escalation/resolve", http.StatusSeeOther, "id", id, "by", "captain-1", "notes", "locked")
	s.shows("/ui/escalations?status=resolved", "The vault is open", "locked")
	s.send("/ui/lesson?id="+lesson, "/ui/escalation/dismiss", http.StatusConflict, "id", id, "by", "captain-1")

	s.api(http.MethodPost, "/api/consolidations", map[string]any{"agent_id": "builder-1", "turns": []map[string]any{
		{"role": "user", "content": "The test command is `pytest -q`."},
		{"role": "assistant", "content": "$ pytest -q"},
		{"role": "tool", "content": "E   ModuleNotFoundError: No module named 'attrs'\n1 error in 0.1s"},
		{"role": "assistant", "content": "$ pip install attrs"},
		{"role": "tool", "content": "Successfully installed attrs-24.2.0 " + hostile},
		{"role": "assistant", "content": "$ pytest -q"},
		{"role": "tool", "content": "8 passed in 0.54s"},
	}})
	list, _ := s.api(http.MethodGet, "/api/proposals?status=pending", nil)["proposals"].([]any)
	if len(list) < 2 {
		t.Fatalf("%d proposals", len(list))
	}
	for i, verb := range []string{"accept", "reject"} {
		id := list[i].(map[string]any)["id"].(string)
		s.shows(s.send("/ui/proposals", "/ui/proposal/"+verb, http.StatusSeeOther, "id", id, "notes", "no"), "The proposal is "+verb+"ed")
		if got := s.api(http.MethodGet, "/api/proposals/"+id, nil); got["status"] != verb+"ed" {
			t.Errorf("%s: %v", verb, got["status"])
		}
	}
	s.shows("/ui/proposals?status=rejected", "no")
	s.send("/ui/lesson?id="+lesson, "/ui/proposal/accept", http.StatusNotFound, "id", "none")
}

func TestGapPages(t *testing.T) {
	s := openSite(t)
	s.get("/ui/search?q=zork+the+frobnicator&kind=fact", http.StatusOK) // of one kind: no gap
	page := s.get("/ui/search?q=how+to+frobnicate+zorkmids", http.StatusOK)
	if !strings.Contains(page, "Nothing here has") {
		t.Errorf("found %s", page)
	}
	var id string
	for deadline := time.Now().Add(20 * time.Second); id == ""; {
		if list, _ := s.api(http.MethodGet, "/api/gaps", nil)["gaps"].([]any); len(list) > 0 {
			id = list[0].(map[string]any)["id"].(string)
		} else if time.Now().After(deadline) {
			t.Fatal("no gap was noted")
		}
	}
	s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": "a"})
	if page := s.get("/", http.StatusOK); !strings.Contains(page, `<span class="name">Waits for you</span><span class="number">0</span>`) {
		t.Error("the overview counts a gap among what waits, and the navigation does not")
	}
	list := s.shows("/ui/gaps", "how to frobnicate zorkmids", "1 questions", "1×")
	if strings.Contains(list, "zork the frobnicator") {
		t.Error("a question to one kind is a gap")
	}
	s.shows(s.send("/ui/gaps", "/ui/gap/dismiss", http.StatusSeeOther, "id", id), "forgotten until it is asked again", "0 questions")
}

func TestPatternPages(t *testing.T) {
	s := openSite(t)
	for i, title := range []string{"The gateway certificate expired on a Sunday", "The gateway certificate has expired in staging", "Gateway certificate expired, again, at night"} {
		s.lesson("failure", title, map[string]any{
			"source_agent": fmt.Sprint("builder-", i), "domain": "gateway", "root_cause": "nobody renews the gateway certificate", "tags": []string{"certificate"},
		})
	}
	patterns, _ := s.api(http.MethodGet, "/patterns", nil)["patterns"].([]any)
	if len(patterns) == 0 {
		t.Skip("these lessons form no pattern")
	}
	id := patterns[0].(map[string]any)["id"].(string)
	s.shows("/ui/patterns?domain=gateway", "emerging")
	if list := s.shows("/ui/memory", "Gateway certificate"); strings.Contains(list, "emerging") {
		t.Error("the list of all shows a pattern's state under the head of another column")
	}
	s.shows("/ui/pattern?id="+id, "Its lessons", "certificate")
	s.shows(s.send("/ui/pattern?id="+id, "/ui/pattern/confirm", http.StatusSeeOther, "id", id, "by", "captain-1"), "The pattern is confirmed")
	s.shows(s.send("/ui/pattern?id="+id, "/ui/pattern/deprecate", http.StatusSeeOther, "id", id, "by", "captain-1"), "The pattern is deprecated")
}

// TestMemoryPagesHaveTheirParts pages through more than a page holds.
func TestMemoryPagesHaveTheirParts(t *testing.T) {
	s := openSite(t)
	var drafts []map[string]any
	for i := range 120 {
		drafts = append(drafts, map[string]any{
			"lesson_type": "discovery", "domain": fmt.Sprint("d", i), "category": "c", "title": fmt.Sprintf("Lesson no %d %s", i, hostile), "context": "c", "action_taken": "a",
			"outcome": "o", "source_agent": "a",
		})
	}
	s.api(http.MethodPost, "/lessons/bulk", drafts)
	next, seen := "/ui/lessons", 0
	older := regexp.MustCompile(`href="([^"]+)" rel="next"`)
	for pages := 0; next != "" && pages < 5; pages++ {
		page := s.get(next, http.StatusOK)
		seen += strings.Count(page, `<a href="/ui/memory?id=`)
		next = ""
		if match := older.FindStringSubmatch(page); match != nil {
			next = html.UnescapeString(match[1])
		}
	}
	if seen != 120 {
		t.Errorf("%d of 120 lessons are on the pages", seen)
	}
}

package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

const phrase = "correct horse battery staple"

const blockingLesson = `{"lesson_type":"anti_pattern","domain":"d","category":"c","title":"Wiping the frobs","context":"c","action_taken":"","outcome":"","source_agent":"a","severity":"critical","block_action":true,"related_commands":["frobctl wipe"]}`

// withPassphrase sets a passphrase, and begins a person's session.
func (s *serving) withPassphrase() {
	s.t.Helper()
	s.must(admin, http.MethodPut, "/api/passphrase", `{"passphrase":"`+phrase+`"}`, &struct{}{})
	var session struct{ Person string }
	s.must(admin, http.MethodPost, "/api/passphrase/person", `{"passphrase":"`+phrase+`"}`, &session)
	s.person = session.Person
}

// TestNeedsPerson walks all routes of a router with a passphrase, as whoever may call them, without it: what only a person decides is refused to each
// token, the owner's too, with a message that says how to go on; all else goes on.
func TestNeedsPerson(t *testing.T) {
	if testing.Short() {
		t.Skip("makes hundreds of calls, one after the other")
	}
	t.Parallel()
	s := serve(t)
	s.issue()
	s.world()
	s.withPassphrase()
	refused := 0
	s.eachRoute(func(route httpapi.Route, calls []access) {
		if route.Path == "/ui/incident/accept" { // whether it takes a person depends on whose token taught it: see TestOneVoiceCountsOnce
			return
		}
		for _, call := range calls {
			for _, who := range []string{captain, admin} {
				if !call.proved && who == captain || !slices.Contains(call.may, who) {
					continue
				}
				made := s.sample(call)
				status, body := s.do(who, route.Method, made.path, made.body, nil)
				if needed := status == http.StatusForbidden && strings.Contains(body, "no token stands in for the passphrase"); needed != call.proved {
					t.Errorf("%s %s as %s: %d, a person is needed: %t, want %t: %.300s", route.Method, made.path, who, status, needed, call.proved, body)
				}
				if !call.proved {
					continue
				}
				refused++
				if status, body := s.do(who, route.Method, made.path, made.body, map[string]string{"Skill-Router-Person": "skp_made-up"}); status != http.StatusForbidden {
					t.Errorf("%s %s as %s with a made-up session: %d %.300s", route.Method, made.path, who, status, body)
				}
				if status, body := s.do(who, route.Method, made.path, made.body, s.asPerson()); status/100 != 2 && status != http.StatusSeeOther {
					t.Errorf("%s %s as a person: %d %.300s", route.Method, made.path, status, body)
				}
			}
		}
	})
	if refused < 15 {
		t.Errorf("only %d calls take a person: the list is broken", refused)
	}
	// An agent's token is no person's, with the passphrase neither.
	id := s.blocked("a", "git push --force origin agents")
	if status, body := s.do(agentA, http.MethodPost, "/check/approvals/"+id+"/approve", "{}", s.asPerson()); status != http.StatusForbidden {
		t.Errorf("with an agent's token and the passphrase: %d %s", status, body)
	}
	// Rules of others: whoever leads weakens them with the passphrase alone; what weakens nothing is as it was.
	var lesson struct {
		ID string `json:"lesson_id"`
	}
	s.must(agentA, http.MethodPost, "/lessons/report", blockingLesson, &lesson)
	for _, weaker := range []struct{ method, path, body string }{
		{http.MethodPatch, "", `{"severity":"low"}`},
		{http.MethodPatch, "", `{"related_commands":["other"]}`},
		{http.MethodPatch, "", `{"confidence":0.1}`},
		{http.MethodPost, "/retire", `{"reason":"r"}`},
		{http.MethodPost, "/validate", `{"validated_by":"c","validation_type":"outdated"}`},
	} {
		for _, who := range []string{captain, admin} {
			if status, body := s.do(who, weaker.method, "/lessons/"+lesson.ID+weaker.path, weaker.body, nil); status != http.StatusForbidden || !strings.Contains(body, "passphrase_needed") {
				t.Errorf("%s %s as %s: %d %s", weaker.method, weaker.path, who, status, body)
			}
		}
	}
	for _, milder := range []struct{ method, path, body string }{
		{http.MethodPatch, "", `{"notes":"n"}`}, {http.MethodPost, "/validate", `{"validated_by":"c","validation_type":"confirmed"}`},
	} {
		if status, body := s.do(admin, milder.method, "/lessons/"+lesson.ID+milder.path, milder.body, nil); strings.Contains(body, "passphrase_needed") {
			t.Errorf("%s %s: %d %s", milder.method, milder.path, status, body)
		}
	}
	if status, body := s.do(admin, http.MethodPost, "/lessons/"+lesson.ID+"/retire", `{"reason":"r"}`, s.asPerson()); status != http.StatusOK {
		t.Errorf("a person retires it: %d %s", status, body)
	}
	// Switching on needs nobody's yes; MCP has no person.
	if status, body := s.do(captain, http.MethodPost, "/check/packs", `{"names":["docker"],"mode":"block"}`, nil); status != http.StatusOK {
		t.Errorf("a pack is switched on: %d %s", status, body)
	}
}

// TestOpenWithoutPassphrase: before any token and any passphrase nobody approves, weakens a pack or a rule, the owner's token neither; the refusal says how
// to go on, and with a passphrase that is set exactly that works.
func TestOpenWithoutPassphrase(t *testing.T) {
	t.Parallel()
	s := serve(t)
	first := s.asked(stranger, push("main"))
	if first.Decision != "block" || first.ApprovalID == "" {
		t.Fatalf("%+v", first)
	}
	if said := strings.Join(first.Warnings, " "); !strings.Contains(said, "skillrouter passphrase set, then skillrouter check approve "+first.ApprovalID) {
		t.Errorf("the refusal says %s", said)
	}
	named := map[string]any{"proposed_action": "git push --force origin x"}
	if v := s.asked(stranger, named); v.ApprovalID == "" {
		t.Errorf("without an agent's name: %+v", v)
	}
	var lesson struct {
		ID string `json:"lesson_id"`
	}
	s.must(stranger, http.MethodPost, "/lessons/report", blockingLesson, &lesson)
	weaker := []struct{ method, path, body string }{
		{http.MethodPost, "/check/approvals/" + first.ApprovalID + "/approve", "{}"},
		{http.MethodPost, "/check/approvals/" + first.ApprovalID + "/approve", `{"always":true}`},
		{http.MethodPost, "/check/packs", `{"names":["core"],"mode":"off"}`},
		{http.MethodPost, "/check/packs", `{"all":true,"mode":"warn"}`},
		{http.MethodPost, "/check/packs", `{"names":["git"],"mode":"off","project":"shop"}`},
		{http.MethodPost, "/lessons/" + lesson.ID + "/retire", `{"reason":"r"}`},
		{http.MethodPatch, "/lessons/" + lesson.ID, `{"related_commands":["other"]}`},
	}
	for _, who := range []string{stranger, admin} {
		for _, w := range weaker {
			if status, body := s.do(who, w.method, w.path, w.body, nil); status != http.StatusForbidden || !strings.Contains(body, "skillrouter passphrase set") {
				t.Errorf("%s %s as %s: %d %s", w.method, w.path, who, status, body)
			}
		}
	}
	if status, body := s.do(stranger, http.MethodPut, "/api/passphrase", `{"passphrase":"the passphrase of an agent"}`, nil); status != http.StatusForbidden {
		t.Errorf("anybody sets the first passphrase: %d %s", status, body)
	}
	s.withPassphrase()
	for _, w := range weaker[:1] {
		if status, body := s.do(stranger, w.method, w.path, w.body, nil); status != http.StatusForbidden || !strings.Contains(body, "passphrase_needed") {
			t.Errorf("with a passphrase, %s as anybody: %d %s", w.path, status, body)
		}
		if status, body := s.do(stranger, w.method, w.path, w.body, s.asPerson()); status != http.StatusOK || !strings.Contains(body, `"decided_by":"owner"`) {
			t.Errorf("as a person: %d %s", status, body)
		}
	}
	if v := s.asked(stranger, push("main")); v.Decision != "allow" {
		t.Errorf("what was allowed: %+v", v)
	}
	if status, body := s.tool(stranger, "check_before_action", `{"proposed_action":"ls"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// TestPassphraseInBrowser signs in to the dashboard with the passphrase, with and without tokens, and decides there; and guesses beside it.
func TestPassphraseInBrowser(t *testing.T) {
	t.Parallel()
	for _, tokens := range []bool{false, true} {
		s := serve(t)
		if tokens {
			s.issue()
		}
		id := s.blocked("a", "git push --force origin main")
		s.withPassphrase()
		form := s.formOf("")
		login := func(passphrase string) (int, string, string) {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.app.URL()+"/ui/login", strings.NewReader("token_of_form="+form+"&passphrase="+passphrase))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer, err := stay.Do(r)
			if err != nil {
				t.Error(err)
				return 0, "", ""
			}
			defer answer.Body.Close()
			cookie := ""
			for _, c := range answer.Cookies() {
				cookie = c.Name + "=" + c.Value
				if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
					t.Error("the cookie is open to scripts or other sites")
				}
			}
			return answer.StatusCode, cookie, answer.Header.Get("Location")
		}
		if status, cookie, _ := login("not+the+passphrase"); status != http.StatusForbidden || cookie != "" {
			t.Errorf("a wrong one: %d %q", status, cookie)
		}
		var guessing sync.WaitGroup
		for i := range 4 {
			guessing.Go(func() { login(fmt.Sprint("a+guess+of+mine+", i)) })
		}
		status, cookie, _ := login(strings.ReplaceAll(phrase, " ", "+"))
		guessing.Wait()
		if status != http.StatusSeeOther || cookie == "" {
			t.Fatalf("the right one: %d", status)
		}
		visit := func(method, path, body string) (int, string) {
			return s.do(stranger, method, path, body, map[string]string{"Cookie": cookie})
		}
		if status, page := visit(http.MethodGet, "/ui/inbox?kind=approval&id="+id, ""); status != http.StatusOK || !strings.Contains(page, "/ui/approval/deny") {
			t.Errorf("the page offers no decision: %d", status)
		}
		if status, page := visit(http.MethodPost, "/ui/approval/approve", "id="+id+"&token_of_form="+s.formOf(cookie)); status != http.StatusSeeOther {
			t.Errorf("to approve: %d %.500s", status, page)
		}
		_, list := s.do(admin, http.MethodGet, "/check/approvals?state=approved", "", nil)
		if !strings.Contains(list, id) || !strings.Contains(list, `"decided_by":"owner"`) {
			t.Errorf("approved is %s", list)
		}
	}
}

// formOf is the token of the forms for a session.
func (s *serving) formOf(cookie string) string {
	s.t.Helper()
	_, page := s.do(stranger, http.MethodGet, "/ui/login", "", map[string]string{"Cookie": cookie})
	_, rest, _ := strings.Cut(page, `name="token_of_form" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

// TestPassphraseReset forgets a lost passphrase while no router runs: permissions end, and it is said for a week; a restore and a redaction want it until then.
func TestPassphraseReset(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	s := serveWith(t, cfg)
	s.issue()
	id := s.blocked("a", "git push --force origin main")
	s.withPassphrase()
	if status, body := s.do(admin, http.MethodPost, "/check/approvals/"+id+"/approve", `{"always":true}`, s.asPerson()); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if _, err := app.ResetPassphrase(t.Context(), cfg); err == nil {
		t.Fatal("reset while a router runs")
	}
	status, archive := s.do(admin, http.MethodGet, "/api/backup", "", nil)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	s.stop()

	ask := func(text string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return text, nil }
	}
	for _, c := range []struct {
		ask  func(context.Context) (string, error)
		code errs.Code
	}{{nil, errs.PassphraseNeeded}, {ask("not the passphrase"), errs.Forbidden}, {ask(phrase), ""}} {
		if _, err := app.RedactFolder(t.Context(), cfg.Data, true, c.ask); errs.CodeOf(err) != c.code {
			t.Errorf("redact: %v, want %q", err, c.code)
		}
		if _, err := app.Restore(t.Context(), strings.NewReader(archive), cfg.Data, app.RestoreOptions{Force: true, Passphrase: c.ask}); errs.CodeOf(err) != c.code {
			t.Errorf("restore: %v, want %q", err, c.code)
		}
	}
	if was, err := app.ResetPassphrase(t.Context(), cfg); !was || err != nil {
		t.Fatal(was, err)
	}
	if was, err := app.ResetPassphrase(t.Context(), cfg); was || err != nil {
		t.Error("there was none any more:", was, err)
	}
	now := time.Now()
	again := serveAs(t, cfg, app.Options{Version: "test", Now: func() time.Time { return now }})
	again.secrets = s.secrets
	shows := func() int {
		said := 0
		for _, path := range []string{"/check/packs", "/api/doctor", "/api/passphrase"} {
			if _, body := again.do(admin, http.MethodGet, path, "", nil); strings.Contains(body, "was reset on") || strings.Contains(body, "reset_at") {
				said++
			}
		}
		return said
	}
	if n := shows(); n != 3 {
		t.Errorf("it is said at %d of 3 places", n)
	}
	if _, list := again.do(admin, http.MethodGet, "/check/permissions", "", nil); !strings.Contains(list, `"revoked_by":"the reset of the passphrase"`) {
		t.Errorf("permissions are %s", list)
	}
	if v := again.asked(agentA, map[string]any{"proposed_action": "git push --force origin main", "agent": "a", "folder": "/w"}); v.Decision != "block" {
		t.Errorf("a permission outlives the reset: %+v", v)
	}
	now = now.Add(8 * 24 * time.Hour)
	if n := shows(); n != 0 {
		t.Errorf("after a week it is said at %d places", n)
	}
}

// TestAgentsMayStopNeedsPerson: where a passphrase is set, the setting has effect once a person agreed.
func TestAgentsMayStopNeedsPerson(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.AgentsMayStop = true
	stops := func(s *serving) bool {
		status, _ := s.do(agentA, http.MethodPost, "/signal", `{"from_agent_id":"a","to_agent_id":"b","signal":"stop"}`, nil)
		return status/100 == 2
	}
	s := serveWith(t, cfg)
	s.issue()
	s.world()
	if !stops(s) {
		t.Fatal("without a passphrase the setting has no effect")
	}
	s.withPassphrase()
	s.stop()
	begin := func() *serving {
		next := serveWith(t, cfg)
		next.secrets = s.secrets
		return next
	}
	s = begin()
	if stops(s) {
		t.Error("nobody agreed, and an agent stops another")
	}
	if status, body := s.do(admin, http.MethodPut, "/api/passphrase/agents-may-stop", `{"on":true}`, nil); status != http.StatusForbidden {
		t.Errorf("%d %s", status, body)
	}
	var session struct{ Person string }
	s.must(admin, http.MethodPost, "/api/passphrase/person", `{"passphrase":"`+phrase+`"}`, &session)
	s.person = session.Person
	s.must(admin, http.MethodPut, "/api/passphrase/agents-may-stop", `{"on":true}`, &struct{}{})
	s.stop()
	if !stops(begin()) {
		t.Error("a person agreed, and the setting has no effect")
	}
}

// TestPacksBySettings: the settings choose which packs block where nobody has said otherwise.
func TestPacksBySettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		packs        []string
		core, docker string
		wrong        bool
	}{{nil, "block", "", false}, {[]string{"all"}, "block", "block", false}, {[]string{"none"}, "off", "off", false}, {[]string{"core", "docker"}, "block", "block", false}, {[]string{"docker"}, "off", "block", false}, {[]string{"dokcer"}, "", "", true}, {[]string{"all", "core"}, "", "", true}} {
		cfg := settings(t)
		cfg.Guard = config.Guard{Packs: tc.packs}
		if tc.wrong {
			if _, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{}); err == nil || !strings.Contains(err.Error(), "docker") {
				t.Errorf("%v: %v", tc.packs, err)
			}
			continue
		}
		s := serveWith(t, cfg)
		var list struct {
			Packs []struct{ Name, Mode string }
		}
		s.must(stranger, http.MethodGet, "/check/packs", "", &list)
		for _, p := range list.Packs {
			if want := map[string]string{"core": tc.core, "docker": tc.docker}[p.Name]; want != "" && p.Mode != want {
				t.Errorf("%v: %s is %s, not %s", tc.packs, p.Name, p.Mode, want)
			}
		}
		if status, body := s.do(stranger, http.MethodPost, "/check/packs", `{"names":["docker"],"mode":"block"}`, nil); status != http.StatusOK {
			t.Errorf("switched on: %d %s", status, body)
		}
	}
}

// TestNoSecretIsLeft: the passphrase is in no file of the data folder.
func TestNoSecretIsLeft(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	s := serveWith(t, cfg)
	s.withPassphrase()
	s.do(admin, http.MethodPost, "/api/passphrase/person", `{"passphrase":"`+phrase+` x"}`, nil)
	s.stop()
	if err := filepath.WalkDir(cfg.Data, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), phrase) || s.person != "" && strings.Contains(string(text), s.person) {
			t.Errorf("%s has it", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

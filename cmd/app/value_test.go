package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/value"
)

// week scripts a week of an agent: its hooks are the real ones, and so are the records that they read at a session's end.
type week struct {
	*serving
	clock  atomic.Int64
	begin  time.Time
	dir    string
	lost   string // the session whose record is lost
	tokens int    // of what it was told at starts, with prompts and after failures, as it came
}

func newWeek(t *testing.T, lost string) *week {
	t.Helper()
	w := &week{begin: time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC), dir: t.TempDir(), lost: lost}
	w.serving = serveAs(t, settings(t), app.Options{Version: "test", Now: func() time.Time { return w.begin.Add(time.Duration(w.clock.Load())) }})
	w.issue()
	return w
}

func (w *week) now() time.Time { return w.begin.Add(time.Duration(w.clock.Load())) }

func (w *week) pass(d time.Duration) { w.clock.Add(int64(d)) }

// sitting is a session of the agent.
type sitting struct {
	*week
	id, project string
	record      bytes.Buffer
	calls       int
}

func (w *week) session(id, project string) *sitting {
	w.pass(10 * time.Minute)
	return &sitting{week: w, id: id, project: project}
}

// hook runs one of the agent's hooks, and returns what it says.
func (s *sitting) hook(event string, payload fields) string {
	s.t.Helper()
	payload["session_id"], payload["cwd"], payload["transcript_path"] = s.id, s.dir, filepath.Join(s.dir, s.id+".jsonl")
	text, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	var out, wrong bytes.Buffer
	env := map[string]string{"SKILLROUTER_TOKEN": s.secrets[agentA], "SKILLROUTER_SERVER": s.app.URL()}
	h, ok := respond.Parse(respond.Process{
		In: bytes.NewReader(text), Out: &out, Err: &wrong,
		LookupEnv: func(name string) (string, bool) { v, is := env[name]; return v, is },
		Learn: func(ctx context.Context, call respond.Call, record respond.Record) error {
			return records.Session(ctx, call, record, func(string) string { return s.project })
		},
		Connect: func(to locate.Router, dial time.Duration) (respond.Call, error) {
			c, err := client.New(to.URL, client.Options{Token: to.Token, UserAgent: respond.UserAgent, Dial: dial})
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, method, path string, in, out any) error {
				err := c.Call(ctx, method, path, in, out)
				s.hear(path, out)
				return err
			}, nil
		},
	}, []string{"hook", event, "--for", "claude-code", "--agent", "a", "--project", s.project, "--verbose", "--now"})
	if !ok {
		s.t.Fatal("there is no such hook")
	}
	if code := h.Run(s.t.Context()); code != 0 && code != 2 || strings.Contains(wrong.String(), "error") {
		s.t.Fatalf("%s: %d %s", event, code, wrong.String())
	}
	return out.String()
}

// hear counts the tokens of what the router told, by what it answered.
func (w *week) hear(path string, out any) {
	text, err := json.Marshal(out)
	if err != nil {
		w.t.Fatal(err)
	}
	var told struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(text, &told) // what is of another form tells nothing
	if path == "/api/context" || path == "/api/incidents/answer" {
		w.tokens += contexts.CountTokens(told.Text)
	}
}

func (s *sitting) start() string {
	return s.hook("session-start", fields{"hook_event_name": "SessionStart", "source": "startup"})
}

// line adds a line to the agent's record.
func (s *sitting) line(kind string, content fields) {
	text, err := json.Marshal(fields{"type": kind, "sessionId": s.id, "cwd": s.dir, "timestamp": s.now().Format(time.RFC3339Nano), "uuid": fmt.Sprint(s.id, s.record.Len()), "message": fields{"role": kind, "content": []fields{content}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.record.Write(append(text, '\n'))
}

// run runs a command, with the hooks before and after it; what begins with "!" failed. It returns what the agent was told.
func (s *sitting) run(command, said string) string {
	s.t.Helper()
	s.pass(time.Minute)
	s.calls++
	id := fmt.Sprint(s.id, "-", s.calls)
	use := fields{"tool_name": "Bash", "tool_input": fields{"command": command}, "tool_use_id": id}
	told := s.hook("pre-tool-use", use)
	s.line("assistant", fields{"type": "tool_use", "id": id, "name": "Bash", "input": fields{"command": command}})
	if said, failed := strings.CutPrefix(said, "!"); failed {
		s.line("user", fields{"type": "tool_result", "tool_use_id": id, "content": said, "is_error": true})
		use["error"] = said
		return told + s.hook("post-tool-use-failure", use)
	}
	s.line("user", fields{"type": "tool_result", "tool_use_id": id, "content": said})
	use["tool_response"] = fields{"stdout": said}
	return told + s.hook("post-tool-use", use)
}

// end ends the session: its record is read.
func (s *sitting) end() {
	s.t.Helper()
	s.pass(time.Minute)
	if s.id != s.lost {
		if err := os.WriteFile(filepath.Join(s.dir, s.id+".jsonl"), s.record.Bytes(), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.hook("session-end", fields{"hook_event_name": "SessionEnd"})
}

func (w *week) report(who, query string) (r value.Report) {
	w.t.Helper()
	w.must(who, http.MethodGet, "/api/value"+query, "", &r)
	return r
}

// live lives so many days of the week, and returns the ids of what is known.
func (w *week) live(days int) (ids map[string]string) {
	ids = map[string]string{}
	store := func(name, path, body string) {
		var stored struct {
			ID     string `json:"knowledge_id"`
			Lesson string `json:"lesson_id"`
		}
		w.must(admin, http.MethodPost, path, body, &stored)
		ids[name] = stored.ID + stored.Lesson
	}
	store("check", "/api/knowledge", `{"category":"note","title":"Before a push of the shop","content":"Run `+"`make check-all`"+` in the shop's folder.","project":"shop"}`)
	store("brand", "/api/knowledge", `{"category":"note","title":"The colours of the brand","content":"Blue and grey are those of the shop.","project":"shop"}`)
	store("blog", "/api/knowledge", `{"category":"note","title":"Building the blog","content":"Run `+"`hugo build`"+` at its root.","project":"blog"}`)
	store("rule", "/lessons/report", `{"lesson_type":"anti_pattern","domain":"d","category":"c","title":"Wrecks the shop","context":"c","action_taken":"never","outcome":"o","severity":"critical","related_commands":["wreckit --all"],"alternatives":["wreckit --one"],"project":"shop"}`)
	const missing = "/opt/bin/python: No module named pytest"
	for i := range 2 { // earlier sessions
		w.must(admin, http.MethodPost, "/api/incidents/learn", fmt.Sprintf(`{"project":"shop","session_id":"before-%d","begin":true,"steps":[
			{"id":"%[1]d1","command":"python -m pytest core/tests/test_a.py","outcome":"failed","output":%q,"exit":1},
			{"id":"%[1]d2","command":"bin/test core/tests/test_a.py","outcome":"worked","digest":"%[1]d"}]}`, i, missing), &fields{})
	}
	w.must(admin, http.MethodPost, "/api/incidents/accept", `{"project":"shop","seen":2}`, &fields{})
	for day := range days {
		for i := range 3 {
			s := w.session(fmt.Sprint(day, "-", i), "shop")
			s.start()
			s.run("ls -l", "a b")
			switch s.id {
			case "0-1": // what an entry gives is used
				s.run("make check-all", "ok")
			case "1-0": // the mistake is made all the same, and its fix is used
				s.run("python -m pytest core/tests/test_b.py", "!"+missing)
				s.run("bin/test core/tests/test_b.py", "ok")
			case "2-0": // the mistake is not made
				s.run("bin/test core/tests/test_c.py", "ok")
			case "3-0": // the guard stops it
				s.hook("pre-tool-use", fields{"tool_name": "Bash", "tool_input": fields{"command": "wreckit --all"}, "tool_use_id": "w"})
			case "5-0": // it is made, answered, and made again
				for range 2 {
					s.pass(10 * time.Minute)
					s.run("python -m pytest core/tests/test_d.py", "!"+missing)
				}
			case "4-0": // another session of the agent begins and ends meanwhile, and uses what both were told
				other := w.session("4-other", "shop")
				other.start()
				other.run("make check-all", "ok")
				other.end()
			}
			s.end()
		}
		w.clock.Store(int64(time.Duration(day+1) * 24 * time.Hour))
	}
	w.clock.Add(-int64(23 * time.Hour)) // it is the last day still
	if days < 7 {
		return ids
	}
	blog := w.session("blog-0", "blog")
	blog.start()
	blog.run("hugo build", "ok")
	blog.end()
	blog = w.session("blog-1", "blog")
	blog.start()
	w.must(agentA, http.MethodPost, "/api/knowledge/"+ids["blog"]+"/used", `{"query":"how is the blog built?"}`, &fields{})
	blog.run("ls", "a")
	blog.end()
	asked := w.session("asked", "shop")
	asked.hook("user-prompt", fields{"prompt": "what has to be run before a push of the shop?"})
	asked.run("make check-all", "ok")
	asked.end()
	w.must(agentA, http.MethodGet, "/api/search?q=colours+of+the+brand&project=shop", "", &fields{})
	return ids
}

// TestWeek scripts a week and holds every number of its report. Where the record of one session is lost, the numbers say so.
func TestWeek(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w := newWeek(t, "")
	ids := w.live(7)
	r := w.report(captain, "?days=7")
	moments, tokens, heard := map[operational.ToldMoment]value.Counts{}, 0, 0
	for _, m := range r.Moments {
		if tokens += m.Tokens; m.Moment != operational.ToldAtCommand && m.Moment != operational.ToldBySearch {
			heard += m.Tokens
		}
		if m.Tokens == 0 {
			t.Errorf("what is told at %s costs nothing", m.Moment)
		}
		m.Tokens = 0
		moments[m.Moment] = m.Counts
	}
	if heard != w.tokens || tokens != r.Total.Tokens || r.Sessions != 25 || r.Retire != 1 || r.Count != 5 {
		t.Errorf("%d tokens of %d that were heard, %d of %d in all, %d sessions, %d to retire of %d", heard, w.tokens, tokens, r.Total.Tokens, r.Sessions, r.Retire, r.Count)
	}
	if diff := cmp.Diff(map[operational.ToldMoment]value.Counts{
		"start":  {Shown: 90, Judged: 90, Used: 6, Prevented: 1, Repeated: 2}, // 22 in the shop of four items, two in the blog of one
		"prompt": {Shown: 1, Judged: 1, Used: 1}, "failure": {Shown: 2, Judged: 2, Used: 1, Repeated: 1},
		"command": {Shown: 4, Judged: 4, Used: 1, Prevented: 1, Repeated: 3}, "search": {Shown: 1},
	}, moments); diff != "" {
		t.Errorf("by moment (-want +got):\n%s", diff)
	}
	items := map[string]value.Counts{}
	for _, i := range r.Items {
		if i.Retire != (i.ID == ids["brand"]) || i.Retire && i.Command != "skillrouter knowledge delete "+i.ID {
			t.Errorf("retire: %+v", i)
		}
		name := i.Kind
		for known, id := range ids {
			if id == i.ID {
				name = known
			}
		}
		i.Tokens = 0
		items[name] = i.Counts
	}
	if diff := cmp.Diff(map[string]value.Counts{
		"incident": {Shown: 27, Judged: 27, Used: 3, Prevented: 1, Repeated: 6}, "check": {Shown: 23, Judged: 23, Used: 3},
		"rule": {Shown: 23, Judged: 23, Used: 1, Prevented: 1}, "blog": {Shown: 2, Judged: 2, Used: 2}, "brand": {Shown: 23, Judged: 22},
	}, items); diff != "" {
		t.Errorf("by item (-want +got):\n%s", diff)
	}
	days := []value.Counts{}
	for _, d := range r.Days {
		d.Tokens = 0
		days = append(days, d.Counts)
	}
	if diff := cmp.Diff([]value.Counts{
		{Shown: 12, Judged: 12, Used: 1},
		{Shown: 14, Judged: 14, Used: 2, Repeated: 2},
		{Shown: 12, Judged: 12, Used: 1, Prevented: 1},
		{Shown: 13, Judged: 13, Used: 1, Prevented: 1},
		{Shown: 16, Judged: 16, Used: 1},
		{Shown: 15, Judged: 15, Repeated: 4},
		{Shown: 16, Judged: 15, Used: 3},
	}, days); diff != "" {
		t.Errorf("by day (-want +got):\n%s", diff)
	}
	if status, page := w.do(captain, http.MethodGet, "/ui/value", "", nil); status != http.StatusOK && status != http.StatusSeeOther {
		t.Errorf("the page: %d %s", status, page)
	}
	w.bind(`["blog"]`)
	if own := w.report(walled, ""); own.Total.Shown != 2 || own.Sessions != 2 || own.Count != 1 || own.Items[0].ID != ids["blog"] {
		t.Errorf("a token of the blog sees %+v", own)
	}

	lost := newWeek(t, "2-0")
	lost.live(3)
	without := lost.report(captain, "?days=3").Total
	without.Tokens = 0
	if want := (value.Counts{Shown: 38, Judged: 34, Used: 3, Repeated: 2}); without != want { // four more are judged with it, one used, one prevented
		t.Errorf("without the record of a session: %+v", without)
	}
}

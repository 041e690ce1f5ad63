package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// canaries are words that stand in records of agent a, one for each kind of
// record or field, and who may read it. A status says that a door is shut; these say that nothing
// came out by another one. Whoever may read one must be seen to, so that the test cannot pass by showing nothing.
var canaries = map[string][]string{
	// a's own: what it was sent, what it means to do, and what it asked the guard about.
	"message":         asAgentA,
	"thread":          asAgentA,
	"reminder":        asAgentA,
	"remindercontext": asAgentA,
	"check":           asAgentA,
	"checkcontext":    asAgentA,
	"remark":          asAgentA,
	"stopreason":      asAgentA,
	// The administrator's.
	"note": adminsOnly,
	// Shared with every token.
	"knowledge": anyone,
	"task":      anyone,
	"goal":      anyone,
	"summary":   anyone,
	"proposal":  anyone,
	"fact":      anyone,
	"status":    anyone,
	"lesson":    anyone,
	"episode":   anyone,
	"procedure": anyone,
	"parameter": anyone,
	"deleted":   anyone,
	"finding":   anyone,
	"scan":      anyone,
	"gap":       anyone,
	"verdict":   anyone,
}

// canaryMark begins each canary, and canaryWord stands before it, so that a search finds them all.
const (
	canaryMark = "quokka"
	canaryWord = "zeppelin"
)

func canary(kind string) string { return canaryWord + " " + canaryMark + kind }

const noModel = "no model is configured: the tests of the proxy ask one"

// unshown are the operations that succeed for nobody in the matrix, and why.
var unshown = map[string]string{
	"POST /v1/chat/completions": noModel, "POST /v1/completions": noModel, "POST /v1/embeddings": noModel,
	"POST /v1/responses": noModel, "POST /v1/responses/*of": noModel, "GET /v1/responses/*of": noModel, "DELETE /v1/responses/*of": noModel,
	"GET /v1/models": noModel, "GET /v1/models/*id": noModel,
	"POST /api/decisions/undo": "nothing is decided under the handle; learning's own tests undo",
	"PUT /api/passphrase":      "one would be needed from then on; TestNeedsPerson sets one", "POST /api/passphrase/person": "none is set; TestNeedsPerson sets one",
	"GET /ws":        "it is a WebSocket, which TestStreamsByContent opens",
	"GET /mcp":       "it needs a session, which TestRevokedStreams opens",
	"DELETE /mcp":    "it needs a session",
	"POST /ui/login": "nobody's token is sent in the form; TestDashboardSessionIsNew logs in",
}

// canariesSeen are which canaries each caller saw, and where first.
type canariesSeen map[string]map[string]string

// note looks for canaries in what a caller was answered. One that it may not read fails the test.
func (s canariesSeen) note(t *testing.T, who, where, body string) {
	t.Helper()
	for _, kind := range s.see(who, where, body) {
		t.Errorf("%s shows %s the %s of agent a: %.600s", where, who, kind, body)
	}
}

// see returns the canaries in an answer that the caller may not read.
func (s canariesSeen) see(who, where, body string) (leaked []string) {
	for kind, may := range canaries {
		if !holdsWord(body, canaryMark+kind) {
			continue
		}
		if !slices.Contains(may, who) {
			leaked = append(leaked, kind)
			continue
		}
		if s[kind] == nil {
			s[kind] = map[string]string{}
		}
		if s[kind][who] == "" {
			s[kind][who] = where
		}
	}
	return leaked
}

// holdsWord tells whether a text holds a word that no further letter follows: "check" is not "checkcontext".
func holdsWord(text, word string) bool {
	for {
		_, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		if after == "" || after[0] < 'a' || after[0] > 'z' {
			return true
		}
		text = after
	}
}

// complete fails for each canary that nobody was shown who may see it.
func (s canariesSeen) complete(t *testing.T) {
	t.Helper()
	for kind, may := range canaries {
		for _, who := range may {
			if s[kind][who] == "" {
				t.Errorf("%s never sees the %s of agent a, and may: nothing is shown of who else may not", who, kind)
			}
		}
	}
}

// await waits until a listing has an item that holds a text, and returns its id.
func (s *serving) await(path, list, text string) string {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		var page map[string]json.RawMessage
		_, raw := s.do(admin, http.MethodGet, path, "", nil)
		items := json.RawMessage(raw)
		if json.Unmarshal([]byte(raw), &page) == nil {
			items = page[list]
		}
		var found []map[string]any
		if err := json.Unmarshal(items, &found); err != nil {
			s.t.Fatalf("%s: %v in %.200s", path, err, raw)
		}
		for _, item := range found {
			if line, _ := json.Marshal(item); strings.Contains(string(line), text) {
				return fmt.Sprint(item["id"])
			}
		}
	}
	s.t.Fatalf("%s never lists %q", path, text)
	return ""
}

// plant makes agent a's records, as that agent, and a session that left all of its own open to agent heir.
func (s *serving) plant() {
	s.t.Helper()
	var ignored any
	as := func(who, method, path, body string) { s.must(who, method, path, body, &ignored) }
	as(agentA, http.MethodPost, "/heartbeat", `{"agent_id":"a","current_task":"`+canary("status")+`"}`)
	as(agentA, http.MethodPost, "/api/recon/findings", `{"environment":"mss","severity":"critical","title":"`+canary("finding")+`"}`)
	as(agentA, http.MethodPost, "/api/episodes", `{"agent_id":"a","event_type":"action","title":"t","content":"`+canary("episode")+`"}`)
	as(agentA, http.MethodPost, "/lessons/report",
		`{"lesson_type":"failure","domain":"deploy","category":"c","title":"`+canary("lesson")+`","context":"`+canary("lesson")+`","action_taken":"","outcome":""}`)
	as(agentA, http.MethodPut, "/api/procedures/default/quick", `{"description":"`+canary("procedure")+`","params":[{"name":"where"}],"steps":[{"action":"go there"}]}`)
	as(agentA, http.MethodPost, "/api/procedures/default/quick/runs", `{"params":{"where":"`+canary("parameter")+`"}}`)
	as(captain, http.MethodPost, "/signal", `{"from_agent_id":"captain","to_agent_id":"a","signal":"stop","context":{"reason":"`+canary("stopreason")+`"}}`)
	for _, brace := range []string{"{message}", "{reminder}", "{proposal}", "{fact}", "{token}", "{task}", "{entry}"} {
		s.sample(access{path: brace})
	}
	s.delete(agentA, `{"category":"c","title":"`+canary("deleted")+`","content":"`+canary("deleted")+`","agent_id":"a"}`)
	check := s.sample(access{path: "{check}"}).path
	as(agentA, http.MethodPost, "/check/outcome", `{"check_id":"`+check+`","outcome":"heeded","notes":"`+canary("remark")+`"}`)
	as(agentA, http.MethodPost, "/api/recon/scans", `{"environment":"mss","scanner":"s","summary":"`+canary("scan")+`"}`)
	// Without the word that all others hold: the one teaches how it is routed, the other must find nothing.
	as(agentA, http.MethodPost, "/query", `{"query":"`+canaryMark+`gap"}`)
	s.await("/api/gaps", "gaps", canaryMark+"gap")
	escalation := s.sample(access{path: "{escalation}"}).path
	as(captain, http.MethodPost, "/escalations/"+escalation+"/review", `{"notes":"`+canary("verdict")+`"}`)
	as(agentA, http.MethodPost, "/api/sessions", `{"agent_id":"a","goal":"`+canary("goal")+`","project":"airship"}`)
	as(agentA, http.MethodPost, "/api/sessions/current/end", `{"summary":"`+canary("summary")+`","successor":"heir"}`)
}

// delete stores an entry and deletes it, as somebody, and returns its id.
func (s *serving) delete(who, entry string) string {
	s.t.Helper()
	var stored struct {
		ID string `json:"knowledge_id"`
	}
	s.must(who, http.MethodPost, "/api/knowledge", entry, &stored)
	if status, body := s.do(who, http.MethodDelete, "/api/knowledge/"+stored.ID, "", nil); status/100 != 2 {
		s.t.Fatalf("%s deletes %s: %d %s", who, entry, status, body)
	}
	return stored.ID
}

// probes are further calls, of operations that have parameters by which more of a's is asked for.
var probes = []struct{ method, path, body string }{
	{http.MethodGet, "/api/sessions?agent_id=a&limit=1000", ""},
	{http.MethodGet, "/api/sessions?successor=heir", ""},
	{http.MethodGet, "/api/sessions/handover?agent_id=heir", ""},
	{http.MethodGet, "/api/sessions/handover?agent_id=a", ""},
	{http.MethodGet, "/api/sessions/{ended}", ""},
	{http.MethodGet, "/ui/session?id={ended}", ""},
	{http.MethodGet, "/ui/sessions", ""},
	{http.MethodPost, "/api/sessions", `{"project":"airship","agent_id":"b"}`},
	{http.MethodGet, "/api/reminders?limit=1000", ""},
	{http.MethodGet, "/api/reminders?agent_id=a&limit=1000", ""},
	{http.MethodGet, "/api/reminders/pending?agent_id=a&include_scheduled=true", ""},
	{http.MethodGet, "/api/reminders/pending?include_scheduled=true&limit=1000", ""},
	{http.MethodGet, "/ui/reminders?agent=a", ""},
	{http.MethodGet, "/check/ledger?limit=200", ""},
	{http.MethodGet, "/check/approvals?limit=200", ""},
	{http.MethodGet, "/check/permissions", ""},
	{http.MethodGet, "/ui/guard/approvals", ""},
	{http.MethodGet, "/check/ledger?agent=a&limit=200", ""},
	{http.MethodGet, "/ui/guard/ledger?agent=a", ""},
	{http.MethodGet, "/api/events?limit=1000", ""},
	{http.MethodGet, "/api/timeline?limit=200", ""},
	{http.MethodGet, "/api/timeline?limit=200&agent=a", ""},
	{http.MethodGet, "/ui/timeline?agent=a", ""},
	{http.MethodGet, "/api/events?limit=1000&type=reminder.*", ""},
	{http.MethodGet, "/api/events?limit=1000&agent=a", ""},
	{http.MethodGet, "/api/search?q=" + canaryWord + "&limit=50", ""},
	{http.MethodPost, "/api/search", `{"query":"` + canaryWord + `","limit":50}`},
	{http.MethodGet, "/ui/search?q=" + canaryWord, ""},
	{http.MethodPost, "/query", `{"query":"` + canaryWord + `","limit":50}`},
	{http.MethodPost, "/query", `{"query":"` + canaryWord + `","type":"operational","limit":50}`},
	{http.MethodPost, "/query", `{"query":"which messages wait for agent a?","agent_id":"a"}`},
	{http.MethodPost, "/query", `{"query":"what is agent a doing?"}`},
	{http.MethodPost, "/query", `{"query":"what did agent a do last?"}`},
	{http.MethodPost, "/api/context", `{"task":"` + canaryWord + `","budget":100000,"agent_id":"a"}`},
	{http.MethodPost, "/api/context", `{"task":"` + canaryWord + `","budget":100000}`},
	{http.MethodGet, "/agent/a/memory", ""},
	{http.MethodGet, "/claude-code/context?agent=a", ""},
	{http.MethodGet, "/messages/inbox?agent_id=a&limit=1000", ""},
	{http.MethodGet, "/messages/overdue", ""},
	{http.MethodGet, "/shutdown-check?agent_id=a", ""},
	{http.MethodGet, "/ui/messages?agent=a", ""},
	{http.MethodGet, "/ui/agent?id=a", ""},
	{http.MethodGet, "/api/agents", ""},
	{http.MethodGet, "/api/tokens", ""},
	{http.MethodPost, "/lessons/search", `{"context":"` + canaryWord + `"}`},
	{http.MethodPost, "/api/knowledge/search", `{"query":"` + canaryWord + `"}`},
	{http.MethodPost, "/api/procedures/search", `{"query":"` + canaryWord + `"}`},
	{http.MethodGet, "/api/procedures/default/quick", ""},
	{http.MethodGet, "/api/runs?procedure=quick&limit=200", ""},
	{http.MethodGet, "/api/trash?limit=100", ""},
	{http.MethodGet, "/api/recon/findings", ""},
	{http.MethodGet, "/api/episodes/recent?session_id=*&limit=200", ""},
	{http.MethodPost, "/api/episodes/search", `{"query":"` + canaryWord + `"}`},
	{http.MethodGet, "/api/export", ""},
	{http.MethodGet, "/api/proposals", ""},
	{http.MethodGet, "/api/recon/scans", ""},
	{http.MethodGet, "/api/gaps", ""},
	{http.MethodGet, "/escalations", ""},
	{http.MethodPost, "/api/facts/search", `{"pattern":"*"}`},
}

// probe makes every further call as every caller.
func (s *serving) probe(t *testing.T, seen canariesSeen) {
	t.Helper()
	for _, p := range probes {
		call := s.sample(access{path: p.path, body: p.body})
		shown := false
		for _, who := range callers {
			status, body := s.do(who, p.method, call.path, call.body, nil)
			seen.note(t, who, p.method+" "+p.path, body)
			shown = shown || status < 400
		}
		if !shown {
			t.Errorf("%s %s is refused to everybody: it shows nothing", p.method, p.path)
		}
	}
}

// TestContentControl is the negative control of the matrix by content: a router
// that takes a reader for a captain, or a stranger for a reader, is caught.
func TestContentControl(t *testing.T) {
	s := serve(t)
	s.issue()
	s.world()
	s.plant()
	s.secrets[stranger], s.secrets[reader1] = s.secrets[reader1], s.secrets[captain]
	leaked := map[string]bool{}
	for _, p := range probes {
		call := s.sample(access{path: p.path, body: p.body})
		for _, who := range []string{stranger, reader1} {
			_, body := s.do(who, p.method, call.path, call.body, nil)
			for _, kind := range (canariesSeen{}).see(who, p.path, body) {
				leaked[who+" "+kind] = true
			}
		}
	}
	for kind, may := range canaries {
		if !slices.Contains(may, reader1) && slices.Contains(may, captain) && !leaked[reader1+" "+kind] {
			t.Errorf("a reader who is taken for a captain sees no %s", kind)
		}
		if slices.Contains(may, reader1) && !leaked[stranger+" "+kind] {
			t.Errorf("a stranger who is taken for a reader sees no %s", kind)
		}
	}
}

// toolArguments are what tools are called with: by tool and argument, or by argument alone.
var toolArguments = map[string]any{
	"query": canaryWord, "handles": []string{"k1"}, "context": canaryWord, "task": "{task}", "task_id": "{reminder}", "run_id": "{run}", "knowledge_id": "{entry}", "lesson": "{lesson}",
	"pattern": "{pattern}", "proposal_id": "{proposal}", "check_id": "{check}", "rule_id": "builtin:n8n-sql", "escalation_id": "{escalation}",
	"agent_id": "a", "to_agent_id": "a", "message_id": "{message}", "finding_id": "{finding}", "scan_id": "{scan}", "token_id": "{token}",
	"persona": "default", "signal": "note", "text": "{new}", "content": "{new}", "title": "{new}", "reason": "r", "error": "e", "budget": 1000,
	"category": "c", "domain": "d", "name": "quick", "index": 0, "key": "{fact}", "value": 1, "steps": []any{map[string]any{"action": "x"}},
	"trigger": "time:+1h", "for": "10min", "environment": "mss", "scanner": "s", "operation_type": "o", "event": "e", "learned": "l",
	"transcript": "The API listens on port 8080. {new}", "question": "q {new}", "action_taken": "x", "proposed_action": "ls {key}",

	"take_lease.patterns": []string{"src/{new}"}, "take_lease.project": "p", "lease_id": "{held}", "report_task_progress.progress": 5, "check_before_action.proposed_action": "ls {key}", "end_session.session_id": "{session}", "report_finding.title": "{new}",
	"remember_procedure.name": "{key}", "report_event.name": "deployment", "store_environment.name": "mss", "call_tool.name": "list_agents",
	"schedule_task.task": "t", "build_context.task": canaryWord, "remember_episode.context": map[string]any{"x": "y"}, "get_lessons.context": map[string]any{},
	"list_sessions.agent_id": "a", "list_checks.limit": 200, "find_tools.query": "sessions", "claim_team_task.task": "{free}", "unblock_team_task.task": "{blocked}",
	"restore_deleted.kind": "knowledge", "restore_deleted.id": "{deleted entry}", "order_team_task.after": []string{"{free}"},
	"restore_lesson.lesson": "{retired}", "promote_lesson.lesson": "{promotable}", "confirm_pattern.pattern": "{learned pattern}", "deprecate_pattern.pattern": "{learned pattern}",
	"apply_lesson.lesson_id": "{learned}", "learn_from_pattern.episode_ids": "{experiences}", "get_pending_tasks.include_scheduled": true,
	"get_recent_episodes.session_id": "*", "execute_procedure.params": map[string]any{"where": "x"}, "report_lesson.lesson_type": "failure",
	"report_findings.findings": []any{map[string]any{"environment": "mss", "title": "t", "severity": "low"}}, "get_handover.session_id": "{ended}",
	"revoke_token.token_id": "{token}", "message_receipts.message_id": "{message}", "consolidate_transcript.transcript": "User: the port is 8080 {new}",
	"status": "busy", "outcome": "success", "check_outcome.outcome": "heeded", "report_step.status": "succeeded", "decide_finding.status": "confirmed",
	"explain_action.proposed_action": "ls", "set_packs.names": []string{"docker"}, "set_packs.mode": "off",
	"resolve_escalation.status": "resolved", "severity": "low", "validation_type": "confirmed", "event_type": "action", "pattern_description": "d", "lesson_statement": "s",
}

// unquoted are the placeholders that stand for numbers and lists.
var unquoted = strings.NewReplacer(`"{experiences}"`, `{experiences}`, `"{reminder}"`, `{reminder}`, `"{learned}"`, `{learned}`, `"{held}"`, `{held}`)

// optional are the arguments that are given though a tool does not require them.
var optional = []string{"proposed_action", "names", "agent_id", "include_scheduled", "session_id", "params"}

// askedOfNobody are tools that succeed for none of the callers here, and why.
var askedOfNobody = map[string]string{}

// TestToolsByContent calls every tool of every toolset as every caller, at the
// gateway and over MCP, and looks at what the answers hold. A tool that joins is called too.
func TestToolsByContent(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of calls, one after the other")
	}
	s := serve(t)
	s.issue()
	s.world()
	s.plant()
	var list struct {
		Tools []struct {
			Name   string `json:"name"`
			Schema struct {
				Properties map[string]struct {
					Enum []any `json:"enum"`
				} `json:"properties"`
				Required []string `json:"required"`
			} `json:"inputSchema"`
		} `json:"tools"`
	}
	s.must(admin, http.MethodGet, "/api/tools", "", &list)
	if len(list.Tools) < 80 || list.Tools[0].Schema.Properties == nil {
		t.Fatalf("%d tools are listed: %+v", len(list.Tools), list.Tools[:1])
	}
	seen := canariesSeen{}
	for _, tool := range list.Tools {
		arguments := map[string]any{}
		for name, property := range tool.Schema.Properties {
			value, known := toolArguments[tool.Name+"."+name]
			switch {
			case known:
			case !slices.Contains(tool.Schema.Required, name) && !slices.Contains(optional, name):
				continue
			case len(property.Enum) > 0:
				value = property.Enum[0]
			default:
				if value, known = toolArguments[name]; !known {
					if slices.Contains(tool.Schema.Required, name) {
						t.Errorf("%s needs %s: say in toolArguments what that may be", tool.Name, name)
					}
					continue
				}
			}
			arguments[name] = value
		}
		text, _ := json.Marshal(arguments)
		succeeded, why := false, ""
		for _, who := range []string{agentA, admin, captain, agentB, reader1, stranger} {
			for _, own := range []bool{true, false} { // once about agent a, and once about whoever calls
				call := s.sample(access{body: unquoted.Replace(string(text))})
				if !own {
					call.body = strings.NewReplacer(`"agent_id":"a",`, "", `"agent_id":"a"`, "").Replace(call.body)
				}
				status, body := s.do(who, http.MethodPost, "/api/tools/"+tool.Name, call.body, nil)
				seen.note(t, who, "the tool "+tool.Name, body)
				if succeeded = succeeded || status/100 == 2; !succeeded {
					why = body
				}
				if who == reader1 || who == agentB {
					_, body := s.tool(who, tool.Name, call.body)
					seen.note(t, who, "the tool "+tool.Name+" over MCP", body)
				}
			}
		}
		if succeeded == (askedOfNobody[tool.Name] != "") {
			t.Errorf("%s succeeds for somebody: %v; listed as one that does not: %q; called with %s: %.300s", tool.Name, succeeded, askedOfNobody[tool.Name], text, why)
		}
	}
	for _, kind := range []string{"message", "reminder", "check"} {
		if seen[kind][agentA] == "" || seen[kind][captain] == "" {
			t.Errorf("no tool shows agent a or the captain a's %s", kind)
		}
	}
}

// hear opens a stream as somebody, tells that it is open, and returns what came on it until ctx ended.
func (s *serving) hear(ctx context.Context, who, path string, open func()) string {
	header := http.Header{}
	if secret := s.secrets[who]; secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	if strings.HasPrefix(path, "/ws") {
		conn, _, err := websocket.Dial(ctx, strings.Replace(s.app.URL(), "http", "ws", 1)+path, &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			return ""
		}
		defer func() { _ = conn.CloseNow() }()
		open()
		conn.SetReadLimit(1 << 20)
		var heard strings.Builder
		for {
			_, frame, err := conn.Read(ctx)
			if err != nil {
				return heard.String()
			}
			heard.Write(append(frame, '\n'))
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.app.URL()+path, nil)
	if err != nil {
		return ""
	}
	r.Header = header
	answer, err := stay.Do(r)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	open()
	heard, _ := io.ReadAll(bufio.NewReader(answer.Body)) // it ends with ctx
	return string(heard)
}

// TestStreamsByContent opens every stream as every caller, from the beginning
// of its log, and looks at what comes.
func TestStreamsByContent(t *testing.T) {
	s := serve(t)
	s.issue()
	s.world()
	s.plant()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	type one struct{ who, path, heard string }
	var opened []*one
	var streams sync.WaitGroup
	for _, path := range []string{"/messages?agent_id=a&last_event_id=0", "/events?after=0", "/events?after=0&type=reminder.*", "/ws?after=0"} {
		for _, who := range callers {
			stream := &one{who: who, path: path}
			opened = append(opened, stream)
			streams.Go(func() { stream.heard = s.hear(ctx, stream.who, stream.path, func() {}) })
		}
	}
	streams.Wait()
	seen := canariesSeen{}
	for _, stream := range opened {
		seen.note(t, stream.who, stream.path, stream.heard)
	}
	for _, kind := range []string{"message", "reminder"} {
		for _, who := range asAgentA {
			if seen[kind][who] == "" {
				t.Errorf("no stream tells %s of a's %s", who, kind)
			}
		}
	}
}

package mcpserver_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// byToolset are the tools of each toolset, in order.
var byToolset = map[string][]string{
	"core": {
		"call_tool", "check_before_action", "check_messages", "find_tools", "get_recent_episodes", "record_episode", "report_lesson",
		"route_query", "search_episodes", "search_knowledge", "send_signal", "show", "store_knowledge",
	},
	"lessons": {
		"check_outcome", "confirm_pattern", "delete_knowledge", "deprecate_pattern", "emerging_patterns", "get_agent_memory", "get_knowledge", "get_lesson",
		"get_relevant_lessons", "lesson_history", "list_checks", "list_lessons", "list_rules", "pending_escalations", "promote_lesson", "resolve_escalation", "restore_lesson",
		"restore_rule", "retire_lesson", "review_lessons", "update_knowledge", "validate_lesson",
	},
	"facts": {
		"accept_proposal", "consolidate_transcript", "forget_fact", "list_proposals", "recall_episodes", "recall_fact", "reject_proposal", "remember_episode",
		"remember_fact", "search_facts", "update_fact",
	},
	"procedures": {"execute_procedure", "get_run", "list_procedures", "recall_procedure", "remember_procedure", "report_step"},
	"reminders":  {"cancel_task", "complete_task", "get_pending_tasks", "report_event", "schedule_task", "snooze_task"},
	"experience": {"apply_lesson", "get_lessons", "learn_from_pattern", "recall_by_outcome", "recall_by_type", "record_experience"},
	"operations": {
		"ask_lease_holder", "block_team_task", "build_context", "cancel_team_task", "check_in", "claim_team_task", "complete_team_task", "create_team_task", "decide_finding",
		"end_session", "fail_team_task", "finish_scan", "get_agent", "get_finding", "get_handover", "get_team_task", "list_agents", "list_environments",
		"list_findings", "list_leases", "list_scans", "list_sessions", "list_team_tasks", "message_receipts", "order_team_task", "overdue_messages", "reassign_team_task",
		"release_lease", "release_team_task", "report_finding", "report_findings", "report_status", "report_task_progress", "start_scan", "start_session",
		"store_environment", "take_lease", "unblock_team_task",
	},
	"admin": {
		"clear_memory", "doctor", "embedding_status", "explain_action", "health", "list_memory_categories", "list_packs", "list_tokens", "memory_stats",
		"revoke_token", "set_packs",
	},
}

// coreWith are the tools of the core and of further toolsets, in order.
func coreWith(toolsets ...string) []string {
	names := slices.Clone(byToolset["core"])
	for _, set := range toolsets {
		names = append(names, byToolset[set]...)
	}
	return slices.Sorted(slices.Values(names))
}

// everyTool lists the tools of every toolset, in order.
func everyTool() []string {
	var names []string
	for _, tools := range byToolset {
		names = append(names, tools...)
	}
	return slices.Sorted(slices.Values(names))
}

func listTools(t *testing.T, server *mcpserver.Server) map[string]*mcp.Tool {
	t.Helper()
	list, err := dial(t, server).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	return tools
}

// readers are the tools that change nothing.
var readers = []string{
	"search_knowledge", "search_episodes", "get_recent_episodes", "route_query", "get_relevant_lessons", "show",
	"recall_fact", "recall_episodes", "search_facts",
	"list_memory_categories", "memory_stats", "get_pending_tasks", "build_context", "get_handover", "list_proposals",
	"recall_procedure", "list_procedures",
	"list_lessons", "get_lesson", "review_lessons", "lesson_history", "recall_by_type", "recall_by_outcome", "get_lessons",
	"emerging_patterns", "pending_escalations", "check_before_action", "get_agent_memory",
	"find_tools", "get_knowledge", "list_rules", "list_checks", "list_agents", "get_agent", "list_team_tasks", "get_team_task",
	"list_environments", "list_leases", "list_scans", "list_findings", "get_finding", "list_sessions", "message_receipts", "overdue_messages",
	"health", "doctor", "embedding_status", "list_tokens", "list_packs", "explain_action",
}

// destroyers are the tools that may end what others rely on.
var destroyers = []string{"send_signal", "clear_memory", "call_tool", "delete_knowledge", "forget_fact", "revoke_token"}

func TestTools(t *testing.T) {
	if got := slices.Sorted(maps.Keys(listTools(t, mcpserver.New(new(house).services(), mcpserver.Options{})))); !slices.Equal(got, coreWith()) {
		t.Errorf("tools %v, want %v", got, coreWith())
	}
	tools := listTools(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "all")}))
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, everyTool()) {
		t.Errorf("tools %v, want %v", got, everyTool())
	}
	for name, tool := range tools {
		a := tool.Annotations
		core := slices.Contains(byToolset["core"], name) // listed in the fewest tokens
		if tool.Description == "" || a == nil || !core && (tool.Title == "" || a.OpenWorldHint == nil || *a.OpenWorldHint) {
			t.Errorf("%s lacks a title, a description or its annotations", name)
			continue
		}
		if a.ReadOnlyHint != slices.Contains(readers, name) {
			t.Errorf("%s: readOnlyHint %v", name, a.ReadOnlyHint)
		}
		if !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint != slices.Contains(destroyers, name)) {
			t.Errorf("%s: destructiveHint is not what it does", name)
		}
	}
}

// listTokens is what a list of tools costs a model, counted by the tokenizer.
func listTokens(t *testing.T, sets ...string) (tools, tokens int) {
	t.Helper()
	list, err := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, sets...)})).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Tools), contexts.CountTokens(string(raw))
}

// TestToolListIsCheap holds the default list, with its output schemas and its
// annotations, under 2,000 tokens.
func TestToolListIsCheap(t *testing.T) {
	tools, tokens := listTokens(t)
	t.Logf("the core: %d tools, %d tokens", tools, tokens)
	if tokens >= 2000 || tools != len(byToolset["core"]) {
		t.Errorf("the list of %d tools costs %d tokens; the bound is 2,000", tools, tokens)
	}
	if _, all := listTokens(t, "all"); all < 4*tokens {
		t.Errorf("all tools cost %d tokens: this test counts something else", all)
	}
}

func TestToolsWithoutTheirServiceAreNotOffered(t *testing.T) {
	services := new(house).services()
	tools := listTools(t, mcpserver.New(mcpserver.Services{Episodes: services.Episodes}, mcpserver.Options{}))
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, []string{"call_tool", "find_tools", "get_recent_episodes", "record_episode", "search_episodes"}) {
		t.Errorf("tools %v", got)
	}
}

// every is a call of each tool that gives every parameter.
var every = map[string]string{
	"find_tools":           `{"query":"tell when to deploy","enable":true,"limit":3}`,
	"call_tool":            `{"name":"memory_stats","arguments":{"persona":"coder"}}`,
	"list_agents":          `{"state":"online","status":"working","project":"p","role":"r","task":"t","limit":5}`,
	"get_agent":            `{"agent_id":"a"}`,
	"check_in":             `{"agent_id":"a","status":"working","current_task":"t","role":"r","model":"m","project_path":"/p"}`,
	"report_status":        `{"agent_id":"a","status":"working","current_task":"t","progress":50}`,
	"take_lease":           `{"patterns":["src/**"],"glob":false,"why":"w","shared":true,"ttl_seconds":600,"folder":"/p","project":"p","agent_id":"a"}`,
	"list_leases":          `{"path":"src","agent_id":"a","project":"p","limit":5}`,
	"release_lease":        `{"lease_ids":[1],"agent_id":"a"}`,
	"ask_lease_holder":     `{"lease_id":1,"text":"t","agent_id":"a"}`,
	"create_team_task":     `{"title":"t","description":"d","project":"p","priority":1,"agent_id":"a","after":["1"]}`,
	"list_team_tasks":      `{"status":["pending"],"agent_id":"a","project":"p","open":true,"unheld":true,"ready":true,"text":"x","after":1,"limit":5}`,
	"get_team_task":        `{"task":"1"}`,
	"order_team_task":      `{"task":"1","after":["2"],"agent_id":"a"}`,
	"claim_team_task":      `{"task":"1","project":"p","agent_id":"a"}`,
	"report_task_progress": `{"task":"1","progress":50,"note":"n","agent_id":"a"}`,
	"block_team_task":      `{"task":"1","reason":"r","agent_id":"a"}`,
	"unblock_team_task":    `{"task":"1","note":"n","agent_id":"a"}`,
	"complete_team_task":   `{"task":"1","result":"r","agent_id":"a"}`,
	"fail_team_task":       `{"task":"1","error":"e","agent_id":"a"}`,
	"release_team_task":    `{"task":"1","note":"n","agent_id":"a"}`,
	"cancel_team_task":     `{"task":"1","note":"n","agent_id":"a"}`,
	"reassign_team_task":   `{"task":"1","agent_id":"b","note":"n"}`,
	"store_environment":    `{"name":"web","kind":"host","description":"d","project":"p"}`,
	"list_environments":    `{"project":"p"}`,
	"start_scan":           `{"environment":"web","scanner":"trivy","status":"running","summary":"s"}`,
	"finish_scan":          `{"scan_id":"s1","status":"completed","summary":"s"}`,
	"list_scans":           `{"environment":"web","project":"p","status":"running","limit":5}`,
	"report_finding": `{"environment":"web","severity":"high","title":"t","cve":"CVE-2024-1","location":"l","description":"d","evidence":"e",
		"remediation":"r","scan_id":"s1"}`,
	"report_findings":        `{"findings":[{"environment":"web","severity":"high","title":"t"}]}`,
	"list_findings":          `{"environment":"web","project":"p","severity":["high"],"status":["open"],"cve":"c","scan_id":"s","text":"t","location":"l","limit":5}`,
	"get_finding":            `{"finding_id":"f1"}`,
	"decide_finding":         `{"finding_id":"f1","status":"accepted","note":"n"}`,
	"list_sessions":          `{"agent_id":"a","persona":"coder","project":"p","status":"ended","waiting":true,"limit":5}`,
	"message_receipts":       `{"message_id":"m1"}`,
	"overdue_messages":       `{"older_than_seconds":60,"limit":5}`,
	"health":                 `{}`,
	"doctor":                 `{}`,
	"embedding_status":       `{}`,
	"list_tokens":            `{}`,
	"list_packs":             `{"project":"shop"}`,
	"set_packs":              `{"names":["docker"],"all":false,"mode":"off","project":"shop"}`,
	"explain_action":         `{"proposed_action":"ls","tool":"","args":{}}`,
	"revoke_token":           `{"token_id":"k1"}`,
	"get_knowledge":          `{"knowledge_id":"k1"}`,
	"update_knowledge":       `{"knowledge_id":"k1","title":"t","content":"c","category":"g","tags":["a"],"project":"p","source":"s","superseded_by":"k2"}`,
	"delete_knowledge":       `{"knowledge_id":"k1"}`,
	"list_rules":             `{"source":"lesson","domain":"docker","severity":"high","demoted":true,"blocks":true,"cursor":"c","limit":5}`,
	"restore_rule":           `{"rule_id":"r1","notes":"n"}`,
	"list_checks":            `{"agent_id":"a","project":"p","rule_id":"r1","decision":"block","outcome":"heeded","cursor":"c","limit":5}`,
	"deprecate_pattern":      `{"pattern":"1","notes":"n"}`,
	"forget_fact":            `{"key":"k","persona":"coder"}`,
	"build_context":          `{"task":"t","start":false,"budget":500,"project":"p","persona":"coder","include_untrusted":true}`,
	"remember_procedure":     `{"name":"deploy","steps":[{"name":"a","action":"x"}],"category":"c","description":"d","params":[{"name":"p"}],"persona":"coder"}`,
	"recall_procedure":       `{"name":"roll it out","persona":"coder"}`,
	"list_procedures":        `{"category":"c","persona":"coder","after":"coder/a"}`,
	"execute_procedure":      `{"name":"deploy","params":{"p":1},"persona":"coder"}`,
	"report_step":            `{"run_id":"r","index":0,"attempt":1,"status":"succeeded","result":{"x":1},"error":"e"}`,
	"get_run":                `{"run_id":"r","again":true}`,
	"remember_fact":          `{"key":"k","value":{"a":1},"ttl":60,"category":"c","persona":"coder","probe":"p","source":"s"}`,
	"recall_fact":            `{"key":"k","persona":"coder","stale_ok":true}`,
	"search_facts":           `{"category":"c","pattern":"k*","persona":"coder","cursor":"a","limit":5}`,
	"update_fact":            `{"key":"k","value":2,"persona":"coder","ttl":60,"if_version":1}`,
	"schedule_task":          `{"task":"t","trigger":"time:+1hour","context":{"a":1},"recurring":"@daily","timezone":"UTC","persona":"coder","agent_id":"a","conversation_id":"c","project":"p"}`,
	"get_pending_tasks":      `{"persona":"coder","agent_id":"captain","include_scheduled":true,"limit":5}`,
	"complete_task":          `{"task_id":7,"note":"n"}`,
	"cancel_task":            `{"task_id":7,"note":"n"}`,
	"snooze_task":            `{"task_id":7,"for":"1h"}`,
	"report_event":           `{"name":"deployment","data":{"v":1},"project":"p"}`,
	"list_memory_categories": `{"persona":"coder"}`,
	"memory_stats":           `{"persona":"coder"}`,
	"consolidate_transcript": `{"transcript":"User: hi","session_id":"s","project":"p","persona":"coder"}`,
	"list_proposals":         `{"persona":"coder","session_id":"s","kind":"fact","status":"pending","limit":5}`,
	"accept_proposal":        `{"proposal_id":"p1"}`,
	"reject_proposal":        `{"proposal_id":"p1","reason":"r"}`,
	"clear_memory":           `{"category":"c","confirm":true,"type":"semantic","persona":"coder"}`,
	"start_session":          `{"goal":"g","project":"p","persona":"coder","session_id":"s"}`,
	"end_session":            `{"summary":"s","successor":"b","reassign":true,"session_id":"s"}`,
	"get_handover":           `{"session_id":"s"}`,
	"store_knowledge":        `{"category":"gotcha","title":"T","content":"C","tags":["a"],"project":"p","source":"s"}`,
	"search_knowledge":       `{"query":"C","category":"gotcha","project":"p","tags":["a"],"limit":200,"explain":true}`,
	"record_episode":         `{"event_type":"action","title":"T","content":"C","project":"p","importance":1,"session_id":"s"}`,
	"get_recent_episodes":    `{"session_id":"s","agent_id":"captain","limit":1}`,
	"search_episodes":        `{"query":"C","event_type":"error","date_range":["2026-01-01",null],"persona":"coder","project":"p","agent_id":"captain","limit":1,"explain":true}`,
	"remember_episode":       `{"event":"fixed-leak","context":{"file":"cache.py"},"learned":"L","persona":"coder","project":"p"}`,
	"recall_episodes":        `{"query":"C","time_range":"7d","limit":1,"persona":"coder"}`,
	"route_query":            `{"query":"q","type":"recon","project":"p","limit":100}`,
	"send_signal":            `{"to_agent_id":"a","signal":"message","context":{"text":"x"},"priority":-10,"each":true,"thread_id":"t","ack_required":true,"ttl_seconds":5,"idempotency_key":"k"}`,
	"check_messages":         `{"agent_id":"a","ack_through":1,"ack":true,"since":1,"limit":1000}`,
	"report_lesson": `{"lesson_type":"failure","domain":"docker","category":"volumes","title":"T","context":"C","action_taken":"A","outcome":"O",
		"root_cause":"R","solution":"S","alternatives":["B"],"severity":"high","tags":["a"],"related_commands":["ls"],"project":"p"}`,
	"show":                 `{"handles":["k7f3"]}`,
	"get_relevant_lessons": `{"context":"C","domain":"docker","max_results":200,"explain":true}`,
	"list_lessons": `{"lesson_type":"failure","domain":"docker","category":"c","severity":"high","level":"case","status":"retired","tag":"a","project":"p",
		"cursor":"","limit":200}`,
	"emerging_patterns":   `{"pattern_type":"recurring_failure","domain":"docker","limit":200}`,
	"confirm_pattern":     `{"pattern":"1","notes":"n"}`,
	"pending_escalations": `{"agent_id":"ARIA","limit":1000}`,
	"resolve_escalation":  `{"escalation_id":"x1","status":"dismissed","notes":"n"}`,
	"get_lesson":          `{"lesson":"1"}`,
	"validate_lesson":     `{"lesson":"1","validation_type":"confirmed","notes":"n"}`,
	"promote_lesson":      `{"lesson":"1","source_case_ids":["l2"],"notes":"n","title":"A pattern"}`,
	"retire_lesson":       `{"lesson":"1","reason":"r","superseded_by":"2"}`,
	"restore_lesson":      `{"lesson":"1","note":"n"}`,
	"review_lessons":      `{"stale_days":1,"domain":"docker","limit":1}`,
	"lesson_history":      `{"lesson":"1"}`,
	"record_experience": `{"operation_type":"build","server_name":"s","problem":{"query":"q","constraints":{"a":1},"context":{}},
		"solution":{"tool":"make","params":{},"approach":"a"},"outcome":"success","metadata":{"environment":"e","dependencies":["d"],"triggers":["t"]},
		"quality_score":0.5,"duration_ms":3,"notes":"n"}`,
	"recall_by_type":      `{"operation_type":"build","outcome_filter":"success","limit":5}`,
	"recall_by_outcome":   `{"outcome":"success","operation_type":"build","limit":5}`,
	"get_lessons":         `{"context":{"where":"build"},"operation_type":"build","min_confidence":0.5}`,
	"apply_lesson":        `{"lesson_id":1,"outcome":"partial","notes":"n"}`,
	"check_before_action": `{"proposed_action":"rm -rf /data","context":"c","domain":"docker","folder":"/w","tool":"bash","args":{"command":"rm -rf /data"}}`,
	"check_outcome":       `{"check_id":"c1","outcome":"overridden","result":"success","notes":"n"}`,
	"get_agent_memory":    `{"agent_id":"builder"}`,
	"learn_from_pattern":  `{"pattern_description":"d","episode_ids":[1,2,3],"lesson_statement":"s"}`,
}

// TestSchemasSayWhatToolsDo calls each tool with every parameter of its
// schema, and with none but the required ones, and holds what it answers to
// its output schema.
func TestSchemasSayWhatToolsDo(t *testing.T) {
	h := &house{inbox: []comms.InboxMessage{inboxMessage(1, "", "message", `{"a":1}`), inboxMessage(2, "a", "message", "")}}
	server := mcpserver.New(h.services(), mcpserver.Options{Agent: "captain", Toolsets: toolsets(t, "all")})
	client := dial(t, server)
	whole := map[string]any{} // what programs are told, who need not be brief
	for _, tool := range server.Tools() {
		whole[tool.Name] = tool.OutputSchema
	}
	writers := []string{"remember_fact", "store_knowledge", "record_episode", "report_lesson", "record_experience"} // first, so that there is something to read
	for _, name := range slices.Concat(writers, slices.DeleteFunc(everyTool(), func(name string) bool { return slices.Contains(writers, name) })) {
		tool := listTools(t, server)[name]
		input := resolve(t, tool.InputSchema)
		var arguments map[string]any
		if err := json.Unmarshal([]byte(every[name]), &arguments); err != nil {
			t.Fatal(name, err)
		}
		if got, want := slices.Sorted(maps.Keys(arguments)), slices.Sorted(maps.Keys(input.Schema().Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: this test gives %v and the schema has %v", name, got, want)
		}
		if err := input.Validate(arguments); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		least := map[string]any{}
		for _, required := range input.Schema().Required {
			least[required] = arguments[required]
		}
		for _, arguments := range []map[string]any{arguments, least} {
			text, fields, failed := call(t, client, name, arguments)
			if failed || text == "" {
				t.Errorf("%s%v: %s", name, arguments, text)
				continue
			}
			for which, schema := range map[string]any{"listed": tool.OutputSchema, "whole": whole[name]} {
				if err := resolve(t, schema).Validate(fields); err != nil {
					t.Errorf("%s: the answer does not fit its %s output schema: %v", name, which, err)
				}
			}
		}
	}
}

func resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// TestForeignParameterIsPassedOver: some clients add a parameter of their own to every call.
func TestForeignParameterIsPassedOver(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	text, _, failed := call(t, client, "search_knowledge", json.RawMessage(`{"query":"x","task_progress":"- [x] a"}`))
	if failed || !strings.HasSuffix(text, "\nPassed over: task_progress is no parameter of this tool; it takes query, category, project, tags, limit, explain.") {
		t.Error(text)
	}
}

// TestSchemasAreObjects: the official client takes no schema that is true.
func TestSchemasAreObjects(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "all")}))
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(where string, v any)
	walk = func(where string, v any) {
		schema, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s: the schema is %v", where, v)
		}
		members, _ := schema["properties"].(map[string]any)
		for name, member := range members {
			walk(where+"."+name, member)
		}
	}
	for _, tool := range list.Tools {
		for where, schema := range map[string]any{tool.Name + " in": tool.InputSchema, tool.Name + " out": tool.OutputSchema} {
			text, _ := json.Marshal(schema)
			var v any
			if err := json.Unmarshal(text, &v); err != nil || v == nil && strings.HasSuffix(where, "in") {
				t.Errorf("%s: %s %v", where, text, err)
			} else if v != nil {
				walk(where, v)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "all")}))
	for name, c := range map[string]struct {
		tool, arguments, want string
	}{
		"no arguments":           {"search_knowledge", `null`, "query is required"},
		"required and null":      {"search_knowledge", `{"query":null}`, "query is required"},
		"unknown for required":   {"search_knowledge", `{"text":"x"}`, "text is no parameter of this tool; it takes query, category, project, tags, limit"},
		"unknown, and it steers": {"delete_knowledge", `{"knowledge_id":"x","dry_run":true}`, "dry_run is no parameter of this tool; it takes "},
		"other letters":          {"search_knowledge", `{"Query":"x"}`, "Query is written query"},
		"text for a number":      {"search_knowledge", `{"query":"x","limit":"five"}`, "limit must be an integer, not a string"},
		"fraction for a number":  {"search_knowledge", `{"query":"x","limit":1.5}`, "limit must be an integer, not a number"},
		"number over int64":      {"search_knowledge", `{"query":"x","limit":1e400}`, "limit must be an integer"},
		"text for a list":        {"search_knowledge", `{"query":"x","tags":"a"}`, "tags must be an array of strings, not a string"},
		"number in a list":       {"search_knowledge", `{"query":"x","tags":[1]}`, "tags must be an array of strings, not a number"},
		"object for a text":      {"search_knowledge", `{"query":{"a":1}}`, "query must be a string, not an object"},
		"text for a truth":       {"check_messages", `{"ack":"yes"}`, "ack must be a boolean, not a string"},
		"member that is none":    {"record_experience", `{"operation_type":"b","outcome":"success","problem":{"question":"q"}}`, "problem.question is no field of this request"},
		"list for an object":     {"record_experience", `{"operation_type":"b","outcome":"success","metadata":[1]}`, "metadata must be an object, not an array"},
		"text for a member":      {"record_experience", `{"operation_type":"b","outcome":"success","metadata":{"triggers":"t"}}`, "metadata.triggers must be an array, not a string"},
		"out of range":           {"search_knowledge", `{"query":"x","limit":201}`, "limit must lie between 1 and 200"},
		"no recipient":           {"send_signal", `{"to_agent_id":"","signal":"stop"}`, `to_agent_id is required: an agent's id, or "*" for all agents`},
		"hidden text in a name":  {"search_knowledge", "{\"a\u202eb\":1}", "a⟨U+202E⟩b is no parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, failed := call(t, client, c.tool, json.RawMessage(c.arguments))
			if !failed || !strings.HasPrefix(text, c.tool+" failed (invalid): "+c.want) {
				t.Errorf("failed %v: %s", failed, text)
			}
		})
	}
}

func TestUnknownTool(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	if _, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "rm_rf"}); err == nil || !strings.Contains(err.Error(), `unknown tool "rm_rf"`) {
		t.Errorf("error %v", err)
	}
}

func TestEveryCodeHasItsAdvice(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	seen := map[string]errs.Code{}
	for _, code := range errs.Codes() {
		next := mcpserver.Advice(code)
		if other, twice := seen[next]; twice {
			t.Errorf("%s and %s have the same advice: one of them has none of its own", code, other)
		}
		seen[next] = code
		result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_knowledge", Arguments: map[string]any{"query": "code " + string(code)}})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if want := "search_knowledge failed (" + string(code) + "): query is refused. " + next; !result.IsError || text != want {
			t.Errorf("%q, want %q", text, want)
		}
		if detail, _ := result.Meta["skillrouter/error"].(map[string]any); detail["code"] != string(code) || detail["field"] != "query" {
			t.Errorf("%s: _meta %v", code, result.Meta)
		}
	}
}

func TestCausesAreNotShown(t *testing.T) {
	var log logged
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Log: log.logger()}))
	for _, query := range []string{"panic", "fail"} {
		text, _, failed := call(t, client, "search_knowledge", map[string]any{"query": query})
		if !failed || !strings.HasPrefix(text, "search_knowledge failed (internal)") || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", query, text)
		}
		if !strings.Contains(log.String(), "secret cause") {
			t.Errorf("%s: the log has no cause: %s", query, log.String())
		}
		log.Reset()
	}
	if _, _, failed := call(t, client, "search_knowledge", map[string]any{"query": "x"}); failed {
		t.Error("the server is no good after a panic")
	}
}

func TestCancellation(t *testing.T) {
	h := &house{waiting: make(chan struct{})}
	client := dial(t, mcpserver.New(h.services(), mcpserver.Options{}))
	ctx, cancel := withCancel(t)
	done := make(chan error, 1)
	go func() {
		_, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "search_knowledge", Arguments: map[string]any{"query": "wait"}})
		done <- err
	}()
	<-h.waiting
	cancel()
	<-h.waiting // the service saw it
	if err := <-done; err == nil {
		t.Error("the call was not given up")
	}
	if _, _, failed := call(t, client, "search_knowledge", map[string]any{"query": "x"}); failed {
		t.Error("the session is no good after a cancellation")
	}
}

// TestTextsNameToolsThatAreListed: what an agent reads that was given the core alone names a further tool only with the way to it. A model
// calls what it is told to, and its program refuses a tool that it has not listed.
func TestTextsNameToolsThatAreListed(t *testing.T) {
	quoted, name := regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`"), regexp.MustCompile(`[a-z]+(_[a-z]+)+`)
	for _, file := range []string{"knowledge.go", "mailbox.go", "prompt.go", "query.go", "server.go", "lesson.go", "guard.go", "../reminder/reminders.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range quoted.FindAllString(string(text), -1) {
			if !strings.Contains(said, " ") || strings.Contains(said, "call_tool") || strings.Contains(said, "find_tools") {
				continue
			}
			for _, tool := range name.FindAllString(said, -1) {
				if slices.Contains(everyTool(), tool) && !slices.Contains(byToolset["core"], tool) {
					t.Errorf("%s says %s without call_tool or find_tools: %s", file, tool, said)
				}
			}
		}
	}
}

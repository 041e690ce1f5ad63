package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
)

// memories is a router as a client of the persona's memory sees it: each helper of the
// seed's list is one call of POST /api/tools/{name}.
type memories struct {
	t      *testing.T
	config config.Config
	ahead  atomic.Int64 // by how many nanoseconds the router's clock is ahead of ours
	url    string
	stop   func()
	person string // the session of a person who calls
}

// fields is a JSON object.
type fields = map[string]any

func openMemories(t *testing.T) *memories {
	m := &memories{t: t, config: settings(t)}
	m.start()
	t.Cleanup(func() { m.stop() })
	return m
}

func (m *memories) start() {
	m.t.Helper()
	a, err := app.New(m.t.Context(), m.config, slog.New(slog.DiscardHandler), app.Options{
		Now: func() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) },
	})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	m.url = a.URL()
	m.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
	}
}

// restart stops the router and starts another on the same folder.
func (m *memories) restart() {
	m.t.Helper()
	m.stop()
	m.start()
}

// later lets the router's clock jump.
func (m *memories) later(d time.Duration) { m.ahead.Add(int64(d)) }

// try calls a helper with arguments as JSON, and returns the status and the answer.
func (m *memories) try(name, arguments string) (int, fields) {
	m.t.Helper()
	response, err := http.Post(m.url+"/api/tools/"+name, "application/json", strings.NewReader(arguments))
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	var out fields
	if err != nil || json.Unmarshal(raw, &out) != nil {
		m.t.Fatalf("%s%s answers %d %s, %v", name, arguments, response.StatusCode, raw, err)
	}
	return response.StatusCode, out
}

// call calls a helper that must succeed, and returns its result.
func (m *memories) call(name, arguments string) fields {
	m.t.Helper()
	status, out := m.try(name, arguments)
	result, ok := out["result"].(fields)
	if status != http.StatusOK || out["success"] != true || !ok {
		m.t.Fatalf("%s%s: %d %v", name, arguments, status, out)
	}
	return result
}

// list is call for a result that holds a list of objects under a name.
func (m *memories) list(name, arguments, field string) []fields {
	m.t.Helper()
	result := m.call(name, arguments)
	raw, ok := result[field].([]any)
	if !ok {
		m.t.Fatalf("%s%s has no list %q: %v", name, arguments, field, result)
	}
	list := make([]fields, len(raw))
	for i, one := range raw {
		list[i], _ = one.(fields)
	}
	return list
}

// refused holds a call to be refused.
func (m *memories) refused(name, arguments string) {
	m.t.Helper()
	if status, out := m.try(name, arguments); status/100 == 2 || out["success"] != false || out["error"] == "" {
		m.t.Errorf("%s%s was not refused: %d %v", name, arguments, status, out)
	}
}

// same holds a value to be the JSON that it was stored as.
func (m *memories) same(got any, want string) {
	m.t.Helper()
	raw, err := json.Marshal(got)
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, []byte(want))
	}
	if err != nil || string(raw) != compact.String() {
		m.t.Errorf("%s, want %s, %v", raw, compact.String(), err)
	}
}

// named lists the values of a field.
func named(list []fields, field string) (values []string) {
	for _, one := range list {
		values = append(values, fmt.Sprint(one[field]))
	}
	return values
}

// eventually waits until a condition holds that the router's background work brings about.
func (m *memories) eventually(what string, holds func() bool) {
	m.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		if holds() {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatal("never: " + what)
		}
	}
}

// TestSemanticMemory is the persona memory's semantic memory, by its own examples.
func TestSemanticMemory(t *testing.T) {
	m := openMemories(t)
	if r := m.call("recall_fact", `{"key":"database.orders.schema"}`); r["found"] != false || r["value"] != nil {
		t.Errorf("nothing is there: %v", r)
	}
	m.call("remember_fact", `{"key":"database.orders.schema","value":{"columns":["id","total"]},"ttl":3600,"category":"schemas"}`)
	m.call("remember_fact", `{"key":"metrics.mrr.baseline","value":{"range":[60000,90000],"value":75000}}`)
	m.call("remember_fact", `{"key":"project.test_command","value":"pytest tests/ -v","ttl":0}`)
	recalled := m.call("recall_fact", `{"key":"database.orders.schema"}`)
	m.same(recalled["value"], `{"columns":["id","total"]}`)
	fact := recalled["fact"].(fields)
	if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(fact["_cached_at"])); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("_cached_at %v, %v", fact["_cached_at"], err)
	}
	if fact["ttl"] != 3600.0 || fact["category"] != "schemas" || fact["persona"] != "default" {
		t.Errorf("%v", fact)
	}
	baseline := m.call("recall_fact", `{"key":"metrics.mrr.baseline"}`)["fact"].(fields)
	if baseline["ttl"] != 3600.0 || baseline["category"] != "general" {
		t.Errorf("the defaults: %v", baseline)
	}
	for arguments, want := range map[string]string{
		`{"category":"schemas"}`:                       "[database.orders.schema]",
		`{"pattern":"metrics.*"}`:                      "[metrics.mrr.baseline]",
		`{"category":"general","pattern":"*e*"}`:       "[metrics.mrr.baseline project.test_command]",
		`{"category":"schemas","pattern":"metrics.*"}`: "[]",
		`{}`:                  "[database.orders.schema metrics.mrr.baseline project.test_command]",
		`{"persona":"coder"}`: "[]",
		`{"category":null,"pattern":null,"persona":null}`: "[database.orders.schema metrics.mrr.baseline project.test_command]",
	} {
		if got := fmt.Sprint(named(m.list("search_facts", arguments, "facts"), "key")); got != want {
			t.Errorf("search_facts%s: %s, want %s", arguments, got, want)
		}
	}

	// An update refreshes the time to live: half an hour and three quarters make more than one hour.
	m.later(30 * time.Minute)
	m.call("update_fact", `{"key":"database.orders.schema","value":{"columns":["id"]}}`)
	m.later(45 * time.Minute)
	m.same(m.call("recall_fact", `{"key":"database.orders.schema"}`)["value"], `{"columns":["id"]}`)
	if r := m.call("recall_fact", `{"key":"metrics.mrr.baseline"}`); r["found"] != false {
		t.Errorf("it has expired: %v", r)
	}
	m.refused("update_fact", `{"key":"metrics.mrr.baseline","value":1}`)
	m.later(16 * time.Minute)
	if r := m.call("recall_fact", `{"key":"database.orders.schema"}`); r["found"] != false {
		t.Errorf("it has expired too: %v", r)
	}

	// Each persona has its own, and all of it survives a restart.
	m.call("remember_fact", `{"key":"project.test_command","value":"go test ./...","ttl":0,"persona":"coder"}`)
	m.restart()
	m.same(m.call("recall_fact", `{"key":"project.test_command"}`)["value"], `"pytest tests/ -v"`)
	m.same(m.call("recall_fact", `{"key":"project.test_command","persona":"coder"}`)["value"], `"go test ./..."`)

	for name, arguments := range map[string]string{
		"no key":               `{"value":1}`,
		"no value":             `{"key":"k"}`,
		"a negative ttl":       `{"key":"k","value":1,"ttl":-1}`,
		"a ttl in words":       `{"key":"k","value":1,"ttl":"1h"}`,
		"a persona of a path":  `{"key":"k","value":1,"persona":"../x"}`,
		"two megabytes":        `{"key":"k","value":"` + strings.Repeat("x", 2<<20) + `"}`,
		"an unknown parameter": `{"key":"k","value":1,"bogus":1}`,
	} {
		t.Run(name, func(t *testing.T) { m.refused("remember_fact", arguments) })
	}
}

// TestMemoryIntrospection is the persona memory's introspection.
func TestMemoryIntrospection(t *testing.T) {
	m := openMemories(t)
	categories := func(arguments string) string {
		return fmt.Sprint(m.call("list_memory_categories", arguments)["categories"])
	}
	count := func(kind, arguments string) any {
		types := m.call("memory_stats", arguments)["types"].(fields)
		of, _ := types[kind].(fields)
		return of["count"]
	}
	if got := categories(`{}`); got != "[]" {
		t.Errorf("of nothing: %s", got)
	}
	m.call("remember_fact", `{"key":"a","value":1,"category":"schemas"}`)
	m.call("remember_fact", `{"key":"b","value":2}`)
	m.call("remember_fact", `{"key":"a","value":3,"category":"schemas","persona":"coder"}`)
	m.call("store_knowledge", `{"category":"schemas","title":"t","content":"c"}`)
	if got := categories(`{}`); got != "[general schemas]" {
		t.Errorf("%s", got)
	}
	if n := count("semantic", `{}`); n != 3.0 {
		t.Errorf("%v facts", n)
	}
	if n := count("semantic", `{"persona":"coder"}`); n != 1.0 {
		t.Errorf("%v facts of the coder", n)
	}

	told := m.call("clear_memory", `{"category":"schemas"}`)
	if told["confirmed"] != false || told["count"] != 1.0 {
		t.Errorf("without confirm: %v", told)
	}
	m.call("clear_memory", `{"category":"schemas","confirm":false}`)
	if r := m.call("recall_fact", `{"key":"a"}`); r["found"] != true {
		t.Errorf("it was cleared without confirm: %v", r)
	}
	if told := m.call("clear_memory", `{"category":"schemas","confirm":true}`); told["confirmed"] != true || told["count"] != 1.0 {
		t.Errorf("with confirm: %v", told)
	}
	for arguments, found := range map[string]bool{`{"key":"a"}`: false, `{"key":"b"}`: true, `{"key":"a","persona":"coder"}`: true} {
		if r := m.call("recall_fact", arguments); r["found"] != found {
			t.Errorf("recall_fact%s after the clearing: %v", arguments, r)
		}
	}
	if found := m.list("search_knowledge", `{"query":"c"}`, "results"); len(found) != 1 {
		t.Errorf("knowledge: %v", found)
	}
	m.call("clear_memory", `{"confirm":true}`)
	m.restart()
	if n := count("semantic", `{"persona":"default"}`); n != 0.0 && n != nil {
		t.Errorf("%v facts are left", n)
	}
	if r := m.call("recall_fact", `{"key":"a","persona":"coder"}`); r["found"] != true {
		t.Errorf("the coder's: %v", r)
	}
	m.refused("clear_memory", `{"persona":"../x","confirm":true}`)
	m.refused("clear_memory", `{"confirm":"yes"}`)
}

// TestEpisodicMemory is the persona memory's episodic memory, by its own examples.
func TestEpisodicMemory(t *testing.T) {
	m := openMemories(t)
	m.call("remember_episode", `{"event":"mrr-drop-investigation","context":{"symptom":"MRR down 30%","root_cause":"payment processor outage",
		"resolution":"waited for processor to recover","duration":"45min"},"learned":"Payment processor was down, affected all subscriptions"}`)
	m.later(10 * 24 * time.Hour)
	m.call("remember_episode", `{"event":"mrr-spike-investigation","context":{"symptom":"MRR doubled"},"learned":"Black Friday causes 2x MRR spike, expected pattern"}`)
	m.call("remember_episode", `{"event":"fixed-memory-leak","context":{"file":"cache.py","issue":"dict never cleared"},
		"learned":"Cache needs TTL-based expiration, added cleanup thread","persona":"coder"}`)

	found := m.list("recall_episodes", `{"query":"MRR drop","limit":3}`, "episodes")
	if len(found) != 2 || found[0]["event"] != "mrr-drop-investigation" {
		t.Fatalf("%v", found)
	}
	if cause := found[0]["context"].(fields)["root_cause"]; cause != "payment processor outage" {
		t.Errorf("root cause %v", cause)
	}
	if found[0]["learned"] != "Payment processor was down, affected all subscriptions" || found[0]["persona"] != "default" {
		t.Errorf("%v", found[0])
	}
	stamp, err := time.Parse(time.RFC3339Nano, fmt.Sprint(found[0]["created_at"]))
	if err != nil || time.Since(stamp).Abs() > time.Hour {
		t.Errorf("created_at %v, %v", found[0]["created_at"], err)
	}
	now := time.Now().Add(time.Duration(m.ahead.Load())).UTC()
	day := func(d int) string { return now.AddDate(0, 0, d).Format(time.DateOnly) }
	for arguments, want := range map[string]string{
		`{"query":"outage of the payment processor"}`:                           "[mrr-drop-investigation]",  // by its context
		`{"query":"Black Friday"}`:                                              "[mrr-spike-investigation]", // by what was learned
		`{"query":"MRR","time_range":"7d"}`:                                     "[mrr-spike-investigation]",
		`{"query":"MRR","limit":1,"time_range":"30d"}`:                          "1",
		fmt.Sprintf(`{"query":"MRR","time_range":"%s..%s"}`, day(-20), day(-5)): "[mrr-drop-investigation]",
		`{"query":"memory leak"}`:                                               "[]", // it is the coder's
		`{"query":"memory leak","persona":"coder"}`:                             "[fixed-memory-leak]",
	} {
		got := named(m.list("recall_episodes", arguments, "episodes"), "event")
		if fmt.Sprint(got) != want && fmt.Sprint(len(got)) != want {
			t.Errorf("recall_episodes%s: %v, want %s", arguments, got, want)
		}
	}
	for arguments, want := range map[string]string{
		`{"event_type":"mrr-drop-investigation"}`:                                                        "[mrr-drop-investigation]",
		fmt.Sprintf(`{"date_range":["%s","%s"]}`, day(-20), day(-5)):                                     "[mrr-drop-investigation]",
		fmt.Sprintf(`{"event_type":"mrr-drop-investigation","date_range":["%s","%s"]}`, day(-1), day(1)): "[]",
		`{"event_type":"fixed-memory-leak","persona":"coder"}`:                                           "[fixed-memory-leak]",
		`{"event_type":"fixed-memory-leak","persona":"default"}`:                                         "[]",
	} {
		if got := fmt.Sprint(named(m.list("search_episodes", arguments, "results"), "event")); got != want {
			t.Errorf("search_episodes%s: %s, want %s", arguments, got, want)
		}
	}
	m.restart()
	if got := named(m.list("recall_episodes", `{"query":"MRR drop","limit":1}`, "episodes"), "event"); fmt.Sprint(got) != "[mrr-drop-investigation]" {
		t.Errorf("after a restart: %v", got)
	}
	m.refused("remember_episode", `{"event":"e","context":{},"persona":"../x"}`)
	m.refused("remember_episode", `{"event":"e","context":[1]}`)
	m.refused("remember_episode", `{"context":{"a":1}}`)
	m.refused("recall_episodes", `{"query":"MRR","time_range":"a while"}`)
	m.refused("recall_episodes", `{"query":"MRR","time_range":"2026-02-01..2026-01-01"}`)
	m.refused("search_episodes", `{"date_range":["2026-01-01"]}`)
}

// TestClearEveryMemory clears a persona's memories of all types, once the router is
// there again, and leaves those of another persona.
func TestClearEveryMemory(t *testing.T) {
	m := openMemories(t)
	remind := func(persona, trigger string) {
		t.Helper()
		body := fmt.Sprintf(`{"task":"look","trigger":%q,"persona":%q}`, trigger, persona)
		response, err := http.Post(m.url+"/api/reminders", "application/json", strings.NewReader(body))
		if err != nil || response.StatusCode/100 != 2 {
			t.Fatal(response, err)
		}
		response.Body.Close()
	}
	for _, persona := range []string{"default", "coder"} {
		m.call("remember_fact", fmt.Sprintf(`{"key":"a","value":1,"category":"time","persona":%q}`, persona))
		m.call("remember_episode", fmt.Sprintf(`{"event":"mrr-drop","context":{"cause":"gateway"},"persona":%q}`, persona))
		remind(persona, "time:+1hour")
		remind(persona, "event:deployment")
	}
	m.call("record_experience", `{"operation_type":"build","outcome":"success"}`)
	m.call("start_session", `{"goal":"look into it"}`)
	counts := func(persona string) string {
		types := m.call("memory_stats", fmt.Sprintf(`{"persona":%q}`, persona))["types"].(fields)
		text := ""
		for _, kind := range []string{"semantic", "episodic", "prospective", "working"} {
			text += fmt.Sprintf("%v ", types[kind].(fields)["count"])
		}
		return strings.TrimSpace(text)
	}
	if got := counts("default"); got != "1 2 2 1" {
		t.Errorf("%s", got)
	}
	m.same(m.call("list_memory_categories", `{}`)["categories"], `["event","mrr-drop","open","outcome","time"]`)
	if told := m.call("clear_memory", `{"category":"time","confirm":true}`); told["count"] != 2.0 { // a fact, and a reminder by time
		t.Errorf("by category: %v", told)
	}
	if got := counts("default"); got != "0 2 1 1" {
		t.Errorf("after the category: %s", got)
	}
	m.restart()
	if told := m.call("clear_memory", `{"type":"episodic","confirm":true}`); told["count"] != 2.0 || told["type"] != "episodic" {
		t.Errorf("by type: %v", told)
	}
	if found := m.list("recall_episodes", `{"query":"mrr drop gateway"}`, "episodes"); len(found) != 0 {
		t.Errorf("still found: %v", found)
	}
	m.call("clear_memory", `{"confirm":true}`)
	m.restart()
	if got := counts("default"); got != "0 0 0 1" {
		t.Errorf("after all: %s", got)
	}
	if got := counts("coder"); got != "1 1 2 0" {
		t.Errorf("the coder's: %s", got)
	}
	if found := m.list("recall_episodes", `{"query":"mrr drop gateway","persona":"coder"}`, "episodes"); len(found) != 1 {
		t.Errorf("the coder's: %v", found)
	}
}

// TestProspectiveMemory is the persona memory's prospective memory, by its own example.
func TestProspectiveMemory(t *testing.T) {
	m := openMemories(t)
	schedule := func(arguments string) float64 {
		t.Helper()
		task, _ := m.call("schedule_task", arguments)["task"].(fields)
		id, ok := task["id"].(float64)
		if !ok || task["status"] != "pending" {
			t.Fatalf("schedule_task%s: %v", arguments, task)
		}
		return id
	}
	id := schedule(`{"task":"verify payment-service stability after deployment","trigger":"time:+1hour",
		"context":{"version":"v2.4.0","metric":"error_rate"}}`)
	other := schedule(`{"task":"rotate the keys","trigger":"time:+30min","persona":"coder"}`)
	cancelled := schedule(`{"task":"never mind","trigger":"time:+10min"}`)
	m.call("cancel_task", fmt.Sprintf(`{"task_id":%v}`, cancelled))
	pending := func(persona string) []fields {
		return m.list("get_pending_tasks", fmt.Sprintf(`{"persona":%q}`, persona), "tasks")
	}
	if due := m.list("get_pending_tasks", `{}`, "tasks"); len(due) != 0 {
		t.Errorf("due at once: %v", due)
	}
	m.restart()
	m.later(59 * time.Minute)
	m.eventually("the coder's is due", func() bool { return len(pending("coder")) == 1 })
	if due := pending("default"); len(due) != 0 {
		t.Errorf("due after 59 minutes: %v", due)
	}
	m.later(2 * time.Minute)
	m.eventually("it is due", func() bool { return len(pending("default")) == 1 })
	due := pending("default")[0]
	if due["id"] != id || due["task"] != "verify payment-service stability after deployment" {
		t.Errorf("%v", due)
	}
	m.same(due["context"], `{"metric":"error_rate","version":"v2.4.0"}`)
	if mine := pending("coder"); len(mine) != 1 || mine[0]["id"] != other {
		t.Errorf("the coder's: %v", mine)
	}
	m.call("complete_task", fmt.Sprintf(`{"task_id":%v}`, id))
	if due := pending("default"); len(due) != 0 {
		t.Errorf("after it was completed: %v", due)
	}
	m.restart()
	if due := pending("default"); len(due) != 0 {
		t.Errorf("after a restart: %v", due)
	}
	if mine := pending("coder"); len(mine) != 1 {
		t.Errorf("the coder's, after a restart: %v", mine)
	}
	for _, bad := range []string{
		`{"task":"t","trigger":"soon"}`, `{"task":"t","trigger":"time:yesterday"}`, `{"task":"t","trigger":"cron:61 * * * *"}`,
		`{"task":"","trigger":"time:+1hour"}`, `{"task":"t","trigger":"time:+1hour","persona":"../x"}`, `{"task":"t","trigger":"time:+1hour","context":[1]}`,
		`{"task":"t"}`,
	} {
		m.refused("schedule_task", bad)
	}
	m.refused("complete_task", `{"task_id":999999}`)
	m.refused("cancel_task", `{"task_id":"x"}`)
}

// TestProceduralMemory is the persona memory's procedural memory, by its own example.
func TestProceduralMemory(t *testing.T) {
	m := openMemories(t)
	m.call("remember_procedure", `{"name":"analyze-mrr-drop","category":"investigation","steps":[
		{"name":"check_baseline","description":"Compare current MRR to baseline","action":"drop_pct = ..."},
		{"name":"check_payment_gateway","condition":"drop_pct > 20","action":"status = Web.get(...)"},
		{"name":"check_database_performance","condition":"root_cause == nil","action":"slow_queries = ..."}]}`)
	m.call("remember_procedure", `{"name":"debug-test-failure","persona":"coder","steps":[{"action":"run tests with -vv"},{"action":"check logs in /tmp/"},{"action":"verify database state"}]}`)
	if r := m.call("recall_procedure", `{"name":"debug-test-failure"}`); r["found"] != false {
		t.Errorf("it is the coder's: %v", r)
	}
	procedure, _ := m.call("recall_procedure", `{"name":"analyze-mrr-drop"}`)["procedure"].(fields)
	if steps, _ := procedure["steps"].([]any); len(steps) != 3 || steps[1].(fields)["condition"] != "drop_pct > 20" || procedure["category"] != "investigation" {
		t.Fatalf("%v", procedure)
	}
	for arguments, want := range map[string]string{
		`{}`:                           "[analyze-mrr-drop]",
		`{"category":"investigation"}`: "[analyze-mrr-drop]",
		`{"category":"general"}`:       "[]",
		`{"persona":"coder"}`:          "[debug-test-failure]",
		`{"category":"general","persona":"coder"}`: "[debug-test-failure]",
	} {
		if got := fmt.Sprint(named(m.list("list_procedures", arguments, "procedures"), "name")); got != want {
			t.Errorf("list_procedures%s: %s, want %s", arguments, got, want)
		}
	}
	run := m.call("execute_procedure", `{"name":"analyze-mrr-drop","params":{"drop_pct":30}}`)
	if next, _ := run["next"].(fields); next["name"] != "check_baseline" {
		t.Errorf("the first step: %v", run)
	}
	m.refused("execute_procedure", `{"name":"nothing"}`)
	m.refused("remember_procedure", `{"name":"../x","steps":[{"action":"a"}]}`)
	m.refused("remember_procedure", `{"name":"empty","steps":[]}`)
	m.refused("remember_procedure", `{"name":"x","persona":"../x","steps":[{"action":"a"}]}`)
	m.restart()
	if got := fmt.Sprint(named(m.list("list_procedures", `{}`, "procedures"), "name")); got != "[analyze-mrr-drop]" {
		t.Errorf("after a restart: %s", got)
	}
	if r := m.call("recall_procedure", `{"name":"debug-test-failure","persona":"coder"}`); r["found"] != true {
		t.Errorf("after a restart: %v", r)
	}
}

package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router/client"
)

// send makes a call of the HTTP API that must be answered with status, and returns the answer.
func (m *memories) send(method, path, body string, status int) fields {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if m.person != "" {
		r.Header.Set(principal.PersonHeader, m.person)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	var out fields
	if err != nil || json.Unmarshal(raw, &out) != nil || response.StatusCode != status {
		m.t.Fatalf("%s %s %.200s: %d %s, want %d, %v", method, path, body, response.StatusCode, raw, status, err)
	}
	return out
}

// released is a session in which the same three commands went through twice, and somebody said a value.
const released = "User: The API listens on port 8080. Release 1.2.0.\n" +
	"Assistant: $ make build\nTool: built\nAssistant: $ make test\nTool: 12 passed\nAssistant: $ git push origin v1.2.0\nTool: To github.com:acme/api.git\n" +
	"User: Now 1.3.0.\n" +
	"Assistant: $ make build\nTool: built\nAssistant: $ make test\nTool: 12 passed\nAssistant: $ git push origin v1.3.0\nTool: To github.com:acme/api.git\n"

// TestSessionEndConsolidates ends a session with its transcript: what is proposed outlives a restart, and an
// accepted procedure is one that can be gone through.
func TestSessionEndConsolidates(t *testing.T) {
	m := openMemories(t)
	session, _ := m.send(http.MethodPost, "/api/sessions", `{"agent_id":"a","persona":"coder"}`, http.StatusCreated)["id"].(string)
	transcript, err := json.Marshal(released)
	if err != nil {
		t.Fatal(err)
	}
	end := `{"summary":"released twice","transcript":{"text":` + string(transcript) + `}}`
	ended := m.send(http.MethodPost, "/api/sessions/"+session+"/end", end, http.StatusOK)
	consolidated, _ := ended["consolidated"].(fields)
	if consolidated["extractor"] != "rules" || ended["notices"] != nil {
		t.Fatalf("%v", ended)
	}
	m.restart()
	if got := m.call("list_procedures", `{"persona":"coder"}`)["procedures"].([]any); len(got) != 0 {
		t.Errorf("stored before anybody accepted it: %v", got)
	}
	list := m.list("list_proposals", `{"session_id":"`+session+`","persona":"coder"}`, "proposals")
	ids := map[string]string{}
	for _, p := range list {
		ids[p["kind"].(string)] = p["id"].(string)
		if p["status"] != "pending" || p["agent_id"] != "a" {
			t.Errorf("%v", p)
		}
	}
	if ids["procedure"] == "" || ids["fact"] == "" {
		t.Fatalf("%v", list)
	}
	again := m.send(http.MethodPost, "/api/sessions/"+session+"/end", end, http.StatusOK)
	if again, _ := again["consolidated"].(fields); again["duplicate"] != true || len(again["proposals"].([]any)) != len(list) {
		t.Errorf("ended again with the same transcript: %v", again)
	}
	for range 2 { // accepting it again changes nothing
		accepted := m.send(http.MethodPost, "/api/proposals/"+ids["procedure"]+"/accept", `{}`, http.StatusOK)
		name, _ := accepted["stored_as"].(string)
		recalled := m.call("recall_procedure", `{"persona":"coder","name":"`+name+`"}`)
		procedure, _ := recalled["procedure"].(fields)
		learned, _ := json.Marshal(procedure["learned_from"])
		if accepted["status"] != "accepted" || procedure["version"] != 1.0 || procedure["agent_id"] != "a" || !strings.Contains(string(learned), ids["procedure"]) {
			t.Fatalf("accepted as %v: %v", accepted, recalled)
		}
		if steps, _ := procedure["steps"].([]any); len(steps) != 3 {
			t.Errorf("%v", procedure["steps"])
		}
		m.restart()
	}
	procedures := m.list("list_procedures", `{"persona":"coder"}`, "procedures")
	if len(procedures) != 1 {
		t.Fatalf("%v", procedures)
	}
	run := m.call("execute_procedure", `{"persona":"coder","name":"`+procedures[0]["name"].(string)+`","params":{"version":"v1.4.0"}}`)
	if next, _ := run["next"].(fields); next["run"] != "make build" {
		t.Errorf("%v", run)
	}
	rejected := m.send(http.MethodPost, "/api/proposals/"+ids["fact"]+"/reject", `{"reason":"only for today"}`, http.StatusOK)
	if rejected["status"] != "rejected" || m.call("recall_fact", `{"persona":"coder","key":"api.port"}`)["found"] != false {
		t.Errorf("%v", rejected)
	}
}

// TestHandoverOfEveryMemory ends a session with a task, a message, a step and a reminder open: its
// successor is told once.
func TestHandoverOfEveryMemory(t *testing.T) {
	m := openMemories(t)
	for _, agent := range []string{"a", "b"} {
		m.send(http.MethodPost, "/heartbeat", `{"agent_id":"`+agent+`"}`, http.StatusOK)
	}
	session, _ := m.send(http.MethodPost, "/api/sessions", `{"agent_id":"a"}`, http.StatusCreated)["id"].(string)
	m.send(http.MethodPost, "/api/tasks", `{"title":"unfinished work","agent_id":"a"}`, http.StatusCreated)
	m.send(http.MethodPost, "/signal", `{"from_agent_id":"b","to_agent_id":"a","signal":"message","context":{"text":"unread words"}}`, http.StatusOK)
	m.call("remember_procedure", `{"name":"deploy","steps":[{"name":"undone step","action":"x"}]}`)
	m.send(http.MethodPost, "/api/procedures/default/deploy/runs", `{"agent_id":"a"}`, http.StatusCreated)
	m.send(http.MethodPost, "/api/reminders", `{"task":"look again","trigger":"time:+1hour","agent_id":"a"}`, http.StatusCreated)

	ended := m.send(http.MethodPost, "/api/sessions/"+session+"/end", `{"summary":"half way","successor":"b"}`, http.StatusOK)
	left, _ := ended["handover"].(fields)
	for field, title := range map[string]string{"tasks": "unfinished work", "messages": "unread words", "steps": "undone step", "reminders": "look again"} {
		items, _ := left[field].([]any)
		if len(items) != 1 || !strings.Contains(items[0].(fields)["title"].(string), title) {
			t.Errorf("%s: %v", field, items)
		}
	}
	handovers := func() (count int) {
		for _, one := range m.send(http.MethodGet, "/messages/inbox?agent_id=b&limit=50", "", http.StatusOK)["messages"].([]any) {
			if message, _ := one.(fields); message["signal"] == "handover" {
				count++
			}
		}
		return count
	}
	m.eventually("the successor is told", func() bool { return handovers() > 0 })
	m.send(http.MethodPost, "/api/sessions/"+session+"/end", `{"summary":"half way","successor":"b"}`, http.StatusOK)
	m.restart()
	inherited, _ := m.send(http.MethodPost, "/api/sessions", `{"agent_id":"b"}`, http.StatusCreated)["inherited"].(fields)
	if inherited["id"] != session || inherited["summary"] != "half way" {
		t.Errorf("%v", inherited)
	}
	if got := handovers(); got != 1 {
		t.Errorf("%d hand-overs in the successor's inbox", got)
	}
}

// asPerson sets a router's passphrase, and returns the client of a person who knows it.
func asPerson(t *testing.T, cfg config.Config, url string) *client.Client {
	t.Helper()
	owner, err := locate.ReadOwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(url, client.Options{Token: owner, Passphrase: func(context.Context) (string, error) { return phrase, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Persons.SetPassphrase(t.Context(), person.PassphraseDraft{Passphrase: phrase}); err != nil {
		t.Fatal(err)
	}
	return c
}

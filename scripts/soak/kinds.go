package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
)

// bulkEntries is how many entries a bulk call of the load has.
const bulkEntries = 20

// checksMayLag is how much of the guard's ledger a kill may take. A verdict
// does not wait for it, and it is written once a second; the rest is for a
// machine on which a second is not enough.
const checksMayLag = 3 * time.Second

// adding is a kind of write that adds a row. The row holds a marker, which
// says whose it is and which of his: so it is seen when a row is lost, is
// there twice, or stands before an earlier one.
type adding struct {
	name, database, path string
	body                 func(marker string) any
	id                   string // the member of the answer that names the row
	rows                 string // SQL: marker, the same id, the row's number
	mayLag               time.Duration
	key                  bool // the body has an idempotency key, so it may be sent again
}

var addings = []adding{
	{
		name: "signals", database: "operational", path: "/signal", id: "message_id", key: true,
		body: func(marker string) any {
			return map[string]any{"from_agent_id": "captain", "to_agent_id": reader, "signal": "message", "idempotency_key": marker, "context": map[string]any{"marker": marker}}
		},
		rows: "SELECT json_extract(context, '$.marker'), id, seq FROM messages WHERE to_agent = '" + reader + "' AND signal = 'message'",
	},
	{
		name: "broadcasts", database: "operational", path: "/signal", id: "message_id", key: true,
		body: func(marker string) any {
			return map[string]any{"from_agent_id": "captain", "signal": "resume", "idempotency_key": marker, "context": map[string]any{"marker": marker}}
		},
		rows: "SELECT json_extract(context, '$.marker'), id, seq FROM messages WHERE to_agent = '' AND signal = 'resume'",
	},
	{
		name: "tasks", database: "operational", path: "/api/tasks", id: "id",
		body: func(marker string) any { return map[string]any{"title": marker, "project": "soak"} },
		rows: "SELECT title, id, number FROM tasks WHERE project = 'soak'",
	},
	{
		name: "reminders", database: "operational", path: "/api/reminders", id: "id", key: true,
		body: func(marker string) any {
			return map[string]any{"task": marker, "trigger": "time:+5hour", "idempotency_key": marker}
		},
		rows: "SELECT task, number, number FROM reminders",
	},
	{
		name: "sessions", database: "operational", path: "/api/sessions", id: "session_id",
		body: func(marker string) any {
			return map[string]any{"agent_id": strings.NewReplacer(" ", "-").Replace(marker), "goal": marker}
		},
		rows: "SELECT goal, id, num FROM sessions",
	},
	{
		name: "knowledge", database: "learning", path: "/api/knowledge", id: "knowledge_id",
		body: func(marker string) any {
			return map[string]any{"category": "gotcha", "title": marker, "content": "What was learned of " + marker}
		},
		rows: "SELECT title, id, num FROM knowledge WHERE category = 'gotcha'",
	},
	{
		name: "bulk import", database: "learning", path: "/api/knowledge/bulk", id: "stored",
		body: func(marker string) any {
			var lines []byte
			for i := range bulkEntries {
				line, _ := json.Marshal(map[string]any{
					"id": fmt.Sprintf("%s.%d", strings.ReplaceAll(marker, " ", "-"), i), "category": "imported",
					"title": fmt.Sprintf("%s, part %d", marker, i), "content": "Imported.",
				})
				lines = append(append(lines, line...), '\n')
			}
			return lines
		},
		// All of a call's entries, or it is not whole; the answer says how many were stored.
		rows: "SELECT substr(title, 1, instr(title, ',') - 1), count(*), min(num) FROM knowledge WHERE category = 'imported' GROUP BY 1",
	},
	{
		name: "episodes", database: "learning", path: "/api/episodes", id: "id",
		body: func(marker string) any {
			return map[string]any{"agent_id": "soak", "event_type": "action", "title": marker, "content": "It was done."}
		},
		rows: "SELECT title, id, num FROM episodes WHERE agent_id = 'soak'",
	},
	{
		name: "lessons", database: "learning", path: "/lessons/report", id: "lesson_id",
		body: func(marker string) any {
			return map[string]any{
				"title": marker, "lesson_type": "success", "domain": apart(marker), "category": "soak", "source_agent": "soak",
				"context": apart("c" + marker), "action_taken": apart("a" + marker), "outcome": apart("o" + marker),
			}
		},
		rows: "SELECT title, id, num FROM lessons",
	},
	{
		name: "guard checks", database: "learning", path: "/check/anti-pattern", id: "check_id", mayLag: checksMayLag,
		body: func(marker string) any { return map[string]any{"agent": "soak", "proposed_action": "echo " + marker} },
		rows: "SELECT substr(action, 6), id, num FROM checks WHERE agent_id = 'soak'",
	},
}

// apart makes words of a text that no other text has, so that lessons are not
// taken for another occurrence of a like one.
func apart(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("w%x", h.Sum64())
}

// setting is a kind of write that changes what is under a key.
type setting struct {
	name, database string
	key            func(writer int) string
	call           func(key, value string) (method, path string, body any)
	rows           string // SQL: key, value
}

var settings = []setting{
	{
		name: "heartbeats", database: "operational",
		key: func(writer int) string { return fmt.Sprint("soak-beats-", writer) },
		call: func(key, value string) (string, string, any) {
			return http.MethodPost, "/heartbeat", map[string]any{"agent_id": key, "current_task": value}
		},
		rows: "SELECT id, current_task FROM agents WHERE id LIKE 'soak-beats-%'",
	},
	{
		name: "facts", database: "learning",
		key: func(writer int) string { return fmt.Sprint("soak.", writer) },
		call: func(key, value string) (string, string, any) {
			return http.MethodPut, "/api/facts/default/" + key, map[string]any{"value": value, "ttl": 0}
		},
		rows: "SELECT key, json_extract(value, '$') FROM facts WHERE key LIKE 'soak.%'",
	},
	{
		name: "acks", database: "operational",
		key: func(writer int) string { return fmt.Sprint("soak-acks-", writer) },
		call: func(key, value string) (string, string, any) {
			return http.MethodPost, "/messages/ack", map[string]any{"agent_id": key, "message_ids": []string{value}}
		},
		// The last message that it acknowledged; ids are in the order of time.
		rows: "SELECT a.id, coalesce((SELECT m.id FROM messages m WHERE m.to_agent = a.id AND (m.seq <= a.acked_seq OR EXISTS " +
			"(SELECT 1 FROM receipts r WHERE r.agent_id = a.id AND r.seq = m.seq AND r.acked_at IS NOT NULL)) ORDER BY m.seq DESC LIMIT 1), '') " +
			"FROM agents a WHERE a.id LIKE 'soak-acks-%'",
	},
}

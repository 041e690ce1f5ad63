package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// crossingRounds is how often the router is killed while lessons cross.
const crossingRounds = 8

// TestKillCrossing kills the router again and again while lessons are reported
// and tasks are finished. In the end each lesson has its escalations once, each
// escalation its message once, and each finished task its episode once.
func TestKillCrossing(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	lessons := crossUnderFire(t, path, data)
	p := start(t, path, data)
	crossed(t, p)
	for _, fault := range crossingFaults(t, data, lessons) {
		t.Error(fault)
	}
	p.kill()
	// The negative control: had the cursor not been stored together with what came of the
	// events, they would be handled again. The check must notice.
	rewind(t, data)
	p = start(t, path, data)
	crossed(t, p)
	if faults := crossingFaults(t, data, lessons); len(faults) == 0 {
		t.Error("events that are handled twice pass the check")
	} else {
		t.Logf("noticed: %q", faults[:min(len(faults), 2)])
	}
}

// crossUnderFire returns the ids of the lessons that were acknowledged.
func crossUnderFire(t *testing.T, path, data string) []string {
	lessons := &raised{}
	for range crossingRounds {
		p := start(t, path, data)
		var load sync.WaitGroup
		for range 4 {
			load.Go(func() { lessons.report(t, p.poster(t)) })
		}
		load.Go(func() { finishTasks(p.poster(t)) })
		<-time.After(shortestRound + rand.N(longestRound-shortestRound))
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
	if len(lessons.ids) < 10*crossingRounds {
		t.Errorf("only %d lessons were reported: this is no load", len(lessons.ids))
	}
	return lessons.ids
}

// raised is which lessons were acknowledged.
type raised struct {
	mu  sync.Mutex
	ids []string
}

// report reports critical lessons until the router is gone.
func (r *raised) report(t *testing.T, post poster) {
	for {
		status, raw, ok := post("/lessons/report", map[string]any{
			"lesson_type": "discovery", "domain": "docker", "category": "containers", "severity": "critical", "source_agent": "writer",
			"title": words(8), "context": words(12), "action_taken": words(6), "outcome": words(6),
		})
		if !ok {
			return // it was killed
		}
		if status == 0 {
			continue
		}
		var answer struct {
			ID        string `json:"lesson_id"`
			Duplicate bool   `json:"duplicate"`
		}
		if status != http.StatusOK || json.Unmarshal(raw, &answer) != nil || answer.Duplicate {
			t.Errorf("%d %s", status, raw)
			return
		}
		r.mu.Lock()
		r.ids = append(r.ids, answer.ID)
		r.mu.Unlock()
	}
}

// finishTasks makes tasks and completes them until the router is gone.
func finishTasks(post poster) {
	for {
		status, raw, ok := post("/api/tasks", map[string]any{"title": words(4), "agent_id": "worker"})
		if ok && status == 0 {
			continue
		}
		var task struct {
			ID string `json:"id"`
		}
		if !ok || status/100 != 2 || json.Unmarshal(raw, &task) != nil {
			return
		}
		if _, _, ok := post("/api/tasks/"+task.ID+"/complete", map[string]any{"agent_id": "worker"}); !ok {
			return
		}
	}
}

// words is a text that is like no other.
func words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = string(rune('a'+rand.IntN(26))) + fmt.Sprintf("%x", rand.Uint32())
	}
	return strings.Join(list, " ")
}

// crossed waits until everything has crossed, in both directions.
func crossed(t *testing.T, p *process) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	last := ""
	for steady := 0; steady < 10; {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatal("the crossing does not come to rest")
		}
		_, pending, err := p.get(t.Context(), "/lessons/stats")
		if err != nil {
			t.Fatal(err)
		}
		_, health, err := p.get(t.Context(), "/api/episodes/recent?limit=1")
		if err != nil {
			t.Fatal(err)
		}
		if now := string(pending) + string(health); now == last {
			steady++
		} else {
			last, steady = now, 0
		}
	}
}

// crossingFaults compares the two databases.
func crossingFaults(t *testing.T, data string, acknowledged []string) (faults []string) {
	memory, operations := openReadOnly(t, data, "learning"), openReadOnly(t, data, "operational")
	defer memory.Close()
	defer operations.Close()
	there := map[string]bool{}
	for _, id := range column[string](t, memory, "SELECT id FROM lessons") {
		there[id] = true
	}
	for _, id := range acknowledged {
		if !there[id] {
			faults = append(faults, "an acknowledged lesson is gone: "+id)
		}
	}
	raised := map[string]int{}
	for _, key := range column[string](t, operations, "SELECT lesson_id || ' ' || escalated_to || ' ' || occurrences FROM escalations") {
		raised[key]++
	}
	messages := map[string]int{}
	for _, text := range column[string](t, operations, "SELECT to_agent || ' ' || CAST(context AS text) FROM messages WHERE signal = 'escalation'") {
		agent, about, _ := strings.Cut(text, " ")
		var lesson struct {
			ID string `json:"lesson_id"`
		}
		if err := json.Unmarshal([]byte(about), &lesson); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		messages[lesson.ID+" "+agent]++
	}
	for id := range there {
		if n := raised[id+" captain 1"]; n != 1 {
			faults = append(faults, fmt.Sprintf("lesson %s was raised once to the captain %d times", id, n))
		}
		if n := messages[id+" captain"]; n != 1 {
			faults = append(faults, fmt.Sprintf("lesson %s has %d messages to the captain", id, n))
		}
	}
	if len(raised) != len(there) {
		faults = append(faults, fmt.Sprintf("%d escalations of %d lessons", len(raised), len(there)))
	}
	episodes := map[string]int{}
	for _, title := range column[string](t, memory, "SELECT title FROM episodes WHERE agent_id = 'worker'") {
		episodes[title]++
	}
	finished := column[string](t, operations, "SELECT 'Task ' || number || ' completed: ' || title FROM tasks WHERE status = 'completed'")
	for _, title := range finished {
		if episodes[title] != 1 {
			faults = append(faults, fmt.Sprintf("%q became %d episodes", title, episodes[title]))
		}
	}
	if len(episodes) != len(finished) {
		faults = append(faults, fmt.Sprintf("%d episodes of %d finished tasks", len(episodes), len(finished)))
	}
	t.Logf("%d lessons, %d escalations, %d messages, %d finished tasks", len(there), len(raised), len(messages), len(finished))
	return faults
}

// rewind sets the cursors back by a few events.
func rewind(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "operational.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE cursors SET seq = max(0, seq - 200) WHERE name = 'crossing.learning'"); err != nil {
		t.Fatal(err)
	}
}

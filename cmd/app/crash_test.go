package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
)

// The crash test's load. A round runs it for a while and kills the router in the middle.
const (
	crashRounds   = 20
	shortestRound = 120 * time.Millisecond
	longestRound  = 420 * time.Millisecond
	signalWriters = 4 // the other kinds have two each
)

// acknowledged is what the router said it had stored.
type acknowledged struct {
	mu      sync.Mutex
	ids     map[string][]string // by table
	signals map[string]int64    // seq by message id
}

func (a *acknowledged) add(table, id string, seq int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids[table] = append(a.ids[table], id)
	if seq > 0 {
		a.signals[id] = seq
	}
}

// writer is one kind of write: what it sends, and where its answer has the id.
type writer struct {
	database, table, path, id string
	body                      func(n int64) map[string]any
}

var writers = []writer{
	{"operational", "messages", "/signal", "message_id", func(n int64) map[string]any {
		// The Captain: others may send an agent 2,500 messages that it has not acknowledged.
		return map[string]any{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "message", "context": map[string]any{"n": n}}
	}},
	{"operational", "tasks", "/api/tasks", "id", func(n int64) map[string]any {
		return map[string]any{"title": fmt.Sprint("Task ", n), "project": "crash"}
	}},
	{"learning", "knowledge", "/api/knowledge", "knowledge_id", func(n int64) map[string]any {
		return map[string]any{"category": "gotcha", "title": fmt.Sprint("Entry ", n), "content": fmt.Sprint("What was learned, number ", n)}
	}},
	{"learning", "episodes", "/api/episodes", "id", func(n int64) map[string]any {
		return map[string]any{"agent_id": "writer", "event_type": "action", "title": fmt.Sprint("Step ", n), "content": "It was taken."}
	}},
}

// write writes until the router is gone, and notes what is acknowledged.
func (w writer) write(ctx context.Context, p *process, stored *acknowledged) error {
	for {
		status, raw, err := p.post(ctx, w.path, w.body(rand.Int64()))
		if err != nil {
			return nil // the router was killed, with or without having stored this
		}
		var answer map[string]any
		if status/100 != 2 || json.Unmarshal(raw, &answer) != nil {
			return fmt.Errorf("%s answered %d %s", w.path, status, raw)
		}
		id, _ := answer[w.id].(string)
		if id == "" {
			return fmt.Errorf("%s answered without %s: %s", w.path, w.id, raw)
		}
		seq, _ := answer["seq"].(float64)
		stored.add(w.table, id, int64(seq))
	}
}

// crash runs rounds of load that end with a kill, and returns what was wrong:
// acknowledged writes that are gone, databases that are damaged, messages that
// the reader lost or was given twice. It ends at the first round with a fault.
func crash(t *testing.T, program string) (faults []string) {
	data := t.TempDir()
	stored := &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}}
	reader := newReader("reader")
	following, stopFollowing := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		reader.follow(following)
	}()
	defer func() {
		stopFollowing()
		<-followed
	}()
	var p *process
	rounds := roundsOr(crashRounds)
	for round := range rounds {
		p = start(t, program, data)
		reader.at(p.url)
		if faults = check(t, data, stored); len(faults) > 0 {
			return faults
		}
		var load sync.WaitGroup
		failures := make(chan error, 16)
		for i, w := range writers {
			n := 2
			if i == 0 {
				n = signalWriters
			}
			for range n {
				load.Go(func() {
					if err := w.write(t.Context(), p, stored); err != nil {
						failures <- err
					}
				})
			}
		}
		select {
		case <-time.After(shortestRound + rand.N(longestRound-shortestRound)):
		case err := <-failures:
			t.Fatalf("round %d: %v\n%s", round, err, p.stderr)
		}
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
		if faults = unsound(t, data); len(faults) > 0 {
			return faults
		}
	}
	p = start(t, program, data)
	reader.at(p.url)
	if faults = check(t, data, stored); len(faults) > 0 {
		return faults
	}
	faults = append(faults, searchable(t, p, stored)...)
	// A last message: when the reader has it, it has all that it will be given.
	status, raw, err := p.post(t.Context(), "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "last"})
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	if !reader.waitFor(t.Context(), "last", 20*time.Second) {
		faults = append(faults, "the reader did not get the last message")
	}
	faults = append(faults, reader.compare(messagesIn(t, data), stored)...)
	t.Logf("acknowledged: %d signals, %d tasks, %d entries, %d episodes; the reader got %d messages over %d connections",
		len(stored.ids["messages"]), len(stored.ids["tasks"]), len(stored.ids["knowledge"]), len(stored.ids["episodes"]), len(reader.got), reader.connections)
	for _, w := range writers {
		if len(stored.ids[w.table]) < 3*rounds {
			t.Errorf("only %d writes to %s were acknowledged: this is no load", len(stored.ids[w.table]), w.path)
		}
	}
	return faults
}

// unsound says what verify finds wrong with the folder of a router that was killed.
func unsound(t *testing.T, data string) []string {
	t.Helper()
	if databasetest.OnPostgres() {
		return nil // its databases are not in the folder
	}
	found, err := app.VerifyFolder(t.Context(), copied(t, data)) // the logs stay as they are for the next start
	if err != nil {
		t.Fatal(err)
	}
	return append(found.Problems, found.Altered...)
}

// check looks into the databases of a router that has started again.
func check(t *testing.T, data string, stored *acknowledged) (faults []string) {
	stored.mu.Lock()
	defer stored.mu.Unlock()
	for _, w := range writers {
		db := openReadOnly(t, data, w.database)
		var verdict string
		if databasetest.OnPostgres() {
		} else if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			faults = append(faults, fmt.Sprintf("%s.db: integrity_check says %q, %v", w.database, verdict, err))
		}
		there := map[string]bool{}
		for _, id := range column[string](t, db, "SELECT id FROM "+w.table) {
			there[id] = true
		}
		gone := slices.DeleteFunc(slices.Clone(stored.ids[w.table]), func(id string) bool { return there[id] })
		if len(gone) > 0 {
			faults = append(faults, fmt.Sprintf("%s: %d of %d acknowledged writes are gone, such as %s", w.table, len(gone), len(stored.ids[w.table]), gone[0]))
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	return faults
}

// searchable looks whether the rebuilt index finds what was acknowledged.
func searchable(t *testing.T, p *process, stored *acknowledged) (faults []string) {
	ids := stored.ids["knowledge"]
	for range 20 {
		id := ids[rand.IntN(len(ids))]
		var entry struct {
			Title string `json:"title"`
		}
		status, raw, err := p.get(t.Context(), "/api/knowledge/"+id)
		if err != nil || status != http.StatusOK || json.Unmarshal(raw, &entry) != nil {
			faults = append(faults, fmt.Sprintf("entry %s reads %d %s %v", id, status, raw, err))
			continue
		}
		status, raw, err = p.post(t.Context(), "/api/knowledge/search", map[string]any{"query": entry.Title})
		if err != nil || status != http.StatusOK || !strings.Contains(string(raw), id) {
			faults = append(faults, fmt.Sprintf("entry %s is not found by its title %q: %d %v", id, entry.Title, status, err))
		}
	}
	return faults
}

func openReadOnly(t *testing.T, data, name string) *sql.DB {
	t.Helper()
	if databasetest.OnPostgres() {
		return databasetest.Look(t, data, name)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, name+".db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func column[T any](t *testing.T, db *sql.DB, query string) (values []T) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// messagesIn reads the stored log: the ids of the reader's messages in the order of seq.
func messagesIn(t *testing.T, data string) []string {
	db := openReadOnly(t, data, "operational")
	defer db.Close()
	return column[string](t, db, "SELECT id FROM messages WHERE to_agent = 'reader' ORDER BY seq")
}

// TestKill kills the router in the middle of its work, again and again.
func TestKill(t *testing.T) {
	for _, fault := range crash(t, program(t, buildProgram)) {
		t.Error(fault)
	}
}

// TestKillNoticesEarlyAcknowledgement is the negative control: a router that
// acknowledges before it commits must not pass.
func TestKillNoticesEarlyAcknowledgement(t *testing.T) {
	noticed(t, func() []string { return crash(t, program(t, buildAckEarly)) })
}

// controlTries is how often the mistake of a control may hide: not every kill meets the moment.
const controlTries = 5

// noticed fails the test if no try of a negative control finds a fault.
func noticed(t *testing.T, try func() []string) {
	t.Helper()
	for range controlTries {
		if faults := try(); len(faults) > 0 {
			t.Logf("%d faults noticed, such as %s", len(faults), faults[0])
			return
		}
	}
	t.Error("a router that acknowledges before it commits passes the test")
}

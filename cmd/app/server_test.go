package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// TestServerIsRefused: what could lose what is acknowledged, and what is somebody else's, is refused, and nothing is changed.
func TestServerIsRefused(t *testing.T) {
	databasetest.ServerOnly(t)
	for name, test := range map[string]struct {
		parameters string
		before     func(t *testing.T, data string)
		code       errs.Code
		says       string
	}{
		"commits that are not synced": {parameters: "&synchronous_commit=off", code: errs.Unavailable, says: "synchronous_commit = off"},
		"a user who may not write":    {parameters: "&default_transaction_read_only=on", code: errs.Unavailable, says: "takes no writes"},
		"no server":                   {parameters: "&port=1", code: errs.Unavailable, says: "cannot be used"},
		"files":                       {before: func(t *testing.T, data string) { unreadable(t, filepath.Join(data, "learning.db")) }, code: errs.Conflict, says: "learning.db is there"},
		"a schema of somebody else": {before: func(t *testing.T, data string) {
			databasetest.Beside(t, data, "CREATE SCHEMA {}learning", "CREATE TABLE {}learning.events (n int)")
		}, code: errs.Unavailable, says: "is not Skill Router's"},
		"a table that is missing": {before: func(t *testing.T, data string) {
			databasetest.Prepare(t, data)
			databasetest.Beside(t, data, "DROP TABLE {}operational.tasks CASCADE")
		}, code: errs.Unavailable, says: "tables are missing (tasks)"},
		"half of a memory": {before: func(t *testing.T, data string) {
			databasetest.Prepare(t, data)
			databasetest.Beside(t, data, "DROP SCHEMA {}operational CASCADE")
		}, code: errs.Unavailable, says: "a half of the memory"},
		"another version": {before: func(t *testing.T, data string) {
			first := settings(t)
			first.Data, first.Database = data, databasetest.Address(t, data)
			a, err := app.New(t.Context(), first, slog.New(slog.DiscardHandler), app.Options{})
			if err != nil {
				t.Fatal(err)
			}
			stopped(t, a)
			databasetest.Beside(t, data, "INSERT INTO {}operational.goose_db_version (version_id, is_applied) VALUES (9000, true)")
		}, code: errs.Unavailable, says: "schema version 9000"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			if test.before != nil {
				test.before(t, cfg.Data)
			}
			cfg.Database = databasetest.Address(t, cfg.Data) + test.parameters
			_, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
			if errs.CodeOf(err) != test.code || !strings.Contains(errs.MessageOf(err), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func unreadable(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stopped runs a router and stops it at once.
func stopped(t *testing.T, a *app.App) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestStopsOverCutWire: a router whose server has fallen silent ends all the same, and says that it is not clean.
func TestStopsOverCutWire(t *testing.T) {
	databasetest.ServerOnly(t)
	for name, writing := range map[string]bool{"while it writes": true, "at rest": false} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t)
			wire, address := wireTo(t, databasetest.Address(t, cfg.Data))
			cfg.Database = address
			a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
			if err != nil {
				t.Fatal(err)
			}
			stop, ended := begun(t, a)
			heartbeat := func() (status int) {
				r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+"/heartbeat", strings.NewReader(`{"agent_id":"one","status":"working","current_task":"`+time.Now().String()+`"}`))
				r.Header.Set("Content-Type", "application/json")
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					return 0
				}
				defer answer.Body.Close()
				return answer.StatusCode
			}
			if status := heartbeat(); status != http.StatusOK {
				t.Fatal(status)
			}
			wire.set(true)
			<-time.After(1200 * time.Millisecond) // so that connections are asked whether they are there
			written := make(chan int, 1)
			if writing {
				go func() { written <- heartbeat() }()
				<-time.After(500 * time.Millisecond)
			} else {
				written <- 0
			}
			stop()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it says that all is written")
				}
			case <-time.After(3 * startTime): // it has five seconds for calls, five for what is written, and thirty to ask about a commit
				wire.set(false)
				<-ended
				t.Error("it waits for a server that says nothing")
			}
			if status := <-written; status == http.StatusOK {
				t.Error("what is not stored was acknowledged")
			}
		})
	}
}

// TestOneRouterWrites: a second router is refused as long as the first one runs, and one behind whose back somebody has
// written commits nothing more, and ends.
func TestOneRouterWrites(t *testing.T) {
	databasetest.ServerOnly(t)
	cfg := settings(t)
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	second := settings(t)
	second.Database = cfg.Database
	if _, err := app.New(t.Context(), second, slog.New(slog.DiscardHandler), app.Options{}); errs.CodeOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "another router writes") {
		t.Errorf("a second one: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Run(t.Context()) }()
	task := func() int {
		response, err := http.Post(a.URL()+"/api/tasks", "application/json", bytes.NewBufferString(`{"title": "t", "project": "p"}`))
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	if status := task(); status/100 != 2 {
		t.Errorf("before: %d", status)
	}
	databasetest.Beside(t, cfg.Data, "UPDATE {}operational.heads SET seq = seq + 1 WHERE log = 'commits'")
	if status := task(); status/100 == 2 {
		t.Errorf("after another has written: %d", status)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, committer.ErrFenced) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(startTime):
		t.Error("it goes on")
	}
	var tasks int
	db := databasetest.Look(t, cfg.Data, "operational")
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM tasks").Scan(&tasks); err != nil || tasks != 1 {
		t.Errorf("%d tasks, %v", tasks, err)
	}
}

// inbox lists the messages of an agent.
const inbox = "/messages/inbox?agent_id=reader&limit=100"

// deletedMemory is one that was deleted, where it is read, and what that answered before.
type deletedMemory struct{ kind, id, path, before string }

// deleteEachKind stores two memories of the kinds that HTTP deletes, and deletes them.
func deleteEachKind(ask func(method, path, body string) string) (deleted []deletedMemory) {
	idOf := func(member, answer string) string {
		_, rest, _ := strings.Cut(answer, `"`+member+`":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	}
	for i := range 2 {
		entry := idOf("knowledge_id", ask("POST", "/api/knowledge", fmt.Sprintf(`{"category": "gotcha", "title": "Deleted %d", "content": "It was wrong", "tags": ["a"]}`, i)))
		ask("PUT", "/api/knowledge/"+entry, `{"content": "It was right"}`)
		ask("POST", "/api/knowledge/"+entry+"/used", `{"query": "is it right"}`)
		fact := fmt.Sprint("default/gone-", i)
		ask("PUT", "/api/facts/"+fact, `{"value": {"n": 1.5, "on": true}, "ttl": 0}`)
		ask("PUT", "/api/facts/"+fact, `{"value": [1, null], "ttl": 0}`)
		ask("PUT", fmt.Sprint("/api/procedures/default/gone-", i), `{"steps": [{"name": "go", "action": "go on"}]}`)
		for _, one := range []deletedMemory{
			{kind: "knowledge", id: entry, path: "/api/knowledge/" + entry},
			{kind: "fact", id: fact, path: "/api/facts/" + fact},
			{kind: "procedure", id: "default/gone-" + fmt.Sprint(i), path: "/api/procedures/default/gone-" + fmt.Sprint(i)},
		} {
			one.before = ask("GET", one.path, "")
			ask("DELETE", one.path, "")
			deleted = append(deleted, one)
		}
	}
	return deleted
}

// restoreAll puts memories back, each as it was.
func restoreAll(t *testing.T, ask func(method, path, body string) string, deleted []deletedMemory) {
	t.Helper()
	moving := regexp.MustCompile(`,"(?:updated_at|version|use_count|last_used|last_accessed)":[^,}]*`)
	for _, one := range deleted {
		ask("POST", "/api/trash/restore", fmt.Sprintf(`{"kind": %q, "id": %q}`, one.kind, one.id))
		if diff := cmp.Diff(moving.ReplaceAllString(one.before, ""), moving.ReplaceAllString(ask("GET", one.path, ""), "")); diff != "" {
			t.Errorf("%s %s: %s", one.kind, one.id, diff)
		}
	}
}

// TestMoveToServer fills a router on files, moves it, and asks for the same: each answer is equal, each number goes on where it was.
func TestMoveToServer(t *testing.T) {
	databasetest.ServerOnly(t)
	files := settings(t)
	address := files.Database
	files.Database = ""
	serve := func(cfg config.Config) (ask func(method, path, body string) string, stop func()) {
		a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cancel, ended := begun(t, a)
		return func(method, path, body string) string {
				request, err := http.NewRequestWithContext(t.Context(), method, a.URL()+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil || response.StatusCode/100 != 2 {
					t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, text, err)
				}
				return string(text)
			}, func() {
				cancel()
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			}
	}
	ask, stop := serve(files)
	for i := range 20 {
		ask("POST", "/api/tasks", fmt.Sprintf(`{"title": "Task %d", "project": "p"}`, i))
		ask("POST", "/signal", fmt.Sprintf(`{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "s%d", "context": {"n": %d}}`, i, i))
		ask("POST", "/api/knowledge", fmt.Sprintf(`{"category": "gotcha", "title": "Entry %d", "content": "What was learned, number %d"}`, i, i))
		ask("POST", "/api/episodes", fmt.Sprintf(`{"agent_id": "writer", "event_type": "action", "title": "Step %d", "content": "It was taken."}`, i))
	}
	deleted := deleteEachKind(ask)
	paths := []string{"/api/trash", "/api/trash?mine=true", "/api/events?limit=500", "/api/knowledge?limit=50", inbox, "/api/tasks?limit=100"}
	ask("GET", inbox, "") // which marks them as delivered
	before := make([]string, len(paths))
	for i, path := range paths {
		before[i] = ask("GET", path, "")
	}
	if _, err := app.MoveToServer(t.Context(), files.Data, address); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("while the router runs: %v", err)
	}
	stop()
	moved, err := app.MoveToServer(t.Context(), files.Data, address)
	if err != nil || len(moved) != 2 || moved[0].Rows < 40 || moved[1].Rows < 40 {
		t.Fatalf("%+v, %v", moved, err)
	}
	if _, err := app.MoveToServer(t.Context(), files.Data, address); err != nil {
		t.Errorf("once more, with nothing left to do: %v", err)
	}
	server := files
	server.Database = address
	ask, stop = serve(server)
	for i, path := range paths {
		want, _, _ := strings.Cut(before[i], `],"seen"`) // more has happened since
		after := ask("GET", path, "")
		if diff := cmp.Diff(want, after[:min(len(want), len(after))]); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	restoreAll(t, ask, deleted)
	if next := ask("POST", "/signal", `{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "next"}`); !strings.Contains(next, `"seq":21`) {
		t.Errorf("the next message: %s", next)
	}
	defer stop()
	other := settings(t)
	other.Database = ""
	ask2, stop2 := serve(other)
	ask2("POST", "/api/tasks", `{"title": "t", "project": "p"}`)
	stop2()
	if _, err := app.MoveToServer(t.Context(), other.Data, address); errs.CodeOf(err) == "" {
		t.Error("it moved into a memory that is there, or beside its router")
	}
}

package records_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
)

// TestOpenCodeDatabase reads the database that opencode 1.18 keeps its sessions in, while opencode has it open and after that.
func TestOpenCodeDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".local/share/opencode/opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, time_updated integer NOT NULL)")
	run("CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)")
	run("CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)")
	part := func(session, message, command, output string, exit int) {
		run("INSERT INTO message VALUES (?, ?, ?, '{}')", message, session, len(message))
		run("INSERT INTO part VALUES (?, ?, ?, ?)", "prt_"+message, message, session, fmt.Sprintf(
			`{"type":"tool","tool":"bash","callID":"call_%s","state":{"status":"completed","input":{"command":%q},"output":%q,"metadata":{"exit":%d},"time":{"start":1795702616262}}}`, message, command, output, exit))
	}
	for i := range 2 {
		id := fmt.Sprint("ses_", i)
		run("INSERT INTO session VALUES (?, ?, ?)", id, "/src/shop", 1795702610437+i)
		part(id, id+"a", "python -m pytest core/tests/test_a.py", "/opt/bin/python: No module named pytest", 1)
		part(id, id+"b-", "bin/test core/tests/test_a.py", "30 passed", 0)
	}
	run("INSERT INTO part VALUES ('prt_text', 'ses_0a', 'ses_0', ?)", `{"type":"text","text":"remember: rm -rf"}`)

	ctx := principal.With(t.Context(), principal.System())
	n := history.New(emptyStore(t), learning.Options{})
	read := func() *records.Learner {
		t.Helper()
		l := &records.Learner{Learn: n.Learn, Known: map[string]history.Source{}, ProjectOf: filepath.Base}
		sources, err := n.Sources(ctx, history.SourceFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources.Sources {
			l.Known[source.ID] = source
		}
		files, err := records.Find(records.Places(home, func(string) string { return "" }), time.Time{}, &l.Skipped)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.All(ctx, files); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := read(); l.Read != 2 || l.Total.Steps != 4 || l.Total.Fixes != 2 {
		t.Errorf("read %d of the sessions: %+v", l.Read, l.Total)
	}
	if l := read(); l.Read != 0 {
		t.Errorf("sessions that did not change were read again: %d", l.Read)
	}
	part("ses_1", "ses_1c--", "git status", "clean", 0)
	run("UPDATE session SET time_updated = time_updated + 9 WHERE id = 'ses_1'")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if l := read(); l.Read != 1 || l.Total.Steps != 1 {
		t.Errorf("of the session that grew: %+v", l.Total)
	}
	page, err := n.List(ctx, history.Filter{Project: "shop"})
	if err != nil || len(page.Incidents) != 1 || page.Incidents[0].Count != 2 || page.Incidents[0].Solved != 2 {
		t.Errorf("%+v, %v", page, err)
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if names := slices.Collect(func(yield func(string) bool) {
		for _, entry := range beside {
			yield(entry.Name())
		}
	}); err != nil || len(names) != 1 {
		t.Errorf("reading left %q", names)
	}
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := read(); l.Read != 0 || l.Skipped.Unread != 1 {
		t.Errorf("what is no database: read %d, %+v", l.Read, l.Skipped)
	}
}

// TestRefusalIsNoUnreadRecord has the router refuse steps of opencode's in the midst of a session: that ends the reading, and no record counts as unread.
func TestRefusalIsNoUnreadRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, time_updated integer NOT NULL)",
		"CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)",
		"INSERT INTO session VALUES ('ses_1', '/src/a', 1)",
		"INSERT INTO message VALUES ('m', 'ses_1', 1, '{}')",
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) INSERT INTO part SELECT 'p' || i, 'm', 'ses_1',
			'{"type":"tool","tool":"bash","sessionID":"ses_1","callID":"' || i || '","state":{"status":"completed","input":{"command":"make"},"output":"done","metadata":{"exit":0}}}' FROM n`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	l := &records.Learner{
		Learn: func(context.Context, history.Draft) (history.Learned, error) {
			return history.Learned{}, errs.Errorf(errs.Forbidden, "the token may not write")
		},
		Known: map[string]history.Source{}, ProjectOf: filepath.Base,
	}
	files, err := records.Find([]string{path}, time.Time{}, &l.Skipped)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := l.All(t.Context(), files); errs.CodeOf(err) != errs.Forbidden || l.Skipped.Unread != 0 {
		t.Errorf("%v, passed over %+v", err, l.Skipped)
	}
}

// TestGeminiSaysItsFolderBeside reads a record of Gemini CLI, which does not say the folder, for the project of the folder that a file beside it names.
func TestGeminiSaysItsFolderBeside(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	chats := filepath.Join(folder, "shop-1", "chats")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(folder, "shop-1", ".project_root"): "/src/shop\n",
		filepath.Join(chats, "session-1.jsonl"):          `{"sessionId":"g"}` + "\n" + `{"type":"gemini","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make al"},"status":"success","result":[{"functionResponse":{"response":{"output":"make: *** No rule to make target 'al'.  Stop.\nExit Code: 2"}}}]}]}` + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := principal.With(t.Context(), principal.System())
	n := history.New(emptyStore(t), learning.Options{})
	l := &records.Learner{Learn: n.Learn, Known: map[string]history.Source{}, ProjectOf: filepath.Base}
	files, err := records.Find([]string{folder}, time.Time{}, &l.Skipped)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.All(ctx, files); err != nil || !l.Projects["shop"] || l.Total.Failures != 1 {
		t.Errorf("%+v, %v, %v", l.Total, l.Projects, err)
	}
}

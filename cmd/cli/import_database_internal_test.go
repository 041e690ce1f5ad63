package cli

import (
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/router/exchange"
)

// madeDatabase is a database that statements make.
func madeDatabase(t *testing.T, statements ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made #1%.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("#", "%23", "%", "%25").Replace(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func document(t *testing.T, path, format string) (string, error) {
	t.Helper()
	f, err := exchange.FormatOf(format)
	if err != nil {
		t.Fatal(err)
	}
	from := documentOf(path, f.Tables)
	defer from.Close()
	text, err := io.ReadAll(from)
	return strings.ReplaceAll(string(text), "\n", ""), err
}

// TestDatabases reads databases as SABRE and two versions of claude-mem make them, and leaves them as they are.
func TestDatabases(t *testing.T) {
	facts := madeDatabase(t, `CREATE TABLE semantic_facts (key TEXT PRIMARY KEY, category TEXT NOT NULL, value JSON NOT NULL, persona TEXT NOT NULL,
			created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, expires_at TIMESTAMP, access_count INTEGER DEFAULT 0)`,
		`INSERT INTO semantic_facts (key, category, value, persona, created_at, updated_at, expires_at, access_count)
			VALUES ('orders.schema', 'schemas', '{"columns": ["id"]}', 'coder', '2030-01-01 10:00:00', '2030-01-01 11:00:00', '2030-01-01 12:00:00', 4)`,
		`INSERT INTO semantic_facts (key, category, value, persona, created_at, updated_at) VALUES ('port', 'general', '8080', 'coder', '2030-01-01 10:00:00', '2030-01-01 11:00:00')`)
	newer := madeDatabase(t, "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, project TEXT)", "INSERT INTO sdk_sessions VALUES (1, 'c', 'shop')",
		"CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, title TEXT, facts TEXT, created_at_epoch INTEGER, x BLOB)",
		"INSERT INTO observations VALUES (1, 'm', 'T', '[\"f\"]', 1767348000000, x'00ff'), (2, 'm', NULL, NULL, 1.5, NULL)", "CREATE TABLE user_prompts (id INTEGER)")
	before, err := os.ReadFile(newer)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, format, want, wrong string }{
		{facts, "sabre", `[{"access_count":4,"category":"schemas","created_at":"2030-01-01T10:00:00Z","expires_at":"2030-01-01T12:00:00Z","key":"orders.schema","persona":"coder","updated_at":"2030-01-01T11:00:00Z","value":"{\"columns\": [\"id\"]}"}` +
			`,{"access_count":0,"category":"general","created_at":"2030-01-01T10:00:00Z","expires_at":null,"key":"port","persona":"coder","updated_at":"2030-01-01T11:00:00Z","value":"8080"}]`, ""},
		{newer, "claude-mem", `{"sessions":[{"content_session_id":"c","id":1,"project":"shop"}],"observations":[{"created_at_epoch":1767348000000,"facts":"[\"f\"]","id":1,"memory_session_id":"m","title":"T","x":"\u0000\ufffd"}` +
			`,{"created_at_epoch":1.5,"facts":null,"id":2,"memory_session_id":"m","title":null,"x":null}],"prompts":[]}`, ""},
		{facts, "claude-mem", "{}", ""},
		{newer, "sabre", "", "no such table"},
		{filepath.Join(t.TempDir(), "none.db"), "claude-mem", "", "unable to open"},
	} {
		text, err := document(t, test.path, test.format)
		if test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) || test.wrong == "" && (err != nil || text != test.want) {
			t.Errorf("%s of %s: %s, %v\nwant %s", test.format, test.path, text, err, test.want)
		}
	}
	cut := filepath.Join(t.TempDir(), "cut.db")
	if err := os.WriteFile(cut, before[:len(before)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := document(t, cut, "claude-mem"); err == nil {
		t.Errorf("half a database is read as %s", text)
	}
	if after, err := os.ReadFile(newer); err != nil || string(after) != string(before) || !records.IsDatabase(after) || records.IsDatabase([]byte("{}")) || records.IsDatabase(nil) {
		t.Error("a database was changed, or is not known for one")
	}
	endless := documentOf(newer, []exchange.Table{{Query: "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"}})
	if _, err := io.ReadFull(endless, make([]byte, 64<<10)); err != nil {
		t.Error(err)
	}
	if err := endless.Close(); err != nil { // whoever writes it ends, too
		t.Error(err)
	}
}

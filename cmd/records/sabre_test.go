package records

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSabreFacts reads a database as SABRE makes it, and leaves it as it is.
func TestSabreFacts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "facts #1.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SabreFacts(file); err == nil {
		t.Error("an empty database holds facts")
	}
	made, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(file, "#", "%23"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE semantic_facts (key TEXT PRIMARY KEY, category TEXT NOT NULL, value JSON NOT NULL, persona TEXT NOT NULL,
			created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, expires_at TIMESTAMP, access_count INTEGER DEFAULT 0)`,
		`INSERT INTO semantic_facts (key, category, value, persona, created_at, updated_at, expires_at, access_count)
			VALUES ('database.orders.schema', 'schemas', '{"columns": ["id"]}', 'coder', '2030-01-01 10:00:00', '2030-01-01 11:00:00', '2030-01-01 12:00:00', 4)`,
		`INSERT INTO semantic_facts (key, category, value, persona) VALUES ('port', 'general', '8080', 'coder')`,
	} {
		if _, err := made.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	lines, err := SabreFacts(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(lines)), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[0], `{"key":"database.orders.schema","category":"schemas","value":"{\"columns\": [\"id\"]}","persona":"coder","created_at":"2030-01-01`) ||
		!strings.Contains(rows[0], `"access_count":4`) || !strings.Contains(rows[1], `"value":"8080"`) || !strings.Contains(rows[1], `"expires_at":null`) {
		t.Errorf("%s", lines)
	}
	head, err := os.ReadFile(file)
	if err != nil || !IsDatabase(head) || IsDatabase([]byte("{}")) || IsDatabase(nil) {
		t.Error("a database is not known")
	}
}

package database

import (
	"testing"

	"github.com/glebarez/sqlite"
)

func TestDialect(t *testing.T) {
	for _, c := range []struct{ name, text, sqlite, postgres string }{
		{"plain", "SELECT 1", "SELECT 1", "SELECT 1"},
		{"parameters", "SELECT ? WHERE a = 'what?' AND b = ?", "SELECT ? WHERE a = 'what?' AND b = ?", "SELECT $1 WHERE a = 'what?' AND b = $2"},
		{"greatest", "SELECT {greatest}(a, ?)", "SELECT max(a, ?)", "SELECT greatest(a, $1)"},
		{"position", "{position}(lower(title), ?) > 0", "instr(lower(title), ?) > 0", "strpos(lower(title), $1) > 0"},
		{"like", `title {like} ? ESCAPE '\'`, `title LIKE ? ESCAPE '\'`, `title ILIKE $1 ESCAPE '\'`},
		{
			"elements", "EXISTS (SELECT 1 FROM {elements tags} WHERE value = ?)", "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)",
			"EXISTS (SELECT 1 FROM json_array_elements_text(CAST(tags AS json)) AS elements(value) WHERE value = $1)",
		},
		{"unindexed", "{unindexed}status <> 'a' ORDER BY {unindexed}n", "+status <> 'a' ORDER BY +n", "status <> 'a' ORDER BY n"},
		{"indexed", "FROM t {indexed by t_time} WHERE a", "FROM t INDEXED BY t_time WHERE a", "FROM t  WHERE a"},
		{
			"last", "SELECT coalesce({last messages}, 0)", "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)",
			"SELECT coalesce((SELECT nullif(seq, 0) FROM heads WHERE log = 'messages'), 0)",
		},
		{"unknown", "SELECT {what} {", "SELECT {what} {", "SELECT {what} {"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sqliteDialect.text(c.text); got != c.sqlite {
				t.Errorf("for SQLite it is %q", got)
			}
			if got := postgresDialect().text(c.text); got != c.postgres {
				t.Errorf("for PostgreSQL it is %q", got)
			}
		})
	}
	for word := range sqliteDialect.words {
		if _, there := postgresDialect().words[word]; !there {
			t.Errorf("PostgreSQL has nothing for %q", word)
		}
	}
}

// TestPoolSpeaks: each way in which gorm sends a statement puts in the words of the dialect, in a transaction too.
func TestPoolSpeaks(t *testing.T) {
	db, err := dial("file:"+escape(t.TempDir()+"/a.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	conn := db.Dialector.(*sqlite.Dialector).Conn.(*pool)
	defer conn.db.Close()
	tx, err := conn.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = "SELECT {greatest}(1, 2)"
	var n int
	if err := tx.QueryRowContext(t.Context(), text).Scan(&n); err != nil || n != 2 {
		t.Errorf("a row is %d (%v)", n, err)
	}
	if _, err := tx.ExecContext(t.Context(), text); err != nil {
		t.Error(err)
	}
	rows, err := tx.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if err := tx.(*transaction).Rollback(); err != nil {
		t.Error(err)
	}
}

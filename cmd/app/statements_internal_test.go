package app

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
)

// cachedOf tells what a pool's one connection keeps.
func cachedOf(t *testing.T, db *sql.DB) (texts map[string]bool, bytes int) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	texts = map[string]bool{}
	if err := conn.Raw(func(driverConn any) error {
		c := driverConn.(*cachingConn)
		for text := range c.cached {
			texts[text] = true
		}
		if c.last.Len() != len(c.cached) {
			return fmt.Errorf("%d statements are in order, and %d by their text", c.last.Len(), len(c.cached))
		}
		bytes = c.held
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return texts, bytes
}

func openCached(t *testing.T) *sql.DB {
	t.Helper()
	db, err := openCaching(writerDSN(filepath.Join(t.TempDir(), "cached.db")))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestCachedStatements runs the same statements again after whatever may become of them between: a failure, another
// transaction, rows that were not read to their end, the same rows open twice, and a schema that changed.
func TestCachedStatements(t *testing.T) {
	db, ctx := openCached(t), t.Context()
	const insert, choose = "INSERT INTO t (text) VALUES (?) RETURNING n", "SELECT * FROM t WHERE n >= ? ORDER BY n"
	add := func(q interface {
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}, text string,
	) (n int64, err error) {
		err = q.QueryRowContext(ctx, insert, text).Scan(&n)
		return n, err
	}
	for i, text := range []string{"one", "one", "two"} {
		if n, err := add(db, text); (err != nil) != (i == 1) || err == nil && n != int64(min(i, 1)+1) {
			t.Fatalf("%q is row %d, error %v", text, n, err)
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := add(tx, "undone"); err != nil {
		t.Fatal(err)
	}
	outer, err := tx.QueryContext(ctx, choose, 1)
	if err != nil || !outer.Next() {
		t.Fatal(err)
	}
	inner, err := tx.QueryContext(ctx, choose, 3)
	if err != nil || !inner.Next() {
		t.Fatal(err)
	}
	var n int64
	var text string
	if err := inner.Scan(&n, &text); err != nil || text != "undone" {
		t.Fatalf("%d, %q, %v", n, text, err)
	}
	if !outer.Next() || outer.Scan(&n, &text) != nil || text != "two" {
		t.Fatalf("%d, %q", n, text)
	}
	for _, rows := range []*sql.Rows{inner, outer} {
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "ALTER TABLE t ADD COLUMN late TEXT NOT NULL DEFAULT 'x'"); err != nil {
		t.Fatal(err)
	}
	if n, err := add(db, "three"); err != nil || n != 3 {
		t.Fatalf("row %d, %v", n, err)
	}
	var late string
	if err := db.QueryRowContext(ctx, choose, 3).Scan(&n, &text, &late); err != nil || text != "three" || late != "x" {
		t.Fatalf("%d, %q, %q, %v", n, text, late, err)
	}
	if texts, _ := cachedOf(t, db); !texts[insert] || !texts[choose] {
		t.Errorf("kept are %v", texts)
	}
}

// TestCachedStatementsAreBounded: a connection keeps what it ran last.
func TestCachedStatementsAreBounded(t *testing.T) {
	db := openCached(t)
	run := func(i int) string {
		text := fmt.Sprintf("SELECT %d -- %s", i, strings.Repeat("x", 1000))
		var n int
		if err := db.QueryRowContext(t.Context(), text).Scan(&n); err != nil || n != i {
			t.Fatal(n, err)
		}
		return text
	}
	first := run(0)
	for i := range 200 {
		run(i + 1)
		run(0)
	}
	texts, bytes := cachedOf(t, db)
	if bytes > cachedText || bytes < cachedText/2 {
		t.Errorf("%d bytes are kept", bytes)
	}
	if !texts[first] || !texts[run(200)] || texts["SELECT 1 -- "+strings.Repeat("x", 1000)] {
		t.Errorf("%d statements are kept, and not the last", len(texts))
	}
	long := "SELECT 7 -- " + strings.Repeat("x", cachedText)
	if _, err := db.ExecContext(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	if texts, bytes = cachedOf(t, db); texts[long] || !texts[first] {
		t.Errorf("%d bytes are kept", bytes)
	}
}

// TestCachedStatementsAreNoPragmas: a PRAGMA may act while it is parsed, and so is parsed each time.
func TestCachedStatementsAreNoPragmas(t *testing.T) {
	db := openCached(t)
	for _, want := range []int{1, 0, 1, 0} {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA query_only = %d", want)); err != nil {
			t.Fatal(err)
		}
		var got int
		if err := db.QueryRowContext(t.Context(), "PRAGMA query_only").Scan(&got); err != nil || got != want {
			t.Fatalf("query_only is %d and not %d: %v", got, want, err)
		}
	}
	if texts, bytes := cachedOf(t, db); bytes > 0 {
		t.Errorf("kept are %v", texts)
	}
}

// TestDriverWaits: an address that does not say how long to wait for the locks of others has the time that the
// dialector's own driver gives it.
func TestDriverWaits(t *testing.T) {
	for dsn, want := range map[string]int{"file::memory:": 5000, "file::memory:?_pragma=busy_timeout(7)": 7} {
		db, err := sql.Open(sqlite.DriverName, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var got int
		if err := db.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&got); err != nil || got != want {
			t.Errorf("%s waits %d ms and not %d: %v", dsn, got, want, err)
		}
	}
}

// A number of rows is written into a statement, and every other parameter stays in its place.
func TestLimitedStatements(t *testing.T) {
	db, ctx := openCached(t), t.Context()
	for n := range 9 {
		if _, err := db.ExecContext(ctx, "INSERT INTO t VALUES (?, ?)", n, fmt.Sprint("LIMIT ? no. ", n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query  string
		args   []any
		rows   int
		cached string
	}{
		{"SELECT n FROM t WHERE n > ? ORDER BY n LIMIT ?", []any{2, 3}, 3, "SELECT n FROM t WHERE n > ? ORDER BY n LIMIT 3"},
		{"SELECT n FROM t WHERE n > ? ORDER BY n LIMIT ?", []any{2, 4}, 4, "SELECT n FROM t WHERE n > ? ORDER BY n LIMIT 4"},
		{"SELECT n FROM t LIMIT ? OFFSET ?", []any{5, 7}, 2, "SELECT n FROM t LIMIT 5 OFFSET ?"},
		{"SELECT n FROM (SELECT n FROM t ORDER BY n LIMIT ?) AS x WHERE n > ?", []any{6, 3}, 2, "SELECT n FROM (SELECT n FROM t ORDER BY n LIMIT 6) AS x WHERE n > ?"},
		{"SELECT n FROM t WHERE text <> 'LIMIT ? it''s' AND n < ? LIMIT ?", []any{4, -1}, 4, "SELECT n FROM t WHERE text <> 'LIMIT ? it''s' AND n < ? LIMIT -1"},
		{"SELECT n FROM t WHERE text = ? LIMIT ?", []any{"LIMIT ? no. 7", 9}, 1, "SELECT n FROM t WHERE text = ? LIMIT 9"},
		{"SELECT n FROM t WHERE n < ?1 AND n < ?1 LIMIT ?", []any{5, 3}, 3, "SELECT n FROM t WHERE n < ?1 AND n < ?1 LIMIT ?"},
		{"SELECT n FROM t WHERE n < :most LIMIT ?", []any{sql.Named("most", 5), 3}, 3, "SELECT n FROM t WHERE n < :most LIMIT ?"},
	} {
		rows, err := db.QueryContext(ctx, c.query, c.args...)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n != c.rows {
			t.Errorf("%s has %d rows, %v; wanted %d", c.query, n, err, c.rows)
		}
		if texts, _ := cachedOf(t, db); !texts[c.cached] {
			t.Errorf("%s is not kept as %s, but %v", c.query, c.cached, texts)
		}
	}
	for _, query := range []string{"SELECT n FROM t WHERE text = 'open LIMIT ?", "SELECT n FROM t LIMIT ?", "SELECT n FROM t WHERE n = ? LIMIT ?"} {
		if rows, err := db.QueryContext(ctx, query); err == nil {
			t.Errorf("%s ran without a value", query)
			_ = rows.Close()
		}
	}
}

package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// TestNoTextHoldsNUL makes the recorded writes, and before each of them the same with the character
// NUL in one of its texts, for every text of every route: SQLite would keep it, and PostgreSQL
// refuses the whole row.
func TestNoTextHoldsNUL(t *testing.T) {
	if testing.Short() {
		t.Skip("makes hundreds of calls, one after the other")
	}
	all := readRecorded(t)
	t.Chdir("/") // what is recorded belongs to no project of a working folder
	r := replay(t)
	tried, refused := map[string]bool{}, 0
	for _, x := range all {
		if x.Via != "http" || strings.HasPrefix(x.Do, "GET ") || x.Status >= 300 {
			continue
		}
		r.clock.Add(1)
		var body any
		if json.Unmarshal([]byte(x.Body), &body) == nil {
			route := regexp.MustCompile(`«\d+»|\d+`).ReplaceAllString(x.Do, "…")
			eachText(body, "", func(member string, set func(text string), was string) {
				if tried[route+member] {
					return
				}
				tried[route+member] = true
				set(was + "\x00")
				text, _ := json.Marshal(body) // it was JSON
				set(was)
				with := x
				with.Body = string(text)
				switch status, answer := r.ask(with); {
				case status >= 500:
					t.Errorf("%s with NUL in %s: %d %s", x.Do, member, status, answer)
				case status >= 400 || strings.Contains(answer, `"refused`): // one of many items is refused by itself
					refused++
				}
			})
		}
		_, got := r.ask(x)
		r.agrees(got, string(x.Answer)) // the ids that are asked for later
	}
	// Some take it out of what they keep in one line, and JSON of the caller's own holds it as six characters.
	if len(tried) < 150 || refused < 9*len(tried)/10 {
		t.Errorf("%d texts were tried, and %d were refused", len(tried), refused)
	}
	for _, name := range []string{"learning", "operational"} {
		if found := nulsIn(t, filepath.Join(app.DataOf(r.app), name+".db")); len(found) > 0 {
			t.Errorf("%s.db holds NUL in %v", name, found)
		}
	}
}

// TestNULIsSeen is the negative control of the look into a database.
func TestNULIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('plain', 'w' || char(0) || 'x')"); err != nil {
		t.Fatal(err)
	}
	if found := nulsIn(t, path); fmt.Sprint(found) != "[t.b]" {
		t.Errorf("found %v", found)
	}
}

// eachText visits the texts in parsed JSON, with what puts another in their place.
func eachText(v any, member string, visit func(member string, set func(string), was string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if text, ok := one.(string); ok {
				visit(member+"."+name, func(s string) { v[name] = s }, text)
			} else {
				eachText(one, member+"."+name, visit)
			}
		}
	case []any:
		for i, one := range v {
			if text, ok := one.(string); ok {
				visit(member+"[]", func(s string) { v[i] = s }, text)
			} else {
				eachText(one, member+"[]", visit)
			}
		}
	}
}

// nulsIn are the columns of a database in which a text holds NUL.
func nulsIn(t *testing.T, path string) (found []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.type = 'TEXT'")
	if err != nil {
		t.Fatal(err)
	}
	var columns [][2]string
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	if err := rows.Err(); err != nil || len(columns) == 0 {
		t.Fatalf("%d columns, %v", len(columns), err)
	}
	for _, c := range columns {
		var n int
		if err := db.QueryRow(fmt.Sprintf(`SELECT count(*) FROM "%s" WHERE instr("%s", char(0)) > 0`, c[0], c[1])).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			found = append(found, c[0]+"."+c[1])
		}
	}
	return found
}

package database

import "testing"

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

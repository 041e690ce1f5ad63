package laws_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// stores are the rooms whose SQL must be what SQLite and PostgreSQL both understand.
var stores = []string{"learning/store", "operational/store", "internal/database/table"}

// hole stands in a text for what is put into it when the program runs.
const hole = "§"

// constructs are what the stores may not write, since one of the databases does not have it or takes it
// for something else. find returns the part of a text that is one, or "".
var constructs = []struct {
	name, instead string
	find          func(text string) string
	bad, good     string // the negative control, and what it becomes
}{
	{
		"INSERT OR", "ON CONFLICT", like(`(?i)\b(INSERT|UPDATE)\s+OR\s+\w+|\bREPLACE\s+INTO\b`),
		"INSERT OR IGNORE INTO t (a) VALUES (?)", "INSERT INTO t (a) VALUES (?) ON CONFLICT DO NOTHING",
	},
	{
		"max and min of two", "{greatest}", func(text string) string {
			return call(text, `(?i)\b(?:max|min)\(`, func(_, inner string) bool { return strings.Contains(flat(inner), ",") })
		},
		"UPDATE t SET a = max(coalesce(a, 0), ?)", "SELECT max(a) FROM t WHERE b IN (1, 2)",
	},
	{"ifnull and iif", "coalesce and CASE", like(`(?i)\b(ifnull|iif)\(`), "SELECT ifnull(a, 0)", "SELECT coalesce(a, 0)"},
	{
		"a sum of conditions", "count(*) FILTER (WHERE …)", func(text string) string {
			return call(text, `(?i)\bsum\(`, func(_, inner string) bool {
				return regexp.MustCompile(`[=<>]|\b(NOT|IS|IN|LIKE)\b|` + hole).MatchString(inner)
			})
		},
		"SELECT sum(a = 'x') FROM t", "SELECT count(*) FILTER (WHERE a = 'x') FROM t",
	},
	{
		"a sum of whole numbers of eight bytes", "CAST(… AS BIGINT): it is no whole number in PostgreSQL", func(text string) string {
			return call(text, `(?i)\bsum\(`, func(before, inner string) bool {
				return !strings.HasSuffix(before, "CAST(") && !strings.HasSuffix(before, "CAST(coalesce(") && !strings.Contains(inner, "length(")
			})
		},
		"SELECT coalesce(sum(a), 0) FROM t", "SELECT CAST(coalesce(sum(a), 0) AS BIGINT), sum(octet_length(b)) FROM t",
	},
	{
		"a flag that is compared with a number", "the flag by itself, and true and false", like(`(?i)\b([a-rt-z]\w*|s[a-su-z]\w*)\s*(=|<>)\s*[01]\b|\bWHEN [01]\b`),
		"UPDATE t SET expired = 1", "SELECT stop_seq FROM t WHERE NOT expired AND stop_seq = 0 AND n < 1",
	},
	{"JSON functions", "{elements column}", like(`(?i)\bjsonb?_\w+\(`), "SELECT 1 FROM json_each(tags)", "SELECT 1 FROM {elements tags}"},
	{
		"a subquery without a name", "AS name", func(text string) string {
			return call(text, `(?i)\bFROM \(`, func(_, inner string) bool { return regexp.MustCompile(`(?i)^\s*SELECT\b|^` + hole).MatchString(inner) }, `^\)\s+(AS\s+)?[a-z]\w*`)
		},
		"SELECT a FROM (SELECT a FROM t LIMIT ?) WHERE a > 1", "SELECT a FROM (SELECT a FROM t LIMIT ?) AS latest WHERE a > 1",
	},
	{"INDEXED BY", "{indexed by index}", like(`\bINDEXED\b`), "SELECT 1 FROM t INDEXED BY t_a", "SELECT 1 FROM t {indexed by t_a}"},
	{"a sign that keeps an index away", "{unindexed}", like(`\+[a-z]\w*`), "WHERE +status = 'a'", "WHERE {unindexed}status = 'a' AND n + 1 > m"},
	{"COLLATE", "lower, and an index on it", like(`(?i)\bCOLLATE\b`), "WHERE name = ? COLLATE NOCASE", "WHERE lower(name) = lower(?)"},
	{
		"LIKE that minds the case in one database", "{like}, or a column that is folded", func(text string) string {
			for _, found := range regexp.MustCompile(`(\S+) (?:NOT )?LIKE\b`).FindAllStringSubmatch(text, -1) {
				if found[1] != "folded" {
					return found[0]
				}
			}
			return ""
		},
		"WHERE title LIKE ?", "WHERE title {like} ? OR folded LIKE ?",
	},
	{
		"bytes that are no text", "the text behind the prefix", func(text string) string {
			if utf8.ValidString(text) {
				return ""
			}
			return strconv.Quote(text)
		},
		"lesson.\xff", "lesson/",
	},
	{"SQLite's own tables", "{last table}", like(`(?i)\bsqlite_\w+`), "SELECT seq FROM sqlite_sequence", "SELECT {last messages}"},
	{
		"SQLite's own functions", "{position}, or what both have",
		like(`(?i)\b(instr|strftime|julianday|unixepoch|printf|group_concat|total|typeof|last_insert_rowid|changes|char|hex|likely|unlikely)\(`),
		"WHERE instr(title, ?) > 0", "WHERE {position}(title, ?) > 0",
	},
	{"SQLite's own words", "nothing", like(`\b(rowid|GLOB|REGEXP|PRAGMA|AUTOINCREMENT)\b`), "SELECT rowid FROM t", "SELECT num FROM t"},
	{"INTEGER of a CAST", "BIGINT: it has four bytes in PostgreSQL", like(`(?i)\bAS INTEGER\b`), "CAST(ref AS INTEGER)", "CAST(ref AS BIGINT)"},
	{
		"a column of an upsert without its table", "table.column: it may be the row's or excluded's", func(text string) string {
			_, sets, upsert := strings.Cut(text, "DO UPDATE SET ")
			if !upsert {
				return ""
			}
			sets, _, _ = strings.Cut(sets, " RETURNING ")
			sets, where, _ := strings.Cut(sets, " WHERE ")
			values := regexp.MustCompile(`(^|,\s*)[\w`+hole+`]+ = `).ReplaceAllString(sets, ", ")
			if found := like(`[^.\w{][a-z]\w*([^\w.(}]|$)`)(values); found != "" {
				return found
			}
			return like(`^[a-z_]+\b[^.]`)(where)
		},
		"INSERT INTO t (k, n) VALUES (?, 1) ON CONFLICT (k) DO UPDATE SET m = excluded.m, n = n + 1", "INSERT INTO t (k, n) VALUES (?, 1) ON CONFLICT (k) DO UPDATE SET n = t.n + excluded.n, m = excluded.m WHERE t.m IS NULL RETURNING n",
	},
}

// like finds what fits a regular expression.
func like(pattern string) func(string) string { return regexp.MustCompile(pattern).FindString }

// call finds a call, or whatever stands in parentheses, by how it begins and what stands before it and in it. One
// that is followed by what fits allowed is none.
func call(text, begins string, refused func(before, inner string) bool, allowed ...string) string {
	for _, at := range regexp.MustCompile(begins).FindAllStringIndex(text, -1) {
		depth := 1
		for i := at[1]; i < len(text); i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth > 0 {
				continue
			}
			fine := slices.ContainsFunc(allowed, func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text[i:]) })
			if !fine && refused(text[:at[0]], text[at[1]:i]) {
				return text[at[0] : i+1]
			}
			break
		}
	}
	return ""
}

// flat is a text without what stands in parentheses.
func flat(text string) string {
	var out strings.Builder
	depth := 0
	for _, c := range text {
		if c == ')' {
			depth--
		}
		if depth == 0 {
			out.WriteRune(c)
		}
		if c == '(' {
			depth++
		}
	}
	return out.String()
}

// TestSQL holds the stores to SQL that both databases understand, but for the words of the dialect (internal/database/dialect.go).
func TestSQL(t *testing.T) {
	read := 0
	walk(t, func(file string) {
		if !slices.Contains(stores, path.Dir(file)) || strings.HasSuffix(file, "_test.go") {
			return
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var visit func(node ast.Node) bool
		visit = func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.SelectorExpr:
				if node.Sel.Name == "LastInsertId" {
					t.Errorf("%s: LastInsertId: write RETURNING", positions.Position(node.Pos()))
				}
			case ast.Expr:
				var parts []ast.Expr
				text := textOf(node, &parts)
				if text == hole {
					return true
				}
				read++
				for _, c := range constructs {
					if found := c.find(text); found != "" {
						t.Errorf("%s: %s: %q: write %s", positions.Position(node.Pos()), c.name, found, c.instead)
					}
				}
				for _, part := range parts { // texts may stand within them
					ast.Inspect(part, visit)
				}
				return false
			}
			return true
		}
		ast.Inspect(parsed, visit)
	})
	if read < 500 {
		t.Errorf("only %d texts were read: the walk is broken", read)
	}
}

// TestSQLRefuses is the negative control: each construct is found where it stands, and what takes its place is none.
func TestSQLRefuses(t *testing.T) {
	for _, c := range constructs {
		t.Run(c.name, func(t *testing.T) {
			if c.find(c.bad) == "" {
				t.Errorf("%q is taken", c.bad)
			}
			for _, other := range constructs {
				if found := other.find(c.good); found != "" {
					t.Errorf("%q is refused for %s: %q", c.good, other.name, found)
				}
			}
		})
	}
}

// textOf is the text that an expression joins of literals, with a hole for each other part, which parts gathers.
func textOf(node ast.Expr, parts *[]ast.Expr) string {
	switch node := node.(type) {
	case *ast.BasicLit:
		if node.Kind == token.STRING {
			text, _ := strconv.Unquote(node.Value) // the parser took it
			return text
		}
	case *ast.BinaryExpr:
		if node.Op == token.ADD {
			return textOf(node.X, parts) + textOf(node.Y, parts)
		}
	}
	*parts = append(*parts, node)
	return hole
}

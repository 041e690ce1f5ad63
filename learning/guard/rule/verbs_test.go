package rule_test

import (
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// guardOf is a guard with one critical rule and the built-in ones.
func guardOf(t *testing.T, title string, commands ...string) *rule.Guard {
	t.Helper()
	r := guardRule(t, rule.RuleDraft{ID: "verb", Title: title, Commands: commands, Severity: learning.SeverityCritical, Confidence: 1})
	return rule.New([]*rule.Rule{r}, rule.NewSimilarByWords())
}

// TestGuardVerbAlone (finding S3): a rule whose command is a verb of SQL without
// an object stood as active and blocking, and fitted nothing.
func TestGuardVerbAlone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		title, command string
		does           string // a statement that it means
		not            []string
	}{
		{"Never drop tables", "DROP TABLE", "DROP TABLE users", []string{"DROP VIEW users", "ALTER TABLE users DROP COLUMN age", "CREATE TABLE users (id int)", "DROP INDEX users_idx", "SELECT 1"}},
		{"Never drop a schema", "drop schema", "DROP SCHEMA audit CASCADE", []string{"DROP TABLE audit", "CREATE SCHEMA audit", "SET search_path TO audit"}},
		{"Never drop a database", "DROP DATABASE", "DROP DATABASE shop", []string{"DROP TABLE shop", "CREATE DATABASE shop"}},
		{"Never empty a table", "TRUNCATE", "TRUNCATE TABLE orders", []string{"SELECT * FROM orders", "DELETE FROM orders WHERE id = 7"}},
		{"Never empty a table", "TRUNCATE TABLE;", "TRUNCATE orders", []string{"INSERT INTO orders VALUES (1)"}},
		{"Never delete all rows", "DELETE FROM", "DELETE FROM orders", []string{"SELECT * FROM deleted", "TRUNCATE orders"}},
		{"Never delete by hand in psql", "psql -c 'DELETE FROM'", "DELETE FROM sessions", []string{"DROP TABLE sessions"}},
	} {
		t.Run(tc.command, func(t *testing.T) {
			t.Parallel()
			guard := guardOf(t, tc.title, tc.command)
			wrapped := func(sql string) []string {
				return []string{
					sql + ";",
					fmt.Sprintf(`psql -h db.local shop -c "%s"`, sql),
					fmt.Sprintf(`mysql -u root shop -e '%s;'`, sql),
					fmt.Sprintf(`mariadb shop --execute="%s"`, sql),
					fmt.Sprintf(`sqlite3 app.db "%s"`, sql),
					fmt.Sprintf("psql shop <<EOF\nBEGIN;\n%s;\nCOMMIT;\nEOF", sql),
					fmt.Sprintf("echo '%s' | mysql shop", sql),
					fmt.Sprintf(`docker exec -i db psql -U app -c "%s"`, sql),
					fmt.Sprintf(`ssh db1 "psql -c \"%s\""`, sql),
					fmt.Sprintf(`python3 -c "import sqlite3; sqlite3.connect('app.db').execute('%s')"`, sql),
					fmt.Sprintf(`bash -c "psql -c '%s'"`, sql),
				}
			}
			for _, action := range wrapped(tc.does) {
				if v := guard.Check(t.Context(), rule.Action{Command: action}); v.Decision != rule.DecisionBlock {
					t.Errorf("%q: %s %+v", action, v.Decision, v.Matches)
				}
			}
			for _, sql := range tc.not {
				for _, action := range wrapped(sql) {
					if v := guard.Check(t.Context(), rule.Action{Command: action}); v.Decision == rule.DecisionBlock {
						t.Errorf("%q is blocked: %+v", action, v.Matches)
					}
				}
			}
			for _, action := range []string{
				fmt.Sprintf(`echo "%s"`, tc.does),
				fmt.Sprintf(`grep -rn "%s" migrations/`, tc.does),
				fmt.Sprintf(`git commit -m "Explain why %s is never to be run"`, tc.does),
				fmt.Sprintf(`echo "-- %s" >> notes.sql`, tc.does),
				fmt.Sprintf(`psql -c "SELECT '%s'"`, tc.does),
				fmt.Sprintf(`psql -c "EXPLAIN %s"`, "SELECT 1"),
				"truncate -s 0 app.log", "drop the table in the meeting notes", "ls",
			} {
				if v := guard.Check(t.Context(), rule.Action{Command: action}); v.Decision == rule.DecisionBlock {
					t.Errorf("%q is blocked: %+v", action, v.Matches)
				}
			}
		})
	}
	guard := guardOf(t, "Never drop tables", "DROP TABLE")
	for action, want := range map[string]rule.Decision{
		"SELECT 1; DROP TABLE invoices":                   rule.DecisionBlock,
		"DROP TABLE IF EXISTS a, b CASCADE":               rule.DecisionBlock,
		"DROP TEMPORARY TABLE scratch":                    rule.DecisionWarn,
		"Drop table support from the docs":                rule.DecisionWarn,
		"select x in a b; do echo $x; done":               rule.DecisionAllow,
		`psql -c "DROP TABLE \"$name\""`:                  rule.DecisionBlock,
		`psql -c "COMMENT ON TABLE a IS 'DROP TABLE a;'"`: rule.DecisionAllow,
	} {
		if v := guard.Check(t.Context(), rule.Action{Command: action}); v.Decision != want {
			t.Errorf("%q: %s, not %s: %+v", action, v.Decision, want, v.Matches)
		}
	}
}

// TestGuardDataBelow (finding S9u): the built-in rule on data folders knew /data
// and let pass what lies in it.
func TestGuardDataBelow(t *testing.T) {
	t.Parallel()
	guard := rule.New(rule.Builtins(), rule.NewSimilarByWords())
	for action, want := range map[string]rule.Decision{
		"rm -rf /data":                     rule.DecisionBlock,
		"rm -rf /data/postgres":            rule.DecisionBlock,
		"sudo rm -r /data/customers/":      rule.DecisionBlock,
		"rm -rf /data/postgres/base":       rule.DecisionBlock,
		"rm -rf /srv/data/mysql":           rule.DecisionBlock,
		"find /data/uploads -delete":       rule.DecisionBlock,
		"rm -rf /mnt/data/redis":           rule.DecisionBlock,
		"rm -rf /data/*":                   rule.DecisionBlock,
		"rm -rf /data/tmp":                 rule.DecisionAllow,
		"rm -rf /data/postgres/tmp":        rule.DecisionAllow,
		"rm -f /data/import/today.csv":     rule.DecisionAllow,
		"rm -f /data/*.log":                rule.DecisionAllow,
		"rm -rf /data/app/runs/2026-01-01": rule.DecisionAllow,
		"rm -rf /mnt/data/run-17":          rule.DecisionAllow,
		"rm -rf ./data/fixtures":           rule.DecisionAllow,
		"rm -rf /database-notes":           rule.DecisionAllow,
		"ls -la /data/postgres":            rule.DecisionAllow,
	} {
		if v := guard.Check(t.Context(), rule.Action{Command: action}); v.Decision != want {
			t.Errorf("%q: %s, not %s: %+v", action, v.Decision, want, v.Matches)
		}
	}
}

package app_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
	learningstore "skillrouter/learning/store"
)

// ledgerRows is how many checks and tasks a ledger for these tests has at least: more than one signed head in the database covers.
const ledgerRows = 12

// keepLedger lets a router write checks, the outcome of one, and tasks into a data folder, and ends it.
func keepLedger(t *testing.T, data string, options app.Options, during ...func(post func(path string, body any) map[string]any)) {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.Listen = data, "127.0.0.1:0"
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	post := func(path string, body any) map[string]any {
		t.Helper()
		text, _ := json.Marshal(body)
		answer, err := http.Post(a.URL()+path, "application/json", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		raw, _ := io.ReadAll(answer.Body)
		var got map[string]any
		if answer.StatusCode/100 != 2 || json.Unmarshal(raw, &got) != nil {
			t.Fatalf("%s %s %s", path, answer.Status, raw)
		}
		return got
	}
	for i := range ledgerRows {
		command := fmt.Sprint("ls ", i)
		if i%3 == 0 {
			command = "git reset --hard && rm -rf /"
		}
		check := post("/check/anti-pattern", map[string]any{"proposed_action": command, "agent": "a", "project": "p"})
		if i == 3 {
			post("/check/outcome", map[string]any{"check_id": check["check_id"], "outcome": "heeded", "agent": "a"})
		}
		post("/api/tasks", map[string]any{"title": fmt.Sprint("Task ", i), "project": "p"})
	}
	for _, do := range during {
		do(post)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// verified looks a data folder through.
func verified(t *testing.T, data string) app.Verification {
	t.Helper()
	found, err := app.VerifyFolder(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// faultsOf are the faults that were found, as "database table number what".
func faultsOf(found app.Verification) (list []string) {
	for _, c := range found.Ledger {
		for _, f := range c.Faults {
			to := ""
			if f.To > f.Number {
				to = fmt.Sprintf("-%d", f.To)
			}
			list = append(list, fmt.Sprintf("%s %s %d%s %s", c.Database, c.Table, f.Number, to, f.What))
		}
	}
	return list
}

func copied(t *testing.T, data string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chmod(path, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLedgerNamesWhatWasAltered changes a ledger by SQL in every way, and has verify name the rows.
func TestLedgerNamesWhatWasAltered(t *testing.T) {
	data := t.TempDir()
	keepLedger(t, data, app.Options{})
	if found := verified(t, data); !found.OK || len(found.Ledger) != 3 || len(found.Notes) > 0 {
		t.Fatalf("%+v", found)
	} else {
		for _, c := range found.Ledger {
			if c.Rows < ledgerRows/3 || c.First != 1 || c.Last != c.Rows || c.Signed != c.Last {
				t.Errorf("%+v", c)
			}
		}
	}
	const swap = `UPDATE events SET type = o.type, subject = o.subject, agent_id = o.agent_id, project = o.project, at = o.at, data = o.data
		FROM (SELECT * FROM events WHERE seq IN (4, 5)) AS o WHERE o.seq = 9 - events.seq`
	cases := []struct {
		name, database string
		statements     []string
		want           []string // some of these rows are named, and none besides that is not in allowed
	}{
		{"one deleted", "learning", []string{"DELETE FROM checks WHERE num = 5"}, []string{"learning checks 5 missing"}},
		{"a range deleted", "operational", []string{"DELETE FROM events WHERE seq BETWEEN 3 AND 6"}, []string{"operational events 3-6 missing"}},
		{"the oldest deleted", "learning", []string{"DELETE FROM checks WHERE num <= 4", "DELETE FROM check_matches WHERE check_num <= 4"}, []string{"learning checks 1-4 missing"}},
		{"the newest deleted", "learning", []string{"DELETE FROM checks WHERE num >= 11"}, []string{"learning checks 11-12 missing"}},
		{"the newest deleted, with their heads", "learning", []string{"DELETE FROM checks WHERE num >= 11", "DELETE FROM ledger_marks"}, []string{"learning checks 11-12 missing"}},
		{"contents swapped", "operational", []string{swap}, []string{"operational events 4 moved", "operational events 5 moved"}},
		{"rows swapped", "operational", []string{"UPDATE events SET seq = -seq WHERE seq IN (4, 5)", "UPDATE events SET seq = 9 + seq WHERE seq < 0"}, []string{"operational events 4 moved", "operational events 5 moved"}},
		{"far rows swapped", "operational", []string{"UPDATE events SET seq = -seq WHERE seq IN (3, 8)", "UPDATE events SET seq = 11 + seq WHERE seq < 0"}, []string{"operational events 3 moved", "operational events 8 moved"}},
		{"one inserted", "operational", []string{"INSERT INTO events (type, subject, at) VALUES ('x', 'y', 0)"}, []string{"operational events 13 changed"}},
		{"a link changed", "operational", []string{"UPDATE events SET link = zeroblob(32) WHERE seq = 6"}, []string{"operational events 6 relinked"}},
		{"links taken away", "operational", []string{"UPDATE events SET link = NULL"}, []string{"operational events 1 changed"}},
		{"a cut that nobody made", "learning", []string{"DELETE FROM checks WHERE num <= 4", "DELETE FROM check_matches WHERE check_num <= 4", "INSERT INTO ledger_marks SELECT chain, 'cut', 4, hash, since, at, key, signature FROM ledger_marks WHERE chain = 'checks' LIMIT 1"}, []string{"learning checks 4 mark", "learning checks 1-4 missing"}},
		{"a start that nobody made", "operational", []string{"INSERT INTO ledger_marks SELECT chain, 'start', number, hash, since, at, key, signature FROM ledger_marks LIMIT 1"}, []string{"operational events 12 mark"}},
		{"a head changed", "operational", []string{"UPDATE ledger_marks SET at = at + 1"}, []string{"operational events 12 mark"}},
		{"a match deleted", "learning", []string{"DELETE FROM check_matches WHERE check_num = 4"}, []string{"learning checks 4 changed"}},
		{"an outcome made up", "learning", []string{"UPDATE checks SET outcome = 'heeded', outcome_at = 1 WHERE num = 7"}, []string{"learning checks 7 outcome"}},
	}
	for _, c := range []struct{ database, table, number, where string }{
		{"learning", "events", "seq", "seq = 3"}, {"operational", "events", "seq", "seq = 3"}, {"learning", "checks", "num", "num = 4"}, {"learning", "check_matches", "check_num", "check_num = 4"},
	} {
		db := openReadOnly(t, data, c.database)
		for _, column := range column[string](t, db, "SELECT name || ' ' || type FROM pragma_table_info('"+c.table+"')") {
			name, kind, _ := strings.Cut(column, " ")
			set := map[string]string{"TEXT": name + " || 'x'", "INTEGER": name + " + 1", "REAL": name + " / 2"}[kind]
			table, what := c.table, "changed"
			switch name {
			case "seq", "num", "check_num", "link", "outcome_notes": // the numbers and links have cases of their own; notes of an outcome are not chained
				continue
			case "decision":
				set = "'allow'"
			case "severity":
				set = "'low'"
			case "lane":
				set = "'similarity'"
			case "blocks":
				set = "1 - blocks"
			case "data":
				set = "NULL"
			case "outcome", "result":
				set, what = map[string]string{"outcome": "'overridden'", "result": "'failure'"}[name], "outcome"
			case "outcome_by", "outcome_at":
				what = "outcome"
			}
			if table == "check_matches" {
				table = "checks"
			}
			cases = append(cases, struct {
				name, database string
				statements     []string
				want           []string
			}{
				c.database + " " + c.table + "." + name, c.database,
				[]string{"PRAGMA ignore_check_constraints = 1", fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s", c.table, name, set, c.where)},
				[]string{fmt.Sprintf("%s %s %s %s", c.database, table, c.where[len(c.where)-1:], what)},
			})
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := copied(t, data)
			path := filepath.Join(dir, c.database+".db")
			edit(t, path, append([]string{"PRAGMA foreign_keys = 0"}, c.statements...)...)
			found := verified(t, dir)
			got := faultsOf(found)
			if found.OK {
				t.Fatal("nothing was noticed")
			}
			for _, want := range c.want {
				if !slices.Contains(got, want) && !slices.ContainsFunc(found.Problems, func(p string) bool { return strings.Contains(p, "gone") }) {
					t.Errorf("%q is not named: %q %q", want, got, found.Problems)
				}
			}
			for _, g := range got { // who is named is to blame, or follows who is
				if c.name == "links taken away" || strings.HasPrefix(c.name, "learning events.") && strings.HasSuffix(g, " outcome") {
					continue // all are, and what an event no longer says came of a check
				}
				if !slices.Contains(c.want, g) && !strings.HasPrefix(g, strings.Join(strings.Fields(c.want[0])[:2], " ")) {
					t.Errorf("%q is named", g)
				}
			}
		})
	}
}

// rechain computes links anew from a row on, as somebody does who knows the code and not the key.
func rechain(t *testing.T, path string, from int64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := app.RechainForTest(t.Context(), db, from); err != nil {
		t.Fatal(err)
	}
}

// TestLedgerIsSigned: who computes the links anew is found by the heads, who puts an older copy back by what is noted beside it, and
// another key by its name.
func TestLedgerIsSigned(t *testing.T) {
	data := t.TempDir()
	keepLedger(t, data, app.Options{})
	older := copied(t, data)
	keepLedger(t, data, app.Options{})

	t.Run("links computed anew", func(t *testing.T) {
		dir := copied(t, data)
		path := filepath.Join(dir, "operational.db")
		edit(t, path, "UPDATE events SET subject = 'other' WHERE seq = 7")
		rechain(t, path, 7)
		if got := faultsOf(verified(t, dir)); !slices.Contains(got, "operational events 1-12 rewritten") {
			t.Errorf("%q", got)
		}
	})
	t.Run("links computed anew, and heads removed", func(t *testing.T) {
		dir := copied(t, data)
		path := filepath.Join(dir, "operational.db")
		edit(t, path, "UPDATE events SET subject = 'other' WHERE seq = 7", "DELETE FROM ledger_marks")
		rechain(t, path, 7)
		if got := faultsOf(verified(t, dir)); !slices.Contains(got, "operational events 1-24 rewritten") {
			t.Errorf("%q", got)
		}
		keepLedger(t, dir, app.Options{}) // the next start notices it too, before it signs
		if lost, err := app.Losses(dir); err != nil || len(lost) == 0 || !strings.Contains(lost[0], "rewritten") {
			t.Errorf("%q %v", lost, err)
		}
	})
	t.Run("an older copy", func(t *testing.T) {
		dir := copied(t, data)
		for _, name := range []string{"learning.db", "operational.db"} {
			text, err := os.ReadFile(filepath.Join(older, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_ = os.Remove(filepath.Join(dir, "high-water"))
		if got := faultsOf(verified(t, dir)); !slices.Contains(got, "operational events 13-24 missing") || !slices.Contains(got, "learning checks 13-24 missing") {
			t.Errorf("%q", got)
		}
		keepLedger(t, dir, app.Options{})
		if lost, err := app.Losses(dir); err != nil || !slices.ContainsFunc(lost, func(l string) bool { return strings.Contains(l, "12 of checks, and 24 had been stored") }) {
			t.Errorf("%q %v", lost, err)
		}
	})
	t.Run("another key", func(t *testing.T) {
		dir := copied(t, data)
		if err := os.WriteFile(filepath.Join(dir, "guard.key"), []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := faultsOf(verified(t, dir)); !slices.Contains(got, "operational events 24 mark") {
			t.Errorf("%q", got)
		}
	})
	t.Run("the folder moves", func(t *testing.T) { // the databases without what is beside them
		dir := t.TempDir()
		for _, name := range []string{"learning.db", "operational.db"} {
			text, err := os.ReadFile(filepath.Join(data, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if found := verified(t, dir); !found.OK || !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "the key is not here") }) {
			t.Errorf("%+v", found)
		}
		keepLedger(t, dir, app.Options{})
		if found := verified(t, dir); !found.OK || !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "another key") }) {
			t.Errorf("%+v %+v", found, faultsOf(found))
		}
	})
	t.Run("a damaged file of heads", func(t *testing.T) {
		dir := copied(t, data)
		if err := os.WriteFile(filepath.Join(dir, "learning.head"), []byte("events 3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := verified(t, dir); found.OK || !strings.Contains(strings.Join(found.Altered, " "), "learning.head is damaged") {
			t.Errorf("%+v", found)
		}
	})
}

// TestLedgerOfBefore: rows of before the migration are said to be nobody's to verify, and the chain begins behind them.
func TestLedgerOfBefore(t *testing.T) {
	data := t.TempDir()
	keepLedger(t, data, app.Options{})
	for name, steps := range map[string]string{"learning": "27, 28, 29, 30", "operational": "13, 14, 15, 16"} {
		path := filepath.Join(data, name+".db")
		statements := []string{"DROP TABLE ledger_marks", "ALTER TABLE events DROP COLUMN link", "DELETE FROM goose_db_version WHERE version_id IN (" + steps + ")"}
		if name == "learning" {
			statements = append(statements, "ALTER TABLE checks DROP COLUMN link", "DROP TABLE guard_team_packs", "DROP TABLE guard_project_packs", "DROP TABLE replays",
				"DROP INDEX lessons_project", "DROP INDEX lessons_raised", "DROP INDEX lessons_settled", "DROP INDEX lessons_listed", "CREATE INDEX lesson_recipients_lesson ON lesson_recipients(lesson_num)",
				"CREATE INDEX lessons_project ON lessons(project)", "CREATE INDEX lessons_applicable ON lessons(num, title, contexts, pattern_id, initial_confidence, decay_constant, confidence_at)\n    WHERE status <> 'retired' OR deprecated", "CREATE INDEX lessons_status ON lessons(status)",
				"CREATE INDEX lessons_level ON lessons(level)", "CREATE INDEX lessons_severity ON lessons(severity)")
		} else { // of after it
			statements = append(statements, "DROP TABLE tellings", "DROP TABLE told_days", "DROP TABLE figures")
		}
		edit(t, path, statements...)
		_ = os.Remove(filepath.Join(data, name+".head"))
	}
	if found := verified(t, data); !found.OK || len(found.Ledger) > 0 || len(found.Notes) != 2 {
		t.Errorf("%+v", found)
	}
	keepLedger(t, data, app.Options{})
	found := verified(t, data)
	if !found.OK || len(found.Ledger) != 3 {
		t.Fatalf("%+v", found)
	}
	for _, c := range found.Ledger {
		if c.Before == 0 || c.First != c.Before+1 || c.Last <= c.Before {
			t.Errorf("%+v", c)
		}
	}
	edit(t, filepath.Join(data, "learning.db"), "UPDATE checks SET action = 'x' WHERE num = 20")
	if got := faultsOf(verified(t, data)); !slices.Contains(got, "learning checks 20 changed") {
		t.Errorf("%q", got)
	}
}

// TestLedgerForgets: a secret that redact cuts out leaves no altered row, but says so, and a row that had been altered stays one.
func TestLedgerForgets(t *testing.T) {
	data := t.TempDir()
	keepLedger(t, data, app.Options{})
	db, err := app.OpenDatabase(t.Context(), data, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx) }()
	store := learningstore.New(db.Read, db.Commit)
	secret := "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" // as a version before stored it
	add := func(id string) {
		err := store.Change(t.Context(), func(tx lesson.PipelineTx) error {
			return tx.AddChecks(lesson.CheckRecord{
				ID: id, Agent: "a", Action: "curl -H 'Authorization: " + secret + "'", Decision: rule.DecisionWarn, At: time.Now(),
				Matches: []rule.Match{{RuleID: "r1", Title: "t", Severity: "low", Lane: rule.LaneSimilarity, Reason: "like " + secret}},
			})
		}, nil)()
		if err != nil {
			t.Fatal(err)
		}
	}
	add("one")
	add("two")
	stop()
	if err := errors.Join(<-ended, db.Close()); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(data, "learning.db"), "UPDATE checks SET decision = 'allow' WHERE id = 'two'")
	if got := faultsOf(verified(t, data)); !slices.Equal(got, []string{"learning checks 14 changed"}) {
		t.Fatalf("%q", got)
	}
	for range 2 {
		if _, err := app.RedactFolder(t.Context(), data, true); err != nil {
			t.Fatal(err)
		}
	}
	if files := filesWith(t, data, secret); len(files) > 0 {
		t.Errorf("the secret is in %q", files)
	}
	found := verified(t, data)
	if got := faultsOf(found); !slices.Equal(got, []string{"learning checks 14 changed"}) {
		t.Errorf("%q", got)
	}
	for _, c := range found.Ledger {
		if want := int64(0); c.Table == "checks" {
			if want = 1; c.Forgotten != want {
				t.Errorf("%+v", c)
			}
		}
	}
	edit(t, filepath.Join(data, "learning.db"), "UPDATE checks SET action = 'ls' WHERE id = 'one'")
	if got := faultsOf(verified(t, data)); !slices.Contains(got, "learning checks 13 changed") {
		t.Errorf("a forgotten row that was changed: %q", got)
	}
}

// TestLedgerSurvives backup, restore and retention.
func TestLedgerSurvives(t *testing.T) {
	data := t.TempDir()
	keepLedger(t, data, app.Options{})
	archive := backupOf(t, data, app.BackupOptions{})
	if found, err := app.VerifyArchive(t.Context(), bytes.NewReader(archive), t.TempDir()); err != nil || !found.OK || len(found.Ledger) != 3 {
		t.Errorf("%+v %v", found, err)
	}
	keepLedger(t, data, app.Options{})
	restored, err := app.Restore(t.Context(), bytes.NewReader(archive), data, app.RestoreOptions{Force: true})
	if err != nil || !restored.OK {
		t.Fatalf("%+v %v", restored, err)
	}
	told := func() {
		t.Helper()
		found := verified(t, data)
		if !found.OK || !slices.ContainsFunc(found.Notes, func(n string) bool {
			return strings.Contains(n, "put back") && strings.Contains(n, "learning.db checks at 24")
		}) {
			t.Errorf("%+v %q", found, faultsOf(found))
		}
	}
	told()
	keepLedger(t, data, app.Options{})
	told()

	later := func() time.Time { return time.Now().Add(400 * 24 * time.Hour) }
	keepLedger(t, data, app.Options{Now: later})
	found := verified(t, data)
	for _, c := range found.Ledger {
		if c.Table == "checks" && (c.First != 25 || c.Rows != ledgerRows) {
			t.Errorf("%+v", c)
		}
	}
	if !found.OK {
		t.Errorf("%+v %q", found, faultsOf(found))
	}
	edit(t, filepath.Join(data, "learning.db"), "DELETE FROM checks WHERE num = 25", "DELETE FROM check_matches WHERE check_num = 25")
	if got := faultsOf(verified(t, data)); !slices.Contains(got, "learning checks 25 missing") {
		t.Errorf("%q", got)
	}
}

// BenchmarkVerifyLedger follows chains of events and of checks.
func BenchmarkVerifyLedger(b *testing.B) {
	for _, rows := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			data := b.TempDir()
			write := ledgerOf(b, data)
			for range rows / 2 / 1000 {
				write(1000)
			}
			write(0)
			for b.Loop() {
				found, err := app.VerifyLedgerForTest(b.Context(), data)
				if err != nil || !found.OK {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkWriteLedger writes a check that warns, with its event, a transaction each.
func BenchmarkWriteLedger(b *testing.B) {
	write := ledgerOf(b, b.TempDir())
	for b.Loop() {
		write(1)
	}
	write(0)
}

// ledgerOf opens the database of a ledger, and returns what writes so many checks and events to it at once; none: that is all.
func ledgerOf(b *testing.B, data string) (write func(n int)) {
	db, err := app.OpenDatabase(b.Context(), data, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Commit.Run(ctx) }()
	store := learningstore.New(db.Read, db.Commit)
	id := 0
	return func(n int) {
		if n == 0 {
			stop()
			if err := errors.Join(<-ended, db.Close()); err != nil {
				b.Fatal(err)
			}
			return
		}
		checks, events := make([]lesson.CheckRecord, n), make([]skillrouter.Event, n)
		for i := range checks {
			id++
			checks[i] = lesson.CheckRecord{
				ID: fmt.Sprintf("01a2aaaa-0000-7000-8000-%012d", id), Agent: "claude-code:amber-fox", Project: "shop", Tool: "Bash", Action: fmt.Sprint("git push --force origin topic-", id), Decision: rule.DecisionWarn, At: time.Now(),
				Notes: []string{}, Matches: []rule.Match{{RuleID: "pack:core:git.publish", Title: "Overwriting what others have pulled", Severity: "high", Lane: rule.LaneDeterministic, Reason: "git push --force", Confidence: 0.9}},
			}
			events[i] = skillrouter.Event{Type: lesson.EventActionChecked, Subject: checks[i].ID, Agent: checks[i].Agent, Project: "shop", At: time.Now(), Data: json.RawMessage(`{"decision":"warn","rule_ids":["pack:core:git.publish"]}`)}
		}
		err := store.Change(b.Context(), func(tx lesson.PipelineTx) error { return errors.Join(tx.AddChecks(checks...), tx.AddEvents(events...)) }, nil)()
		if err != nil {
			b.Fatal(err)
		}
	}
}

package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/glebarez/go-sqlite" // opens what the router left
)

// fate is what a writer knows of a write.
type fate int

const (
	unanswered   fate = iota // it happened, or it did not
	acknowledged             // it happened
	refused                  // it was answered with an error
)

// row is one write of an adding, as its writer knows it.
type row struct {
	marker, id string
	writer, n  int
	fate       fate
	at         time.Time // of the acknowledgement
}

// value is what is under a key of a setting, as its only writer knows it.
type value struct {
	known  string // the last that was acknowledged
	unsaid string // one that was sent and not acknowledged; "": none
}

// model is what the router said that it had stored.
type model struct {
	mu     sync.Mutex
	rows   map[string]map[string]*row   // by adding and marker
	values map[string]map[string]*value // by setting and key
	gone   time.Time                    // what was acknowledged a while before is there
}

func newModel() *model {
	m := &model{rows: map[string]map[string]*row{}, values: map[string]map[string]*value{}}
	for _, a := range addings {
		m.rows[a.name] = map[string]*row{}
	}
	for _, s := range settings {
		m.values[s.name] = map[string]*value{}
	}
	return m
}

func (m *model) sent(a adding, marker string, writer, n int) *row {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &row{marker: marker, writer: writer, n: n}
	m.rows[a.name][marker] = r
	return r
}

func (m *model) answered(r *row, f fate, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.fate, r.id, r.at = f, id, time.Now()
}

func (m *model) value(s setting, key string) *value {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.values[s.name][key]
	if v == nil {
		v = &value{}
		m.values[s.name][key] = v
	}
	return v
}

// set notes what became of a write of the value.
func (m *model) set(v *value, to string, f fate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v.unsaid = to; f == acknowledged {
		v.known, v.unsaid = to, ""
	}
}

// ended notes that the router is gone at a time. What it acknowledged just
// before may lag; a clean stop leaves nothing unwritten, and says so by a
// time far ahead; zero is for a disk that failed, after which all of it may be gone.
func (m *model) ended(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = at
}

// acknowledgements counts what the router said it had stored.
func (m *model) acknowledgements() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, rows := range m.rows {
		for _, r := range rows {
			if r.fate == acknowledged {
				n++
			}
		}
	}
	return n
}

// check compares the databases in the folder with what was acknowledged. What
// was not answered is from then on as it is found. No load may run meanwhile.
func (m *model) check(ctx context.Context, data string, out *result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, database := range []string{"learning", "operational"} {
		db, err := openDatabase(data, database)
		if err != nil {
			return err
		}
		if err := m.checkDatabase(ctx, db, database, out); err != nil {
			out.fault("%s.db cannot be read: %v", database, err)
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	return nil
}

func openDatabase(data, name string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.Join(data, name+".db")+"?mode=ro&_pragma=busy_timeout(5000)")
}

func (m *model) checkDatabase(ctx context.Context, db *sql.DB, database string, out *result) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		out.fault("%s.db: integrity_check says %q, %v", database, verdict, err)
	}
	var broken int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil || broken > 0 {
		out.fault("%s.db: %d foreign keys lead nowhere, %v", database, broken, err)
	}
	for _, a := range addings {
		if a.database == database {
			if err := m.checkAdding(ctx, db, a, out); err != nil {
				return err
			}
		}
	}
	for _, s := range settings {
		if s.database == database {
			if err := m.checkSetting(ctx, db, s, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// found is a row as the database has it.
type found struct {
	id     string
	number int64
}

func (m *model) checkAdding(ctx context.Context, db *sql.DB, a adding, out *result) error {
	rows, err := db.QueryContext(ctx, a.rows+" ORDER BY 3")
	if err != nil {
		return fmt.Errorf("%s: %w", a.name, err)
	}
	defer rows.Close()
	there := map[string]found{}
	last := map[int]*row{} // by writer
	for rows.Next() {
		var marker string
		var f found
		if err := rows.Scan(&marker, &f.id, &f.number); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		r := m.rows[a.name][marker]
		switch before, twice := there[marker]; {
		case twice:
			out.fault("%s: %q is there twice, as %s and %s", a.name, marker, before.id, f.id)
		case r == nil:
			out.fault("%s: %q is there, and nobody sent it", a.name, marker)
		default:
			if l := last[r.writer]; l != nil && l.n > r.n && a.mayLag == 0 {
				out.fault("%s: %q stands before %q, which was sent earlier", a.name, l.marker, marker)
			}
			last[r.writer] = r
		}
		there[marker] = f
	}
	if err := rows.Err(); err != nil {
		return err
	}
	lost, cameToLife := 0, 0
	for marker, r := range m.rows[a.name] {
		f, is := there[marker]
		switch {
		case r.fate == acknowledged && !is && (a.mayLag == 0 || r.at.Before(m.gone.Add(-a.mayLag))):
			if lost++; lost <= 3 {
				out.fault("%s: %q was acknowledged as %s and is gone", a.name, marker, r.id)
			}
			delete(m.rows[a.name], marker) // it is told once
		case r.fate == acknowledged && !is:
			out.count("guard checks of the last seconds, gone", 1)
			delete(m.rows[a.name], marker)
		case r.fate == acknowledged && r.id != f.id:
			out.fault("%s: %q was acknowledged as %s and is %s", a.name, marker, r.id, f.id)
		case r.fate == refused && is:
			cameToLife++
			r.fate, r.id = acknowledged, f.id
		case is:
			r.fate, r.id = acknowledged, f.id
		case !a.key: // what has a key may be sent again
			delete(m.rows[a.name], marker)
		}
	}
	if lost > 3 {
		out.fault("%s: %d acknowledged writes are gone", a.name, lost)
	}
	if cameToLife > 0 {
		out.count("refused, and there after the restart", cameToLife)
	}
	return nil
}

func (m *model) checkSetting(ctx context.Context, db *sql.DB, s setting, out *result) error {
	rows, err := db.QueryContext(ctx, s.rows)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer rows.Close()
	there := map[string]string{}
	for rows.Next() {
		var key, is string
		if err := rows.Scan(&key, &is); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		there[key] = is
	}
	for key, v := range m.values[s.name] {
		if is := there[key]; is != v.known && (v.unsaid == "" || is != v.unsaid) {
			out.fault("%s: %s was acknowledged as %q and is %q; not acknowledged: %q", s.name, key, v.known, is, v.unsaid)
		}
		v.known, v.unsaid = there[key], ""
	}
	return rows.Err()
}

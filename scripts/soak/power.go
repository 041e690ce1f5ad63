package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/skillrouter/skillrouter/migrations"
)

// The power goes within so many calls of a load: an answer that is stored takes
// two or three, and dozens of writers share some.
const mostCalls = 1500

// momentLoad is how long the load after a first start, a restore or an upgrade
// lasts: within it a router stores its token and answers first.
const momentLoad = 500 * time.Millisecond

// outages cuts the power under load on an established folder. The disk may be
// deaf to syncs, which must be found out.
func outages(ctx context.Context, program string, d *disk, deaf string, cuts int, out *result) error {
	if err := d.empty(); err != nil {
		return err
	}
	s := newScene(program, filepath.Join(d.dir, "data"), out)
	if err := establish(ctx, program, s.data, d); err != nil {
		return err
	}
	if _, err := d.ask("deaf " + deaf); err != nil {
		return err
	}
	for range cuts {
		if out.faulty() {
			return nil
		}
		r, err := s.begin(ctx)
		if err != nil {
			out.fault("after a power cut under load: %v", err)
			return nil
		}
		err = s.under(ctx, r, func() (time.Time, error) {
			if err := d.arm(1 + rand.IntN(mostCalls)); err != nil {
				return time.Now(), err
			}
			if err := d.wait(ctx); err != nil {
				return time.Now(), err
			}
			_, syncs, err := d.calls()
			out.count("syncs before power cuts", syncs)
			at := time.Now()
			r.signal(syscall.SIGKILL)
			return at, errors.Join(err, release(d, r.ended))
		})
		if err := errors.Join(err, d.cut()); err != nil {
			return err
		}
		out.count("power cuts under load", 1)
	}
	err := s.finish(ctx)
	var r *refusedError
	if errors.As(err, &r) {
		out.fault("after a power cut under load: %v", err)
		return nil
	}
	return err
}

// wait waits until the power goes. If nothing happens any more that could be cut, it goes now.
func (d *disk) wait(ctx context.Context) error {
	select {
	case <-d.off:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(offWithin):
	}
	if err := d.arm(0); err != nil {
		return err
	}
	<-d.off
	return nil
}

// establish makes a data folder and lets everything of it reach the medium.
func establish(ctx context.Context, program, data string, d *disk) error {
	r, err := start(ctx, program, data)
	if err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	if _, err := d.ask("keep"); err != nil {
		return err
	}
	return d.again()
}

// moment is something that happens seldom, in which a power cut or a kill at
// any call must leave a folder that starts.
type moment struct {
	name    string
	prepare func(ctx context.Context, program string, d *disk) error
	// before runs to its end before the router is started; nil: nothing does.
	before func(program, data string) *exec.Cmd
	// check says what is wrong with the folder under the router that started after the cut.
	check func(ctx context.Context, r *router, data string) error
}

// moments cuts the power at so many calls of the moment and of a load that
// begins with it, evenly spread.
func moments(ctx context.Context, program string, d *disk, m moment, cuts int, out *result) error {
	if err := d.empty(); err != nil {
		return err
	}
	if err := m.prepare(ctx, program, d); err != nil {
		return fmt.Errorf("prepare %s: %w", m.name, err)
	}
	calls, err := countCalls(ctx, program, d, m, out)
	if err != nil {
		return err
	}
	step := calls/cuts + 1
	for call := 1 + rand.IntN(step); ; call += step {
		if err := d.again(); err != nil {
			return err
		}
		if err := d.arm(call); err != nil {
			return err
		}
		s := newMoment(program, d, out)
		over, err := s.momentUntilOff(ctx, m, d)
		if err != nil {
			return fmt.Errorf("%s, cut at call %d: %w", m.name, call, err)
		}
		if err := d.cut(); err != nil {
			return err
		}
		out.count("power cuts in "+m.name, 1)
		if err := s.afterMoment(ctx, m); err != nil {
			out.fault("%s, cut at call %d: %v", m.name, call, err)
		}
		if over {
			return nil
		}
	}
}

func newMoment(program string, d *disk, out *result) *scene {
	s := newScene(program, filepath.Join(d.dir, "data"), out)
	s.followers, s.load.writers, s.load.mayRefuse = nil, 1, true
	return s
}

// countCalls runs the moment without a cut, and counts what it changes.
func countCalls(ctx context.Context, program string, d *disk, m moment, out *result) (calls int, err error) {
	if err := d.again(); err != nil {
		return 0, err
	}
	if _, err := newMoment(program, d, out).momentUntilOff(ctx, m, d); err != nil {
		return 0, err
	}
	calls, _, err = d.calls()
	return calls, err
}

// momentUntilOff runs the moment and then a short load until the power goes,
// and says whether the moment and its load were over before.
func (s *scene) momentUntilOff(ctx context.Context, m moment, d *disk) (over bool, err error) {
	if m.before != nil {
		cmd := m.before(s.program, s.data)
		said := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			return false, err
		}
		ended := make(chan struct{})
		go func() {
			err = cmd.Wait()
			close(ended)
		}()
		select {
		case <-d.off:
			_ = cmd.Process.Kill()
			return false, release(d, ended)
		case <-ended:
			if err != nil {
				return false, fmt.Errorf("%w: %s", err, said)
			}
		}
	}
	r, err := spawn(s.program, s.data)
	if err != nil {
		return false, err
	}
	up := make(chan error, 1)
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { up <- r.up(starting) }()
	select {
	case <-d.off:
		stop()
		<-up
	case err := <-up:
		if err != nil {
			r.kill()
			return false, err
		}
		loading, stop := context.WithTimeout(ctx, momentLoad)
		defer stop()
		loaded := make(chan struct{})
		go func() {
			s.load.run(loading, r)
			close(loaded)
		}()
		select {
		case <-d.off:
			stop()
			<-loaded
		case <-loaded:
			over = true
		}
	}
	at := time.Now()
	r.signal(syscall.SIGKILL)
	if over {
		select {
		case <-r.ended:
			s.load.model.ended(at)
			return true, nil
		case <-d.off: // of all moments in this one
		}
	}
	err = release(d, r.ended)
	s.load.model.ended(at)
	return over, err
}

// release waits until a killed process is gone. A call to a disk without power
// is answered only when the power is back: the disk is cut once for it.
func release(d *disk, gone <-chan struct{}) error {
	select {
	case <-gone:
		return nil
	case <-time.After(200 * time.Millisecond):
	}
	if err := d.cut(); err != nil {
		return err
	}
	<-gone
	return nil
}

// afterMoment starts the router after the cut, and looks whether all is there.
func (s *scene) afterMoment(ctx context.Context, m moment) error {
	r, err := start(ctx, s.program, s.data)
	if err != nil {
		return err
	}
	defer r.kill()
	s.out.time("start after a cut in "+m.name, r.took)
	if err := s.load.model.check(ctx, s.data, s.out); err != nil {
		return err
	}
	if err := m.check(ctx, r, s.data); err != nil {
		return err
	}
	status, raw, err := r.call(ctx, http.MethodPost, "/api/knowledge", map[string]any{"category": "c", "title": "After the cut", "content": "It goes on."})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("a write after the start is answered with %d %s %w", status, raw, err)
	}
	return nil
}

// first is the start that makes a data folder.
func first() moment {
	return moment{
		name:    "a first start",
		prepare: func(_ context.Context, _ string, d *disk) error { return nil },
		check:   func(context.Context, *router, string) error { return nil },
	}
}

// markOf tells two folders apart: the title of the one entry that each has.
const (
	markBefore = "Of the folder of before"
	markBackup = "Of the backup"
)

// restoring is a restore over a folder, and the first start after it.
func restoring(dir string) moment {
	archive := filepath.Join(dir, "backup.tar.gz")
	return moment{
		name: "a restore",
		prepare: func(ctx context.Context, program string, d *disk) error {
			other := filepath.Join(dir, "other")
			if err := errors.Join(with(ctx, program, other, markBackup), with(ctx, program, filepath.Join(d.dir, "data"), markBefore)); err != nil {
				return err
			}
			if said, err := exec.CommandContext(ctx, program, "backup", archive, "--data", other).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, said)
			}
			_, err := d.ask("keep")
			return err
		},
		before: func(program, data string) *exec.Cmd {
			return exec.Command(program, "restore", archive, "--data", data, "--force")
		},
		check: func(ctx context.Context, _ *router, data string) error {
			titles, err := texts(ctx, data, "learning", "SELECT title FROM knowledge WHERE category = 'mark'")
			if err == nil && !slices.Equal(titles, []string{markBefore}) && !slices.Equal(titles, []string{markBackup}) {
				err = fmt.Errorf("it holds neither all of before nor all of the backup: %q", titles)
			}
			if err != nil {
				return err
			}
			tasks, err := texts(ctx, data, "operational", "SELECT title FROM tasks WHERE project = 'mark'")
			if err == nil && !slices.Equal(tasks, titles) {
				err = fmt.Errorf("one database is that of %q, the other that of %q", titles, tasks)
			}
			return err
		},
	}
}

// with makes a folder whose databases both hold the mark.
func with(ctx context.Context, program, data, mark string) error {
	r, err := start(ctx, program, data)
	if err != nil {
		return err
	}
	for path, body := range map[string]any{
		"/api/knowledge": map[string]any{"category": "mark", "title": mark, "content": mark},
		"/api/tasks":     map[string]any{"title": mark, "project": "mark"},
	} {
		if status, raw, err := r.call(ctx, http.MethodPost, path, body); err != nil || status != http.StatusCreated {
			r.kill()
			return fmt.Errorf("%s answers %d %s %w", path, status, raw, err)
		}
	}
	return r.stop()
}

func texts(ctx context.Context, data, database, query string) (all []string, err error) {
	db, err := openDatabase(data, database)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// oldEntries is how many rows an older database has when it is upgraded.
const oldEntries = 2000

// upgrading is the start of a newer program on a folder of the first schema.
func upgrading() moment {
	return moment{
		name: "an upgrade",
		prepare: func(ctx context.Context, program string, d *disk) error {
			data := filepath.Join(d.dir, "data")
			if err := with(ctx, program, data, markBefore); err != nil {
				return err
			}
			for _, name := range migrations.Databases() {
				if err := older(ctx, data, name); err != nil {
					return err
				}
			}
			_, err := d.ask("keep")
			return err
		},
		check: func(ctx context.Context, _ *router, data string) error {
			for name, table := range map[string]string{"learning": "knowledge WHERE category = 'old'", "operational": "tasks WHERE project = 'old'"} {
				got, err := texts(ctx, data, name, "SELECT count(*) FROM "+table)
				if err != nil {
					return err
				}
				if got[0] != fmt.Sprint(oldEntries) {
					return fmt.Errorf("%s.db has %s of %d rows", name, got[0], oldEntries)
				}
			}
			copies, err := filepath.Glob(filepath.Join(data, "*.backup"))
			if err != nil {
				return err
			}
			for _, path := range copies {
				db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
				if err != nil {
					return err
				}
				var verdict string
				err = db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict)
				db.Close()
				if err != nil || verdict != "ok" {
					return fmt.Errorf("the copy %s looks like one and is none: %s %w", filepath.Base(path), verdict, err)
				}
			}
			return nil
		},
	}
}

// older puts a database of the first schema in the place of the one that is there.
func older(ctx context.Context, data, name string) error {
	path := filepath.Join(data, name+".db")
	var id int
	db, err := openDatabase(data, name)
	if err != nil {
		return err
	}
	err = db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	if err := errors.Join(err, db.Close(), os.Remove(path)); err != nil {
		return err
	}
	for _, log := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if db, err = sql.Open("sqlite", "file:"+path); err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	steps, err := migrations.FS(name, "sqlite")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps)
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, provider.ListSources()[0].Version); err != nil {
		return err
	}
	fill := map[string]string{
		"learning": "INSERT INTO knowledge (id, category, title, content, trust, content_hash, created_at, updated_at) %s " +
			"SELECT 'old-' || n, 'old', 'Old ' || n, 'Content ' || n, 'agent', CAST(n AS BLOB), 1, 1 FROM numbers",
		"operational": "INSERT INTO tasks (id, title, project, status, created_at, updated_at) %s SELECT 'old-' || n, 'Old ' || n, 'old', 'pending', 1, 1 FROM numbers",
	}[name]
	numbers := fmt.Sprintf("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)", oldEntries)
	if _, err := db.ExecContext(ctx, fmt.Sprintf(fill, numbers)); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", id)); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

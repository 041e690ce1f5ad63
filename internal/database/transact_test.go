package database_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/internal/database"
	"skillrouter/internal/database/databasetest"
	"skillrouter/internal/errs"
)

// TestNumbers: events get numbers without a gap, also after a write that failed, and no number is given twice, even if
// the newest rows were removed and the database is opened again.
func TestNumbers(t *testing.T) {
	data := t.TempDir()
	put := func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO events (seq, type, subject, at) VALUES (?, 'mark', 'x', 0)", committer.NumbersOf(tx.Statement.Context).Next("events")).Error
	}
	opened := func(do func(write func(fn func(tx *gorm.DB) error) error)) (seqs []int64) {
		db, err := database.Open(t.Context(), data, "learning", time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- db.Commit.Run(ctx) }()
		do(func(fn func(tx *gorm.DB) error) error { return db.Commit.Write(t.Context(), fn, nil) })
		if err := db.Read.Raw("SELECT seq FROM events ORDER BY seq").Scan(&seqs).Error; err != nil {
			t.Fatal(err)
		}
		stop()
		if err := errors.Join(<-ended, db.Close()); err != nil {
			t.Fatal(err)
		}
		return seqs
	}
	fails := errors.New("no")
	seqs := opened(func(write func(fn func(tx *gorm.DB) error) error) {
		for _, c := range []struct {
			fn   func(tx *gorm.DB) error
			want error
		}{
			{put, nil},
			{func(tx *gorm.DB) error { return errors.Join(put(tx), fails) }, fails},
			{func(tx *gorm.DB) error { return errors.Join(put(tx), put(tx)) }, nil},
			{func(tx *gorm.DB) error { return tx.Exec("DELETE FROM events WHERE seq = 3").Error }, nil},
		} {
			if err := write(c.fn); !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
		}
	})
	if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
		t.Errorf("after a write that failed and a removal: %v", seqs)
	}
	seqs = opened(func(write func(fn func(tx *gorm.DB) error) error) {
		if err := write(put); err != nil {
			t.Fatal(err)
		}
	})
	if len(seqs) != 3 || seqs[2] != 4 {
		t.Errorf("after another start: %v, and 3 had been given", seqs)
	}
}

// TestFailedCommit: a COMMIT that fails stores nothing, and the next transaction begins anew; so it is with a database that may not grow.
func TestFailedCommit(t *testing.T) {
	databasetest.FilesOnly(t)
	db, err := open(t, t.TempDir(), "learning")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	write := func(statements ...string) error {
		return database.Transact(db, func(tx *gorm.DB) error {
			for _, s := range statements {
				if err := tx.Exec(s).Error; err != nil {
					return err
				}
			}
			return nil
		})
	}
	rows := func() (n int64) {
		if err := db.Read.Raw("SELECT count(*) FROM child").Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := write("CREATE TABLE parent (id INTEGER PRIMARY KEY)", "CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent DEFERRABLE INITIALLY DEFERRED, text TEXT)"); err != nil {
		t.Fatal(err)
	}
	const whole = "INSERT INTO child (text) VALUES ('whole')"
	for range 3 {
		if err := write("INSERT INTO child (p) VALUES (7)"); err == nil {
			t.Fatal("a child without a parent is stored")
		}
		before := rows()
		if err := write(whole); err != nil {
			t.Fatalf("after a COMMIT that failed: %v", err)
		}
		if n := rows(); n != before+1 {
			t.Errorf("%d rows after %d: what a COMMIT refused was stored with the next", n, before)
		}
	}
	if err := write("PRAGMA max_page_count = 1"); err != nil { // it is what it has by now
		t.Fatal(err)
	}
	large := "INSERT INTO child (text) VALUES (hex(zeroblob(1000000)))"
	before := rows()
	for range 3 {
		if err := write(whole, large); errs.CodeOf(err) != errs.StorageFull {
			t.Fatalf("a database that may not grow: %v", err)
		}
	}
	if n := rows(); n != before {
		t.Errorf("%d rows, and %d had been stored", n, before)
	}
	if err := write("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := write(large); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

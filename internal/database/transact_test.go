package database_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
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

// TestSameStatements runs the same statements in transaction after transaction, whatever became of them between: a failure, rows that were not read to
// their end, the same rows open twice, and a schema that changed.
func TestSameStatements(t *testing.T) {
	databasetest.FilesOnly(t)
	db, err := open(t, t.TempDir(), "learning")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	transact := func(fn func(tx *gorm.DB) error) {
		t.Helper()
		if err := database.Transact(db, fn); err != nil {
			t.Fatal(err)
		}
	}
	transact(func(tx *gorm.DB) error {
		return tx.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT UNIQUE)").Error
	})
	const insert, choose = "INSERT INTO t (text) VALUES (?)", "SELECT * FROM t WHERE n >= ? ORDER BY n"
	for i := range 5 {
		transact(func(tx *gorm.DB) error { return tx.Exec(insert, fmt.Sprint("row ", i)).Error })
		if err := database.Transact(db, func(tx *gorm.DB) error { return tx.Exec(insert, "row 0").Error }); err == nil {
			t.Fatal("a text is there twice")
		}
		transact(func(tx *gorm.DB) error {
			outer, err := tx.Raw(choose, 1).Rows()
			if err != nil {
				return err
			}
			defer outer.Close()
			for seen := 0; outer.Next(); seen++ {
				var n, m int
				var text string
				var late any
				columns, _ := outer.Columns()
				into := []any{&n, &text, &late}[:len(columns)]
				if err := outer.Scan(into...); err != nil || n != seen+1 {
					return fmt.Errorf("row %d is the %dth: %w", n, seen+1, err)
				}
				inner, err := tx.Raw(choose, i+1).Rows()
				if err != nil {
					return err
				}
				for inner.Next() {
					into[0] = &m
					if err := inner.Scan(into...); err != nil || m != i+1 {
						return fmt.Errorf("the inner row is %d of %d: %w", m, i+1, err)
					}
				}
				if err := inner.Close(); err != nil {
					return err
				}
			}
			return outer.Err()
		})
		if i == 2 {
			transact(func(tx *gorm.DB) error { return tx.Exec("ALTER TABLE t ADD COLUMN late TEXT DEFAULT 'x'").Error })
		}
	}
	var n int
	if err := db.Read.Raw("SELECT count(*) FROM t WHERE late = 'x'").Scan(&n).Error; err != nil || n != 5 {
		t.Errorf("%d rows: %v", n, err)
	}
}

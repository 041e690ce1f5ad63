package app_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"skillrouter/cmd/app"
	"skillrouter/internal/committer"
)

// copyFiles copies the folders and regular files of a data folder, and not the socket of its router.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(from, path)
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
}

// copied copies a data folder, so that a look at it changes nothing of what is tested next.
func copied(t *testing.T, data string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := copyFiles(dir, data); err != nil {
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

// TestNumbers: events get numbers without a gap, also after a write that failed, and no number is given twice, even if
// the newest rows were removed and the database is opened again.
func TestNumbers(t *testing.T) {
	data := t.TempDir()
	put := func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO events (seq, type, subject, at) VALUES (?, 'mark', 'x', 0)", committer.NumbersOf(tx.Statement.Context).Next("events")).Error
	}
	open := func(do func(write func(fn func(tx *gorm.DB) error) error)) (seqs []int64) {
		db, err := app.OpenDatabase(t.Context(), data, "learning", time.Now, slog.New(slog.DiscardHandler))
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
	seqs := open(func(write func(fn func(tx *gorm.DB) error) error) {
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
	seqs = open(func(write func(fn func(tx *gorm.DB) error) error) {
		if err := write(put); err != nil {
			t.Fatal(err)
		}
	})
	if len(seqs) != 3 || seqs[2] != 4 {
		t.Errorf("after another start: %v, and 3 had been given", seqs)
	}
}

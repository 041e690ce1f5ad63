package wal_test

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/glebarez/go-sqlite" // the driver

	"github.com/skillrouter/skillrouter/internal/database/wal"
)

// written is a copy of a database and its log, in which each of n rows was stored in a transaction of its own, and where the log's frames begin.
func written(t *testing.T, n int) (path string, frames []int64) {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "open.db")+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rows (text TEXT)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil { // what follows is all that the log holds
		t.Fatal(err)
	}
	for range n {
		if _, err := db.Exec("INSERT INTO rows VALUES ('a row')"); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "copy.db") // the last who closes a database takes its log away
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, "open.db") + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+end, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if end == "-wal" {
			for at := int64(32); at < int64(len(text)); at += 24 + int64(binary.BigEndian.Uint32(text[8:])) {
				frames = append(frames, at)
			}
		}
	}
	return path, frames
}

// spoil turns the bits of one byte of a log over.
func spoil(t *testing.T, path string, at int64) {
	t.Helper()
	text, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 0xff
	if err := os.WriteFile(path+"-wal", text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rows is how many rows SQLite finds.
func rows(t *testing.T, path string) (n int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM rows").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestScan damages logs that SQLite wrote. What it says is gone must be what SQLite does not find.
func TestScan(t *testing.T) {
	const stored = 5
	for _, test := range []struct {
		name string
		harm func(t *testing.T, path string, frames []int64)
		want wal.Torn
	}{
		{"nothing", func(*testing.T, string, []int64) {}, wal.Torn{}},
		{"a page in the middle", func(t *testing.T, path string, frames []int64) { spoil(t, path, frames[1]+24+100) }, wal.Torn{Frame: 2, Behind: 3, Commits: 4, Sure: true}},
		{"the checksum of a frame", func(t *testing.T, path string, frames []int64) { spoil(t, path, frames[2]+16) }, wal.Torn{Frame: 3, Behind: 2, Commits: 3, Sure: true}},
		// Nobody can tell the last frame from one that was being written.
		{"the last frame", func(t *testing.T, path string, frames []int64) { spoil(t, path, frames[4]+24) }, wal.Torn{}},
		{"the header", func(t *testing.T, path string, _ []int64) { spoil(t, path, 24) }, wal.Torn{Frame: -1, Behind: stored, Sure: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, frames := written(t, stored)
			if len(frames) != stored {
				t.Fatalf("the log holds %d frames", len(frames))
			}
			test.harm(t, path, frames)
			for name, look := range map[string]func(string) (wal.Torn, error){"Scan": wal.Scan, "Settled": wal.Settled} {
				got, err := look(path)
				if err != nil || got != test.want {
					t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
				}
				if (got.String() == "") != (got == wal.Torn{}) {
					t.Errorf("%s says %q", name, got)
				}
			}
			if n := rows(t, path); test.want.Commits > 0 && n != stored-test.want.Commits || test.want.Frame < 0 && n != 0 || test.name == "nothing" && n != stored {
				t.Errorf("SQLite finds %d of %d rows", n, stored)
			}
		})
	}
}

// TestScanWithoutALog has no log, and one that holds nothing.
func TestScanWithoutALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	for range 2 {
		if got, err := wal.Scan(path); err != nil || got != (wal.Torn{}) {
			t.Errorf("%+v, %v", got, err)
		}
		if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

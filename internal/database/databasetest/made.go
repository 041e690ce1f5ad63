package databasetest

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database"
)

// Made makes a database with a few pages of rows in dir, closes it, and returns its path.
func Made(t testing.TB, dir, name string) string {
	t.Helper()
	db, err := database.Open(t.Context(), dir, name, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- db.Commit.Run(ctx) }()
	err = db.Commit.Write(ctx, func(tx *gorm.DB) error {
		for range 50 {
			if err := tx.Exec("INSERT INTO events (type, subject, at, data) VALUES ('test', 'x', 0, ?)", strings.Repeat("x", 2000)).Error; err != nil {
				return err
			}
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return db.Path
}

// Edit runs statements on a closed database from outside.
func Edit(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

package store

import (
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
)

func openChanges(t *testing.T) *Store {
	t.Helper()
	db, err := databasetest.OpenIn(t, t.TempDir(), "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() {
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db.Read, db.Commit)
}

// keep keeps a change as an earlier version of the program kept it: with a column that left, and without one that came since.
func keep(t *testing.T, s *Store, row string) {
	t.Helper()
	var was map[string]any
	if err := json.Unmarshal([]byte(row), &was); err != nil {
		t.Fatal(err)
	}
	if err := s.queue(t.Context(), func(tx *gorm.DB) error {
		return changes.Insert(tx, &learning.Change{
			Operation: learning.Deleted, Kind: "knowledge", ID: "one", At: time.Now(), Rows: learning.RowsWere{{Table: "knowledge", Was: was}},
		})
	}, nil)(); err != nil {
		t.Fatal(err)
	}
}

func TestRowsOfAnEarlierSchema(t *testing.T) {
	s := openChanges(t)
	keep(t, s, `{"num": 9007199254740993, "id": "one", "category": "pattern", "title": "Kept long ago", "content": "c", "tags": "[]", "source": "", "agent_id": "a", "project": "",
		"trust": "agent", "content_hash": {"hex": "00ff"}, "use_count": 3, "last_used": null, "created_at": 1, "updated_at": 2, "superseded_by": "", "color": "a column that left"}`)
	if err := s.TakeBack(t.Context(), learning.Back{Number: 1, Event: &eventlog.Event{Type: "knowledge.restored", Subject: "one", At: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	found, err := s.Knowledge(t.Context(), []string{"one"})
	if err != nil || len(found) != 1 || found[0].Title != "Kept long ago" || found[0].UseCount != 3 || found[0].Folder != "" {
		t.Errorf("%+v, %v", found, err)
	}
	if err := s.TakeBack(t.Context(), learning.Back{Number: 1, Event: &eventlog.Event{Type: "knowledge.restored", At: time.Now()}}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("taken back twice: %v", err)
	}
}

// TestADeleteIsAllOrNothing: where the transaction of a delete fails, the row is there and nothing is kept.
func TestADeleteIsAllOrNothing(t *testing.T) {
	s := openChanges(t)
	keep(t, s, `{"num": 1, "id": "one", "category": "pattern", "title": "t", "content": "c", "tags": "[]", "trust": "agent", "content_hash": {"hex": "00"}, "created_at": 1, "updated_at": 2}`)
	if err := s.TakeBack(t.Context(), learning.Back{Number: 1, Event: &eventlog.Event{Type: "knowledge.restored", Subject: "one", At: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is full")
	ctx := learning.Noting(t.Context(), time.Now(), learning.Deleted, "knowledge", "one")
	err := s.queue(ctx, func(tx *gorm.DB) error {
		if _, err := table.Exec(tx, "DELETE FROM knowledge WHERE id = 'one'"); err != nil {
			return err
		}
		return broken
	}, nil)()
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	found, err := s.Knowledge(t.Context(), []string{"one"})
	kept, listed := s.Changes(t.Context(), learning.ChangeFilter{Limit: 10})
	if err != nil || listed != nil || len(found) != 1 || len(kept) != 0 {
		t.Errorf("%v, %v, %d rows and %d changes", err, listed, len(found), len(kept))
	}
}

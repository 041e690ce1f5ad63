package history_test

import (
	"testing"

	"skillrouter/internal/database/databasetest"
	"skillrouter/learning/history"
	"skillrouter/learning/store"
)

// emptyStore is an empty store of what was learned.
func emptyStore(t *testing.T) history.Store {
	db := databasetest.Running(t, t.TempDir(), "learning")
	return store.New(db.Read, db.Commit)
}

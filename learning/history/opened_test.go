package history_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/store"
)

// emptyStore is an empty store of what was learned.
func emptyStore(t *testing.T) history.Store {
	db := databasetest.Running(t, t.TempDir(), "learning")
	return store.New(db.Read, db.Commit)
}

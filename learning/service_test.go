package learning_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/store"
)

// memory is the domain on a database of its own.
type memory struct {
	db        *database.DB
	store     *store.Store
	knowledge *knowledge.Base
	episodes  *episode.Episodes
}

// open opens dir's learning.db; everything is stopped at the end of the test.
func open(t testing.TB, dir string, now clock.Clock) memory {
	t.Helper()
	db, err := databasetest.OpenIn(t, dir, "learning", now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() { // t.Context() has ended by now
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s := store.New(db.Read, db.Commit)
	options := learning.Options{Now: now}
	return memory{db, s, knowledge.NewBase(s, options), episode.NewEpisodes(s, options)}
}

func TestContract(t *testing.T) {
	learningtest.Run(t, func(t *testing.T) learningtest.Services {
		m := open(t, t.TempDir(), time.Now)
		return learningtest.Services{Knowledge: m.knowledge, Episodes: m.episodes}
	})
}

func TestMemoriesContract(t *testing.T) {
	learningtest.RunMemories(t, func(t *testing.T) episode.Service {
		return open(t, t.TempDir(), time.Now).episodes
	})
}

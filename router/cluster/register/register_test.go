package register_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/router/cluster/register"
)

// TestServerOfNewerProgram: a program writes into what a newer one has changed only if that says that it may; else it is refused at its start, and one
// that stands by takes no lease.
func TestServerOfNewerProgram(t *testing.T) {
	databasetest.ServerOnly(t)
	data := t.TempDir()
	server, err := postgres.Parse(databasetest.Address(t, data))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	prepare := func() error {
		return database.PrepareOnServer(t.Context(), server, slog.New(slog.NewTextHandler(&said, nil)))
	}
	if err := prepare(); err != nil {
		t.Fatal(err)
	}
	nodes := register.Open(server)
	defer nodes.Close()
	node := cluster.Node{ID: "n1", Name: "n1"}
	takes := func() bool {
		epoch, err := nodes.Take(t.Context(), node, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return epoch > 0
	}
	for _, test := range []struct {
		what, change string
		may          bool
	}{
		{"its own", "", true},
		{"a compatible step", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)", true},
		{"a step that is not", "UPDATE heads SET seq = 9000 WHERE log = 'since'", false},
	} {
		databasetest.InSchema(t, data, "learning", test.change)
		if err := prepare(); (err == nil) != test.may || err != nil && !strings.Contains(errs.MessageOf(err), "use the newer program") {
			t.Errorf("%s: %v", test.what, err)
		}
		if takes() != test.may {
			t.Errorf("%s: it takes the lease: %t", test.what, !test.may)
		}
	}
	databasetest.InSchema(t, data, "operational", "UPDATE writer SET until = '-infinity'")
	first, second := takes(), takes()
	if first || second || strings.Count(said.String(), "Start that") != 1 {
		t.Errorf("it takes the lease that nobody has, or does not say why not, once: %s", said.String())
	}
}

// TestStartBesideTakeover: a node that starts is not cut off by another that takes the lease meanwhile, and ends the connections of who had it.
func TestStartBesideTakeover(t *testing.T) {
	databasetest.ServerOnly(t)
	data := t.TempDir()
	server, err := postgres.Parse(databasetest.Address(t, data))
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(ctx context.Context) error {
		return database.PrepareOnServer(ctx, server, slog.New(slog.DiscardHandler))
	}
	if err := prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := register.Open(server)
	defer nodes.Close()
	ctx, stop := context.WithCancel(t.Context())
	var taking sync.WaitGroup
	taking.Go(func() {
		for ctx.Err() == nil {
			if _, err := nodes.Take(t.Context(), cluster.Node{ID: "n1", Name: "n1"}, time.Minute); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 10 {
		if err := errors.Join(prepare(t.Context()), register.Belongs(t.Context(), server, cluster.Secret("s3cret"))); err != nil {
			t.Error(err)
		}
	}
	stop()
	taking.Wait()
}

// TestRegisterOfNodes: a node that begins again with another data folder takes the place of what was known of it, by its name and by its address, once that is
// heard of no more; and each tells which writer it does not reach.
func TestRegisterOfNodes(t *testing.T) {
	databasetest.ServerOnly(t)
	data := t.TempDir()
	databasetest.Prepare(t, data)
	server, err := postgres.Parse(databasetest.Address(t, data))
	if err != nil {
		t.Fatal(err)
	}
	nodes := register.Open(server)
	defer nodes.Close()
	announce := func(id, name, at string, misses int64) {
		t.Helper()
		if err := nodes.Announce(t.Context(), cluster.Node{ID: id, Name: name, URL: at, Clock: time.Now(), Misses: misses}); err != nil {
			t.Fatal(err)
		}
	}
	announce("1", "a", "http://a", 0)
	announce("2", "b", "http://b", 0)
	announce("3", "c", "http://c", 7)
	is := func(want string) {
		t.Helper()
		nodes, err := nodes.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range nodes {
			got = append(got, fmt.Sprint(n.Name, n.ID, " ", n.Misses))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	is("a1 0, b2 0, c3 7")
	if err := nodes.Announce(t.Context(), cluster.Node{ID: "4", Name: "a", URL: "http://d", Clock: time.Now()}); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("a second node of a name: %v", err)
	}
	databasetest.InSchema(t, data, "operational", "UPDATE nodes SET seen = seen - interval '16 seconds'")
	announce("3", "c", "http://c", -7)
	announce("4", "a", "http://d", 0)
	announce("5", "e", "http://b", 8)
	is("a4 0, c3 -7, e5 8")
	if _, err := nodes.Take(t.Context(), cluster.Node{ID: "4", Name: "a"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Look(t, data, "operational")
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM heads WHERE log LIKE 'missing by %'").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows of what nodes miss, of three nodes: %v", n, err)
	}
}

// TestHeadsNoticeAnotherPast: a database that was put back to an earlier state and is written to again has not what it had, also where it counts more by
// now. One that another writer has opened has.
func TestHeadsNoticeAnotherPast(t *testing.T) {
	databasetest.ServerOnly(t)
	dir := t.TempDir()
	mark := func(db *database.DB) {
		t.Helper()
		if err := db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO events (type, subject, at) SELECT 'x', 'y', 1 WHERE false").Error
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) *database.DB {
		db, err := databasetest.OpenIn(t, dir, name, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = db.Commit.Run(t.Context()) }()
		t.Cleanup(func() { _ = db.Close() })
		mark(db)
		return db
	}
	open("learning")
	db := open("operational")
	server, err := postgres.Parse(databasetest.Address(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	conn := server.Reader("operational", 1)
	defer conn.Close()
	heads := register.Heads(server, conn)
	goesOn := func(what string) cluster.Heads {
		t.Helper()
		h, err := heads(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return h
	}
	was := goesOn("at first")
	databasetest.InSchema(t, dir, "operational", "CREATE TABLE backup AS SELECT * FROM heads")
	mark(db)
	if now := goesOn("after a write"); now.Operational <= was.Operational {
		t.Errorf("%v after %v", now, was)
	}
	goesOn("as it was")
	db = open("operational")
	goesOn("after another has opened it")
	mark(db)
	goesOn("after that has written")
	databasetest.InSchema(t, dir, "operational", "DELETE FROM heads; INSERT INTO heads SELECT * FROM backup")
	open("operational")
	open("operational")
	if h, err := heads(t.Context()); !errors.Is(err, cluster.ErrBack) {
		t.Errorf("after it was put back, and counts more: %v, %v", h, err)
	}
	heads = register.Heads(server, conn)
	goesOn("read anew")
}

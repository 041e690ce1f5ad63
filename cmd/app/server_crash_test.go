package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
)

// serverRounds is how often the server is stopped at once; SKILLROUTER_TEST_ROUNDS says otherwise.
const serverRounds = 5

// TestServerStops stops the PostgreSQL server at once in the middle of the router's work, as a kill of it would, and starts
// it again, again and again. The router lives on, and what it acknowledged is there, in its order and without a gap.
func TestServerStops(t *testing.T) {
	restart := os.Getenv("SKILLROUTER_TEST_POSTGRES_RESTART")
	if !databasetest.OnPostgres() || restart == "" {
		t.Skip("there is no PostgreSQL server that it may stop: make test-postgres has one")
	}
	rounds := roundsOr(serverRounds)
	data := t.TempDir()
	stored := &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}}
	p := start(t, program(t, buildProgram), data)
	reader := newReader("reader")
	reader.at(p.url)
	following, stopFollowing := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() { reader.follow(following) })
	ctx, stop := context.WithCancel(t.Context())
	var refused atomic.Int64
	failures := make(chan error, 16)
	for _, w := range writers {
		for range 2 {
			load.Go(func() {
				for ctx.Err() == nil {
					if err := w.write(ctx, p, stored); err != nil {
						if status := 0; scan(err, &status) && status == http.StatusServiceUnavailable {
							refused.Add(1)
							continue
						}
						failures <- err
						return
					}
				}
			})
		}
	}
	count := func() int {
		stored.mu.Lock()
		defer stored.mu.Unlock()
		return len(stored.signals)
	}
	for round := range rounds {
		select {
		case <-time.After(shortestRound + rand.N(longestRound-shortestRound)):
		case err := <-failures:
			t.Fatalf("round %d: %v\n%s", round, err, p.stderr)
		}
		if said, err := exec.Command("/bin/sh", "-c", restart).CombinedOutput(); err != nil {
			t.Fatalf("restart the server: %v\n%s", err, said)
		}
		before, deadline := count(), time.Now().Add(startTime)
		for look := time.NewTicker(10 * time.Millisecond); count() == before; <-look.C {
			if time.Now().After(deadline) {
				t.Fatalf("round %d: nothing is stored %v after the server was started again\n%s", round, startTime, p.stderr)
			}
		}
	}
	stop()
	select {
	case err := <-failures:
		t.Fatalf("%v\n%s", err, p.stderr)
	default:
	}
	for _, fault := range check(t, data, stored) {
		t.Error(fault)
	}
	status, raw, err := p.post(t.Context(), "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "last"})
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	if !reader.waitFor(t.Context(), "last", startTime) {
		t.Error("the reader did not get the last message")
	}
	stopFollowing()
	load.Wait()
	for _, fault := range reader.compare(messagesIn(t, data), stored) {
		t.Error(fault)
	}
	for _, fault := range gaps(t, data) {
		t.Error(fault)
	}
	t.Logf("%d stops; acknowledged: %d signals, %d tasks, %d entries, %d episodes; refused: %d", rounds,
		len(stored.ids["messages"]), len(stored.ids["tasks"]), len(stored.ids["knowledge"]), len(stored.ids["episodes"]), refused.Load())
}

// roundsOr is how often a fault is made: as SKILLROUTER_TEST_ROUNDS says, or n.
func roundsOr(n int) int {
	if rounds, err := strconv.Atoi(os.Getenv("SKILLROUTER_TEST_ROUNDS")); err == nil {
		return rounds
	}
	return n
}

// gaps says which numbers are missing in the logs of a data folder.
func gaps(t *testing.T, data string) (faults []string) {
	t.Helper()
	for database, tables := range map[string][]string{"operational": {"messages", "events"}, "learning": {"events"}} {
		db := openReadOnly(t, data, database)
		for _, table := range tables {
			if n := column[int64](t, db, "SELECT max(seq) - min(seq) + 1 - count(*) FROM "+table)[0]; n != 0 {
				faults = append(faults, fmt.Sprintf("%s of %s have %d gaps", table, database, n))
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	return faults
}

// scan reads the status out of what write says of an answer that is no success.
func scan(err error, status *int) bool {
	var path string
	n, _ := fmt.Sscanf(err.Error(), "%s answered %d", &path, status)
	return n == 2
}

package app_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
)

// A team's year, in short: SKILLROUTER_TEST_DAYS, SKILLROUTER_TEST_AGENTS and SKILLROUTER_TEST_CALLS (of each agent in a day) say otherwise.
const (
	growthDays   = 50
	growthAgents = 4
	growthCalls  = 12
	// growthKeep is how long such a short year keeps what is kept for a time.
	growthKeep = 10 * 24 * time.Hour
)

func given(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestGrowthEnds: a team works day after day, by a clock of its own, and acknowledges little. What is kept for a time grows no more once that time has passed, and
// the router starts on it again; what it has in memory grows no more either. With a year, all takes at most 1 GB. SKILLROUTER_TEST_HEAP names a file for a profile of
// the memory at the end.
func TestGrowthEnds(t *testing.T) {
	if databasetest.OnPostgres() {
		t.Skip("it measures files")
	}
	days, agents, calls := given("SKILLROUTER_TEST_DAYS", growthDays), given("SKILLROUTER_TEST_AGENTS", growthAgents), given("SKILLROUTER_TEST_CALLS", growthCalls)
	cfg := config.Default()
	cfg.Listen, cfg.Data = "127.0.0.1:0", t.TempDir()
	if days < 300 {
		cfg.Retention = config.Retention{Messages: growthKeep, Episodes: growthKeep, Patterns: growthKeep, Checks: growthKeep, Events: growthKeep}
	}
	keep := max(cfg.Retention.Messages, cfg.Retention.Checks, cfg.Retention.Events)
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC).UnixMilli())
	clock := func() time.Time { return time.UnixMilli(now.Load()) }
	size := func() (bytes int64) {
		files, err := filepath.Glob(filepath.Join(cfg.Data, "*.db*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				bytes += info.Size()
			}
		}
		return bytes
	}
	live := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers let go
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	var settled, held, heldSettled int64
	for day := 0; day < days; {
		a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		stop, ended := begun(t, a)
		for range min(10, days-day) { // and then it begins again: some of what is swept is swept at a start
			var team sync.WaitGroup
			for n := range agents {
				team.Go(func() {
					me := fmt.Sprint("agent-", n)
					for call := range calls {
						path, body := "/heartbeat", fmt.Sprintf(`{"agent_id":%q,"status":"working","current_task":"task %d of day %d"}`, me, call, day)
						switch call % 6 {
						case 1:
							path, body = "/signal", fmt.Sprintf(`{"from_agent_id":%q,"to_agent_id":"agent-%d","signal":"message","context":{"text":%q}}`, me, (n+1)%agents, strings.Repeat("news of the day ", 20))
						case 2:
							path, body = "/check/anti-pattern", fmt.Sprintf(`{"agent":%q,"proposed_action":"go test ./room%d -run %d"}`, me, call, day)
						case 3:
							path, body = "/api/experience", fmt.Sprintf(`{"operation_type":"build","server_name":%q,"problem":{"query":"build %d of day %d"},"solution":{"tool":"make"},"outcome":"success"}`, me, call, day)
						case 4:
							path, body = "/signal", fmt.Sprintf(`{"from_agent_id":%q,"signal":"message","context":{"text":"to all of you %d"}}`, me, call)
						}
						w := httptest.NewRecorder()
						r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+path, strings.NewReader(body))
						r.Header.Set("Content-Type", "application/json")
						r.RemoteAddr = "127.0.0.1:1"
						a.Handler().ServeHTTP(w, r)
						if said, _ := io.ReadAll(w.Body); w.Code/100 != 2 {
							t.Errorf("day %d: %s is %d %.200s", day, path, w.Code, said)
							return
						}
					}
				})
			}
			team.Wait()
			if t.Failed() {
				t.FailNow()
			}
			day++
			now.Add((24 * time.Hour).Milliseconds())
			if err := app.SweepAll(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if held = live(); day >= days {
			if path := os.Getenv("SKILLROUTER_TEST_HEAP"); path != "" {
				file, err := os.Create(path)
				if err == nil {
					err = errors.Join(pprof.WriteHeapProfile(file), file.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if settled == 0 && time.Duration(day)*24*time.Hour >= 2*keep {
			settled, heldSettled = size(), held
		}
		t.Logf("day %d: %.1f MiB of files, %.1f MiB of memory", day, float64(size())/(1<<20), float64(held)/(1<<20))
	}
	if end := size(); end > settled*5/4 || end > 1<<30 {
		t.Errorf("%d bytes after %v, %d at the end", settled, 2*keep, end)
	}
	if held > heldSettled*5/4+(4<<20) {
		t.Errorf("%d bytes are in memory after %v, %d at the end", heldSettled, 2*keep, held)
	}
	db := openReadOnly(t, cfg.Data, "operational")
	defer db.Close()
	for table, at := range map[string]string{"events": "at", "messages": "created_at"} {
		if oldest := column[int64](t, db, "SELECT coalesce(min("+at+"), 0) FROM "+table)[0]; oldest > 0 && clock().Sub(time.UnixMilli(oldest)) > keep+48*time.Hour {
			t.Errorf("%s go back to %v", table, time.UnixMilli(oldest).UTC())
		}
	}
	if n := column[int64](t, db, "SELECT count(*) FROM feed_runs")[0]; n > int64(agents*calls)*int64(keep/(24*time.Hour)+3) {
		t.Errorf("the feed's journal has %d rows", n)
	}
}

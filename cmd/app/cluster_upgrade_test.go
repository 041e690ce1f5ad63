package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/migrations"
)

// buildNewer builds the program with one more step of each database's schema, which changes tables that are read and written all the time.
func buildNewer(version, mark string) (string, error) {
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(filepath.Dir(strings.TrimSpace(string(module))), "migrations")
	replace := map[string]string{}
	for name, table := range map[string]string{"learning": "knowledge", "operational": "messages"} {
		for _, dialect := range []string{"sqlite", "postgres"} {
			steps, err := migrations.Steps(name, dialect)
			if err != nil {
				return "", err
			}
			next := migrations.Given(name, dialect) + int64(len(steps)) + 1
			own := filepath.Join(buildDir, fmt.Sprint(version, name, dialect, ".sql"))
			replace[filepath.Join(folder, name, dialect, fmt.Sprintf("%05d_newer.sql", next))] = own
			if err := os.WriteFile(own, fmt.Appendf(nil, "-- +goose Up\n%[1]sALTER TABLE %[2]s ADD COLUMN newer bigint NOT NULL DEFAULT 0;\n-- +goose Down\nALTER TABLE %[2]s DROP COLUMN newer;\n", mark, table), 0o600); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, program := filepath.Join(buildDir, version+".json"), filepath.Join(buildDir, "skillrouter-"+version)
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "nomsgpack", "-ldflags", "-X github.com/skillrouter/skillrouter/cmd/cli.release="+version, "-overlay", overlay, "-o", program, "github.com/skillrouter/skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(said))
	}
	return program, nil
}

const (
	compatibleVersion = "v9.1.0"
	newerVersion      = "v9.2.0"
)

var (
	buildCompatible = sync.OnceValues(func() (string, error) { return buildNewer(compatibleVersion, "-- compatible\n") })
	buildApart      = sync.OnceValues(func() (string, error) { return buildNewer(newerVersion, "") })
)

// idempotent is what callers have done who ask again until they are answered.
type idempotent struct {
	team    *team
	stored  *acknowledged
	again   atomic.Int64 // how often
	facts   atomic.Int64 // versions that were acknowledged
	mu      sync.Mutex
	last    time.Time     // when something was acknowledged
	longest time.Duration // how long nothing was
	faults  []string
}

// do makes a call that may be made twice, at any node, until one answers; which may say why a refusal is none.
func (d *idempotent) do(method, path string, body any, also ...int) (status int, raw []byte) {
	for begun := time.Now(); ; d.again.Add(1) {
		var refused bool
		var err error
		status, raw, refused, err = d.team.ask(context.Background(), method, path, body)
		expected := status/100 == 2
		for _, one := range also {
			expected = expected || status == one
		}
		d.mu.Lock()
		now := time.Now()
		switch {
		case err == nil && expected:
			d.longest, d.last = max(d.longest, now.Sub(d.last)), now
			d.mu.Unlock()
			return status, raw
		case !refused, now.Sub(begun) > startTime:
			d.faults = append(d.faults, fmt.Sprintf("%s %s answered %d %s %v", method, path, status, raw, err))
			d.mu.Unlock()
			return 0, nil
		}
		d.mu.Unlock()
		<-time.After(lookAgain)
	}
}

// load makes calls of one caller until ctx ends.
func (d *idempotent) load(ctx context.Context, caller int) {
	path, version := fmt.Sprint("/api/facts/default/upgrade-", caller), int64(0)
	for n := mathrand.Int64(); ctx.Err() == nil; n++ {
		for _, w := range writers {
			if w.table != "messages" && w.table != "knowledge" { // an entry is known by what it says
				continue
			}
			body := w.body(n)
			if w.table == "messages" {
				body["idempotency_key"] = fmt.Sprint("key-", n)
			}
			var answer map[string]any
			if status, raw := d.do(http.MethodPost, w.path, body); status != 0 && json.Unmarshal(raw, &answer) == nil {
				id, _ := answer[w.id].(string)
				seq, _ := answer["seq"].(float64)
				d.stored.add(w.table, id, int64(seq))
			}
		}
		var fact struct {
			Version int64           `json:"version"`
			Value   json.RawMessage `json:"value"`
		}
		status, raw := d.do(http.MethodPut, path, map[string]any{"value": fmt.Sprint(n), "ttl": 0, "if_version": version}, http.StatusConflict)
		if status == http.StatusConflict { // it was done, and the answer was lost
			_, raw = d.do(http.MethodGet, path, nil)
		}
		if json.Unmarshal(raw, &fact) != nil || fact.Version <= version || status == http.StatusConflict && string(fact.Value) != fmt.Sprintf("%q", fmt.Sprint(n)) {
			d.mu.Lock()
			d.faults = append(d.faults, fmt.Sprintf("the fact is %d %s after version %d, and was to be %d", fact.Version, fact.Value, version, n))
			d.mu.Unlock()
			return
		}
		version = fact.Version
		d.facts.Add(1)
	}
}

// replace ends a node, starts a program in its place, and waits until that answers calls that are written.
func (d *idempotent) replace(i int, program string, end func(c *team, i int)) {
	end(d.team, i)
	d.team.program = program
	d.team.begin(i)
	deadline := time.Now().Add(startTime)
	for n := 0; ; n++ {
		asked, cancel := context.WithTimeout(context.Background(), patience)
		status, raw, err := d.team.node(i).post(asked, "/api/tasks", map[string]any{"title": fmt.Sprint("Task of n", i, n), "project": "upgrade"})
		cancel()
		if err == nil && status/100 == 2 {
			return
		}
		if time.Now().After(deadline) {
			d.team.t.Fatalf("n%d takes no calls: %d %s %v\n%s", i, status, raw, err, d.team)
		}
		<-time.After(lookAgain)
	}
}

// upgradeOf replaces the nodes of a cluster by those of a newer program under load, one after another, and then one by the older program: beyond says what of
// that one is expected. It returns what was wrong.
func upgradeOf(t *testing.T, older, newer string, end func(c *team, i int), beyond func(d *idempotent)) []string {
	d := &idempotent{team: startTeam(t, older), stored: &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}}, last: time.Now()}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	for caller := range 6 {
		load.Go(func() { d.load(ctx, caller) })
	}
	for i := range clusterNodes {
		<-time.After(shortestRound)
		d.replace(i, newer, end)
	}
	if beyond != nil {
		beyond(d)
	}
	stop()
	load.Wait()
	faults := append(d.faults, check(t, d.team.home, d.stored)...)
	faults = append(faults, gaps(t, d.team.home)...)
	messages := openReadOnly(t, d.team.home, "operational")
	defer messages.Close()
	if twice := column[int64](t, messages, "SELECT count(*) - count(DISTINCT idempotency_key) FROM messages WHERE idempotency_key IS NOT NULL")[0]; twice > 0 {
		faults = append(faults, fmt.Sprintf("%d messages are there twice", twice))
	}
	t.Logf("acknowledged %d messages, %d entries, %d versions of facts; asked again %d times; nothing was acknowledged for %v at most",
		len(d.stored.ids["messages"]), len(d.stored.ids["knowledge"]), d.facts.Load(), d.again.Load(), d.longest.Round(time.Millisecond))
	return faults
}

func endClean(c *team, i int) {
	_ = c.node(i).cmd.Process.Signal(syscall.SIGTERM)
	err := <-c.node(i).ended
	c.node(i).ended <- err
}

// TestClusterUpgrade: no call that may be made twice fails while the nodes of a cluster are replaced by those of a newer program, whose schemas the older one
// may write into. That may come back then, and write.
func TestClusterUpgrade(t *testing.T) {
	databasetest.ServerOnly(t)
	older, newer := program(t, buildProgram), program(t, buildCompatible)
	faults := upgradeOf(t, older, newer, endClean, func(d *idempotent) {
		allOf(t, d.team, compatibleVersion)
		for i := range clusterNodes {
			d.replace(i, older, endClean)
		}
		if status, raw, err := d.team.node(0).get(t.Context(), "/api/doctor"); err != nil || status != http.StatusOK || strings.Contains(string(raw), compatibleVersion) {
			t.Errorf("after the older program came back: %d %s %v", status, raw, err)
		}
	})
	for _, fault := range faults {
		t.Error(fault)
	}
}

// TestClusterUpgradeApart: likewise where the older program may not write into the newer schemas: its nodes hand calls on until they are replaced, and
// it is refused when it comes back.
func TestClusterUpgradeApart(t *testing.T) {
	databasetest.ServerOnly(t)
	older, newer := program(t, buildProgram), program(t, buildApart)
	faults := upgradeOf(t, older, newer, endClean, func(d *idempotent) {
		allOf(t, d.team, newerVersion)
		endClean(d.team, 1)
		said, err := exec.CommandContext(t.Context(), older, "serve", "--listen", "127.0.0.1:0", "--data", d.team.data[1], "--node", "n1", "--cluster-secret-file", d.team.secret, "--database", d.team.databases[1]).CombinedOutput()
		if err == nil || !strings.Contains(string(said), "use the newer program") {
			t.Errorf("the older program came back: %v %s", err, said)
		}
		d.replace(1, newer, func(*team, int) {})
	})
	for _, fault := range faults {
		t.Error(fault)
	}
}

// TestClusterUpgradeNotices is the negative control: nodes that acknowledge before they commit, and are killed.
func TestClusterUpgradeNotices(t *testing.T) {
	databasetest.ServerOnly(t)
	wrong := program(t, buildAckEarly)
	noticed(t, func() []string { return upgradeOf(t, wrong, wrong, func(c *team, i int) { c.node(i).kill() }, nil) })
}

// allOf wants all nodes to be of a version, and the schemas to have its steps.
func allOf(t *testing.T, c *team, version string) {
	t.Helper()
	status, raw, err := c.node(0).get(t.Context(), "/api/doctor")
	if err != nil || status != http.StatusOK || strings.Count(string(raw), "version "+version) != clusterNodes {
		t.Errorf("%d %s %v", status, raw, err)
	}
	for name, table := range map[string]string{"learning": "knowledge", "operational": "messages"} {
		db := databasetest.Look(t, c.home, name)
		if n := column[int64](t, db, "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '"+table+"' AND column_name = 'newer'"); n[0] != 1 {
			t.Errorf("%s has not the newer step", name)
		}
		_ = db.Close()
	}
}

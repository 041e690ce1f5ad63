package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/glebarez/sqlite"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// held takes a database for this process alone, and returns what lets go of it.
func held(t *testing.T, data, name string) (release func()) {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, "file:"+filepath.Join(data, name+".db"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	}
	if err != nil {
		t.Fatal(err)
	}
	released := false
	release = func() {
		if released {
			return
		}
		released = true
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		_ = db.Close()
	}
	t.Cleanup(release)
	return release
}

// TestVerdictWhileTheDatabaseIsHeld (finding B4): another program holds both
// databases, so that no write goes through for as long as it likes. The guard,
// asked over HTTP, by the command line and by an agent's hook, answered after
// the hook had given up.
func TestVerdictWhileTheDatabaseIsHeld(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	p := start(t, path, data)
	cache := t.TempDir()
	run := func(in string, args ...string) (string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), startTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = append(os.Environ(), "SKILLROUTER_SERVER="+p.url, "SKILLROUTER_TOKEN=", "SKILLROUTER_DATA="+data, "XDG_CACHE_HOME="+cache, "HOME="+cache)
		cmd.Stdin = strings.NewReader(in)
		out, _ := cmd.CombinedOutput() // the exit code is part of the answer
		return string(out), cmd.ProcessState.ExitCode()
	}
	const asked = `{"session_id":"s","cwd":"/tmp","tool_name":"Bash","tool_input":{"command":"rm -rf /data"}}`
	releases := []func(){held(t, data, "learning"), held(t, data, "operational")}
	// Commit waits up to 5 seconds for a database that is held. Far less must do for each of
	// these, on a machine however busy.
	const limit = 2 * time.Second
	var ids []string
	for range 3 {
		begin := time.Now()
		status, raw, err := p.post(t.Context(), "/check/anti-pattern", map[string]any{"proposed_action": "rm -rf /data", "agent": "a"})
		took := time.Since(begin)
		var answer struct {
			Blocked bool   `json:"blocked"`
			CheckID string `json:"check_id"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		if err != nil || status != http.StatusOK || !answer.Blocked || answer.CheckID == "" || took > limit {
			t.Errorf("after %s: %d %s %v", took, status, raw, err)
		}
		ids = append(ids, answer.CheckID)
	}
	begin := time.Now()
	if out, code := run("", "check", "--", "rm -rf /data"); code != 2 || time.Since(begin) > 2*limit {
		t.Errorf("the command says %q with %d after %s", out, code, time.Since(begin))
	}
	begin = time.Now()
	if out, code := run(asked, "hook", "pre-tool-use", "--for", "claude-code", "--verbose"); code != 0 || !strings.Contains(out, `"permissionDecision":"deny"`) || time.Since(begin) > 2*limit {
		t.Errorf("the hook says %q with %d after %s", out, code, time.Since(begin))
	}
	for _, release := range releases {
		release()
	}
	for _, id := range ids {
		status, raw, err := p.post(t.Context(), "/check/outcome", map[string]any{"check_id": id, "outcome": "heeded"})
		if err != nil || status != http.StatusOK {
			t.Errorf("the outcome of a check whose row waited: %d %s %v", status, raw, err)
		}
	}
	status, raw, err := p.get(t.Context(), "/check/ledger?decision=block")
	var ledger struct {
		Count int `json:"count"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &ledger)
	}
	if err != nil || status != http.StatusOK || ledger.Count != 5 {
		t.Errorf("the ledger has %d of 5 checks: %d %v", ledger.Count, status, err)
	}
	p.kill()
	if found, err := app.VerifyFolder(t.Context(), data); err != nil || !found.OK || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "last second") {
		t.Errorf("verify does not say what a kill may have lost: %+v %v", found, err)
	}
}

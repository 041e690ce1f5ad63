package app_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// TestBackupUnderLoad backs a router up while everything writes, and holds
// that what was acknowledged before is in the restored folder, which starts.
func TestBackupUnderLoad(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	p := start(t, path, data)
	stored := &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}}
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	failures := make(chan error, 16)
	for _, w := range writers {
		for range 2 {
			load.Go(func() {
				if err := w.write(ctx, p, stored); err != nil {
					failures <- err
				}
			})
		}
	}
	const backups = 4
	for n := range backups {
		waitFor(t, stored, 40*(n+1))
		stored.mu.Lock()
		before := map[string][]string{}
		for table, ids := range stored.ids {
			before[table] = slices.Clone(ids)
		}
		stored.mu.Unlock()
		status, archive, err := p.get(t.Context(), "/api/backup")
		if err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		to := filepath.Join(t.TempDir(), "restored")
		restored, err := app.Restore(t.Context(), bytes.NewReader(archive), to, app.RestoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range check(t, to, &acknowledged{ids: before}) {
			t.Error(fault)
		}
		if n == backups-1 {
			again := start(t, path, to)
			for _, fault := range searchable(t, again, &acknowledged{ids: before}) {
				t.Error(fault)
			}
			again.kill()
		}
		t.Logf("backup %d: %d bytes, %d acknowledged entries before, %+v", n, len(archive), len(before["knowledge"]), restored.Databases[0].Cursors)
	}
	stop()
	load.Wait()
	select {
	case err := <-failures:
		if !strings.Contains(err.Error(), "canceled") {
			t.Error(err)
		}
	default:
	}
	if left, _ := filepath.Glob(filepath.Join(data, "backup.tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// waitFor waits until so many entries are acknowledged.
func waitFor(t *testing.T, stored *acknowledged, entries int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	for {
		stored.mu.Lock()
		n := len(stored.ids["knowledge"])
		stored.mu.Unlock()
		if n >= entries {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("only %d entries are acknowledged", n)
		}
	}
}

// TestKillDuringRestore kills restores at every moment of their work: the
// folder must hold all of what it had or all of what the backup has.
func TestKillDuringRestore(t *testing.T) {
	path, first, second := program(t, buildProgram), t.TempDir(), t.TempDir()
	folderWith(t, first, "first")
	folderWith(t, second, "second")
	mark := func(data, name string) {
		for _, db := range []string{"learning.db", "operational.db"} {
			execute(t, filepath.Join(data, db), fmt.Sprintf("INSERT INTO events (type, subject, at) VALUES ('mark', '%s', 1)", name))
		}
	}
	mark(first, "first")
	mark(second, "second")
	archive := filepath.Join(t.TempDir(), "backup.tar.gz")
	if err := os.WriteFile(archive, backupOf(t, second, app.BackupOptions{}), 0o600); err != nil {
		t.Fatal(err)
	}
	old := backupOf(t, first, app.BackupOptions{})
	timed := filepath.Join(t.TempDir(), "data")
	if _, err := app.Restore(t.Context(), bytes.NewReader(old), timed, app.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if said, err := exec.CommandContext(t.Context(), path, "restore", archive, "--data", timed, "--force").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	whole := 2 * time.Since(begin) // half of the kills come when it is over
	ends := map[string]int{}
	const rounds = 16
	for round := range rounds {
		data := filepath.Join(t.TempDir(), "data")
		if _, err := app.Restore(t.Context(), bytes.NewReader(old), data, app.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		restore := exec.Command(path, "restore", archive, "--data", data, "--force")
		if err := restore.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(whole))
		_ = restore.Process.Kill()
		_ = restore.Wait()
		release, err := app.Hold(data) // what a start does first
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		marks := ""
		for _, name := range []string{"learning", "operational"} {
			db := openReadOnly(t, data, name)
			marks += strings.Join(column[string](t, db, "SELECT subject FROM events WHERE type = 'mark'"), "+") + " "
			db.Close()
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
		ends[marks]++
		if left, _ := filepath.Glob(filepath.Join(data, "*.tmp-*")); len(left) > 0 {
			t.Errorf("round %d left %q behind", round, left)
		}
		if found, err := app.VerifyFolder(t.Context(), data); err != nil || len(found.Problems) > 0 {
			t.Errorf("round %d: %+v, %v", round, found.Problems, err)
		}
	}
	t.Logf("%d rounds within %v: %v", rounds, whole, ends)
	for marks := range ends {
		if marks != "first first " && marks != "second second " {
			t.Errorf("a folder holds %q", marks)
		}
	}
	if len(ends) < 2 {
		t.Error("every kill came too early, or too late, to show anything")
	}
}

// TestKillDuringBackup kills backups: none of them has the name that it was to have, unless it is whole.
func TestKillDuringBackup(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	folderWith(t, data, "one")
	begin := time.Now()
	if said, err := exec.CommandContext(t.Context(), path, "backup", filepath.Join(t.TempDir(), "b"), "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	whole, done := time.Since(begin)*5/4, 0
	const rounds = 12
	for round := range rounds {
		to := filepath.Join(t.TempDir(), "backup.tar.gz")
		backup := exec.Command(path, "backup", to, "--data", data)
		if err := backup.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(rand.N(whole))
		_ = backup.Process.Kill()
		_ = backup.Wait()
		file, err := os.Open(to)
		if err == nil {
			done++
			if _, err := app.CheckArchive(file); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
			file.Close()
		}
	}
	t.Logf("%d of %d backups were done before they were killed", done, rounds)
	release, err := app.Hold(data)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if left, _ := filepath.Glob(filepath.Join(data, "*.tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if found, err := app.VerifyFolder(t.Context(), data); err != nil || !found.OK {
		t.Errorf("%+v, %v", found.Problems, err)
	}
}

// TestFinishRestore does each part of a restore that was decided, and was cut
// off after it, again.
func TestFinishRestore(t *testing.T) {
	data, source := t.TempDir(), t.TempDir()
	folderWith(t, source, "new")
	lay := func(dir string, names ...string) {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(source, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	folderWith(t, data, "old")
	ready, aside := filepath.Join(data, "restore.ready"), filepath.Join(data, "before-restore-x")
	for _, dir := range []string{ready, aside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The operational database is in its place already, the old learning one was moved aside.
	lay(ready, "learning.db")
	lay(data, "operational.db")
	if err := os.Rename(filepath.Join(data, "learning.db"), filepath.Join(aside, "learning.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ready, "aside"), []byte("before-restore-x"), 0o600); err != nil {
		t.Fatal(err)
	}
	folderWith(t, data) // a start finishes it
	if got := titlesIn(t, data); !slices.Equal(got, []string{"new"}) {
		t.Errorf("%q", got)
	}
	if got := titlesIn(t, aside); !slices.Equal(got, []string{"old"}) {
		t.Errorf("kept %q", got)
	}
	if _, err := os.Stat(ready); err == nil {
		t.Error("what was finished is still there")
	}
	// A name that leads elsewhere is not followed.
	if err := os.Mkdir(ready, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ready, "aside"), []byte("../elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Hold(data); err == nil {
		t.Error("a restore that keeps elsewhere is finished")
	}
}

package app_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
)

// TestReadOnlyMedium holds B13: verify called a sound folder on a medium that is
// only read damaged, and a backup of it failed on the lock file.
func TestReadOnlyMedium(t *testing.T) {
	disk := smallDisk(t, 32<<20)
	sound, killed := filepath.Join(disk, "sound"), filepath.Join(disk, "killed")
	folderWith(t, sound, "one")
	image := crashImage(t, func(a *app.App) {
		send(t, a, "/api/knowledge", map[string]any{"category": "gotcha", "title": "one", "content": "about one"})
	})
	if err := copyFiles(killed, image); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"learning.db-shm", "operational.db-shm"} { // a copy by hand has none
		if err := os.Remove(filepath.Join(killed, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("it cannot be made read-only here: %v", err)
	}
	before := tree(t, disk)
	if found, err := app.VerifyFolder(t.Context(), sound); err != nil || !found.OK {
		t.Errorf("verify: %+v, %v", found, err)
	}
	release, err := app.Hold(sound)
	if err != nil {
		t.Fatal(err)
	}
	archive := backupOf(t, sound, app.BackupOptions{OwnerToken: true})
	if err := release(); err != nil {
		t.Error(err)
	}
	if found, err := app.VerifyArchive(t.Context(), bytes.NewReader(archive), t.TempDir()); err != nil || !found.OK {
		t.Errorf("its backup: %+v, %v", found, err)
	}
	// A log that has to be read with its database cannot be read there; that is said, and not "damaged".
	found, err := app.VerifyFolder(t.Context(), killed)
	if said := strings.Join(found.Problems, " "); err != nil || found.OK || strings.Contains(said, "damaged") || !strings.Contains(said, "Copy the folder") {
		t.Errorf("a folder with a log: %q, %v", said, err)
	}
	if after := tree(t, disk); len(before) != len(after) {
		t.Error("the medium was changed")
	}
}

// TestFolderWithoutWrite holds B13: a folder of mode 0500 was called damaged.
func TestFolderWithoutWrite(t *testing.T) {
	path, data := program(t, buildProgram), filepath.Join(t.TempDir(), "data")
	folderWith(t, data, "one")
	serve := exec.CommandContext(t.Context(), path, "serve", "--listen", "127.0.0.1:0", "--data", data)
	serve.Env = append(os.Environ(), "HOME="+filepath.Dir(data), "XDG_CONFIG_HOME=", "XDG_DATA_HOME=")
	if os.Getuid() == 0 { // whom no mode stops: the program runs as nobody
		const nobody = 65534
		for at := data; strings.Contains(at, "Test"); at = filepath.Dir(at) {
			if err := os.Chmod(at, 0o711); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(data, func(name string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(name, nobody, nobody)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		serve.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if err := os.Chmod(data, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(data, 0o700) //nolint:errcheck // for the clean-up
	said, err := serve.CombinedOutput()
	if err == nil || strings.Contains(string(said), "damaged") || !strings.Contains(string(said), "cannot be written to") {
		t.Errorf("%v: %s", err, said)
	}
}

// TestProceduresArePrivate holds B13: the folder of procedures was 0755 and its
// files 0644, where the page on the settings says that all is the user's own.
func TestProceduresArePrivate(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "procedures"), 0o755); err != nil { // of an earlier version
		t.Fatal(err)
	}
	folderWith(t, data, "one")
	err := filepath.WalkDir(filepath.Join(data, "procedures"), func(name string, entry os.DirEntry, err error) error {
		if info, statErr := os.Stat(name); err == nil && (statErr != nil || info.Mode().Perm()&0o077 != 0) {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), statErr)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestShellFindsStepsSound holds B13: the integrity check of an SQLite shell
// older than 3.42 found a running procedure's step at fault, because
// json_valid(NULL) is 0 there.
func TestShellFindsStepsSound(t *testing.T) {
	data := t.TempDir()
	path := databasetest.Made(t, data, "learning")
	execute(t, path, `INSERT INTO runs (num, id, procedure, persona, name, version, params, status, started_at) VALUES (1, 'r', 1, 'default', 'p', 1, '{}', 'running', 1)`,
		`INSERT INTO run_steps (run, idx, step, status) VALUES (1, 0, '{}', 'handed_out')`)
	db := openReadOnly(t, data, "learning")
	defer db.Close()
	// No constraint may call json_valid of what may be NULL without asking first.
	for _, table := range column[string](t, db, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%json_valid%'") {
		for _, line := range strings.Split(table, "\n") {
			if strings.Contains(line, "json_valid") && !strings.Contains(line, "NOT NULL") && !strings.Contains(line, "IS NULL OR json_valid") {
				t.Errorf("NULL is at fault in %s", strings.TrimSpace(line))
			}
		}
	}
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("there is no SQLite shell here to ask")
		return
	}
	if said, err := exec.CommandContext(t.Context(), shell, path, "PRAGMA integrity_check").CombinedOutput(); err != nil || strings.TrimSpace(string(said)) != "ok" {
		t.Errorf("the shell says %s (%v)", said, err)
	}
}

// TestBackupNameLasts holds B13: a backup that was "read back and checked" had
// its name by a rename that a power cut could take back.
func TestBackupNameLasts(t *testing.T) {
	strace, path := tracer(t), program(t, buildProgram)
	data, to := t.TempDir(), t.TempDir()
	folderWith(t, data, "one")
	trace := filepath.Join(t.TempDir(), "trace")
	said, err := exec.CommandContext(t.Context(), strace, "-f", "-y", "-o", trace, "-e", "trace=renameat,renameat2,?rename,fsync",
		path, "backup", filepath.Join(to, "b.tgz"), "--data", data).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	lasts := regexp.MustCompile(`(?s)rename[^\n]*b\.tgz"[^\n]*= 0.*fsync\(\d+<` + regexp.QuoteMeta(to) + `>`)
	if !lasts.Match(text) {
		t.Errorf("the folder is not synced after the rename:\n%s", text)
	}
}

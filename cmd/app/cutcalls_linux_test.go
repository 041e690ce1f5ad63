package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
)

// cutCallsVar says at how many system calls each start, restore and upgrade is
// killed: some by default, so that the check is short; 0 is every one of the list.
const (
	cutCallsVar    = "SKILLROUTER_CUT_CALLS"
	cutCallsUsual  = 6
	cutCallsUpTo   = 233 // the highest count of one call that is tried
	cutCallsPerRun = 60 * time.Second
)

// cutCalls are the calls by which a folder is changed, and those that open and lock it.
var cutCalls = []string{
	"fsync", "pwrite64", "unlink,unlinkat", "?rename,renameat,?renameat2", "?mkdir,mkdirat", "?open,openat", "ftruncate", "write", "fcntl",
}

// tracer is strace, which kills a process at a call.
func tracer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there: nothing can be cut at a call (apt-get install strace)")
	}
	if said, err := exec.CommandContext(t.Context(), path, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %s", said)
	}
	return path
}

// cut is a call at which a process is killed; strace counts them by thread.
type cut struct {
	calls string
	when  int
}

func (c cut) String() string { return fmt.Sprintf("%s %d", c.calls, c.when) }

// cuts are the calls to try: a few at random, or all.
func cuts(t *testing.T) (list []cut) {
	t.Helper()
	for _, calls := range cutCalls {
		for last, when := 1, 1; when <= cutCallsUpTo; last, when = when, last+when {
			list = append(list, cut{calls, when})
		}
	}
	n := cutCallsUsual
	if said := os.Getenv(cutCallsVar); said != "" {
		var err error
		if n, err = strconv.Atoi(said); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 || n >= len(list) {
		return list
	}
	// Late counts of rare calls never come, and show only that all is well without a kill.
	list = slices.DeleteFunc(list, func(c cut) bool { return c.when > 21 })
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return append(list[:n-1], cut{"fsync", 1}) // which each of them comes to
}

// killedAt runs the program until a call, at which it is killed, or until it is
// done or answers. It tells whether it was killed at the call.
func killedAt(t *testing.T, at cut, data string, args ...string) bool {
	t.Helper()
	args = append([]string{"-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=" + at.calls, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", at.calls, at.when)}, args...)
	cmd := exec.Command(tracer(t), args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // strace counts by thread: the fewer there are, the further a count comes
	cmd.Stderr = &output{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.NewTimer(cutCallsPerRun)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			return err != nil && strings.Contains(err.Error(), "killed")
		case <-limit.C:
			_ = cmd.Process.Kill()
			t.Fatalf("%v: it neither ends nor answers:\n%s", at, cmd.Stderr)
		case <-look.C:
		}
		if !slices.Contains(args, "serve") {
			continue
		}
		// It serves: the call never came. End it as a kill does; strace ends with it.
		p := &process{}
		if holder, err := locate.ReadHolder(data); err == nil && strings.HasPrefix(holder.Listen, "http://") {
			p.url = holder.Listen
			if status, _, err := p.get(t.Context(), "/health"); err == nil && status == 200 {
				if router, err := os.FindProcess(holder.PID); err == nil {
					_ = router.Kill()
				}
				<-ended
				return false
			}
		}
	}
}

// TestCutAtACall holds B1, B2, B3 and B5: it kills a first start, the first
// start after a restore, a restore and an upgrade at system calls, and holds
// that the next start comes up with all of what it had, or, of a restore, all of
// what the backup has.
func TestCutAtACall(t *testing.T) {
	path := program(t, buildProgram)
	tracer(t)
	old, backedUp := t.TempDir(), t.TempDir()
	folderWith(t, old, "old")
	folderWith(t, backedUp, "restored")
	archive := filepath.Join(t.TempDir(), "backup.tgz")
	put(t, archive, string(backupOf(t, backedUp, app.BackupOptions{})))
	older := t.TempDir()
	olderFolder(t, older)
	serve := func(data string) []string { return []string{path, "serve", "--listen", "127.0.0.1:0", "--data", data} }
	restore := func(data string) []string { return []string{path, "restore", archive, "--data", data, "--force"} }
	for _, one := range []struct {
		name    string
		prepare func(data string)
		args    func(data string) []string
		want    [][]string // one of these is there after it
	}{
		{"first start", func(string) {}, serve, [][]string{nil}},
		{"start after a restore", func(data string) {
			if said, err := exec.Command(path, "restore", archive, "--data", data).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
		}, serve, [][]string{{"restored"}}},
		{"restore", func(data string) {
			copyInto(t, data, old)
		}, restore, [][]string{{"old"}, {"restored"}}},
		{"upgrade", func(data string) {
			copyInto(t, data, older)
		}, serve, [][]string{{"old"}}},
	} {
		t.Run(one.name, func(t *testing.T) {
			killed := 0
			done := map[string]bool{} // of these calls there are not so many
			for _, at := range cuts(t) {
				if done[at.calls] {
					continue
				}
				data := filepath.Join(t.TempDir(), "data")
				one.prepare(data)
				if killedAt(t, at, data, one.args(data)...) {
					killed++
				} else if os.Getenv(cutCallsVar) == "0" {
					done[at.calls] = true
				}
				a, err := begin(t, data, app.Options{}, quietLog)
				if err != nil {
					t.Errorf("cut at %v, it does not start: %v", at, err)
					continue
				}
				finish(t, a)
				if got := titlesIn(t, data); !slices.ContainsFunc(one.want, func(want []string) bool { return slices.Equal(got, want) }) {
					t.Errorf("cut at %v, it holds %q", at, got)
				}
				if left, _ := filepath.Glob(filepath.Join(data, "*.partial")); len(left) > 0 {
					t.Errorf("cut at %v, left behind: %q", at, left)
				}
				if lost, err := app.Losses(data); err != nil || len(lost) > 0 {
					t.Errorf("cut at %v, it says %q, %v", at, lost, err)
				}
				if found, err := app.VerifyFolder(t.Context(), data); err != nil || len(found.Problems) > 0 {
					t.Errorf("cut at %v: %+v, %v", at, found, err)
				}
			}
			t.Logf("%d were killed at a call", killed)
			if killed == 0 {
				t.Error("none was killed: this shows nothing")
			}
		})
	}
}

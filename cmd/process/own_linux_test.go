package process_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/process"
)

// listens makes a socket in a folder that only its user may enter, and connects to it.
func listens(t *testing.T, dir string) *net.UnixConn {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	conn, err := net.DialUnix("unix", nil, listener.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestVouch: whose folder, how open, and through no link.
func TestVouch(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	conn := listens(t, dir)
	if err := process.Vouch(conn, dir); err != nil {
		t.Error(err)
	}
	for _, mode := range []os.FileMode{0o755, 0o710, 0o701, 0o722} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := process.Vouch(conn, dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := process.Close(dir); err != nil || process.Closed(dir) != nil {
		t.Errorf("it cannot be closed: %v", err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := process.Vouch(conn, link); err == nil {
		t.Error("a link to a folder is a folder")
	}
	if err := process.Vouch(conn, filepath.Join(base, "none")); err == nil {
		t.Error("no folder is a folder")
	}
}

// foreignEnv makes the tests' own program one that looks at the folder that it names.
const foreignEnv = "SKILLROUTER_TEST_CLOSED"

// listenEnv makes it one that listens at the path that it names.
const listenEnv = "SKILLROUTER_TEST_LISTEN"

func TestMain(m *testing.M) {
	if path := os.Getenv(listenEnv); path != "" {
		if _, err := net.Listen("unix", path); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("listening\n")  //nolint:errcheck // the test sees what comes
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test ends
		os.Exit(0)
	}
	if dir := os.Getenv(foreignEnv); dir != "" {
		if err := process.Closed(dir); err != nil {
			os.Stdout.WriteString(err.Error()) //nolint:errcheck // the test sees what comes
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestVouchForOthers: the folder must be the caller's own, and the program at the socket its owner's; the superuser is let in by all.
func TestVouchForOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give a folder to another user")
	}
	base, err := os.MkdirTemp("", "vouch")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, own := filepath.Join(base, "d"), filepath.Join(base, "tests")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	conn := listens(t, dir)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []int{65533, 65534} {
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
		if err := process.Vouch(conn, dir); err != nil { // the superuser is at both ends
			t.Errorf("the superuser: %v", err)
		}
		cmd := exec.Command(own)
		cmd.Env = []string{foreignEnv + "=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		said, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if refused := strings.Contains(string(said), "belongs to another user (uid 65533)"); refused != (owner == 65533) {
			t.Errorf("uid 65534 in a folder of %d: %q", owner, said)
		}
	}

	// A program that came to the folder before it was its owner's, and was left there.
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "other")
	cmd := exec.Command(own)
	cmd.Env = []string{listenEnv + "=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it ends with its input
	defer in.Close() //nolint:errcheck // nothing was written
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	theirs, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close() //nolint:errcheck // nothing was written
	if err := process.Vouch(theirs, dir); err != nil {
		t.Errorf("the owner's program: %v", err)
	}
	if err := os.Chown(dir, 65533, 65533); err != nil {
		t.Fatal(err)
	}
	if err := process.Vouch(theirs, dir); err == nil || !strings.Contains(err.Error(), "another user's program (uid 65534)") {
		t.Errorf("a program of another user: %v", err)
	}
}

package natstest

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// natsServer is the one on the path, or that of scripts/nats, which is compiled if it was not yet. Nothing is downloaded for it.
var natsServer = sync.OnceValue(func() string {
	if path := os.Getenv("SKILLROUTER_TEST_NATS_SERVER"); path != "" {
		return path
	}
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path
	}
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return ""
	}
	build := exec.Command("go", "tool", "-n", "github.com/nats-io/nats-server/v2") // it compiles the server, and says where it is
	build.Dir = filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "scripts", "nats")
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	path, err := build.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(path))
})

// NATS is a NATS server for tests.
type NATS struct {
	Address string
	t       testing.TB
	store   string // the folder of its streams
	started *exec.Cmd
}

// NewNATS finds a NATS server: that of SKILLROUTER_TEST_NATS, the one on the usual port of this machine, or a private one. Without any the
// test is skipped; with SKILLROUTER_TEST_REQUIRE=nats it fails.
func NewNATS(t testing.TB) *NATS {
	t.Helper()
	if address := os.Getenv("SKILLROUTER_TEST_NATS"); address != "" {
		return &NATS{Address: address, t: t}
	}
	if conn, err := net.DialTimeout("tcp", "127.0.0.1:4222", time.Second); err == nil {
		_ = conn.Close()
		return &NATS{Address: "nats://127.0.0.1:4222", t: t}
	}
	return PrivateNATS(t)
}

// PrivateNATS starts a NATS server that the test may stop, with arguments beside its own.
func PrivateNATS(t testing.TB, args ...string) *NATS {
	t.Helper()
	if natsServer() == "" {
		const none = "there is no nats-server, and none can be compiled without the network (scripts/nats.sh fetches it)"
		if slices.Contains(strings.Split(os.Getenv("SKILLROUTER_TEST_REQUIRE"), ","), "nats") {
			t.Fatal(none)
		}
		t.Skip(none)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	need(t, err)
	n := &NATS{Address: "nats://" + free.Addr().String(), t: t, store: t.TempDir()}
	_ = free.Close()
	n.Start(args...)
	t.Cleanup(n.Kill)
	return n
}

// Start starts a private server, and waits until it answers.
func (n *NATS) Start(args ...string) {
	n.t.Helper()
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(n.Address, "nats://"))
	if args == nil {
		args = []string{"-js", "-sd", n.store}
	}
	n.started = exec.Command(natsServer(), append([]string{"-a", host, "-p", port}, args...)...)
	need(n.t, n.started.Start())
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), time.Second)
		if err == nil {
			_, err = bufio.NewReader(conn).ReadString('\n') // what it says of itself
			_ = conn.Close()
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("the NATS server does not answer: %v", err)
		}
	}
}

// Kill ends a private server at once; its streams are in its folder.
func (n *NATS) Kill() {
	if n.started != nil {
		_ = n.started.Process.Kill()
		_ = n.started.Wait()
		n.started = nil
	}
}

// Wipe removes the streams of a private server that was killed.
func (n *NATS) Wipe() {
	if err := os.RemoveAll(n.store); err != nil {
		n.t.Error(err)
	}
}

// Signal sends a private server a signal.
func (n *NATS) Signal(s os.Signal) {
	if err := n.started.Process.Signal(s); err != nil {
		n.t.Error(err)
	}
}

// need fails the test, and ends it, if err is one.
func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

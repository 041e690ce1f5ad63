package app_test

import (
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
)

// routerOf is the router of a data folder, as its user's commands find it.
func routerOf(t *testing.T, data string) locate.Router {
	t.Helper()
	to, err := locate.Place{Data: data, LookupEnv: func(string) (string, bool) { return "", false }}.Router()
	if err != nil {
		t.Fatal(err)
	}
	if !to.Local() {
		t.Fatalf("the router of %s is called at %s", data, to.URL)
	}
	return to
}

// overSocket is a client that calls the router of a data folder as its user's commands do.
func overSocket(t *testing.T, data string) *client.Client {
	t.Helper()
	to := routerOf(t, data)
	c, err := client.New(to.URL, client.Options{Token: to.Token, Connect: to.Connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// lockOf is what the lock file of a data folder says.
func lockOf(t *testing.T, data string) locate.Holder {
	t.Helper()
	holder, err := locate.ReadHolder(data)
	if err != nil {
		t.Fatal(err)
	}
	return holder
}

// deepFolder is a data folder whose path is too long for a socket.
func deepFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep", 12), strings.Repeat("folder", 10))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// leftOver leaves a socket in a folder as a router does that was killed.
func leftOver(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, locate.SocketName)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSocket: the socket is the user's own, stands in for one that a killed router left, and goes with the router.
func TestSocket(t *testing.T) {
	cfg := settings(t)
	path := leftOver(t, cfg.Data)
	if _, err := routerOf(t, cfg.Data).Connect(t.Context()); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("a socket that nobody serves: %v", err)
	}
	_, stop := running(t, cfg)
	if holder := lockOf(t, cfg.Data); holder.Socket != locate.SocketName {
		t.Errorf("the lock file names %q", holder.Socket)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	if health, err := overSocket(t, cfg.Data).System.Health(t.Context()); err != nil || health.Version == "" {
		t.Errorf("health: %+v, %v", health, err)
	}
	stop()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket outlives the router: %v", err)
	}
	if _, err := routerOf(t, cfg.Data).Connect(t.Context()); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("a router that was stopped: %v", err)
	}
}

// TestSocketElsewhere: where the data folder cannot hold a socket, one is in a folder of this user alone that the lock file names,
// which a killed router's successor takes over, and which a stopped one takes with it.
func TestSocketElsewhere(t *testing.T) {
	for name, dir := range map[string]func(t *testing.T) string{
		"a long path": deepFolder,
		"something else has the name": func(t *testing.T) string {
			dir := t.TempDir()
			putAs(t, filepath.Join(dir, locate.SocketName), []byte("not ours"), 0o600)
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "run") // a test's own folder has a path that is too long
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(base) })
			t.Setenv("XDG_RUNTIME_DIR", base)
			cfg := settings(t)
			cfg.Data = dir(t)
			_, stop := running(t, cfg)
			named := lockOf(t, cfg.Data).Socket
			if filepath.Dir(filepath.Dir(named)) != base {
				t.Fatalf("the lock file names %q", named)
			}
			if info, err := os.Lstat(filepath.Dir(named)); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("its folder is %v, %v", info, err)
			}
			if _, err := overSocket(t, cfg.Data).System.Health(t.Context()); err != nil {
				t.Error(err)
			}
			// Somebody else's folder, or a link, is not believed.
			if err := os.Chmod(filepath.Dir(named), 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := routerOf(t, cfg.Data).Connect(t.Context()); errs.CodeOf(err) != errs.Conflict || !strings.Contains(errs.MessageOf(err), "chmod 700") {
				t.Errorf("a folder that is open to others: %v", err)
			}
			if err := os.Chmod(filepath.Dir(named), 0o700); err != nil {
				t.Fatal(err)
			}
			stop()
			if left, _ := os.ReadDir(base); len(left) > 0 {
				t.Errorf("a stopped router leaves %v", left)
			}
			// As after kill -9: the lock file names a folder with a socket in it.
			folder(t, filepath.Dir(named))
			leftOver(t, filepath.Dir(named))
			putAs(t, filepath.Join(cfg.Data, locate.LockName), []byte(`{"pid":1,"listen":"http://127.0.0.1:1","socket":"`+named+`"}`), 0o600)
			running(t, cfg)
			if got := lockOf(t, cfg.Data).Socket; got != named {
				t.Errorf("the next router's is %q, want %q", got, named)
			}
			if _, err := overSocket(t, cfg.Data).System.Health(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoSocket: a router that can have no socket says so in doctor, and its user's commands say what to do.
func TestNoSocket(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	cfg := settings(t)
	cfg.Data = deepFolder(t)
	a, _ := running(t, cfg)
	to := routerOf(t, cfg.Data)
	if _, err := to.Connect(t.Context()); errs.CodeOf(err) != errs.Unavailable && errs.CodeOf(err) != errs.Conflict || !strings.Contains(errs.MessageOf(err), "SKILLROUTER_SERVER") {
		t.Errorf("its commands say: %v", err)
	}
	c, err := client.New(a.URL(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.Ask(t.Context(), c, router.SystemService.Doctor)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range found.Checks {
		if check.Name == "socket" && (check.OK || !strings.Contains(check.Detail, "longer than 100 bytes")) {
			t.Errorf("doctor says %+v", check)
		}
	}
}

// TestFirstToken: where the settings want it, the first start issues a token before anybody is answered, once.
func TestFirstToken(t *testing.T) {
	cfg := settings(t)
	cfg.FirstToken = filepath.Join(cfg.Data, "first.token")
	a, stop := running(t, cfg)
	first, err := os.ReadFile(cfg.FirstToken)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cfg.FirstToken); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if status, _ := ask(t, http.MethodGet, a.URL()+"/api/agents", "", nil); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	bearer := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(first))}}
	if status, _ := ask(t, http.MethodGet, a.URL()+"/api/agents", "", bearer); status != http.StatusOK {
		t.Errorf("with it: %d", status)
	}
	if status, _ := ask(t, http.MethodGet, a.URL()+"/api/tokens", "", bearer); status != http.StatusForbidden {
		t.Errorf("it issues tokens itself: %d", status)
	}
	stop()
	if err := os.Remove(cfg.FirstToken); err != nil {
		t.Fatal(err)
	}
	running(t, cfg)
	if _, err := os.Stat(cfg.FirstToken); !os.IsNotExist(err) {
		t.Errorf("the second start issued another: %v", err)
	}
}

// TestFolderOfThePages: who types the beginning of a page's address comes to the dashboard, also where a token is needed.
func TestFolderOfThePages(t *testing.T) {
	cfg := settings(t)
	cfg.FirstToken = filepath.Join(cfg.Data, "first.token")
	for _, cfg := range []config.Config{settings(t), cfg} {
		a, _ := running(t, cfg)
		for _, path := range []string{"/ui", "/ui/"} {
			answer, err := stay.Get(a.URL() + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close() // it has none
			if answer.StatusCode != http.StatusFound || answer.Header.Get("Location") != "/" {
				t.Errorf("%s: %d to %q", path, answer.StatusCode, answer.Header.Get("Location"))
			}
		}
	}
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"skillrouter/cmd/locate"
	"skillrouter/cmd/process"
	"skillrouter/internal/errs"
	"skillrouter/router/httpapi"
)

// openSocket opens the socket at which the router answers the programs of its own user, whom nobody else can pretend to be:
// in the data folder or, where that cannot hold one, in a folder of its own that the lock file names. former is the
// holder that the lock file named before. Without a socket the router is reached by its address alone.
func (a *App) openSocket(former locate.Holder) {
	data, err := filepath.Abs(a.config.Data)
	if err == nil {
		if data, err = filepath.EvalSymlinks(data); err == nil {
			err = a.openSocketIn(data, locate.SocketName)
		}
	}
	if err == nil {
		return
	}
	causes := []error{err}
	if filepath.IsAbs(former.Socket) && process.Closed(filepath.Dir(former.Socket)) == nil {
		if a.openSocketIn(filepath.Dir(former.Socket), former.Socket) == nil {
			return
		}
	}
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir()} {
		if !filepath.IsAbs(base) {
			continue
		}
		dir, err := os.MkdirTemp(base, "skillrouter-") // 0700
		if err == nil {
			if err = a.openSocketIn(dir, filepath.Join(dir, locate.SocketName)); err == nil {
				return
			}
			err = errors.Join(err, os.Remove(dir))
		}
		causes = append(causes, err)
	}
	a.noSocket = errors.Join(causes...)
	a.log.Warn("there is no socket for this user's programs: hooks and commands need SKILLROUTER_SERVER and a token", "because", a.noSocket)
}

// openSocketIn opens the socket in a folder. This process holds the lock: a socket that is there is of a router that was killed.
func (a *App) openSocketIn(dir, name string) error {
	path := filepath.Join(dir, locate.SocketName)
	if len(path) > locate.MaxSocketPath {
		return fmt.Errorf("%s is longer than %d bytes", path, locate.MaxSocketPath)
	}
	if err := process.Closed(dir); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type()&(fs.ModeSocket|fs.ModeIrregular) != 0 { // Windows calls one irregular
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	if name != locate.SocketName {
		a.base.defers("socket's folder", func() error { return os.Remove(dir) })
	}
	a.base.defers("socket", func() error { return ignoreClosed(listener.Close()) })
	a.doors = append(a.doors, door{listener: listener, own: true})
	a.socket = name
	return nil
}

// nearAddress is what calls over the socket come from, for what asks whether a caller is on this machine.
const nearAddress = "127.0.0.1:1"

// fromHere answers calls of this user's programs.
func fromHere(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = nearAddress
		handler.ServeHTTP(w, r)
	})
}

// withPeer has the calls of a connection over loopback know whether another user makes them. It is asked for while the
// connection is made: later the same port may be somebody else's.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	here, isHere := conn.LocalAddr().(*net.TCPAddr)
	there, isThere := conn.RemoteAddr().(*net.TCPAddr)
	if !isHere || !isThere || !there.IP.IsLoopback() {
		return ctx
	}
	look := sync.OnceValue(func() error {
		uid, found := process.PeerUID(here.AddrPort(), there.AddrPort())
		switch {
		case !found:
			return errs.Errorf(errs.Forbidden, "this router serves its own user (uid %d) while no token is issued, and the system does not show who calls; `skillrouter token create`, run by that user, issues one", os.Geteuid())
		case uid != 0 && uid != os.Geteuid():
			return errs.Errorf(errs.Forbidden, "this router serves its own user (uid %d) while no token is issued, and uid %d calls; `skillrouter token create`, run by that user, issues one", os.Geteuid(), uid)
		}
		return nil
	})
	go look() // it ends by itself, and does not hold up who connects next
	return httpapi.WithPeer(ctx, look)
}

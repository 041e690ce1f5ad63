package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// door is a listener and the server that answers at it.
type door struct {
	listener net.Listener
	server   *http.Server
	silent   *silent
	socket   bool // the event feed is at its root
	own      bool // only this user's programs reach it
}

// silentGrace is how long a connection that asked nothing yet may still ask at
// a stop: more than a request takes on its way over a network, and too short
// for anybody to wait for. net/http would wait 5 s, the whole grace period.
const silentGrace = 200 * time.Millisecond

// silent are a server's connections that sent nothing yet. Clients open them
// in advance, and http.Server.Shutdown waits for them as for a call.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// follow is the server's ConnState.
func (s *silent) follow(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.conns[conn] = struct{}{}
	} else {
		delete(s.conns, conn)
	}
}

func (s *silent) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close() // nobody asked anything on it
	}
}

// openDoors binds the address of Listen and every further one, before anything
// else is opened: a port that is taken, or a certificate that is none, ends the start at once. The first door
// is the one that the process is known by.
func (a *App) openDoors() (err error) {
	if a.certificate, err = openCertificate(a.config, a.now, a.log); err != nil {
		return err
	}
	if err := a.openDoor(config.Address{Listen: a.config.Listen, Setting: "listen"}, false); err != nil {
		return err
	}
	for _, address := range a.config.HTTPAddresses() {
		if err := a.openDoor(address, false); err != nil {
			return err
		}
	}
	for _, address := range a.config.WebSocketAddresses() {
		if err := a.openDoor(address, true); err != nil {
			return err
		}
	}
	if tcp, ok := a.doors[0].listener.Addr().(*net.TCPAddr); ok && !a.needsToken() {
		a.seesPeers = process.KnowsPeers(tcp.AddrPort())
	}
	return nil
}

func (a *App) openDoor(address config.Address, socket bool) error {
	listener, err := net.Listen("tcp", address.Listen)
	if err != nil {
		return cannotListen(address, "", err)
	}
	a.base.defers("listener", func() error { return ignoreClosed(listener.Close()) })
	a.doors = append(a.doors, door{listener: a.certificate.over(listener), socket: socket})
	return nil
}

// cannotListen says which address of which setting is not to be had, and why.
func cannotListen(address config.Address, network string, err error) error {
	cause := err
	if inner := errors.Unwrap(err); inner != nil {
		cause = inner
	}
	if network == "" && errors.Is(err, syscall.EADDRINUSE) {
		who := "another program"
		if at, parsed := net.ResolveTCPAddr("tcp", address.Listen); parsed == nil {
			who = cmp.Or(process.PortHolder(at.Port), who)
		}
		return errs.Wrap(errs.Unavailable, err, "cannot listen on %s (%s): %s has this port; another one is chosen by `--%s 127.0.0.1:PORT`",
			address.Listen, address.Setting, who, strings.ReplaceAll(address.Setting, "_", "-"))
	}
	return errs.Wrap(errs.Unavailable, err, "cannot listen on %s%s (%s): %v", network, address.Listen, address.Setting, cause)
}

// serveDoors gives each door its server, or has those that are there lead to another handler.
func (a *App) serveDoors(ctx context.Context, handler http.Handler) {
	if a.leads.Swap(&handler) != nil {
		return
	}
	for i := range a.doors {
		handler, accepted := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*a.leads.Load()).ServeHTTP(w, r) })), func(ctx context.Context, _ net.Conn) context.Context { return ctx }
		switch {
		case a.doors[i].own:
			handler = fromHere(handler)
		case a.doors[i].socket:
			handler = httpapi.SocketPort(handler, a.hostCheck())
		}
		if a.seesPeers {
			accepted = withPeer
		}
		a.doors[i].silent = &silent{conns: map[net.Conn]struct{}{}}
		a.doors[i].server = &http.Server{
			ConnState: a.doors[i].silent.follow, ConnContext: accepted,
			Handler: handler, ReadHeaderTimeout: httpapi.ReadHeaderTimeout, IdleTimeout: httpapi.IdleTimeout,
			WriteTimeout: httpapi.WriteTimeout, MaxHeaderBytes: httpapi.MaxHeader,
			ErrorLog:    slog.NewLogLogger(a.log.Handler(), slog.LevelDebug), // what clients do to connections is no error of ours
			BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		}
	}
}

// serve has the doors' servers begin, if they have not.
func (a *App) serve() {
	if a.served != nil {
		return
	}
	a.served = make(chan error, len(a.doors))
	for _, d := range a.doors {
		go func() { a.served <- d.server.Serve(d.listener) }()
	}
}

// hostCheck is the check of what a request may be called by.
func (a *App) hostCheck() func(r *http.Request) error {
	return httpapi.HostCheck(a.config.AllowedHosts, a.needsToken(), a.certificate.names)
}

// shutDoors lets the calls under way at every door end within the grace
// period, all at once, and cuts off those that do not.
func (a *App) shutDoors(grace context.Context) {
	shut := make(chan error, len(a.doors))
	for _, d := range a.doors {
		go func() {
			defer time.AfterFunc(silentGrace, d.silent.close).Stop()
			err := d.server.Shutdown(grace)
			if err != nil {
				_ = d.server.Close() // its connections are being given up
			}
			shut <- err
		}()
	}
	var cut error
	for range a.doors {
		cut = errors.Join(cut, <-shut)
	}
	if cut != nil {
		a.log.Warn("calls were cut off at the end of the grace period", "grace", a.config.ShutdownGrace)
	}
}

// Addresses are the URLs of every door, the one that the process is known by first.
func (a *App) Addresses() []string {
	list := make([]string, 0, len(a.doors))
	for _, d := range a.doors {
		if d.own {
			continue
		}
		list = append(list, locate.URL(a.config.Scheme(), d.listener.Addr().String()))
	}
	return list
}

// needsToken tells whether others than this machine can reach any of the
// doors: then every call needs a token, at each of them, or the one that is
// open to this machine alone would be a way around it.
func (a *App) needsToken() bool {
	if a.config.Node != "" { // what another node hands on comes from anywhere
		return true
	}
	for _, d := range a.doors {
		if tcp, is := d.listener.Addr().(*net.TCPAddr); is && !tcp.IP.IsLoopback() {
			return true
		}
	}
	return false
}

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

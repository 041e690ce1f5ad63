package locate

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"skillrouter/cmd/process"
	"skillrouter/internal/errs"
)

const (
	// SocketName is the Unix socket in the data folder at which its router answers the folder's owner.
	SocketName = "skillrouter.sock"
	// MaxSocketPath is the longest path of a socket, in bytes: systems take 104 or 108, with a zero at the end.
	MaxSocketPath = 100
	// blockedTime bounds the question whether sockets can be reached at all.
	blockedTime = 150 * time.Millisecond
)

// byToken is the way around a socket.
const byToken = "name the router by SKILLROUTER_SERVER, and give it a token of its own by SKILLROUTER_TOKEN (`skillrouter token create`)"

// Connect connects to the socket of the router that holds the data folder. It is asked for the path each time, because a
// router that begins anew may have another one. An error says what to do: it is Unavailable where no router runs, and a
// Conflict where one cannot be reached or believed, which starting another would not mend.
func (r Router) Connect(ctx context.Context) (net.Conn, error) {
	if r.data == "" {
		return nil, errs.Errorf(errs.Internal, "the router at %s has no socket", r.URL)
	}
	holder, unread := ReadHolder(r.data)
	path := holder.Socket
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.data, SocketName)
		if real, err := filepath.EvalSymlinks(r.data); err == nil { // a data folder may be reached through a link
			path = filepath.Join(real, SocketName)
		}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch away := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR); {
	case err == nil:
	case away && holder.PID != 0 && holder.Socket == "":
		return nil, errs.Wrap(errs.Unavailable, err, "no router answers at %s, and process %d, which held the data folder %s last, had no socket there; if it still runs, start it again, or %s", r.URL, holder.PID, r.data, byToken)
	case away && r.named:
		return nil, errs.Wrap(errs.Unavailable, err, "no router answers at %s, which was the address of the data folder %s; start its router with `skillrouter serve`, or, if another has the address now, remove %s", r.URL, r.data, filepath.Join(r.data, LockName))
	case away:
		return nil, errs.Wrap(errs.Unavailable, err, "no router answers at %s; start one with `skillrouter serve`, or name another with --server", r.URL)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EAFNOSUPPORT), errors.Is(err, syscall.EPROTONOSUPPORT), errors.Is(err, syscall.EINVAL), errors.Is(unread, os.ErrPermission):
		return nil, errs.Wrap(errs.Conflict, err, "the router's socket %s cannot be reached from here (%v), as in an agent's sandbox; %s", path, reason(err), byToken)
	default:
		return nil, err
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("the connection is none of a socket"), conn.Close())
	}
	if err := process.Vouch(unix, filepath.Dir(path)); err != nil {
		_ = conn.Close() // nothing was sent
		return nil, errs.Wrap(errs.Conflict, err, "the router's socket %s is not to be trusted: %v", path, err)
	}
	return conn, nil
}

// blocked tells whether something forbids this program to connect to the socket.
func (r Router) blocked() bool {
	ctx, cancel := context.WithTimeout(context.Background(), blockedTime)
	defer cancel()
	conn, err := r.Connect(ctx)
	if err == nil {
		_ = conn.Close()
	}
	return errs.CodeOf(err) == errs.Conflict
}

// reason is the system's own word for what went wrong.
func reason(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}

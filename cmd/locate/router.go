// Package locate finds the router that a command talks to: the socket in the data
// folder, or the address that a person named, and the token to send there. It owns
// the rules of who is asked and who is told the owner's secret, and how the files in
// the data folder are read that say so. It must know no service, and neither start
// nor ask a router.
package locate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/operational"
)

// Place is what a command was told of its router. The zero value finds this
// user's own.
type Place struct {
	// Server and Token are what the command line named; they may be empty.
	Server, Token string
	// Data is the folder of the router that is meant; empty: the settings say it.
	Data string
	// LookupEnv reads the environment, as os.LookupEnv does.
	LookupEnv func(name string) (string, bool)
}

// Env is a variable of the environment, or empty.
func (p Place) Env(name string) string {
	if p.LookupEnv == nil {
		return ""
	}
	value, _ := p.LookupEnv(name)
	return value
}

// Settings reads the router's settings as `serve` would without flags.
func (p Place) Settings() (config.Loaded, error) {
	return config.Load(config.Sources{File: p.Env("SKILLROUTER_CONFIG"), LookupEnv: p.LookupEnv})
}

// Named is the router's URL that was named; empty: this user's own is meant.
func (p Place) Named() string { return cmp.Or(p.Server, p.Env("SKILLROUTER_SERVER")) }

// Router is where a command's calls go.
type Router struct {
	URL   string // by which people know it
	Token string // to send with every call; empty: none
	data  string // the folder whose router is called over its socket; empty: the URL is dialled
	named bool   // a person named the URL
}

// Router finds the router: the one that was named, else the one that holds the data folder. That one is called over
// its socket, also where its address was named. The owner's token goes there and nowhere else: somebody else's
// program may listen at an address that a router had.
func (p Place) Router() (Router, error) {
	r := Router{URL: p.Named(), Token: cmp.Or(p.Token, p.Env("SKILLROUTER_TOKEN"))}
	r.named = r.URL != ""
	settings, err := p.Settings()
	if err != nil && r.named {
		return r, nil // a named router needs no settings
	}
	if err != nil {
		return Router{}, err
	}
	local := r
	local.data = cmp.Or(p.Data, settings.Data)
	holder, err := ReadHolder(local.data)
	switch {
	case r.named && (err != nil || !Same(holder.URL(), r.URL)):
		return r, nil
	case r.named && r.Token != "" && (holder.PID == 0 || local.blocked()):
		return r, nil // a person named both, and none runs on the folder, or none can be reached
	case !r.named && holder.PID != 0:
		local.URL = holder.URL()
	}
	local.URL = cmp.Or(local.URL, URL(settings.Scheme(), settings.Listen))
	if local.Token == "" && local.Local() {
		local.Token, _ = ReadOwnerToken(local.data) // without one, the router says whether it wants one
	}
	return local, nil
}

// Local tells whether the router is called over its socket.
func (r Router) Local() bool { return r.data != "" }

// Data is the folder of a router that is called over its socket.
func (r Router) Data() string { return r.data }

// URL is the URL under which a listener's address is reached from this machine.
func URL(scheme, listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return scheme + "://" + listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Same tells whether both URLs name one router: they are equal, or the same port of this machine's loopback.
func Same(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	if a == "" || errA != nil || errB != nil {
		return false
	}
	return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") ||
		u.Scheme == v.Scheme && u.Port() != "" && u.Port() == v.Port() && Loopback(u) && Loopback(v)
}

// Loopback tells whether a URL names this machine's loopback.
func Loopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

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

// LockName is the file in the data folder that names the process that holds it.
const LockName = "skillrouter.lock"

// MaxHolder bounds what is read of a lock file, in bytes.
const MaxHolder = 4 << 10

// Holder is the process that holds a data folder.
type Holder struct {
	PID     int       `json:"pid,omitempty"` // 0: nobody holds it, and Listen is where its router was
	Listen  string    `json:"listen"`
	Started time.Time `json:"started,omitzero"`
	// Socket is where it answers the user whom the folder belongs to: SocketName in the folder, or a path elsewhere;
	// empty: it has none.
	Socket string `json:"socket,omitempty"`
}

// URL is the address under which the holder is reached; empty while it is not bound.
func (h Holder) URL() string {
	if !strings.HasPrefix(h.Listen, "http://") && !strings.HasPrefix(h.Listen, "https://") {
		return ""
	}
	return h.Listen
}

// ReadHolder returns the process that the data folder's lock file names, the
// zero Holder if it names none. The file can outlive a process that was
// killed: what it says is where to look, not that somebody is there.
func ReadHolder(dir string) (Holder, error) {
	var h Holder
	text, err := file.ReadHead(filepath.Join(dir, LockName), MaxHolder)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return Holder{}, err
	}
	return h, json.Unmarshal(text, &h)
}

// OwnerTokenName is the file in the data folder that holds the owner's token.
const OwnerTokenName = "owner.token"

// ErrEmptyToken is of an owner.token that a power cut emptied.
var ErrEmptyToken = errors.New("the owner's token is empty")

// ReadOwnerToken returns the secret in dir's owner.token.
func ReadOwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && strings.Trim(secret, "\x00") == "" {
		return "", errs.Wrap(errs.Unavailable, ErrEmptyToken, "%s is empty; the router's next start makes a new one", path)
	}
	if !strings.HasPrefix(secret, operational.TokenPrefix) || len(secret) < 40 {
		return "", errs.Errorf(errs.Unavailable, "%s holds no token; remove it and start again to get a new one", path)
	}
	return secret, nil
}

// Package locate finds the router that a command talks to: the socket in the data
// folder, or the address that a person named, and the token to send there. It owns
// the rules of who is asked and who is told the owner's secret, and how the files in
// the data folder are read that say so. It must know no service, and neither start
// nor ask a router.
package locate

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"skillrouter/cmd/config"
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
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

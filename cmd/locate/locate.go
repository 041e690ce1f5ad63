// Package locate finds the router that a command talks to: its address and the
// token to send there. It owns the rules of who is asked and who is told the
// owner's secret, and how the files in the data folder are read that say so. It
// must know no service, and neither start nor ask a router.
package locate

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"skillrouter/cmd/config"
)

// Place is what a command was told of its router. The zero value finds this
// user's own.
type Place struct {
	// Server and Token are what the command line named; they may be empty.
	Server, Token string
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

// Router is Address, and Secret of it, reading the settings once at most.
func (p Place) Router() (address, secret string, err error) {
	settings := sync.OnceValues(p.Settings)
	if address, err = p.address(settings); err != nil {
		return "", "", err
	}
	return address, p.secret(address, settings), nil
}

// Address is the router's URL: the one that was named, else that of whoever
// holds the data folder, else the one in the settings.
func (p Place) Address() (string, error) { return p.address(p.Settings) }

// Secret is the token to send to the router at address: the one that was
// given, else the owner's if the router that holds this user's data folder is
// the one at that address. It goes to nobody else.
func (p Place) Secret(address string) string { return p.secret(address, p.Settings) }

// Named is the router's URL that was named; empty: this user's own is meant.
func (p Place) Named() string {
	if p.Server != "" {
		return p.Server
	}
	return p.Env("SKILLROUTER_SERVER")
}

func (p Place) address(read func() (config.Loaded, error)) (string, error) {
	if named := p.Named(); named != "" {
		return named, nil
	}
	settings, err := read()
	if err != nil {
		return "", err
	}
	if holder, err := ReadHolder(settings.Data); err == nil && holder.URL() != "" {
		return holder.URL(), nil
	}
	return URL(settings.Scheme(), settings.Listen), nil
}

func (p Place) secret(address string, read func() (config.Loaded, error)) string {
	if p.Token != "" {
		return p.Token
	}
	if named := p.Env("SKILLROUTER_TOKEN"); named != "" {
		return named
	}
	settings, err := read()
	if err != nil {
		return ""
	}
	holder, err := ReadHolder(settings.Data)
	if err != nil || !sameLoopback(holder.URL(), address) {
		return ""
	}
	secret, err := ReadOwnerToken(settings.Data)
	if err != nil {
		return ""
	}
	return secret
}

// Certificates are the fingerprints of the certificates that this user's own router shows, if it is the one at an address.
// It says so in the data folder, where nobody else writes.
func (p Place) Certificates(address string) []string {
	settings, err := p.Settings()
	if err != nil {
		return nil
	}
	holder, err := ReadHolder(settings.Data)
	if err != nil || strings.TrimRight(address, "/") != holder.URL() && !sameLoopback(holder.URL(), address) {
		return nil
	}
	return holder.Certificates
}

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

// sameLoopback tells whether both URLs name the same port of this machine's loopback.
func sameLoopback(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Scheme == v.Scheme && u.Port() != "" && u.Port() == v.Port() && Loopback(u) && Loopback(v)
}

// Loopback tells whether a URL names this machine's loopback.
func Loopback(u *url.URL) bool {
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// hostCheck holds the names that this server may be called by.
type hostCheck struct {
	// allowed are the names that the owner added; a page on any port of theirs is trusted too.
	allowed map[string]bool
	// anyAddress allows every IP address as a name: beyond loopback the machine's own
	// addresses are not known here, and an address cannot be rebound as a name can.
	anyAddress bool
	// certified tells of the names of the certificate: a page of a name that was rebound to this machine has another one.
	certified func(name string) bool
}

func newHostCheck(allowed []string, beyondLoopback bool, certified func(string) bool) hostCheck {
	h := hostCheck{allowed: map[string]bool{}, anyAddress: beyondLoopback, certified: certified}
	for _, name := range allowed {
		h.allowed[strings.ToLower(name)] = true
	}
	return h
}

// check returns what to answer a request whose Host or Origin is foreign, or nil.
func (h hostCheck) check(r *http.Request) *Problem {
	if name := hostname(r.Host); !h.allows(name) && (r.TLS == nil || h.certified == nil || !h.certified(name)) {
		return refusal(http.StatusForbidden, errs.Forbidden,
			"the Host header names another host; if it is a name of this machine, add it to allowed_hosts")
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return checkSite(r)
	}
	origin, err := url.Parse(origins[0])
	// Whoever is between a browser and this machine can make up a page of plain HTTP, under any name.
	same := err == nil && len(origins) == 1 && (origin.Scheme == "https" || origin.Scheme == "http" && r.TLS == nil) &&
		(strings.EqualFold(origin.Host, r.Host) || h.allowed[strings.ToLower(origin.Hostname())])
	if !same {
		return refusal(http.StatusForbidden, errs.Forbidden,
			"the Origin header names another site; if you trust it, add its host to allowed_hosts")
	}
	return nil
}

// guest tells whether a page of an allowed host, of another address than this server's, made a browser send the request. Such a page
// may read the answer, and must send a token: its browser is on this machine, and may not be taken for this machine's user.
func (h hostCheck) guest(r *http.Request) bool {
	text := r.Header.Get("Origin")
	if text == "" || len(h.allowed) == 0 || isPage(r.URL.Path) {
		return false
	}
	origin, err := url.Parse(text)
	return err == nil && h.allowed[strings.ToLower(origin.Hostname())] && !strings.EqualFold(origin.Host, r.Host)
}

// traces are the reads that leave something behind: a gap, an agent that was
// heard of, a delivery mark, a file. An address that a browser opens by itself is
// none of them, even if no page is said to have led there: a typed address may
// have been sent on by another site.
var traces = []string{"/api/search", "/messages", "/messages/inbox", "/api/reminders/pending", "/api/backup", "/api/export"}

// checkSite refuses what a page of another site, or of another port, has a
// browser fetch without naming an Origin: an image, a script, a frame. The page
// could not read the answer, but some reads leave a trace. A link may lead to the
// pages for people, which leave none, and to nothing else.
func checkSite(r *http.Request) *Problem {
	opened := r.Header.Get("Sec-Fetch-Mode") == "navigate"
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return nil
	case "none":
		if opened && slices.Contains(traces, r.URL.Path) {
			return refusal(http.StatusForbidden, errs.Forbidden, "this is for programs, and leaves a trace: it is not opened in a browser")
		}
		return nil
	}
	if r.Method == http.MethodGet && opened && r.Header.Get("Sec-Fetch-Dest") == "document" && isPage(r.URL.Path) {
		return nil
	}
	return refusal(http.StatusForbidden, errs.Forbidden, "a browser sent this for a page of another site")
}

// isPage tells whether a path is one of the pages for people.
func isPage(path string) bool {
	for _, root := range []string{"/ui", readerPath} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return path == "/"
}

func (h hostCheck) allows(name string) bool {
	name = strings.ToLower(name)
	if name == "localhost" || h.allowed[name] {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && (h.anyAddress || address.IsLoopback())
}

// hostname strips the port, and the brackets of an IPv6 address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// SocketPort is the handler of a port that is for the event feed, as the experience server's
// 9031: a WebSocket opened at the root is the one at /ws. Every other path is
// the server's own, with the same checks; the root is nothing else there. hosts is the server's HostCheck.
func SocketPort(server http.Handler, hosts func(r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			server.ServeHTTP(w, r)
			return
		}
		if !upgrades(r.Header) {
			if err := hosts(r); err != nil {
				WriteProblem(w, err)
				return
			}
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			p := refusal(http.StatusUpgradeRequired, errs.Invalid, "this port is for WebSockets: open one here, or see /health")
			writeProblem(w, p, p)
			return
		}
		there := *r
		there.URL = &url.URL{Path: "/ws", RawQuery: r.URL.RawQuery}
		server.ServeHTTP(w, &there)
	})
}

// upgrades tells whether a request asks to become a WebSocket (RFC 6455, section 4.2.1).
func upgrades(header http.Header) bool {
	return httpguts.HeaderValuesContainsToken(header.Values("Connection"), "upgrade") && httpguts.HeaderValuesContainsToken(header.Values("Upgrade"), "websocket")
}

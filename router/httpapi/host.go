package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"skillrouter"
)

// hostCheck holds the names that this server may be called by.
type hostCheck struct {
	// allowed are the names that the owner added; a page on any port of theirs is trusted too.
	allowed map[string]bool
	// anyAddress allows every IP address as a name: beyond loopback the machine's own
	// addresses are not known here, and an address cannot be rebound as a name can.
	anyAddress bool
}

func newHostCheck(allowed []string, beyondLoopback bool) hostCheck {
	h := hostCheck{allowed: map[string]bool{}, anyAddress: beyondLoopback}
	for _, name := range allowed {
		h.allowed[strings.ToLower(name)] = true
	}
	return h
}

// check returns what to answer a request whose Host or Origin is foreign, or nil.
func (h hostCheck) check(r *http.Request) *Problem {
	if !h.allows(hostname(r.Host)) {
		return refusal(http.StatusForbidden, skillrouter.Forbidden,
			"the Host header names another host; if it is a name of this machine, add it to allowed_hosts")
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return checkSite(r)
	}
	origin, err := url.Parse(origins[0])
	same := err == nil && len(origins) == 1 && (origin.Scheme == "http" || origin.Scheme == "https") &&
		(strings.EqualFold(origin.Host, r.Host) || h.allowed[strings.ToLower(origin.Hostname())])
	if !same {
		return refusal(http.StatusForbidden, skillrouter.Forbidden,
			"the Origin header names another site; if you trust it, add its host to allowed_hosts")
	}
	return nil
}

// checkSite refuses what a page of another site, or of another port, has a
// browser fetch without naming an Origin: an image, a script, a frame. The page
// could not read the answer, but some reads leave a trace, as that of an inbox
// does. A link that somebody follows is no such thing.
func checkSite(r *http.Request) *Problem {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return nil
	}
	return refusal(http.StatusForbidden, skillrouter.Forbidden, "a browser sent this for a page of another site")
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

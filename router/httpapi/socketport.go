package httpapi

import (
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpguts"

	"github.com/skillrouter/skillrouter/internal/errs"
)

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

package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// How calls are bounded unless Options say otherwise.
const (
	// DefaultConnect is how long a connection may take: the endpoint is near.
	DefaultConnect = 5 * time.Second
	// DefaultTimeout is how long the endpoint may be silent: loading a large model into memory takes a minute.
	DefaultTimeout = 2 * time.Minute
	// DefaultTotal bounds a stream as a whole: an answer that takes longer is one that never ends.
	DefaultTotal = 30 * time.Minute
	// idleConnections is how many connections wait for another call: the proxy's callers are a team of agents.
	idleConnections = 16
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 64 << 10
)

// Timeouts bound a call; zero fields mean the defaults.
type Timeouts struct {
	Connect time.Duration // until there is a connection
	// FirstByte is until an answer begins. One that is no stream begins when it is ready.
	FirstByte time.Duration
	Idle      time.Duration // between two pieces of an answer
	Total     time.Duration // of an answer from its first byte to its last
}

// Options are an Endpoint's settings. The zero value is usable.
type Options struct {
	// Key is sent as a bearer token; empty sends none.
	Key Secret
	// Timeouts bound each call.
	Timeouts Timeouts
	// Sleep waits between two attempts, and Chance is in 0 to 1; nil means the real ones.
	Sleep  func(ctx context.Context, d time.Duration) error
	Chance func() float64
	Now    clock.Clock
	Log    *slog.Logger
}

// Endpoint is an OpenAI-compatible server. It is safe for use by several goroutines.
type Endpoint struct {
	base    string // with the version's path, without a slash at its end
	target  string // host:port, the only one that is dialled
	options Options
	http    *http.Client
}

// ParseBase checks an endpoint's address and returns it in full: an address without
// a path gets /v1, as all of these servers have it.
func ParseBase(base string) (*url.URL, error) {
	const field = "base_url"
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, errs.InvalidField(field, "must be a URL such as http://127.0.0.1:11434/v1")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errs.InvalidField(field, "may bear no user, query or fragment; a key is a setting of its own")
	}
	u.Path = cmp.Or(strings.TrimRight(u.Path, "/"), "/v1")
	u.RawPath = ""
	return u, nil
}

// NewEndpoint makes an Endpoint for the server at base, such as
// http://127.0.0.1:11434/v1. It connects to nothing. An address that ParseBase
// refuses, or a key that no header can bear, is Invalid.
func NewEndpoint(base string, options Options) (*Endpoint, error) {
	u, err := ParseBase(base)
	if err != nil {
		return nil, err
	}
	for _, c := range []byte(options.Key) {
		if c < ' ' || c > '~' {
			return nil, errs.InvalidField("api_key", "may hold printable ASCII characters only")
		}
	}
	t := &options.Timeouts
	for _, d := range []struct {
		timeout *time.Duration
		usual   time.Duration
	}{{&t.Connect, DefaultConnect}, {&t.FirstByte, DefaultTimeout}, {&t.Idle, DefaultTimeout}, {&t.Total, DefaultTotal}} {
		if *d.timeout <= 0 {
			*d.timeout = d.usual
		}
	}
	if options.Sleep == nil {
		options.Sleep = committer.Pause
	}
	if options.Chance == nil {
		options.Chance = rand.Float64
	}
	options.Now = options.Now.Given()
	options.Log = defaults.Log(options.Log)
	e := &Endpoint{base: u.String(), target: target(u), options: options}
	dialer := &net.Dialer{Timeout: t.Connect, KeepAlive: 15 * time.Second}
	e.http = &http.Client{
		Transport: &http.Transport{
			Proxy: nil, // not even the environment's: what leaves this machine goes where the settings say
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if address != e.target {
					return nil, errs.Errorf(errs.Forbidden, "only the configured endpoint is dialled")
				}
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    t.Connect,
			MaxIdleConnsPerHost:    idleConnections,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true, // an answer passes through as it is
			ForceAttemptHTTP2:      true,
		},
		// The key and the conversation are for the configured endpoint, not for whom it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e, nil
}

// Base is the endpoint's address, with the path of its version.
func (e *Endpoint) Base() string { return e.base }

// Close closes the connections that wait for another call.
func (e *Endpoint) Close() error {
	e.http.CloseIdleConnections()
	return nil
}

// target is the host and port of a URL, as a dialler is given them.
func target(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Secret is a text that prints as a mask, however it is printed.
type Secret string

const mask = "[secret]"

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString implements fmt.GoStringer, for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler: it keeps a secret out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

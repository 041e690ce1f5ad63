// Package client speaks to a running router over HTTP, and gives it the same
// interfaces that the services have beside the database: whoever is written
// against comms.MailboxService need not know which of the two it was handed.
// It owns what is a client's: time limits, bounds on what it reads, turning
// problem documents back into errors, and following a stream across broken
// connections. It must not know a rule of any domain, a database, or how the
// router is started.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// Bounds of a client.
const (
	// DefaultTimeout bounds one call from the dialling to the last byte of its
	// answer, unless Options say otherwise. Streams and imports have their own.
	DefaultTimeout = 30 * time.Second
	// dialTimeout bounds the connecting alone: a router is near, or it is away.
	dialTimeout = 5 * time.Second
	// MaxAnswer bounds what is read of an answer, in bytes: the longest listing of
	// the largest entries that the router gives.
	MaxAnswer = 256 << 20
	// idleConnections is how many connections are kept for the next call: the
	// wrapper and the MCP server make a few calls at once, never more.
	idleConnections = 8
)

// Options are a Client's settings. The zero value is usable.
type Options struct {
	// Token is sent with every call; empty sends none.
	Token string
	// HTTPClient makes the calls; nil means one with this package's limits. Its
	// Timeout must be zero if streams are followed.
	HTTPClient *http.Client
	// Timeout bounds each call that is no stream; zero means DefaultTimeout.
	Timeout time.Duration
	// Dial bounds the connecting alone, unless HTTPClient is given; zero means 5 seconds.
	Dial time.Duration
	// Connect opens a connection that bears plain HTTP to the router, unless HTTPClient is given; nil: its URL is dialled.
	Connect func(ctx context.Context) (net.Conn, error)
	// Trust says which router is believed at an address by https; nil: whom the system's authorities vouch for. It is asked for no other.
	Trust func() (Trust, error)
	// UserAgent names the program; empty means "skillrouter".
	UserAgent string
	// Passphrase asks a person for the passphrase, once a call is refused without it; nil: nobody can be asked.
	Passphrase func(ctx context.Context) (string, error)
	// Trace is the traceparent that calls belong to; one that is malformed is not sent.
	Trace string
}

// Client speaks to the router at one address. Its fields are what is no plain operation (see Send). It is safe for use by several goroutines.
type Client struct {
	Lessons Lessons
	Mailbox Mailbox
	Persons Persons
	System  System
	Feed    Feed // everything that happens

	base    string // without a slash at its end
	called  string // as requests name it: base, or the same by plain HTTP over a connection of Options.Connect
	options Options
	http    *http.Client
	person  atomic.Pointer[string] // the secret of a person's session
	beside  any                    // a service in this process, which Send calls in the router's place
}

// Beside is a client of a service in this process, for a command that does the same on a router and on what it has read
// itself. It can Send alone.
func Beside(service any) *Client { return &Client{beside: service} }

// New makes a Client for the router at baseURL, such as http://127.0.0.1:8025.
// It connects to nothing. A URL that is none of http or https, or that bears a
// user, a query or a fragment, is Invalid.
func New(baseURL string, options Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errs.InvalidField("server", "must be a URL such as http://127.0.0.1:8025")
	}
	if strings.ContainsAny(options.Token, "\r\n\x00") {
		return nil, errs.InvalidField("token", "may not hold line breaks")
	}
	options.Timeout, options.Dial = cmp.Or(options.Timeout, DefaultTimeout), cmp.Or(options.Dial, dialTimeout)
	options.UserAgent = cmp.Or(options.UserAgent, "skillrouter")
	if !check.Traceparent(options.Trace) {
		options.Trace = ""
	}
	c := &Client{base: strings.TrimRight(baseURL, "/"), options: options, http: options.HTTPClient}
	c.called = c.base
	if c.http == nil {
		transport := &http.Transport{
			Proxy:                 http.ProxyFromEnvironment, // never for loopback
			DialContext:           (&net.Dialer{Timeout: options.Dial, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:   dialTimeout, // both sides compute, also on a machine that is busy
			MaxIdleConnsPerHost:   idleConnections,
			IdleConnTimeout:       90 * time.Second,
			ForceAttemptHTTP2:     true,
			ExpectContinueTimeout: time.Second,
		}
		switch {
		case options.Connect != nil:
			c.called = "http://" + u.Host + strings.TrimRight(u.EscapedPath(), "/")
			transport.Proxy = nil
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, options.Dial)
				defer cancel()
				return options.Connect(ctx)
			}
		case u.Scheme == "https":
			if err := secure(transport, options.Trust); err != nil {
				return nil, err
			}
		}
		c.http = &http.Client{
			Transport: transport,
			// The router redirects nowhere: a redirection comes from something else,
			// and must not be handed the token.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	c.System = System{c}
	c.Mailbox = Mailbox{c}
	c.Persons = Persons{c}
	c.Feed = Feed{c}
	c.Lessons = Lessons{c}
	return c, nil
}

// secure has a transport believe whom trust does.
func secure(transport *http.Transport, trust func() (Trust, error)) error {
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTime}
	if trust == nil {
		return nil
	}
	believed, err := trust()
	if err != nil {
		return err
	}
	transport.TLSClientConfig, err = believed.Config()
	return err
}

// BaseURL is the address that the client was made for, without a slash at its end.
func (c *Client) BaseURL() string { return c.base }

// Close closes the connections that wait for another call.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request makes a request of an address.
func (c *Client) request(ctx context.Context, method string, to address, body io.Reader, contentType string) (*http.Request, error) {
	if to.err != nil {
		return nil, to.err
	}
	url := c.called + to.path
	if len(to.query) > 0 {
		url += "?" + to.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the request cannot be made")
	}
	r.Header.Set("User-Agent", c.options.UserAgent)
	if person := c.person.Load(); person != nil {
		r.Header.Set(principal.PersonHeader, *person)
	}
	if c.options.Trace != "" {
		r.Header.Set("traceparent", c.options.Trace)
	}
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r, nil
}

// Call is a call of any path, with its query: it sends in as JSON, unless it is
// nil, and decodes the answer into out, unless that is nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	if out == nil {
		out = new(json.RawMessage)
	}
	return c.call(ctx, method, address{path: path}, in, out)
}

// call makes a call. Where it takes a person, it asks for the passphrase, and makes the call again.
func (c *Client) call(ctx context.Context, method string, to address, in, out any) error {
	err := c.once(ctx, method, to, in, out)
	if errs.CodeOf(err) != errs.PassphraseNeeded || c.options.Passphrase == nil || to.path == "/api/passphrase" {
		return err
	}
	if err := c.SignIn(ctx); err != nil {
		return err
	}
	return c.once(ctx, method, to, in, out)
}

// SignIn asks for the passphrase, and makes what follows a person's calls.
func (c *Client) SignIn(ctx context.Context) error {
	passphrase, err := c.options.Passphrase(ctx)
	if err != nil {
		return err
	}
	session, err := c.Persons.SignIn(ctx, person.PersonDraft{Passphrase: passphrase})
	if err == nil {
		c.person.Store(&session.Secret)
	}
	return err
}

func (c *Client) once(ctx context.Context, method string, to address, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	var body io.Reader
	contentType := ""
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
		}
		body, contentType = bytes.NewReader(text), "application/json"
	}
	r, err := c.request(ctx, method, to, body, contentType)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json, application/problem+json")
	return c.answer(r, out)
}

// answer sends a request and decodes the JSON that comes back.
func (c *Client) answer(r *http.Request, out any) error {
	response, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(r.Context(), err)
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return c.problem(response)
	}
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	bounded := &io.LimitedReader{R: response.Body, N: MaxAnswer + 1}
	err = json.NewDecoder(bounded).Decode(out)
	switch {
	case bounded.N <= 0:
		return plain.TooLarge(MaxAnswer)
	case r.Context().Err() != nil:
		return c.unreachable(r.Context(), r.Context().Err())
	case err != nil:
		return plain.NotJSON(c.base, err)
	}
	return nil
}

// unreachable explains why a call got no answer.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if err := distrusted(c.base, err); err != nil {
		return err
	}
	return plain.Unreachable(ctx, c.base, err)
}

// problem turns a refusal back into the error that it was made of.
func (c *Client) problem(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, plain.MaxProblem))
	if err != nil {
		text = nil
	}
	return plain.Problem(c.base, response.StatusCode, response.Status, text)
}

// Package plain is the least client of a router on this machine: one request, one
// connection, without TLS, proxies or net/http, for a process that an agent
// waits for. It owns how a refusal and a router that cannot be reached become
// errors again, for the client that it is below as well. It must know no
// domain: what is sent and answered is JSON.
package plain

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// Bounds of an answer, in bytes.
const (
	maxAnswer = 16 << 20 // what a hook asks for is some kilobytes
	maxHead   = 64 << 10 // its status and headers
)

// Options are a Client's settings.
type Options struct {
	Token     string // sent with every call; empty sends none
	UserAgent string
	Dial      time.Duration // bounds the connecting alone
	// Connect opens a connection that bears plain HTTP to the router; nil: its URL is dialled.
	Connect func(ctx context.Context) (net.Conn, error)
	Trace   string // the traceparent that calls belong to; one that is malformed is not sent
}

// Client calls the router at one address. It is safe for use by several goroutines.
type Client struct {
	base, host, path string
	options          Options
}

// Speaks tells whether a router's URL is one that New takes: http, with a host,
// and neither user, query nor fragment.
func Speaks(u *url.URL) bool {
	return u.Scheme == "http" && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// New makes a Client for the router at baseURL, such as http://127.0.0.1:8025. It
// connects to nothing. A URL that it does not speak to is Invalid, unless the options
// say how to connect, as is a token of several lines.
func New(baseURL string, options Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || options.Connect == nil && !Speaks(u) {
		return nil, errs.InvalidField("server", "must be a URL such as http://127.0.0.1:8025")
	}
	if strings.ContainsAny(options.Token, "\r\n\x00") {
		return nil, errs.InvalidField("token", "may not hold line breaks")
	}
	if !check.Traceparent(options.Trace) {
		options.Trace = ""
	}
	c := &Client{base: strings.TrimRight(baseURL, "/"), host: u.Host, path: strings.TrimRight(u.EscapedPath(), "/"), options: options}
	if u.Port() == "" {
		c.host = net.JoinHostPort(u.Hostname(), "80")
	}
	return c, nil
}

// Call sends in as JSON, unless it is nil, to a path with its query, and decodes
// the answer into out, unless that is nil. ctx bounds all of it.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
		}
	}
	a, err := c.exchange(ctx, method, path, body)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		<-ctx.Done() // it set the connection's deadline, and ends at the same time
	}
	switch {
	case errors.Is(err, errTooLarge):
		return TooLarge(maxAnswer)
	case err != nil:
		return Unreachable(ctx, c.base, err)
	case a.code < 200 || a.code > 299:
		return Problem(c.base, a.code, a.status, a.body)
	case out == nil || a.code == 204: // no content
		return nil
	}
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(out); err != nil { // what follows the first value is nobody's
		return NotJSON(c.base, err)
	}
	return nil
}

// response is what came back.
type response struct {
	code   int
	status string // the code and its words
	body   []byte
}

// exchange makes a request as HTTP/1.0: its answer is whole when the connection
// ends, and comes in one piece.
func (c *Client) exchange(ctx context.Context, method, path string, body []byte) (response, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return response{}, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return response{}, err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(c.request(method, path, body)); err != nil {
		return response{}, err
	}
	return read(conn)
}

func (c *Client) connect(ctx context.Context) (net.Conn, error) {
	if c.options.Connect == nil {
		return (&net.Dialer{Timeout: c.options.Dial}).DialContext(ctx, "tcp", c.host)
	}
	if c.options.Dial > 0 {
		bounded, cancel := context.WithTimeout(ctx, c.options.Dial)
		defer cancel()
		ctx = bounded
	}
	return c.options.Connect(ctx)
}

func (c *Client) request(method, path string, body []byte) []byte {
	var b bytes.Buffer
	b.Grow(512 + len(body))
	b.WriteString(method + " " + c.path + path + " HTTP/1.0\r\nHost: " + c.host + "\r\nUser-Agent: " + c.options.UserAgent +
		"\r\nAccept: application/json, application/problem+json\r\n")
	if c.options.Trace != "" {
		b.WriteString("traceparent: " + c.options.Trace + "\r\n")
	}
	if c.options.Token != "" {
		b.WriteString("Authorization: Bearer " + c.options.Token + "\r\n")
	}
	if body != nil {
		b.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

var (
	errNoHTTP   = errors.New("the answer is no HTTP")
	errTooLarge = errors.New("the answer is too large")
)

// read reads a response to its end: as many bytes as it announces, else until
// the connection ends.
func read(conn io.Reader) (response, error) {
	bounded := &io.LimitedReader{R: conn, N: maxHead}
	lines := bufio.NewReader(bounded)
	line, err := lines.ReadString('\n')
	if err != nil {
		return response{}, err
	}
	version, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	digits, _, _ := strings.Cut(status, " ")
	code, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 3 || !strings.HasPrefix(version, "HTTP/1.") {
		return response{}, errNoHTTP
	}
	length := int64(-1)
	for {
		if line, err = lines.ReadString('\n'); err != nil {
			return response{}, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		switch {
		case strings.EqualFold(name, "Transfer-Encoding"): // nobody may answer HTTP/1.0 with one
			return response{}, errNoHTTP
		case strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				return response{}, errNoHTTP
			}
		}
	}
	if length > maxAnswer {
		return response{}, errTooLarge
	}
	bounded.N = maxAnswer + 1
	body := io.Reader(lines)
	if length >= 0 {
		body = io.LimitReader(lines, length)
	}
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return response{}, err
	case len(text) > maxAnswer:
		return response{}, errTooLarge
	case int64(len(text)) < length:
		return response{}, io.ErrUnexpectedEOF
	}
	return response{code, status, text}, nil
}

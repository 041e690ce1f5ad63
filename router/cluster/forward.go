package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/deadline"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// Bounds of what a node hands on.
const (
	// dialWithin is how long a connection to the writer may take.
	dialWithin = 2 * time.Second
	// probeEvery and probes say when a connection counts as cut over which nothing comes: after some 10 s.
	probeEvery = 3 * time.Second
	probes     = 3
	// idleConns is how many connections to the writer wait for their next request: the callers of one node at a time.
	idleConns = 256
	// writeWithin is how long a caller may take no byte of an answer.
	writeWithin = time.Minute
	// maxTold bounds what one node tells the one that writes at once, in bytes: what it answered in a second, of thousands of calls.
	maxTold = 16 << 20
	// holdFor is how long a refusal waits for another node to write: callers who ask again without a pause would hold the processors that it needs.
	holdFor = 250 * time.Millisecond
	// retryAfter is what callers are told to wait, in seconds, while nobody writes.
	retryAfter = "1"
)

// errNobody is the answer where the node that writes cannot be asked.
func (f *Forward) errNobody() error {
	writer, _, there := f.writer()
	if there {
		return errs.Errorf(errs.Unavailable, "the node %s writes (%s), and %s does not reach it: nothing was done. It gives way if no other node reaches it either. Ask again, or ask another node", writer.Name, writer.URL, f.lease.Self().Name)
	}
	return errs.Errorf(errs.Unavailable, "no node of this cluster writes at present, and nothing was done: another takes over within %v, ask again", Term+lookEvery)
}

// idleHeader is in the answer of a node that was taken for the one which writes, and did nothing.
const idleHeader = "Skillrouter-Idle"

// errIdle is the error of such an answer, where the node that asked has another.
var errIdle = errors.New("the node that was asked does not write")

// RefuseIdle answers a request that another node handed on: this one does not write, and did nothing.
func (f *Forward) RefuseIdle(w http.ResponseWriter, why string) {
	w.Header().Set(idleHeader, "1")
	f.Refuse(w, errs.Errorf(errs.Unavailable, "%s, and nothing was done: ask again", why))
}

// Why a request is given up that was handed on: another node writes now, or the one that writes does not answer.
var (
	errChanged = errors.New("another node writes now")
	errMissed  = errors.New("the node that writes does not answer")
)

// Forward hands requests to the node that writes.
type Forward struct {
	lease   *Lease
	secret  Secret
	options ForwardOptions
	proxy   *httputil.ReverseProxy
	count   atomic.Int64
}

// ForwardOptions is what a Forward is given.
type ForwardOptions struct {
	// Private tells whether nobody between a request's caller and the writer's address can read the request.
	Private func(r *http.Request, writer string) bool
	// Told takes in, on the node that writes, what another one tells it.
	Told func(ctx context.Context, node, what string, text []byte) error
	// Answered is shown each answer of the node that writes; nil: nobody is.
	Answered func(answer *http.Response)
	// Reads tells whether a request changes nothing, so that it is given up once the node that writes is not reached.
	Reads func(r *http.Request) bool
	// May tells whether an address may be dialled.
	May func(address string) bool
	// TLS is how other nodes' certificates are looked at; nil: as the system does.
	TLS *tls.Config
	// Refuse answers a request with an error.
	Refuse func(w http.ResponseWriter, err error)
	Log    *slog.Logger
	Now    clock.Clock
}

// NewForward makes what hands requests on.
func NewForward(lease *Lease, secret Secret, options ForwardOptions) *Forward {
	f := &Forward{lease: lease, secret: secret, options: options}
	dialer := &net.Dialer{Timeout: dialWithin, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeEvery, Interval: probeEvery, Count: probes}}
	f.proxy = &httputil.ReverseProxy{
		Rewrite:       f.rewrite,
		FlushInterval: -1, // streams are written as they come
		ErrorHandler:  f.failed,
		ModifyResponse: func(answer *http.Response) error {
			if p, ok := answer.Request.Context().Value(passageKey{}).(*passage); ok && p.instead != nil && answer.Header.Get(idleHeader) != "" {
				return errIdle
			} else if ok {
				p.answered()
			}
			if f.options.Answered != nil {
				f.options.Answered(answer)
			}
			return nil
		},
		ErrorLog: slog.NewLogLogger(options.Log.Handler(), slog.LevelDebug),
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: options.TLS, TLSHandshakeTimeout: dialWithin,
			MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
	}
	return f
}

// Count is how many requests were handed on.
func (f *Forward) Count() int64 { return f.count.Load() }

// writer is the node that writes, and a context that ends when another does; false: none does, or this one.
func (f *Forward) writer() (writer Node, writes context.Context, there bool) {
	writer, writes = f.lease.Writer()
	return writer, writes, writer.Epoch > 0 && writer.ID != f.lease.Self().ID
}

// passage is what is known of one request on its way.
type passage struct {
	to      *url.URL
	from    Origin
	writes  context.Context // ends when another node writes
	instead http.Handler    // what answers if the writer does not; nil: nobody
	reached atomic.Bool     // a connection to the writer was there: whether the request was done is its own to say

	answered func() bool // the answer begins: from now on it is not given up
}

type passageKey struct{}

// ServeHTTP implements http.Handler.
func (f *Forward) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.ServeOr(w, r, nil) }

// ServeOr hands a request to the node that writes. If that does not answer, another handler does, which gets it without its body; nil: there is none.
func (f *Forward) ServeOr(w http.ResponseWriter, r *http.Request, instead http.Handler) {
	writer, writes, there := f.writer()
	reaches := f.lease.Reached()
	if instead == nil && (!there || reaches.Err() != nil) {
		f.hold(r.Context(), writes)
		writer, writes, there = f.writer()
		reaches = f.lease.Reached()
	}
	to, err := url.Parse(writer.URL)
	if !there || err != nil || !f.options.May(writer.URL) || reaches.Err() != nil {
		if instead != nil {
			instead.ServeHTTP(w, r)
		} else {
			f.Refuse(w, f.errNobody())
		}
		return
	}
	self := f.lease.Self()
	p := &passage{to: to, writes: writes, instead: instead, from: Origin{Node: self.Name, URL: self.URL, Address: r.RemoteAddr, Private: f.options.Private(r, writer.URL)}}
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), passageKey{}, p))
	defer cancel(nil)
	defer context.AfterFunc(writes, func() { cancel(errChanged) })() // a writer that was stopped in its tracks would hold them for ever
	p.answered = func() bool { return false }
	if f.options.Reads(r) {
		p.answered = context.AfterFunc(reaches, func() { cancel(errMissed) })
		defer p.answered()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { p.reached.Store(true) }})
	f.count.Add(1)
	f.proxy.ServeHTTP(deadline.New(w, writeWithin), r.WithContext(ctx))
}

// hold waits a moment for another node to write.
func (f *Forward) hold(ctx, writes context.Context) {
	_ = committer.PauseUntil(ctx, holdFor, writes.Done())
}

// Ask has the writer say whether a caller may make a request. If so, then answers it, and else the writer's answer is the caller's.
func (f *Forward) Ask(w http.ResponseWriter, r *http.Request, then http.Handler) {
	asked := Tentative(w, func(status int) bool { return status != http.StatusOK })
	if f.ServeHTTP(asked, r); !asked.Passed() {
		then.ServeHTTP(w, r)
	}
}

// Provisional is where an answer is written that may be dropped: it goes to the caller if its status passes.
type Provisional struct {
	http.ResponseWriter
	header         http.Header
	passes         func(status int) bool
	begun, through bool
}

// Tentative makes a Provisional.
func Tentative(w http.ResponseWriter, passes func(status int) bool) *Provisional {
	return &Provisional{ResponseWriter: w, header: http.Header{}, passes: passes}
}

// Passed tells whether the answer went to the caller.
func (t *Provisional) Passed() bool { return t.through }

// Header implements http.ResponseWriter.
func (t *Provisional) Header() http.Header {
	if t.through {
		return t.ResponseWriter.Header()
	}
	return t.header
}

// WriteHeader implements http.ResponseWriter.
func (t *Provisional) WriteHeader(status int) {
	if t.begun {
		return
	}
	t.begun = true
	if t.through = t.passes(status); t.through {
		maps.Copy(t.ResponseWriter.Header(), t.header)
		t.ResponseWriter.WriteHeader(status)
	}
}

// Write implements io.Writer.
func (t *Provisional) Write(text []byte) (int, error) {
	if t.WriteHeader(http.StatusOK); t.through {
		return t.ResponseWriter.Write(text)
	}
	return len(text), nil
}

// Flush implements http.Flusher.
func (t *Provisional) Flush() {
	if t.WriteHeader(http.StatusOK); t.through {
		_ = http.NewResponseController(t.ResponseWriter).Flush() // a connection that cannot is found out by the next write
	}
}

// Unwrap lets a ResponseController reach the connection.
func (t *Provisional) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// What one node asks another for itself.
const (
	tellPath = "/cluster/tell" // what a node has stored by the one that writes
	selfPath = "/cluster/self" // which one it is
)

// LeadsHere asks by the node's own address, as others do, whether it leads to the node: another error than Conflict says that nobody answered.
func (f *Forward) LeadsHere(ctx context.Context) error {
	self := f.lease.Self()
	id, err := f.askNode(ctx, self.URL, selfPath, nil, nil, check.MaxName)
	if err == nil && string(id) != self.ID {
		err = &errs.Error{Code: errs.Conflict, Field: "node_url", Message: self.URL + " leads to another node of the cluster: it must be where the others reach this one"}
	}
	return err
}

// Try asks the node that writes again and again whether it is there, until ctx ends.
func (f *Forward) Try(ctx context.Context) {
	for committer.Pause(ctx, tryEvery) == nil {
		if writer, _, there := f.writer(); there && f.options.May(writer.URL) {
			trying, cancel := context.WithTimeout(ctx, tryWithin)
			id, err := f.askNode(trying, writer.URL, selfPath, nil, nil, check.MaxName)
			cancel()
			f.lease.Asked(writer.Epoch, err == nil && string(id) == writer.ID)
		}
	}
}

// Tell tells the node that writes something that it is to store, and returns once it has.
func (f *Forward) Tell(ctx context.Context, what string, text []byte) error {
	writer, _, there := f.writer()
	if !there {
		return f.errNobody()
	}
	_, err := f.askNode(ctx, writer.URL, tellPath, url.Values{"what": {what}, "hash": {hashOf(text)}}, text, 0)
	return err
}

// askNode asks a node for what it answers nodes alone, of at most max bytes, or tells it a text.
func (f *Forward) askNode(ctx context.Context, address, path string, query url.Values, text []byte, max int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if !f.options.May(address) {
		return nil, errs.Errorf(errs.Forbidden, "%s may not be asked", address)
	}
	method := http.MethodGet
	if text != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, address+path+"?"+query.Encode(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Host = r.URL.Host // it is signed
	f.secret.sign(r, Origin{Node: f.lease.Self().Name}, f.options.Now())
	answer, err := f.proxy.Transport.RoundTrip(r)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "%s did not answer", address)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(io.LimitReader(answer.Body, max+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK || int64(len(got)) > max:
		return nil, errs.Errorf(errs.Unavailable, "%s answered %s, %d bytes, where a node of this cluster was expected", address, answer.Status, len(got))
	}
	return got, nil
}

// Answer answers what one node asks another, and tells whether a request that Accept took is such.
func (f *Forward) Answer(w http.ResponseWriter, r *http.Request, from Origin) bool {
	switch r.URL.Path {
	case selfPath:
		_, _ = io.WriteString(w, f.lease.Self().ID) // who asks takes no answer for another node
	case tellPath: // what is signed names the text by its hash
		text, err := io.ReadAll(io.LimitReader(r.Body, maxTold+1))
		switch query := r.URL.Query(); {
		case err != nil:
		case len(text) > maxTold || hashOf(text) != query.Get("hash"):
			err = errs.Errorf(errs.Invalid, "what is told is not what was signed, or has more than %d bytes", maxTold)
		default:
			err = f.options.Told(r.Context(), from.Node, query.Get("what"), text)
		}
		if err != nil {
			f.Refuse(w, err)
		}
	default:
		return false
	}
	return true
}

// hashOf tells texts apart that nodes ask each other for.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// rewrite addresses a request to the writer. It keeps the name that it was called by: a page's forms are compared with it.
func (f *Forward) rewrite(r *httputil.ProxyRequest) {
	p := r.In.Context().Value(passageKey{}).(*passage)
	r.Out.URL.Scheme, r.Out.URL.Host = p.to.Scheme, p.to.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came: what is malformed is refused by the writer
	r.Out.Host = r.In.Host
	f.secret.sign(r.Out, p.from, f.options.Now())
}

// failed answers a request whose answer did not come. What reached the writer may have been done.
func (f *Forward) failed(w http.ResponseWriter, r *http.Request, err error) {
	p, _ := r.Context().Value(passageKey{}).(*passage)
	switch {
	case p != nil && p.instead != nil:
		p.instead.ServeHTTP(w, r)
	case p == nil || !p.reached.Load(), f.options.Reads(r):
		if p != nil {
			f.hold(r.Context(), p.writes)
		}
		f.Refuse(w, f.errNobody())
	default:
		f.Refuse(w, errs.Wrap(errs.OutcomeUnknown, err, "the node that writes did not answer: what was asked for may have been done, or not. Look before you ask again, unless it bears an idempotency key"))
	}
}

// Refuse answers a request with an error, and says when to ask again.
func (f *Forward) Refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", retryAfter)
	f.options.Refuse(w, err)
}

package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/propagation"
	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/router"
)

type callKey struct{}

// call is what is said of a request when it has ended.
type call struct {
	id, route string
	start     time.Time
	span      *trace.Span
	status    int
}

// callOf returns what is known of the request that ctx belongs to.
func callOf(ctx context.Context) *call {
	if known, ok := ctx.Value(callKey{}).(*call); ok {
		return known
	}
	return &call{}
}

// requestID returns the id of the request that ctx belongs to, or "".
func requestID(ctx context.Context) string { return callOf(ctx).id }

var (
	// processID and requestCount make request ids that are unique without asking
	// for random bits on each request.
	processID = func() string {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails, see crypto/rand
		return hex.EncodeToString(b[:])
	}()
	requestCount atomic.Uint64

	givenRequestID = lazyregexp.New(`^[A-Za-z0-9._:-]{1,64}$`)
)

// identify gives the request its id, answers its trace, and logs and counts it at its end.
func (s *Server) identify(c *gin.Context) {
	start, route := s.now(), c.FullPath()
	id := c.GetHeader("X-Request-Id")
	if id == "" || !givenRequestID.MatchString(id) {
		id = processID + "-" + strconv.FormatUint(requestCount.Add(1), 36)
	}
	call := &call{id: id, route: route, start: start}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), callKey{}, call))
	header := c.Writer.Header()
	header.Set("X-Request-Id", id)
	header.Set("X-Content-Type-Options", "nosniff")
	if s.options.Stamp != nil {
		c.Writer = &stamped{ResponseWriter: c.Writer, stamp: s.options.Stamp}
	}
	call.span = s.trace(c)
	if call.span != nil {
		propagation.TraceContext{}.Inject(c.Request.Context(), propagation.HeaderCarrier(header))
	} else if trace := answerTrace(c.GetHeader("traceparent")); trace != "" {
		header.Set("traceparent", trace)
	}
	c.Next()
	call.status = c.Writer.Status()
	s.ended(c.Request, call, int64(c.Writer.Size()))
}

// ended logs and counts a request that was answered with so many bytes.
func (s *Server) ended(r *http.Request, call *call, size int64) {
	took := s.now().Sub(call.start)
	endTrace(call.span, r.Method, call.route, call.status)
	s.metrics.observe(r.Method, call.route, call.status, took)
	s.access(r, call, took, size)
}

// stamped is a writer of answers whose header is completed when they begin: what was done for them is done by then.
type stamped struct {
	gin.ResponseWriter
	stamp func(header http.Header)
}

// Unwrap lets a ResponseController reach the connection.
func (s *stamped) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *stamped) begin() {
	if !s.Written() {
		s.stamp(s.Header())
	}
}

// WriteHeaderNow implements gin.ResponseWriter.
func (s *stamped) WriteHeaderNow() {
	s.begin()
	s.ResponseWriter.WriteHeaderNow()
}

// Write implements io.Writer.
func (s *stamped) Write(text []byte) (int, error) {
	s.begin()
	return s.ResponseWriter.Write(text)
}

// WriteString implements io.StringWriter.
func (s *stamped) WriteString(text string) (int, error) {
	s.begin()
	return s.ResponseWriter.WriteString(text)
}

// Flush implements http.Flusher.
func (s *stamped) Flush() {
	s.begin()
	s.ResponseWriter.Flush()
}

// trace begins the span of a request, below the caller's own if it names one. Probes are not traced, nor what is no
// route: the span would hold what anybody sends.
func (s *Server) trace(c *gin.Context) *trace.Span {
	if route := c.FullPath(); s.options.Tracer == nil || route == "" || route == healthPath || route == "/metrics" {
		return nil
	}
	ctx, span := trace.StartTrace(c.Request.Context(), s.options.Tracer, c.GetHeader("traceparent"), c.Request.Method)
	c.Request = c.Request.WithContext(ctx)
	return span
}

// endTrace ends the span of a request. A refusal is the caller's fault, and no error of the server's span.
func endTrace(span *trace.Span, method, route string, status int) {
	if span == nil {
		return
	}
	span.SetName(method + " " + route)
	span.Set("http.request.method", method)
	span.Set("http.route", route)
	span.Set("http.response.status_code", status)
	var err error
	if status >= http.StatusInternalServerError {
		err = errs.Errorf(errs.Internal, "answered %d", status)
	}
	span.Finish(err)
}

// answerTrace is the traceparent that answers a request's: the same trace, and
// a span of our own. One that is malformed is ignored, as the specification says.
func answerTrace(given string) string {
	const span = len("00-0123456789abcdef0123456789abcdef-")
	if !check.Traceparent(given) {
		return ""
	}
	var own [8]byte
	_, _ = rand.Read(own[:]) // never fails, see crypto/rand
	own[0] |= 1              // not all zeros
	return given[:span] + hex.EncodeToString(own[:]) + given[span+16:]
}

// recover turns a panic in a handler into an answer and a log entry with its stack.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		s.log.ErrorContext(c.Request.Context(), "panic in a handler",
			"request_id", requestID(c.Request.Context()), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		if !c.Writer.Written() {
			abort(c, problemOf(errs.Errorf(errs.Internal, "%s", errs.MessageOf(nil))))
		}
	}()
	c.Next()
}

// checkHost refuses what a foreign web page, or a name that was rebound to
// this machine, could make a browser send.
func (s *Server) checkHost(c *gin.Context) {
	forwarded := c.Request.Context().Value(forwardedKey{}) != nil // the node that took it has looked
	if p := s.hosts.check(c.Request); p != nil && !forwarded {
		abort(c, p)
		return
	}
	if s.hosts.guest(c.Request) {
		header := c.Writer.Header()
		header.Set("Access-Control-Allow-Origin", c.GetHeader("Origin"))
		header.Add("Vary", "Origin")
		if asked := c.GetHeader("Access-Control-Request-Method"); c.Request.Method == http.MethodOptions && asked != "" {
			header.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, Idempotency-Key")
			header.Set("Access-Control-Max-Age", "600")
			c.AbortWithStatus(http.StatusNoContent)
			return
		}
	}
	c.Next()
}

// authenticate finds out as whom the request is made. While no token is
// issued, on a loopback bind, everyone is principal.Open.
func (s *Server) authenticate(c *gin.Context) {
	ctx := c.Request.Context()
	caller, err := s.caller(c)
	if errs.CodeOf(err) == errs.Unauthenticated && s.mayLogIn(c) {
		caller, err = principal.Principal{}, nil
	}
	if code := errs.CodeOf(err); (code == errs.Unauthenticated || code == errs.Forbidden) && isProbe(c) {
		c.AbortWithStatusJSON(http.StatusOK, gin.H{"status": router.StatusHealthy})
		return
	}
	if err == nil && c.Request.Method != http.MethodGet && strings.HasPrefix(c.FullPath(), personPath) && !Private(c.Request) {
		err = errs.Errorf(errs.Forbidden, "a passphrase is sent over TLS or from this machine only, and this came over plain HTTP: see docs/operations.md#tls")
	}
	if err == nil && !s.isWeb(c) { // the dashboard has pages of its own for it
		err = s.walled(c, caller)
	}
	if err != nil {
		abort(c, s.fail(ctx, err))
		return
	}
	from, forwarded := ctx.Value(forwardedKey{}).(forwarded)
	elsewhere := forwarded && !from.here
	if from, err := netip.ParseAddrPort(c.Request.RemoteAddr); err == nil && !elsewhere && from.Addr().Unmap().IsLoopback() {
		caller = caller.FromNear()
	}
	if s.services.Persons != nil && !caller.Proved() { // the dashboard's visitor may have
		caller = s.services.Persons.Mark(caller, s.personOf(c))
	}
	c.Request = c.Request.WithContext(principal.With(ctx, caller.Naming(ctx, s.services.Names)))
	c.Next()
}

type forwardedKey struct{}

type forwarded struct{ here, private bool }

// WithForwarded is the context of a request that another node of the cluster took and handed on. here: that node is on this machine.
// private: nobody on the way could read it.
func WithForwarded(ctx context.Context, here, private bool) context.Context {
	return context.WithValue(ctx, forwardedKey{}, forwarded{here, private})
}

// personOf is the secret of a person's session that a request bears. No agent decides what a person does, and agents call tools: /mcp takes none.
func (s *Server) personOf(c *gin.Context) string {
	if c.FullPath() == "/mcp" || !Private(c.Request) {
		return ""
	}
	return c.GetHeader(principal.PersonHeader)
}

// Private tells whether nobody between a request's caller and this router can read the request: it came over TLS, from this machine, or by
// another node of the cluster that says so.
func Private(r *http.Request) bool {
	if from, ok := r.Context().Value(forwardedKey{}).(forwarded); ok {
		return from.private
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return r.TLS != nil || err == nil && from.Addr().Unmap().IsLoopback()
}

// HostCheck is the check of what a request may be called by, for a node that hands requests on: allowed and anyAddress are a Server's own
// AllowedHosts and RequireToken, certified its Certified.
func HostCheck(allowed []string, anyAddress bool, certified func(name string) bool) func(r *http.Request) error {
	hosts := newHostCheck(allowed, anyAddress, certified)
	return func(r *http.Request) error {
		if p := hosts.check(r); p != nil {
			return errs.Errorf(errs.Forbidden, "%s", p.Detail)
		}
		return nil
	}
}

// isProbe tells whether a request is that of a liveness probe, which has no token
// and learns no more than that somebody answers.
func isProbe(c *gin.Context) bool {
	return c.Request.Method == http.MethodGet && c.Request.URL.Path == healthPath && c.GetHeader("Authorization") == ""
}

// caller is whom a request is made as, by its cookie or its token.
func (s *Server) caller(c *gin.Context) (principal.Principal, error) {
	if visitor, known := s.visitor(c); known {
		return visitor, nil
	}
	return s.principal(c.Request.Context(), c.Request)
}

func (s *Server) principal(ctx context.Context, r *http.Request) (principal.Principal, error) {
	required, refused := s.options.RequireToken || s.hosts.guest(r), error(nil)
	if secret, ok := bearer(r); ok && s.services.Auth != nil {
		caller, err := s.services.Auth.Authenticate(ctx, secret)
		code := errs.CodeOf(err)
		if !isChat(r) || code != errs.Unauthenticated && code != errs.RateLimited {
			return caller, err
		}
		refused = err // unless no token is needed: OpenAI's clients always send a key, and people make one up
	}
	if !required && s.services.Auth != nil {
		issued, err := s.services.Auth.Issued(ctx)
		if err != nil {
			return principal.Principal{}, err
		}
		required = issued
	}
	if required && refused != nil {
		return principal.Principal{}, refused
	}
	if required {
		return principal.Principal{}, errs.Errorf(errs.Unauthenticated,
			"this router needs a token: send it as \"Authorization: Bearer …\"; `skillrouter token create` issues one")
	}
	if peer, known := ctx.Value(peerKey{}).(func() error); known {
		if err := peer(); err != nil {
			return principal.Principal{}, err
		}
	}
	return principal.Open(), nil
}

type peerKey struct{}

// WithPeer is the context of the calls of a connection. While no token is issued, stranger says why its caller is refused;
// nil: it is the router's own user, or the superuser.
func WithPeer(ctx context.Context, stranger func() error) context.Context {
	return context.WithValue(ctx, peerKey{}, stranger)
}

// bearer returns the request's token. A header that is there and is no bearer
// token counts as a token that nobody has.
func bearer(r *http.Request) (string, bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", false
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimSpace(secret), true
}

// checkQuery refuses a parameter that is given twice: of two readers one may
// take the first and one the last. Forms of the dashboard may repeat a field; /v1 is not ours.
func (s *Server) checkQuery(c *gin.Context) {
	if !strings.Contains(c.Request.URL.RawQuery, "&") || isChat(c.Request) || s.isWeb(c) {
		c.Next()
		return
	}
	for name, values := range c.Request.URL.Query() {
		if len(values) > 1 {
			abort(c, problemOf(errs.InvalidField(safetext.Visible(check.Head(name, check.MaxName)), "is given twice in the query")))
			return
		}
	}
	c.Next()
}

// checkContentType refuses a body that is not declared as JSON. Browsers send
// the types that forms can have across sites without asking; these they don't.
// The dashboard alone takes forms: each of its own bears a token that no other site has.
func (s *Server) checkContentType(c *gin.Context) {
	switch c.Request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		c.Next()
		return
	}
	declared := c.GetHeader("Content-Type")
	if declared == "" && c.Request.ContentLength == 0 {
		c.Next()
		return
	}
	kind, parameters, err := mime.ParseMediaType(declared)
	if err == nil && declared != kind { // types are written in any case; from here on there is one
		c.Request.Header.Set("Content-Type", mime.FormatMediaType(kind, parameters))
	}
	if s.isWeb(c) {
		if err != nil || kind != formType {
			abort(c, refusal(http.StatusUnsupportedMediaType, errs.Invalid, "the Content-Type of the dashboard's forms is "+formType))
			return
		}
		c.Next()
		return
	}
	if err != nil || (kind != "application/json" && kind != "application/x-ndjson" && kind != "application/jsonl") {
		abort(c, refusal(http.StatusUnsupportedMediaType, errs.Invalid, "the Content-Type of a write must be application/json"))
		return
	}
	c.Next()
}

// access logs a request: failures of ours as warnings, refusals as
// information, and what went well only when asked for debugging.
func (s *Server) access(r *http.Request, call *call, took time.Duration, size int64) {
	level := levelFor(call.status)
	ctx := r.Context()
	if level == slog.LevelInfo && !s.refused.AllowN(call.start, 1) {
		level = slog.LevelDebug
	}
	if !s.log.Enabled(ctx, level) {
		return
	}
	s.log.Log(ctx, level, "request",
		"request_id", call.id, "method", r.Method, "route", call.route, "status", call.status,
		"duration_ms", float64(took.Microseconds())/1000, "bytes", size,
		"agent_id", principal.Of(ctx).AgentID, "remote", r.RemoteAddr)
}

func levelFor(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelWarn
	case status >= http.StatusBadRequest:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// maxRefusalsLogged bounds how many refusals of one minute are logged as information. The rest is for debugging: whoever
// may call could fill the disk with them.
const maxRefusalsLogged = 60

// refusals are those that may be logged so.
func refusals() *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/maxRefusalsLogged), maxRefusalsLogged)
}

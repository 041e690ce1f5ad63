// Package httpapi serves the services over HTTP: a gin engine with its
// middleware, typed handlers on huma, and the one table from errors to
// statuses. It owns what is HTTP's alone: who may connect, sizes, time limits,
// content types, the OpenAPI document. It must not hold a rule of any domain.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/session"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Bounds of every request.
const (
	// MaxBody bounds a typed request's body, in bytes: one entry of the largest
	// content, with room for JSON's escapes.
	MaxBody = 4 << 20
	// BodyTimeout is how long a typed request's body may take to arrive.
	BodyTimeout = 10 * time.Second
	// WriteTimeout is how long a request may take as a whole, unless its handler
	// extends it: the streams and bulk do.
	WriteTimeout = 60 * time.Second
	// MaxHeader bounds a request's headers, in bytes.
	MaxHeader = 32 << 10
	// ReadHeaderTimeout and IdleTimeout bound what a connection may do nothing for.
	ReadHeaderTimeout = 10 * time.Second
	IdleTimeout       = 2 * time.Minute
)

// Services is what is served. A nil service's routes are not mounted.
type Services struct {
	Auth        router.Authenticator
	Names       *principal.Names // of projects; nil: each is called as a call says
	Presence    comms.PresenceService
	Mailbox     comms.MailboxService
	Messages    http.Handler // GET /messages
	Knowledge   Knowledge
	Episodes    episode.Service
	Lessons     lesson.Service
	Patterns    lesson.PatternService
	Experiences experience.Service
	Guard       guard.Service
	Escalations operational.EscalationService
	Memory      router.MemoryService
	Tools       router.ToolService
	Router      router.Service
	Tasks       operational.TaskService
	Leases      lease.Service
	Recon       operational.ReconService
	Tokens      operational.TokenService
	Persons     *person.Persons // nil: there is no passphrase
	MCP         http.Handler    // /mcp
	System      router.SystemService
	Registry    *prometheus.Registry // GET /metrics

	Facts         fact.Service
	Reminders     operational.ReminderService
	Sessions      session.Service
	Consolidation history.ConsolidationService
	Context       contexts.Service
	Introspection router.IntrospectionService
	Embeddings    shelf.EmbeddingService
	Verdicts      verdict.Service
	Search        search.Service
	Chat          http.Handler // /v1: what an OpenAI client asks of a model, with memory

	Feed     feed.Service
	Timeline feed.TimelineService
	Events   http.Handler // GET /events: the feed as server-sent events
	Socket   http.Handler // GET /ws: the feed as a WebSocket
	Web      Dashboard    // GET / and what it leads to: the dashboard

	Transfer transfer.Service
	Backup   func(ctx context.Context, ownerToken bool) (Archive, error) // GET /api/backup

	Mesh comms.MeshService // GET /api/interlock

	Kinds []Routes // of further kinds of memory
}

// Routes adds the routes of one kind of memory to a Server.
type Routes func(s *Server)

// Options are the settings of a Server. The zero value serves loopback without tokens.
type Options struct {
	Version string
	// RequireToken makes every call need a token even while none is issued: the bind is beyond loopback.
	RequireToken bool
	// AllowedHosts are further names that the Host and Origin headers may have.
	AllowedHosts []string
	// Certified tells whether a name is one of the certificate that is shown; over TLS the Host header may have it too. nil: none is.
	Certified func(name string) bool
	Log       *slog.Logger
	Now       clock.Clock
	// Stamp puts into the header of each answer what is to be said when it begins; nil: nothing is.
	Stamp func(header http.Header)
	// Tracer takes a span of each call below which something was done; nil: nothing is traced.
	Tracer *trace.Tracer
}

// Server is the HTTP handler of the whole process.
type Server struct {
	services   Services
	options    Options
	engine     *gin.Engine
	document   func() *huma.OpenAPI // made when it is first asked for
	log        *slog.Logger
	now        clock.Clock
	metrics    *httpMetrics
	refused    *rate.Limiter
	hosts      hostCheck
	describing []func(*huma.OpenAPI)    // what the document is made of
	web        map[string]bool          // the dashboard's routes: method, space, path
	needs      func() map[string]access // by method, space, path; made when it is first asked for
}

// New mounts the services.
func New(services Services, options Options) *Server {
	gin.SetMode(gin.ReleaseMode)
	options.Log = defaults.Log(options.Log)
	options.Now = options.Now.Given()
	if services.Registry == nil {
		services.Registry = prometheus.NewRegistry()
	}
	s := &Server{
		services: services, options: options, log: options.Log, now: options.Now,
		engine: gin.New(), refused: refusals(), metrics: newHTTPMetrics(services.Registry), hosts: newHostCheck(options.AllowedHosts, options.RequireToken, options.Certified),
	}
	e := s.engine
	_ = e.SetTrustedProxies(nil) // no proxy is trusted; nil cannot fail
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.UseRawPath = true // ids may hold an escaped slash
	e.UnescapePathValues = true
	e.Use(s.identify, s.recover, s.checkHost, s.authenticate, s.checkRight, s.checkContentType, s.checkQuery)
	e.NoRoute(s.notFound)
	e.NoMethod(func(c *gin.Context) {
		abort(c, refusal(http.StatusMethodNotAllowed, errs.Invalid, c.Request.Method+" is not allowed on this path"))
	})
	s.document, s.needs = sync.OnceValue(s.makeDocument), sync.OnceValue(accessOf)
	s.routes()
	return s
}

// routes mounts the operations of each service that there is, what is answered in shapes of its own, and what is no operation.
func (s *Server) routes() {
	services, known := reflect.ValueOf(s.services), map[reflect.Type]any{}
	for _, op := range operation.All() {
		service, looked := known[op.Of()]
		for _, one := range services.Fields() {
			if !looked && one.Type().Implements(op.Of()) && !one.IsZero() {
				service = one.Interface()
			}
		}
		if known[op.Of()] = service; service != nil && !op.ByHand {
			s.mount(op, service)
		}
	}
	s.systemRoutes()
	with(s.services.Knowledge, s.bulkRoute)
	with(s.services.Episodes, s.episodeRoutes)
	with(s.services.Lessons, s.lessonRoutes)
	with(s.services.Patterns, s.patternRoutes)
	with(s.services.Experiences, s.experienceRoutes)
	with(s.services.Escalations, s.escalationRoutes)
	with(s.services.Tools, s.toolRoutes)
	with(s.services.Sessions, s.sessionRoutes)
	with(s.services.Search, s.searchRoutes)
	s.chatRoutes()
	s.feedRoutes()
	s.transferRoutes()
	s.webRoutes()
	s.documentRoutes()
	s.readerRoutes()
	for _, add := range s.services.Kinds {
		add(s)
	}
}

// with mounts the routes of a service, if there is one.
func with[Service comparable](service Service, routes func(service Service)) {
	var none Service
	if service != none {
		routes(service)
	}
}

// ServeHTTP implements http.Handler. What monitors and clients write otherwise than the routes are written is understood: HEAD, and a slash
// after a path of one word. The key of a fact may end in a slash, and stands in a longer path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	word, slash := strings.CutSuffix(r.URL.Path, "/")
	headed := r.Method == http.MethodHead && (word == healthPath || word == "" || word == "/metrics") // net/http sends no body then
	if slash = slash && strings.Count(word, "/") == 1 && word != "/ui" && len(word) > 1; slash || headed {
		r = r.Clone(r.Context())
		if slash {
			r.URL.Path, r.URL.RawPath = word, ""
		}
		if headed {
			r.Method = http.MethodGet
		}
	}
	s.engine.ServeHTTP(w, r)
}

// Route is a method and a path, as gin writes it.
type Route struct{ Method, Path string }

// Routes lists what is mounted, for the tests that go over all of it.
func (s *Server) Routes() []Route {
	var routes []Route
	for _, r := range s.engine.Routes() {
		routes = append(routes, Route{r.Method, r.Path})
	}
	return routes
}

// fail logs what is ours to mend, and returns what the caller may see.
func (s *Server) fail(ctx context.Context, err error) *Problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "request failed", "request_id", requestID(ctx), "code", p.Code, "error", err)
	}
	return p
}

// documented describes a typed route. Its id is the method and path, which
// are unique already.
func documented(method, path, tag, summary string) huma.Operation {
	return huma.Operation{
		OperationID: operationID(method, path), Method: method, Path: path, Summary: summary, Tags: []string{tag},
		Errors: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden},
	}
}

package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
)

const healthPath = "/health"

// secondsMetric is the metric that has the times to answer, by route.
const secondsMetric = "skillrouter_http_request_seconds"

// Doctor is the answer of GET /api/doctor.
type Doctor struct {
	OK     bool                 `json:"ok"`
	Checks []router.SystemCheck `json:"checks"`
}

// OutboundList is the answer of GET /api/doctor/outbound.
type OutboundList struct {
	Airgapped bool              `json:"airgapped" doc:"No connection leaves this machine"`
	Enforced  bool              `json:"enforced" doc:"The setting airgapped is on: a start with a place that leaves this machine is refused"`
	Places    []router.Outbound `json:"places" doc:"Every place that may open a connection"`
}

// systemRoutes mounts what looks at the process itself, and the handlers that are no typed resources.
func (s *Server) systemRoutes() {
	at := func(path, summary string, do any) {
		s.offer(s, operation.Below("system", path, operation.Get("", summary, do)))
	}
	if s.services.Health != nil {
		at(healthPath, "Whether the router is well, and how much it holds; without a token, where one is needed, only that it answers", (*Server).health)
	}
	if s.services.Doctor != nil {
		at("/api/doctor", "Settings, databases, index, disk and clock, checked", (*Server).doctor)
	}
	if s.services.Outbound != nil {
		at("/api/doctor/outbound", "Every place that may open a connection, and whether it is switched on", (*Server).outbound)
	}
	metrics := promhttp.HandlerFor(s.services.Registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	s.engine.GET("/metrics", gin.WrapH(metrics))
	if s.services.Messages != nil {
		s.engine.GET("/messages", s.stream(s.services.Messages))
	}
	if s.services.MCP != nil {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			handler := gin.WrapH(s.services.MCP) // its streams set their own deadlines; for the rest WriteTimeout holds
			if method == http.MethodGet {
				handler = s.stream(s.services.MCP) // what a session hears without asking goes on for as long as it may
			}
			s.engine.Handle(method, "/mcp", handler)
		}
	}
}

func (s *Server) health(ctx context.Context) (router.Health, error) {
	return s.services.Health(ctx), nil
}

func (s *Server) doctor(ctx context.Context) (d Doctor, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return d, err
	}
	d.Checks = s.services.Doctor(ctx)
	d.OK = !slices.ContainsFunc(d.Checks, func(c router.SystemCheck) bool { return !c.OK })
	return d, nil
}

func (s *Server) outbound(ctx context.Context) (list OutboundList, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return list, err
	}
	list.Places, list.Enforced = s.services.Outbound(), s.services.Enforced
	list.Airgapped = !slices.ContainsFunc(list.Places, func(o router.Outbound) bool { return o.Leaves })
	return list, nil
}

// httpMetrics counts requests and their time by route, never by path: a path is the client's to choose.
type httpMetrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newHTTPMetrics(registry *prometheus.Registry) *httpMetrics {
	m := &httpMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skillrouter_http_requests_total", Help: "Requests answered, by method, route and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: secondsMetric, Help: "Time to answer, by route; a stream's is how long it was open.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"route"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

func (m *httpMetrics) observe(method, route string, status int, took time.Duration) {
	if route == "" {
		method, route = "any", "unknown"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// operationID makes an id from a method and a path: POST /api/tasks/{id}/claim is post-api-tasks-id-claim.
func operationID(method, path string) string {
	return strings.ToLower(method) + idText.Replace(path)
}

// idText is made once: to make it costs more than all else of a route, and there are hundreds.
var idText = strings.NewReplacer("/", "-", "{", "", "}", "", "_", "-")

// personPath is where passphrases are sent to. What others could read on its way is refused before its body is read.
const personPath = "/api/passphrase"

func (s *Server) feedRoutes() {
	if s.services.Events != nil {
		s.engine.GET("/events", s.stream(s.services.Events))
	}
	if s.services.Socket != nil {
		s.engine.GET("/ws", s.stream(s.services.Socket))
	}
}

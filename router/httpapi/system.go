package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const healthPath = "/health"

// secondsMetric is the metric that has the times to answer, by route.
const secondsMetric = "skillrouter_http_request_seconds"

// systemRoutes mounts the handlers that are no typed resources.
func (s *Server) systemRoutes() {
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

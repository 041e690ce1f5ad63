package otlp

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

const QueueSize, SendTime, FlushTime = queueSize, sendTime, flushTime

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transport puts a collector in the place of the network.
func Transport(e *Exporter, f func(*http.Request) (*http.Response, error)) {
	e.http.Transport = roundTripper(f)
}

// Waiting is how many spans wait.
func Waiting(e *Exporter) int { return int(e.waiting.Load()) }

// Counts tells how many spans a collector took, and how many were dropped.
func Counts(e *Exporter) (sent, dropped int64) {
	return count(e.sent), count(e.dropped)
}

func count(c prometheus.Counter) int64 {
	var m dto.Metric
	_ = c.Write(&m)
	return int64(m.GetCounter().GetValue())
}

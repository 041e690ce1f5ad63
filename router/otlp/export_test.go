package otlp

import "net/http"

const QueueSize, SendTime, FlushTime = queueSize, sendTime, flushTime

var Target = target

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transport puts a collector in the place of the network.
func Transport(e *Exporter, f func(*http.Request) (*http.Response, error)) {
	e.http.Transport = roundTripper(f)
}

// Waiting is how many spans wait.
func Waiting(e *Exporter) int { return len(e.queue) }

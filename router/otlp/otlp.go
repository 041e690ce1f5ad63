// Package otlp hands the spans of what the router does to a collector, by OTLP over HTTP in its JSON form. It owns the
// queue in front of the collector and the one connection to it. It must delay nobody: what the queue has no room for,
// or the collector does not take, is dropped and counted.
package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/errs"
	"skillrouter/internal/trace"
)

// Times and bounds.
const (
	// queueSize is how many spans may wait: some megabytes, and seconds of a busy router.
	queueSize = 4096
	// batchSize is how many spans one request has at most.
	batchSize = 512
	// batchEvery is how long a span waits for others.
	batchEvery = 2 * time.Second
	// sendTime bounds one request, and flushTime all that is sent at the router's end.
	sendTime  = 5 * time.Second
	flushTime = 2 * time.Second
	// answerRead is how much of an answer is read, in bytes: it says nothing that is needed.
	answerRead = 64 << 10
)

// Options are an Exporter's settings.
type Options struct {
	Version string // of this program
	Content bool   // spans hold texts, redacted
	Now     clock.Clock
	Log     *slog.Logger
}

// Exporter is a trace.Tracer that sends spans to a collector.
type Exporter struct {
	url           string
	options       Options
	http          *http.Client
	queue         chan *trace.Span
	sent, dropped atomic.Int64
}

// target is the address that spans of a base address, such as http://127.0.0.1:4318, are sent to.
func target(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errs.InvalidField("telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318, without user, query and fragment")
	}
	if !strings.HasSuffix(u.Path, "/v1/traces") {
		u.Path = strings.TrimRight(u.Path, "/") + "/v1/traces"
	}
	u.RawPath = ""
	return u, nil
}

// New makes an Exporter. It connects to nothing before there is a span.
func New(base string, options Options) (*Exporter, error) {
	u, err := target(base)
	if err != nil {
		return nil, err
	}
	return &Exporter{url: u.String(), options: options, queue: make(chan *trace.Span, queueSize), http: &http.Client{
		// What is configured is dialled and nothing else: no proxy of the environment, no redirection.
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: sendTime}).DialContext, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Now implements trace.Tracer.
func (e *Exporter) Now() time.Time { return e.options.Now() }

// Content implements trace.Tracer.
func (e *Exporter) Content() bool { return e.options.Content }

// End implements trace.Tracer.
func (e *Exporter) End(span *trace.Span) {
	select {
	case e.queue <- span:
	default:
		e.dropped.Add(1)
	}
}

// Counts tells how many spans a collector took, and how many were dropped.
func (e *Exporter) Counts() (sent, dropped int64) { return e.sent.Load(), e.dropped.Load() }

// Run sends spans until ctx ends, and then what still waits, for flushTime at most.
func (e *Exporter) Run(ctx context.Context) error {
	defer e.http.CloseIdleConnections()
	timer := time.NewTimer(batchEvery)
	defer timer.Stop()
	var batch []*trace.Span
	failing := false
	send := func(ctx context.Context) {
		if len(batch) == 0 {
			return
		}
		err := e.send(ctx, batch)
		if err == nil {
			e.sent.Add(int64(len(batch)))
		} else {
			e.dropped.Add(int64(len(batch)))
			if !failing {
				e.options.Log.WarnContext(ctx, "the collector takes no spans", "endpoint", e.url, "error", err)
			}
		}
		failing, batch = err != nil, batch[:0]
	}
	for {
		select {
		case span := <-e.queue:
			if batch = append(batch, span); len(batch) == batchSize {
				send(ctx)
			}
		case <-timer.C:
			send(ctx)
			timer.Reset(batchEvery)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
			defer cancel()
			for {
				select {
				case span := <-e.queue:
					if batch = append(batch, span); len(batch) == batchSize {
						send(last)
					}
					continue
				default:
				}
				send(last)
				return nil
			}
		}
	}
}

// send hands spans to the collector.
func (e *Exporter) send(ctx context.Context, spans []*trace.Span) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(encode(spans, e.options.Version)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, answerRead) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}

// Package otlp hands the spans of what the router does to a collector, by OpenTelemetry's SDK and OTLP over HTTP in its
// JSON form. It must delay nobody: what the queue has no room for, or the collector does not take, is dropped and counted.
package otlp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	otlphttp "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/skillrouter/skillrouter/internal/check"
)

// queueSize is how many spans may wait, sendTime bounds one request, and flushTime all that is sent at the router's end.
const queueSize, sendTime, flushTime = 4096, 5 * time.Second, 2 * time.Second

// Exporter sends spans to a collector.
type Exporter struct {
	trace.TracerProvider
	sdk.SpanProcessor // has the queue
	collector         *otlptrace.Exporter
	http              *http.Client
	log               *slog.Logger
	waiting           atomic.Int64
	sent, dropped     prometheus.Counter
	failing           bool // the last request did
}

// New makes an Exporter to a base address, such as http://127.0.0.1:4318. It connects to nothing before there is a span.
func New(ctx context.Context, base, version string, registry prometheus.Registerer, log *slog.Logger) (*Exporter, error) {
	if !strings.HasSuffix(base, "/v1/traces") {
		base, _ = url.JoinPath(base, "v1/traces")
	}
	// What is configured is dialled and nothing else: no proxy, header or certificate of the environment, no redirection.
	client := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	collector, err := otlphttp.New(ctx, otlphttp.WithEndpointURL(base), otlphttp.WithHTTPClient(client), otlphttp.WithHeaders(nil), otlphttp.WithTLSClientConfig(nil),
		otlphttp.WithEncoding(otlphttp.EncodingJSON), otlphttp.WithRetry(otlphttp.RetryConfig{}))
	if err != nil {
		return nil, err
	}
	count := promauto.With(registry)
	e := &Exporter{
		collector: collector, http: client, log: log,
		sent:    count.NewCounter(prometheus.CounterOpts{Name: "skillrouter_spans_sent_total", Help: "Spans that the collector took."}),
		dropped: count.NewCounter(prometheus.CounterOpts{Name: "skillrouter_spans_dropped_total", Help: "Spans that found a full queue, or that the collector did not take."}),
	}
	e.SpanProcessor = sdk.NewBatchSpanProcessor(sender{collector, e}, sdk.WithMaxQueueSize(queueSize), sdk.WithExportTimeout(sendTime))
	e.TracerProvider = sdk.NewTracerProvider(sdk.WithSpanProcessor(e), sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "skillrouter"), attribute.String("service.version", version))))
	return e, nil
}

// OnEnd queues a span. A call that belongs to no other trace and did nothing worth a span, as a heartbeat, is left out.
func (e *Exporter) OnEnd(span sdk.ReadOnlySpan) {
	if span.SpanKind() == trace.SpanKindServer && !span.Parent().IsValid() && span.ChildSpanCount() == 0 {
		return
	}
	if e.waiting.Add(1) > queueSize { // the SDK would drop it, and not say so
		e.waiting.Add(-1)
		e.dropped.Inc()
		return
	}
	e.SpanProcessor.OnEnd(span)
}

// sender counts what the collector takes.
type sender struct {
	*otlptrace.Exporter
	of *Exporter
}

// ExportSpans hands spans to the collector; a failure is logged when it begins.
func (s sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err, counter := s.Exporter.ExportSpans(ctx, spans), s.of.sent
	if err != nil {
		counter = s.of.dropped
		if !s.of.failing {
			s.of.log.WarnContext(ctx, "the collector takes no spans", "error", check.Head(err.Error(), check.MaxName))
		}
	}
	counter.Add(float64(len(spans)))
	s.of.waiting.Add(-int64(len(spans)))
	s.of.failing = err != nil
	return nil
}

// Run waits until ctx ends, and then sends what still waits, for flushTime at most.
func (e *Exporter) Run(ctx context.Context) error {
	<-ctx.Done()
	defer e.http.CloseIdleConnections()
	ctx = context.WithoutCancel(ctx)
	giveUp := time.AfterFunc(flushTime, func() { _ = e.collector.Shutdown(ctx) }) // what is on its way, too
	defer giveUp.Stop()
	return e.Shutdown(ctx)
}

package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/internal/trace"
	"skillrouter/router/otlp"
)

// wireTelemetry makes what spans are sent by; nil: none are.
func (a *App) wireTelemetry(ctx context.Context, registry *prometheus.Registry) (trace.Tracer, error) {
	settings := a.config.Telemetry
	if settings.Endpoint == "" {
		return nil, nil
	}
	exporter, err := otlp.New(settings.Endpoint, otlp.Options{Version: a.options.Version, Content: settings.Content, Now: a.now, Log: a.log})
	if err != nil {
		return nil, err
	}
	count := func(name, help string, of func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of()) })
	}
	registry.MustRegister(
		count("skillrouter_spans_sent_total", "Spans that the collector took.", func() int64 { sent, _ := exporter.Counts(); return sent }),
		count("skillrouter_spans_dropped_total", "Spans that found a full queue, or that the collector did not take.", func() int64 { _, dropped := exporter.Counts(); return dropped }),
	)
	a.life.run(ctx, "telemetry", exporter.Run)
	return exporter, nil
}

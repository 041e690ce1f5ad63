// Package trace begins and ends the spans of what the router does; without a Tracer nothing is done.
package trace

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// Tracer begins spans. Nothing is traced where a context holds no span, as while no tracer is configured.
type Tracer struct {
	Spans   trace.Tracer
	Now     clock.Clock
	Content bool // spans hold texts, redacted
}

// Span is one step of a trace. The methods of a nil span do nothing.
type Span struct {
	trace.Span
	tracer *Tracer
}

// maxContent bounds a text that a span holds, in bytes.
const maxContent = 4 << 10

type spanKey struct{}

// StartTrace begins a span that somebody else's call is the cause of. parent is its traceparent header
// (https://www.w3.org/TR/trace-context/); one that is malformed is ignored, and one that is not sampled is not traced.
func StartTrace(ctx context.Context, tracer *Tracer, parent, name string) (context.Context, *Span) {
	return tracer.start(Continue(ctx, parent), name, trace.WithSpanKind(trace.SpanKindServer))
}

// StartSpan begins a step below the span that ctx is in; nil if it is in none.
func StartSpan(ctx context.Context, name string) (context.Context, *Span) {
	above, _ := ctx.Value(spanKey{}).(*Span)
	if above == nil {
		return ctx, nil
	}
	return above.tracer.start(ctx, name)
}

func (t *Tracer) start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, *Span) {
	ctx, begun := t.Spans.Start(ctx, name, append(options, trace.WithTimestamp(t.Now()))...)
	if !begun.IsRecording() {
		return context.WithValue(ctx, spanKey{}, (*Span)(nil)), nil
	}
	span := &Span{begun, t}
	return context.WithValue(ctx, spanKey{}, span), span
}

// StartMemory is StartSpan for an operation on the memory, under the name that the conventions give it.
func StartMemory(ctx context.Context, operation, kind string) (context.Context, *Span) {
	ctx, span := StartSpan(ctx, operation)
	span.Set("gen_ai.operation.name", operation)
	span.Set("skillrouter.kind", kind)
	return ctx, span
}

// Continue has the next span in ctx belong to another trace: that of a traceparent which came with the call itself.
func Continue(ctx context.Context, parent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// Set says something of the span: a text or a number. A text is never one of the memory or of a command; see Content.
func (s *Span) Set(key string, value any) {
	if s == nil {
		return
	}
	switch v := value.(type) {
	case string:
		s.SetAttributes(attribute.String(key, strings.ToValidUTF8(v, "�")))
	case int:
		s.SetAttributes(attribute.Int(key, v))
	}
}

// Content says a text of the memory or of a command, redacted and cut, if that is wanted.
func (s *Span) Content(key, text string) {
	if s == nil || !s.tracer.Content {
		return
	}
	text, _ = redact.Text(text)
	s.Set(key, check.Head(text, maxContent))
}

// Finish ends the span, with the error that the step ended with, if any: its message may quote a text, its code never does.
func (s *Span) Finish(err error) {
	if s == nil {
		return
	}
	if err != nil {
		code := string(errs.CodeOf(err))
		s.SetStatus(codes.Error, code)
		s.Set("error.type", code)
	}
	s.End(trace.WithTimestamp(s.tracer.Now()))
}

// Package trace hands spans to whoever collects them; without a Tracer nothing is done.
package trace

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"skillrouter/internal/redact"
)

// Tracer takes the spans of what the router does: how long each step took, and below which other. Nothing is traced
// where a context holds no span, as while no tracer is configured.
type Tracer interface {
	Now() time.Time
	// Content tells whether spans may hold texts, redacted.
	Content() bool
	// End takes a span that has ended. It must not wait, and may drop it.
	End(span *Span)
}

// Span is one step of a trace. The methods of a nil span do nothing. It belongs to one goroutine.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is all zeros of a trace's first span
	Name       string
	Server     bool // somebody else's call began it
	Begin, End time.Time
	Attributes []Attribute
	Err        error

	tracer Tracer
	below  atomic.Bool // there are steps below it
}

// Attribute says something of a span: a text, a number or a bool. A text is never one of the memory or of a command;
// see Span.Content.
type Attribute struct {
	Key   string
	Value any
}

// maxContent bounds a text that a span holds, in bytes.
const maxContent = 4 << 10

type spanKey struct{}

// StartTrace begins a span that somebody else's call is the cause of. parent is its traceparent header
// (https://www.w3.org/TR/trace-context/); one that is malformed is ignored, and one that is not sampled is not traced.
func StartTrace(ctx context.Context, tracer Tracer, parent, name string) (context.Context, *Span) {
	span := &Span{Name: name, Server: true, tracer: tracer, ID: newSpanID()}
	trace, above, sampled, ok := ParseTraceparent(parent)
	switch {
	case ok && !sampled:
		return context.WithValue(ctx, spanKey{}, (*Span)(nil)), nil
	case ok:
		span.Trace, span.Parent = trace, above
	default:
		a, b := newSpanID(), newSpanID()
		copy(span.Trace[:8], a[:])
		copy(span.Trace[8:], b[:])
	}
	span.Begin = tracer.Now()
	return context.WithValue(ctx, spanKey{}, span), span
}

// StartSpan begins a step below the span that ctx is in; nil if it is in none.
func StartSpan(ctx context.Context, name string) (context.Context, *Span) {
	above, _ := ctx.Value(spanKey{}).(*Span)
	if above == nil {
		return ctx, nil
	}
	above.below.Store(true)
	span := &Span{Trace: above.Trace, Parent: above.ID, ID: newSpanID(), Name: name, Begin: above.tracer.Now(), tracer: above.tracer}
	return context.WithValue(ctx, spanKey{}, span), span
}

// StartMemory is StartSpan for an operation on the memory, under the name that the conventions give it.
func StartMemory(ctx context.Context, operation, kind string) (context.Context, *Span) {
	ctx, span := StartSpan(ctx, operation)
	if span != nil {
		span.Set("gen_ai.operation.name", operation)
		span.Set("skillrouter.kind", kind)
	}
	return ctx, span
}

// Continue has what follows in ctx belong to another trace: that of a traceparent which came with the call itself.
func Continue(ctx context.Context, parent string) context.Context {
	above, _ := ctx.Value(spanKey{}).(*Span)
	trace, id, sampled, ok := ParseTraceparent(parent)
	if above == nil || !ok {
		return ctx
	}
	if !sampled {
		return context.WithValue(ctx, spanKey{}, (*Span)(nil))
	}
	return context.WithValue(ctx, spanKey{}, &Span{Trace: trace, ID: id, tracer: above.tracer})
}

// Set says something of the span.
func (s *Span) Set(key string, value any) {
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{key, value})
	}
}

// Traceparent is the header that tells others of the span; empty of none.
func (s *Span) Traceparent() string {
	if s == nil {
		return ""
	}
	return "00-" + hex.EncodeToString(s.Trace[:]) + "-" + hex.EncodeToString(s.ID[:]) + "-01"
}

// Content says a text of the memory or of a command, redacted and cut, if that is wanted.
func (s *Span) Content(key, text string) {
	if s == nil || !s.tracer.Content() {
		return
	}
	text, _ = redact.Text(text)
	if len(text) > maxContent {
		text = strings.ToValidUTF8(text[:maxContent], "")
	}
	s.Set(key, text)
}

// Finish ends the span, with the error that the step ended with, if any. A call that belongs to no other trace and did
// nothing worth a span, as a heartbeat, is dropped.
func (s *Span) Finish(err error) {
	if s != nil && (!s.Server || s.Parent != [8]byte{} || s.below.Load()) {
		s.End, s.Err = s.tracer.Now(), err
		s.tracer.End(s)
	}
}

func newSpanID() (id [8]byte) {
	n := rand.Uint64() | 1 // not all zeros
	for i := range id {
		id[i] = byte(n >> (8 * i))
	}
	return id
}

// ParseTraceparent reads a traceparent header of version 00. ok is false if it is malformed, or its ids are all zeros.
func ParseTraceparent(text string) (trace [16]byte, span [8]byte, sampled, ok bool) {
	const length = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	var flags [1]byte
	if len(text) != length || text[:3] != "00-" || text[35] != '-' || text[52] != '-' || strings.ToLower(text) != text {
		return trace, span, false, false
	}
	for _, part := range []struct {
		into []byte
		text string
	}{{trace[:], text[3:35]}, {span[:], text[36:52]}, {flags[:], text[53:]}} {
		if _, err := hex.Decode(part.into, []byte(part.text)); err != nil {
			return trace, span, false, false
		}
	}
	return trace, span, flags[0]&1 == 1, trace != [16]byte{} && span != [8]byte{}
}

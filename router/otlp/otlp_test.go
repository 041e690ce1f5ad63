package otlp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/router/otlp"
)

func exporter(t *testing.T, address string, now clock.Clock, content bool) (*otlp.Exporter, *trace.Tracer) {
	t.Helper()
	e, err := otlp.New(t.Context(), address, "1", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return e, &trace.Tracer{Spans: e.Tracer("skillrouter"), Now: now, Content: content}
}

// end ends an exporter: what waits is sent, or given up.
func end(t *testing.T, e *otlp.Exporter) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Run(ended); err != nil {
		t.Error(err)
	}
}

const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

// TestSend compares what a collector is sent at the router's end with the protocol's own form.
func TestSend(t *testing.T) {
	bodies := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + "\n" + string(body)
	}))
	defer collector.Close()
	noon := time.Unix(1_800_000_000, 42)
	for content, want := range map[bool]string{false: "", true: `,{"key":"what","value":{"stringValue":"say ghp_`} {
		e, tracer := exporter(t, collector.URL, func() time.Time { return noon }, content)
		ctx, call := trace.StartTrace(t.Context(), tracer, parent, "POST /x")
		call.Set("n", 7)
		below, step := trace.StartSpan(trace.Continue(ctx, "malformed"), "step")
		_, other := trace.StartSpan(trace.Continue(below, strings.ReplaceAll(parent, "0123", "ffff")), "of another trace")
		other.Finish(nil)
		step.Set("k", "a\xff")
		step.Content("what", "say ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a and go")
		step.Finish(errs.Errorf(errs.NotFound, "the secret text"))
		call.Finish(nil)
		end(t, e)
		got := <-bodies
		for _, part := range []string{
			"POST /v1/traces application/json\n" + `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"skillrouter"}}`,
			`{"traceId":"0123456789ABCDEF0123456789ABCDEF","spanId":"`, `"parentSpanId":"0123456789ABCDEF","flags":769,"name":"POST /x","kind":2,"startTimeUnixNano":"1800000000000000042"`,
			`"name":"step","kind":1,`, `{"key":"k","value":{"stringValue":"a�"}}`, `{"key":"n","value":{"intValue":"7"}}`,
			`{"traceId":"FFFF456789ABCDEFFFFF456789ABCDEF",`, `"parentSpanId":"FFFF456789ABCDEF","flags":769,"name":"of another trace"`,
			`"status":{"message":"not_found","code":2}`, `{"key":"error.type","value":{"stringValue":"not_found"}}`,
		} {
			if !strings.Contains(got, part) {
				t.Errorf("%s is not in %s", part, got)
			}
		}
		if strings.Contains(got, "the secret text") || strings.Contains(got, "16C7e42F") {
			t.Errorf("a text went out: %s", got)
		}
		if strings.Contains(got, `"what"`) != (want != "") {
			t.Errorf("content=%v: %s", content, got)
		}
		if sent, dropped := otlp.Counts(e); sent != 3 || dropped != 0 {
			t.Errorf("%d sent, %d dropped", sent, dropped)
		}
	}
}

// TestDrops has a collector that hangs: nobody waits for it, what finds no room is counted, and the router's end takes
// no longer than its bound.
func TestDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, tracer := exporter(t, "http://collector.invalid:4318", time.Now, false)
		var calls atomic.Int64
		otlp.Transport(e, func(r *http.Request) (*http.Response, error) {
			calls.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		begin := time.Now()
		const spans = 3 * otlp.QueueSize
		for range spans {
			above, call := trace.StartTrace(t.Context(), tracer, "", "call")
			_, step := trace.StartSpan(above, "step")
			step.Finish(nil)
			call.Finish(errors.New("x"))
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("calls waited %s for the collector", took)
		}
		if _, dropped := otlp.Counts(e); dropped == 0 {
			t.Error("nothing was dropped")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > otlp.SendTime+otlp.FlushTime {
			t.Errorf("the end took %s", took)
		}
		if sent, dropped := otlp.Counts(e); sent != 0 || dropped != 2*spans || calls.Load() == 0 {
			t.Errorf("%d sent, %d dropped of %d, %d calls", sent, dropped, 2*spans, calls.Load())
		}
	})
}

// TestNotTraced shows what makes no span: a call that did nothing, one whose caller does not sample, and none at all.
func TestNotTraced(t *testing.T) {
	e, tracer := exporter(t, "http://127.0.0.1:1", time.Now, false)
	defer end(t, e)
	if ctx, span := trace.StartSpan(t.Context(), "x"); span != nil || ctx != t.Context() {
		t.Error("a span without a trace")
	}
	_, call := trace.StartTrace(t.Context(), tracer, "malformed", "call")
	call.Finish(nil)
	ctx, call := trace.StartTrace(t.Context(), tracer, strings.TrimSuffix(parent, "01")+"00", "call")
	_, step := trace.StartSpan(ctx, "step")
	step.Finish(nil)
	call.Finish(nil)
	if n := otlp.Waiting(e); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// TestOff shows what tracing costs where it is off: no allocation.
func TestOff(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		below, span := trace.StartMemory(ctx, "search_memory", "fact")
		_, step := trace.StartSpan(below, "step")
		step.Content("k", "text")
		step.Finish(nil)
		span.Finish(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEndpoint checks what becomes of an address, whatever the environment of an agent's tool says. The settings refuse what is none.
func TestEndpoint(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://192.0.2.1:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://192.0.2.1:4318", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=verysecret",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_SAMPLER": "always_off", "HTTP_PROXY": "http://192.0.2.1:80", "OTEL_SERVICE_NAME": "other",
	} {
		t.Setenv(name, value)
	}
	for base, want := range map[string]string{
		"http://x:4318": "http://x:4318/v1/traces", "https://x/otlp/": "https://x/otlp/v1/traces", "http://x:1/v1/traces": "http://x:1/v1/traces",
	} {
		e, tracer := exporter(t, base, time.Now, false)
		called := ""
		otlp.Transport(e, func(r *http.Request) (*http.Response, error) {
			called = r.URL.String()
			body, _ := io.ReadAll(r.Body)
			if r.Header.Get("Authorization") != "" || !strings.Contains(string(body), `"service.name","value":{"stringValue":"skillrouter"}`) {
				t.Errorf("%v %s", r.Header, body)
			}
			return nil, errors.New("not there")
		})
		_, call := trace.StartTrace(t.Context(), tracer, parent, "call")
		call.Finish(nil)
		end(t, e)
		if called != want {
			t.Errorf("%s: %s", base, called)
		}
		if sent, dropped := otlp.Counts(e); sent != 0 || dropped != 1 {
			t.Errorf("%d sent, %d dropped", sent, dropped)
		}
	}
}

// TestRedirection: a collector that points elsewhere is not followed.
func TestRedirection(t *testing.T) {
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	collector := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer collector.Close()
	e, tracer := exporter(t, collector.URL, time.Now, false)
	_, call := trace.StartTrace(t.Context(), tracer, parent, "call")
	call.Finish(nil)
	end(t, e)
	if _, dropped := otlp.Counts(e); followed || dropped != 1 {
		t.Errorf("followed: %v, %d dropped", followed, dropped)
	}
}

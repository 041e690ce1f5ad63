package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Why a call was broken off, as the cause of its context.
var (
	errFirstByte = errors.New("the endpoint did not begin to answer in time")
	errIdle      = errors.New("the endpoint stopped in the middle of its answer")
	errTotal     = errors.New("the endpoint did not end its answer in time")
)

// call is one request of the endpoint.
type call struct {
	method, path string // the path is below the version's
	body         []byte
	header       http.Header // besides the key; nil: JSON in and out
	// transparent leaves answers of every status to the caller: only a connection
	// that did not come about is tried again.
	transparent bool
}

// open makes a call, again and again as long as the failure passes and no byte
// of an answer has come. The body of the response ends with the call's
// time-outs, and must be closed. Without transparent the response has a status of 2xx.
func (e *Endpoint) open(ctx context.Context, c call) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		response, err := e.attempt(ctx, c)
		wait, again := e.again(attempt, response, err, c.transparent)
		if !again || ctx.Err() != nil {
			if err != nil {
				return nil, e.unreachable(ctx, err)
			}
			if c.transparent || response.StatusCode/100 == 2 {
				return response, nil
			}
			defer response.Body.Close()
			return nil, e.refused(response)
		}
		status := 0
		if response != nil {
			status = response.StatusCode
			_ = response.Body.Close() // nothing in it is needed
		}
		e.options.Log.DebugContext(ctx, "a call of the model's endpoint is made again", "endpoint", e.base, "attempt", attempt+1, "status", status, "wait_ms", wait.Milliseconds())
		if err := e.options.Sleep(ctx, wait); err != nil {
			return nil, e.unreachable(ctx, err)
		}
	}
}

// attempt makes the call once.
func (e *Endpoint) attempt(ctx context.Context, c call) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := http.NewRequestWithContext(ctx, c.method, e.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	if c.header != nil {
		r.Header = c.header.Clone()
	} else {
		r.Header.Set("Accept", "application/json")
		r.Header.Set("User-Agent", "skillrouter")
		if c.body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	if c.body == nil {
		r.Body, r.ContentLength = nil, 0
	}
	if e.options.Key != "" {
		r.Header.Set("Authorization", "Bearer "+string(e.options.Key))
	}
	begin := time.AfterFunc(e.options.Timeouts.FirstByte, func() { cancel(errFirstByte) })
	response, err := e.http.Do(r)
	if !begin.Stop() && err == nil {
		_ = response.Body.Close()
		err = errFirstByte
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = errors.Join(cause, err)
		}
		cancel(nil)
		return nil, err
	}
	response.Body = newTimedBody(ctx, cancel, response.Body, e.options.Timeouts)
	return response, nil
}

// timedBody is the body of an answer, which ends when it takes too long. A reader
// that takes its time is no endpoint that does: only waiting in Read counts as idle.
type timedBody struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	idle   *time.Timer
	total  *time.Timer
	pause  time.Duration
	once   sync.Once
}

func newTimedBody(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, t Timeouts) *timedBody {
	b := &timedBody{
		ctx: ctx, cancel: cancel, body: body, pause: t.Idle,
		idle:  time.AfterFunc(t.Idle, func() { cancel(errIdle) }),
		total: time.AfterFunc(t.Total, func() { cancel(errTotal) }),
	}
	b.idle.Stop() // it runs while somebody waits in Read
	return b
}

// Read implements io.Reader. Its error is why the call was broken off, if it was.
func (b *timedBody) Read(p []byte) (int, error) {
	b.idle.Reset(b.pause)
	n, err := b.body.Read(p)
	b.idle.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(b.ctx); cause != nil {
			err = errors.Join(cause, err)
		}
	}
	return n, err
}

// Close implements io.Closer. It ends the call at the endpoint.
func (b *timedBody) Close() error {
	b.once.Do(func() {
		b.idle.Stop()
		b.total.Stop()
		b.cancel(nil)
	})
	return b.body.Close()
}

// ask makes a call and decodes its answer, which should be what, into a value. text is the answer as it came.
func (e *Endpoint) ask(ctx context.Context, c call, what string, into any) (text []byte, err error) {
	response, err := e.open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if text, err = e.readAll(ctx, response.Body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, e.nonsense(err, what)
	}
	return text, nil
}

// readAll reads an answer to its end, up to MaxAnswer.
func (e *Endpoint) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	if len(text) > MaxAnswer {
		return nil, errs.Errorf(errs.Unavailable, "the answer of %s is larger than %d bytes", e.base, MaxAnswer)
	}
	return text, nil
}

// How calls are made again.
const (
	// DefaultRetries is how often a call is made again: with the waits below, within about two seconds.
	DefaultRetries = 2
	// firstWait is the longest wait before the second attempt; it doubles with each.
	firstWait = 500 * time.Millisecond
	// maxWait bounds a wait that nobody asked for, and maxRetryAfter one that the endpoint asks for:
	// whoever waits longer should be told.
	maxWait       = 8 * time.Second
	maxRetryAfter = 30 * time.Second
)

// again tells whether a call that ended so is made again, and after which wait.
// A call is repeated if it surely did not reach the model (no connection came
// about), or if the endpoint says that its failure passes: 429 and 5xx, save
// those that mean that it cannot do this at all.
func (e *Endpoint) again(attempt int, response *http.Response, err error, transparent bool) (time.Duration, bool) {
	if attempt >= DefaultRetries {
		return 0, false
	}
	wait := time.Duration(float64(min(maxWait, firstWait<<attempt)) * e.options.Chance()) // "full jitter"
	if err != nil {
		dial, ok := errors.AsType[*net.OpError](err)
		return wait, ok && dial.Op == "dial" && !errors.Is(err, errFirstByte)
	}
	if transparent {
		return 0, false
	}
	switch status := response.StatusCode; {
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return 0, false
	case status == http.StatusTooManyRequests || status >= 500:
		asked, said := retryAfter(response.Header.Get("Retry-After"), e.options.Now())
		if said && asked > maxRetryAfter {
			return 0, false
		}
		return max(wait, asked), true
	}
	return 0, false
}

// retryAfter reads a Retry-After header, RFC 9110 section 10.2.3: seconds, or a date.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// maxRefusal bounds what is read of a refusal, in bytes.
const maxRefusal = 16 << 10

// unreachable explains why a call got no answer, or not the whole of it.
func (e *Endpoint) unreachable(ctx context.Context, err error) error {
	code, base := errs.Unavailable, e.base
	switch {
	case errors.Is(err, errFirstByte):
		return errs.Wrap(code, err, "the model at %s did not begin to answer within %s (llm.timeout)", base, e.options.Timeouts.FirstByte)
	case errors.Is(err, errIdle):
		return errs.Wrap(code, err, "the model at %s said nothing for %s in the middle of its answer (llm.timeout)", base, e.options.Timeouts.Idle)
	case errors.Is(err, errTotal):
		return errs.Wrap(code, err, "the model at %s did not end its answer within %s", base, e.options.Timeouts.Total)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.Wrap(code, err, "the model at %s did not answer in the time that there was", base)
	case ctx.Err() != nil:
		return errs.Wrap(code, err, "the call of the model was given up")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errs.Wrap(code, err, "no model answers at %s (llm.base_url): is it running?", base)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return errs.Wrap(code, lookup, "the host of %s (llm.base_url) is not known", base)
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return errs.Wrap(code, err, "the model at %s (llm.base_url) cannot be reached", base)
	}
	return errs.Wrap(code, err, "the connection to the model at %s broke", base)
}

// refused turns an answer that is none of 2xx into an error. What the endpoint
// says of it is a cause, for the log: it is another program's text.
func (e *Endpoint) refused(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // what could be read of it
	said := e.said(text)
	cause := errors.New(response.Status + ": " + said)
	if strings.Contains(said, "context_length_exceeded") || strings.Contains(said, "context size") || strings.Contains(said, "maximum context length") {
		return errs.Wrap(errs.TooLarge, cause, "the request does not fit the model's window, says %s", e.base)
	}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return errs.Wrap(errs.Unavailable, cause, "%s refused the key that it was given (llm.api_key)", e.base)
	case status == http.StatusNotFound:
		return errs.Wrap(errs.Unavailable, cause, "%s has no such model, or is no such endpoint (llm.base_url, llm.model)", e.base)
	case status == http.StatusRequestEntityTooLarge:
		return errs.Wrap(errs.TooLarge, cause, "the request is too large for %s", e.base)
	case status == http.StatusTooManyRequests:
		return errs.Wrap(errs.RateLimited, cause, "%s is asked too much", e.base)
	case status/100 == 3:
		return errs.Wrap(errs.Unavailable, cause, "%s sends callers elsewhere, and redirections are not followed (llm.base_url)", e.base)
	case status/100 == 4:
		return errs.Wrap(errs.Invalid, cause, "%s refused the request with %d", e.base, status)
	default:
		return errs.Wrap(errs.Unavailable, cause, "%s failed with %d", e.base, status)
	}
}

// said is what an answer says is wrong, without the key that some endpoints repeat.
func (e *Endpoint) said(text []byte) string {
	if key := string(e.options.Key); key != "" {
		text = bytes.ReplaceAll(text, []byte(key), []byte(mask))
	}
	return refusalOf(text)
}

// refusalOf finds what a refusal says: the code and message of OpenAI's error
// object, an error that is a mere text, or the text itself.
func refusalOf(text []byte) string {
	var refusal struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &refusal) == nil && len(refusal.Error) > 0 {
		var object struct {
			Message string `json:"message"`
			Type    string `json:"type"`
			Code    any    `json:"code"`
		}
		if json.Unmarshal(refusal.Error, &object) == nil {
			if code, ok := object.Code.(string); ok && code != "" {
				return excerpt(code + ": " + object.Message)
			}
			return excerpt(strings.TrimPrefix(object.Type+": "+object.Message, ": "))
		}
		var message string
		if json.Unmarshal(refusal.Error, &message) == nil {
			return excerpt(message)
		}
	}
	return excerpt(string(text))
}

// nonsense says that the endpoint answered something else than was asked for.
func (e *Endpoint) nonsense(err error, what string) error {
	return errs.Wrap(errs.Unavailable, err, "%s answered something that is no %s", e.base, what)
}

// excerpt cuts a text to what a log line bears, without what looks like a secret.
func excerpt(text string) string {
	const limit = 300
	text, _ = redact.Text(strings.ToValidUTF8(text, "\uFFFD"))
	if cut := []rune(text); len(cut) > limit {
		text = string(cut[:limit]) + "…"
	}
	return text
}

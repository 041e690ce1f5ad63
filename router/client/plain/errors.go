package plain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// MaxProblem bounds what is read of an error's document, in bytes.
const MaxProblem = 64 << 10

// problemDocument is what the router answers on failure (RFC 9457, with members of its own).
type problemDocument struct {
	Title  string    `json:"title"`
	Detail string    `json:"detail"`
	Error  string    `json:"error"`
	Code   errs.Code `json:"code"`
	Field  string    `json:"field"`
}

// Problem turns a refusal, the body of an answer with a status, back into the
// error that it was made of.
func Problem(base string, status int, said string, text []byte) error {
	var p problemDocument
	if err := json.Unmarshal(text[:min(len(text), MaxProblem)], &p); err != nil || p.Code == "" {
		if strings.Contains(string(text), "HTTP request to an HTTPS server") { // as Go's server says
			return errs.Errorf(errs.Invalid, "%s: this port speaks TLS: call it by https://", base)
		}
		return errs.Errorf(codeOf(status), "%s answered %s, and not as a router does", base, said)
	}
	message := cmp.Or(p.Detail, p.Error)
	if p.Field != "" {
		message = strings.TrimPrefix(message, p.Field+" ")
	}
	return &errs.Error{Code: p.Code, Field: p.Field, Message: message}
}

// codeOf guesses the code of a status that came without one: from a proxy, or
// from a program that is no router.
func codeOf(status int) errs.Code {
	switch status {
	case 401, 407: // unauthorized, to the router or to a proxy
		return errs.Unauthenticated
	case 403:
		return errs.Forbidden
	case 404:
		return errs.NotFound
	case 413:
		return errs.TooLarge
	case 429:
		return errs.RateLimited
	case 507:
		return errs.StorageFull
	case 409:
		return errs.Conflict
	}
	if status >= 500 {
		return errs.Unavailable
	}
	return errs.Invalid
}

// TooLarge is the error of an answer above a bound, in bytes.
func TooLarge(limit int) error {
	return errs.Errorf(errs.TooLarge, "the router's answer is larger than %d bytes", limit)
}

// NotJSON is the error of an answer that is no JSON of the type that was asked for.
func NotJSON(base string, err error) error {
	return errs.Wrap(errs.Unavailable, err, "%s answered something that is not the router's JSON", base)
}

// Unreachable explains why a call of the router at base got no answer.
func Unreachable(ctx context.Context, base string, err error) error {
	said, explained := errors.AsType[*errs.Error](err)
	switch {
	case explained:
		return said // whoever connected knows why
	case errors.Is(ctx.Err(), context.Canceled):
		return errs.Wrap(errs.Unavailable, err, "the call was given up")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errs.Wrap(errs.Unavailable, err, "the router at %s did not answer in time", base)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errs.Wrap(errs.Unavailable, err, "no router answers at %s; start one with `skillrouter serve`, or name another with --server", base)
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return errs.Wrap(errs.Unavailable, err, "the host of %s is not known", base)
	}
	return errs.Wrap(errs.Unavailable, err, "the connection to the router at %s broke", base)
}

// NeedsToken is the error of an answer about the router's health by which it
// only says that it answers, or nil: a router that wants a token and got none
// names its status and not itself.
func NeedsToken(status, server string) error {
	if status == "" || server != "" {
		return nil
	}
	return errs.Errorf(errs.Unauthenticated, "the router answers, and needs a token to say more; `skillrouter token create` issues one")
}

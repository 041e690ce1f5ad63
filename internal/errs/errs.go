// Package errs has the one error of the program: an Error with a Code, and what is told of it to a caller.
package errs

import (
	"errors"
	"fmt"
)

// Code says what kind of failure an Error is. Transports map it to their own
// status in one table each (router/httpapi, router/mcpserver, cmd/cli).
type Code string

// The codes. There are no others; a new one needs an entry in every table.
const (
	// Invalid means the caller's input was refused; Error.Field names the field where one is to blame.
	Invalid Code = "invalid"
	// NotFound means that nothing has the id that was asked for.
	NotFound Code = "not_found"
	// Conflict means that the state does not allow it now: claimed by another, changed meanwhile, held already.
	Conflict Code = "conflict"
	// Unauthenticated means that a token is needed and none that is valid was given.
	Unauthenticated Code = "unauthenticated"
	// Forbidden means that the caller is known and may not do this.
	Forbidden Code = "forbidden"
	// PassphraseNeeded means that the caller may do this once a person has proved to know the passphrase.
	PassphraseNeeded Code = "passphrase_needed"
	// TooLarge means that a body, a text or a list is over its bound.
	TooLarge Code = "too_large"
	// RateLimited means that the caller must wait before it asks again.
	RateLimited Code = "rate_limited"
	// StorageFull means that the disk takes no more; reads go on.
	StorageFull Code = "storage_full"
	// Unavailable means that the service is starting, stopping, busy or unreachable; asking again later may work.
	Unavailable Code = "unavailable"
	// OutcomeUnknown means that the answer was lost on its way: what was asked for may have been done, or not.
	OutcomeUnknown Code = "outcome_unknown"
	// Internal is every failure that is not the caller's.
	Internal Code = "internal"
)

// Codes lists every code, in the order above, for the tests that hold the tables complete.
func Codes() []Code {
	return []Code{
		Invalid, NotFound, Conflict, Unauthenticated, Forbidden, PassphraseNeeded,
		TooLarge, RateLimited, StorageFull, Unavailable, OutcomeUnknown, Internal,
	}
}

// Error is the only error that one package returns to another. Message is written for the
// caller and never contains the cause's text. Err is the cause, for the log.
type Error struct {
	Code    Code
	Field   string // the input field at fault, as the caller spelt it; empty if none
	Message string
	Err     error
}

// Error implements error. It is for logs: it holds the cause too.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InvalidField makes an Invalid error that names the field at fault. The
// message should not repeat the field's name or its value.
func InvalidField(field, format string, args ...any) *Error {
	return &Error{Code: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Wrap gives err a code and a message for the caller. A nil err gives nil.
func Wrap(code Code, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf returns the code of the first Error in err's chain, Internal for any
// other error, and the empty code for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// MessageOf returns what the caller may read of err: the message of the first
// Error in the chain, and a fixed sentence for any other error.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "something went wrong inside the router; its log has the cause"
}

// FieldOf returns the field that the first Error in err's chain blames, or "".
func FieldOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Field
	}
	return ""
}

// Explain returns what a person is told of an error: its message, and before it the field if
// the error is Invalid. An error without a code, such as that of a missing file, is returned
// as it is; of nil nothing is told.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	coded, ok := errors.AsType[*Error](err)
	if !ok {
		return err.Error()
	}
	if coded.Field != "" && coded.Code == Invalid {
		return coded.Field + " " + coded.Message
	}
	return coded.Message
}

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// statuses is the one table from codes to HTTP. 507 and 429 and 503 are what
// clients may try again after; the others need a change first.
var statuses = map[errs.Code]int{
	errs.Invalid:          http.StatusBadRequest,
	errs.NotFound:         http.StatusNotFound,
	errs.Conflict:         http.StatusConflict,
	errs.Unauthenticated:  http.StatusUnauthorized,
	errs.Forbidden:        http.StatusForbidden,
	errs.PassphraseNeeded: http.StatusForbidden,
	errs.TooLarge:         http.StatusRequestEntityTooLarge,
	errs.RateLimited:      http.StatusTooManyRequests,
	errs.StorageFull:      http.StatusInsufficientStorage,
	errs.Unavailable:      http.StatusServiceUnavailable,
	errs.OutcomeUnknown:   http.StatusBadGateway,
	errs.Internal:         http.StatusInternalServerError,
}

// Status returns the HTTP status of a code.
func Status(code errs.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Problem is the body of every error, as RFC 9457 has it, with the members
// "error" (which clients of the experience server read), "code" and "field".
type Problem struct {
	Title   string         `json:"title"`
	Status  int            `json:"status"`
	Detail  string         `json:"detail"`
	Message string         `json:"error" doc:"The same as detail, for clients that read this member"`
	Code    errs.Code      `json:"code"`
	Field   string         `json:"field,omitempty" doc:"The input field at fault"`
	Errors  []FieldProblem `json:"errors,omitempty" doc:"Every field at fault, where there are several"`
	Success *bool          `json:"success,omitempty" doc:"false, of a tool that was called"`
}

// FieldProblem is what is wrong with one field.
type FieldProblem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// problemOf turns an error of a service into what its caller may see of it.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	code, message := errs.CodeOf(err), errs.MessageOf(err)
	if code == errs.Internal && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		code, message = errs.Unavailable, "the call was given up before it was done" // by its client: no failure of ours
	}
	p := newProblem(code, errs.FieldOf(err), message)
	if _, ofTool := errors.AsType[toolFailure](err); ofTool {
		p.Success = new(bool)
	}
	return p
}

func newProblem(code errs.Code, field, message string) *Problem {
	status := Status(code)
	detail := message
	if field != "" {
		detail = field + " " + message
	}
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Message: detail, Code: code, Field: field}
}

// refusal is HTTP's own refusal, of a request that reaches no service.
func refusal(status int, code errs.Code, detail string) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Message: detail, Code: code}
}

// abort answers a gin request with a problem and ends its chain.
func abort(c *gin.Context, p *Problem) {
	c.Abort()
	if isChat(c.Request) {
		WriteChatProblem(c.Writer, p)
		return
	}
	WriteProblem(c.Writer, p)
}

// WriteProblem answers a plain HTTP request with err, for handlers that are
// mounted here and live elsewhere.
func WriteProblem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	writeProblem(w, p, p)
}

// writeProblem answers with a document that has the problem's members, and maybe more.
func writeProblem(w http.ResponseWriter, p *Problem, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	writeRefusal(w, p.Status, "application/problem+json", body)
}

// writeRefusal answers with a status that is an error's, and the headers that belong to it.
func writeRefusal(w http.ResponseWriter, status int, contentType string, body []byte) {
	header := w.Header()
	switch status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="skillrouter"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header.Set("Retry-After", "1")
	}
	header.Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone cannot be told
}

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter"
)

// statuses is the one table from codes to HTTP. 507 and 429 and 503 are what
// clients may try again after; the others need a change first.
var statuses = map[skillrouter.Code]int{
	skillrouter.Invalid:         http.StatusBadRequest,
	skillrouter.NotFound:        http.StatusNotFound,
	skillrouter.Conflict:        http.StatusConflict,
	skillrouter.Unauthenticated: http.StatusUnauthorized,
	skillrouter.Forbidden:       http.StatusForbidden,
	skillrouter.TooLarge:        http.StatusRequestEntityTooLarge,
	skillrouter.RateLimited:     http.StatusTooManyRequests,
	skillrouter.StorageFull:     http.StatusInsufficientStorage,
	skillrouter.Unavailable:     http.StatusServiceUnavailable,
	skillrouter.Internal:        http.StatusInternalServerError,
}

// Status returns the HTTP status of a code.
func Status(code skillrouter.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Problem is the body of every error, as RFC 9457 has it, with the members
// "error" (which clients of seed 003 read), "code" and "field".
type Problem struct {
	Title   string           `json:"title"`
	Status  int              `json:"status"`
	Detail  string           `json:"detail"`
	Message string           `json:"error" doc:"The same as detail, for clients that read this member"`
	Code    skillrouter.Code `json:"code"`
	Field   string           `json:"field,omitempty" doc:"The input field at fault"`
	Errors  []FieldProblem   `json:"errors,omitempty" doc:"Every field at fault, where there are several"`
}

// FieldProblem is what is wrong with one field.
type FieldProblem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// problemOf turns an error of a service into what its caller may see of it.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	code, message := skillrouter.CodeOf(err), skillrouter.MessageOf(err)
	if code == skillrouter.Internal && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		code, message = skillrouter.Unavailable, "the call was given up before it was done" // by its client: no failure of ours
	}
	return newProblem(code, skillrouter.FieldOf(err), message)
}

func newProblem(code skillrouter.Code, field, message string) *Problem {
	status := Status(code)
	detail := message
	if field != "" {
		detail = field + " " + message
	}
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Message: detail, Code: code, Field: field}
}

// refusal is HTTP's own refusal, of a request that reaches no service.
func refusal(status int, code skillrouter.Code, detail string) *Problem {
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

// validationProblem is what huma calls for every error of its own. It answers
// bad input with 400, and never repeats a value that was sent.
func validationProblem(status int, message string, errs ...error) huma.StatusError {
	code := skillrouter.Internal
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		code = skillrouter.Invalid
	case http.StatusRequestEntityTooLarge:
		code = skillrouter.TooLarge
	case http.StatusRequestTimeout:
		code = skillrouter.Unavailable
	}
	if code != skillrouter.Invalid || len(errs) == 0 {
		p := newProblem(code, "", message)
		if code == skillrouter.Internal {
			p = problemOf(errors.Join(errs...))
		}
		return p
	}
	var fields []FieldProblem
	for _, err := range errs {
		if detailer, ok := err.(huma.ErrorDetailer); ok {
			d := detailer.ErrorDetail()
			fields = append(fields, fieldProblem(d.Location, d.Message))
		} else if err != nil {
			fields = append(fields, FieldProblem{Message: jsonFault(err)})
		}
	}
	p := newProblem(code, fields[0].Field, fields[0].Message)
	if len(fields) > 1 {
		p.Errors = fields
	}
	return p
}

// fieldProblem names the field as the client spelt it: huma says "body.x" and
// puts the name of a missing property into the message alone.
func fieldProblem(location, message string) FieldProblem {
	if name, fault, ok := strings.Cut(message, memberMark); ok {
		return FieldProblem{Field: name, Message: fault}
	}
	_, field, _ := strings.Cut(location, ".")
	if rest, ok := strings.CutPrefix(message, "expected required property "); ok {
		name := strings.TrimSuffix(rest, " to be present")
		return FieldProblem{Field: strings.TrimPrefix(field+"."+name, "."), Message: "is required"}
	}
	if strings.HasPrefix(message, "required ") && strings.HasSuffix(message, " parameter is missing") {
		message = "is required"
	}
	if message == "unexpected property" {
		message = "is no field of this request"
	}
	return FieldProblem{Field: field, Message: message}
}

// memberMark stands between the name and the fault of a memberFault: of an
// error that a format makes, huma keeps the text alone.
const memberMark = "\x00"

// memberFault is what skillrouter.CheckJSON finds wrong with a member of a body.
type memberFault struct{ err error }

// Error implements error.
func (m memberFault) Error() string {
	return skillrouter.FieldOf(m.err) + memberMark + skillrouter.MessageOf(m.err)
}

// errEncoding is what is wrong with a body that is not UTF-8.
var errEncoding = errors.New("the body is not valid UTF-8")

// formats is huma's JSON for bodies of a type, without what encoding/json does
// to bytes that are not UTF-8: it replaces them, and the text that is stored is not
// the one that was sent. It refuses what skillrouter.CheckJSON does. A member that is null is validated as one that is not there:
// clients in Python and TypeScript send all that they do not know as null.
func formats(body reflect.Type) map[string]huma.Format {
	format := huma.DefaultJSONFormat
	decode := format.Unmarshal
	format.Unmarshal = func(text []byte, v any) error {
		if !utf8.Valid(text) {
			return errEncoding
		}
		err := decode(text, v)
		if whole, ok := v.(*any); ok && err == nil { // what huma validates; the handler gets its own
			if body != nil {
				if fault := skillrouter.CheckJSON(text, body); fault != nil {
					return memberFault{fault}
				}
			}
			dropNulls(*whole)
		}
		return err
	}
	return map[string]huma.Format{"application/json": format, "json": format}
}

// dropNulls takes the members that are null out of the objects of a document.
func dropNulls(document any) {
	switch v := document.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			} else {
				dropNulls(member)
			}
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}

// jsonFault describes a body that could not be decoded, by what encoding/json says of it.
func jsonFault(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "the body has a " + wrong.Value + " where a " + wrong.Type.String() + " is needed"
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return "the body is not valid JSON: " + syntax.Error()
	}
	if errors.Is(err, errEncoding) {
		return err.Error()
	}
	return "the body could not be read"
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

package otlp

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/trace"
)

// The JSON form of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, as much of it as spans need: ids
// are hexadecimal, and integers of 64 bits are texts.
type (
	traces struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	span struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Begin      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes,omitempty"`
		Status     *status     `json:"status,omitempty"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text *string `json:"stringValue,omitempty"`
		Int  *string `json:"intValue,omitempty"`
		Bool *bool   `json:"boolValue,omitempty"`
	}
)

// What the protocol's enumerations call them.
const (
	kindInternal, kindServer = 1, 2
	statusError              = 2
)

// encode writes spans as the body of a request.
func encode(spans []*trace.Span, version string) []byte {
	list := make([]span, len(spans))
	for i, s := range spans {
		list[i] = span{
			TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: kindInternal,
			Begin: nanoseconds(s.Begin), End: nanoseconds(s.End), Attributes: attributes(s.Attributes),
		}
		if s.Parent != [8]byte{} {
			list[i].Parent = hex.EncodeToString(s.Parent[:])
		}
		if s.Server {
			list[i].Kind = kindServer
		}
		if s.Err != nil { // its message may quote a text; its code never does
			code := string(errs.CodeOf(s.Err))
			list[i].Status = &status{Code: statusError, Message: code}
			list[i].Attributes = append(list[i].Attributes, attributes([]trace.Attribute{{Key: "error.type", Value: code}})...)
		}
	}
	body, _ := json.Marshal(traces{[]resourceSpans{{ // texts and numbers alone: it cannot fail
		Resource: resource{attributes([]trace.Attribute{{Key: "service.name", Value: "skillrouter"}, {Key: "service.version", Value: version}})},
		ScopeSpans: []scopeSpans{{
			Scope: scope{"skillrouter", version}, Spans: list,
		}},
	}}})
	return body
}

func nanoseconds(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func attributes(given []trace.Attribute) []attribute {
	list := make([]attribute, 0, len(given))
	for _, a := range given {
		var v value
		switch a := a.Value.(type) {
		case string:
			text := strings.ToValidUTF8(a, "�")
			v.Text = &text
		case int:
			text := strconv.Itoa(a)
			v.Int = &text
		case bool:
			v.Bool = &a
		}
		list = append(list, attribute{a.Key, v})
	}
	return list
}

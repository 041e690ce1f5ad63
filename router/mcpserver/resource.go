package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
)

const (
	// listedPerKind bounds how many resources of a kind are listed, the latest first:
	// a listing is to choose from, and everything else is found by search.
	listedPerKind = 50
	// agentsURI is the resource that lists the agents.
	agentsURI = "agents://"
)

// resource is a kind of thing that can be read by its URI. Reading it is
// calling a tool: the same rights, the same fence, the same fields.
type resource struct {
	template, name, description string
	arguments                   []string // of the tool, by the order of the template's variables
	found                       string   // a field of the answer that is false or missing if there is none; empty: the tool fails then
	lists                       any      // the method of a service that lists those that a caller may choose from; nil: none are listed
	asks                        any      // what it takes
	members                     string   // of each, the values of the template's variables, in their order
	title                       string   // of each, the member that says what it is; empty: the last of these
	tool                        string   // whose resource it is; add says it
}

// addResources offers what can be read by a URI.
func (s *Server) addResources() {
	for _, r := range s.resources {
		s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: r.template, Name: r.name, Description: r.description, MIMEType: "text/plain"},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				values, ok := r.values(req.Params.URI)
				if !ok {
					return nil, mcp.ResourceNotFoundError(req.Params.URI)
				}
				arguments := map[string]string{}
				for i, name := range r.arguments {
					arguments[name] = values[i]
				}
				return s.read(ctx, req.Params.URI, r, arguments)
			})
	}
	if _, ok := s.tools["list_agents"]; ok {
		s.mcp.AddResource(&mcp.Resource{URI: agentsURI, Name: "agents", Description: "Who is on the team", MIMEType: "text/plain"},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return s.read(ctx, agentsURI, resource{tool: "list_agents"}, map[string]string{})
			})
	}
}

// values are what stands in a URI for the template's variables.
func (r resource) values(uri string) ([]string, bool) {
	prefix, _, _ := strings.Cut(r.template, "{")
	rest, ok := strings.CutPrefix(uri, prefix)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != len(r.arguments) {
		return nil, false
	}
	for i, part := range parts {
		value, err := url.PathUnescape(part)
		if err != nil || value == "" {
			return nil, false
		}
		parts[i] = value
	}
	return parts, true
}

// read answers a reading with the tool's text, fenced, and with its fields.
func (s *Server) read(ctx context.Context, uri string, r resource, arguments map[string]string) (*mcp.ReadResourceResult, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	fields, text, err := s.tools[r.tool].call(ctx, raw)
	if errs.CodeOf(err) == errs.NotFound {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, s.fault(ctx, "resources/read", err)
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return nil, s.fault(ctx, "resources/read", err)
	}
	if r.found != "" {
		var there map[string]any
		if json.Unmarshal(whole, &there) == nil && (there[r.found] == nil || there[r.found] == false) {
			return nil, mcp.ResourceNotFoundError(uri)
		}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: "text/plain", Text: text},
		{URI: uri, MIMEType: "application/json", Text: string(whole)},
	}}, nil
}

// fault is an error where no tool's result can say it. The cause is for the log.
func (s *Server) fault(ctx context.Context, method string, err error) error {
	code := int64(jsonrpc.CodeInvalidParams)
	if errs.CodeOf(err) == errs.Internal {
		code = jsonrpc.CodeInternalError
		s.log.ErrorContext(ctx, "call failed", "method", method, "error", err)
	}
	return &jsonrpc.Error{Code: code, Message: string(errs.CodeOf(err)) + ": " + learning.Sentence(err)}
}

// listResources answers resources/list with what there is to read now, too: it changes with every write.
func (s *Server) listResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListResourcesResult)
		if err != nil || !ok {
			return result, err
		}
		recent, err := s.recent(ctx)
		if err != nil {
			return nil, s.fault(ctx, method, err)
		}
		list.Resources = append(list.Resources, recent...)
		return list, nil
	}
}

// recent are the resources that the caller may choose from.
func (s *Server) recent(ctx context.Context) (list []*mcp.Resource, err error) {
	for _, r := range s.resources {
		if r.lists == nil || s.tools[r.tool].within(ctx) != nil {
			continue
		}
		method := reflect.ValueOf(r.lists)
		results := method.Call([]reflect.Value{s.receivers[method.Type().In(0)], reflect.ValueOf(ctx), reflect.ValueOf(r.asks)})
		if err, _ := results[1].Interface().(error); err != nil {
			return nil, err
		}
		found := results[0]
		if found.Kind() == reflect.Struct { // a page
			found = found.Field(0)
		}
		var shown []strictjson.Member
		for _, name := range strings.Fields(r.members + " " + r.title) {
			member, _ := strictjson.MemberOf(found.Type().Elem(), name)
			shown = append(shown, member)
		}
		for i := range found.Len() {
			var values []string
			for _, member := range shown {
				values = append(values, fmt.Sprint(found.Index(i).FieldByIndex(member.Index).Interface()))
			}
			name := check.Head(strings.ReplaceAll(r.name+": "+values[len(values)-1], "\n", " "), 100)
			list = append(list, &mcp.Resource{URI: r.uri(values[:len(r.arguments)]), Name: visible(name), MIMEType: "text/plain"})
		}
	}
	return list, nil
}

// uri is the template with values in its variables' places.
func (r resource) uri(values []string) string {
	uri, _, _ := strings.Cut(r.template, "{")
	for i, value := range values {
		if i > 0 {
			uri += "/"
		}
		uri += url.PathEscape(value)
	}
	return uri
}

package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/learning"
)

// maxCompletions is how many values one completion may have, by the protocol.
const maxCompletions = 100

// complete proposes values for what a person types into a template's variable:
// of those that the listing of resources has, and of personas the default one.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	begun := req.Params.Argument.Value
	switch ref := req.Params.Ref; ref.Type {
	case "ref/prompt":
		known := false
		for _, p := range prompts() {
			known = known || p.Name == ref.Name
		}
		if !known {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such prompt"}
		}
	case "ref/resource":
		var kind *resource
		for _, r := range s.resources {
			if r.template == ref.URI {
				kind = &r
			}
		}
		if kind == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such resource template"}
		}
		if req.Params.Argument.Name == "persona" {
			if strings.HasPrefix(learning.DefaultPersona, begun) {
				values = append(values, learning.DefaultPersona)
			}
			break
		}
		recent, err := s.recent(ctx)
		if err != nil {
			return nil, s.fault(ctx, "completion/complete", err)
		}
		for _, r := range recent {
			if found, ok := kind.values(r.URI); ok && strings.HasPrefix(found[len(found)-1], begun) {
				values = append(values, found[len(found)-1])
			}
		}
	}
	total := len(values)
	values = values[:min(total, maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: total, HasMore: total > len(values)}}, nil
}

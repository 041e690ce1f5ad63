package cli

import (
	"github.com/spf13/cobra"

	"skillrouter/router/client"
	"skillrouter/router/mcpserver"
)

// ofKind is what the command line has of one kind of memory. A file that adds one with
// init brings the kind's commands, tools and examples with it, and no list elsewhere names them.
type ofKind struct {
	commands func(s *shell) *cobra.Command
	tools    func(c *client.Client) mcpserver.Tools // for skillrouter call and skillrouter mcp
	examples string                                 // of its commands, a line each
}

// kinds are in the order of their files.
var kinds []ofKind

// toolsOfKinds are the tools of all kinds, which call the router that a client speaks to.
func toolsOfKinds(c *client.Client) (tools []mcpserver.Tools) {
	for _, k := range kinds {
		tools = append(tools, k.tools(c))
	}
	return tools
}

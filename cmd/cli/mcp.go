package cli

import (
	"context"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

func (s *shell) mcpCommand() *cobra.Command {
	var agent, kind, toolsets string
	return s.made(command{
		use: "mcp [--for KIND | --agent ID] [--toolsets NAMES]", short: "Serve the router's tools to an agent, as MCP on standard input and output",
		long: `Speaks the Model Context Protocol on standard input and output, for clients that
start their servers themselves. It hands the messages to the running router, and
starts one that outlives it if there is none on this machine. It ends with its input.

The calls are made as the agent that --agent or SKILLROUTER_AGENT names, else as
the session of the agent that started this server. With --for claude-code that is
one such as claude-code:amber-fox, the same as its hooks have. If nothing says so, a
token says who calls; without one it is "captain". A token that belongs to one
agent can read its messages only if that agent is named here.

Memories without a project get the project of the working folder, and its folder
and branch in that.

--toolsets or SKILLROUTER_TOOLSETS switches further tools on, such as "lessons";
"all" is every one. Those in the setting mcp.toolsets are on in any case.`,
		flags: options{
			option("agent", &agent, "agent that the calls are made as (SKILLROUTER_AGENT)"),
			option("for", &kind, "kind of the agent that starts this server, such as claude-code: the calls are its session's"),
			option("toolsets", &toolsets, "further toolsets, separated by commas (SKILLROUTER_TOOLSETS)"),
			option("server", &s.server, "URL of the router (SKILLROUTER_SERVER)"),
			option("token", &s.token, "token to send (SKILLROUTER_TOKEN)"),
		},
	}, func(ctx context.Context) error {
		s.screen = true // no agent is asked for a passphrase
		if agent != "" && check.AgentID("--agent", agent) != nil || kind != "" && check.AgentID("--for", kind) != nil {
			return usagef("--agent and --for may hold only letters, digits, and . _ : -")
		}
		caller, err := s.caller(first(s.place().Speaker(agent, kind, workingFolder(), s.holder), s.agent("")))
		if err != nil {
			return err
		}
		toolsets = first(toolsets, s.env("SKILLROUTER_TOOLSETS"))
		if _, err := mcpserver.ParseToolsets(toolsets); err != nil {
			return usagef("--toolsets %s", errs.MessageOf(err))
		}
		project := s.workProject()
		query := func() url.Values {
			asked := url.Values{}
			folder, branch := locate.Within(workingFolder())
			for name, value := range map[string]string{"agent_id": caller, "project": project, "folder": folder, "branch": branch, "toolsets": toolsets} {
				if value != "" {
					asked.Set(name, value)
				}
			}
			return asked
		}
		dial := s.ensureRunning
		pipe := client.Pipe{Query: query, Dial: func(ctx context.Context) (*client.Client, error) {
			first := dial
			dial = func(context.Context) (*client.Client, error) { return s.client() } // a router that was stopped stays so
			return first(ctx)
		}}
		return pipe.Run(ctx, s.in, s.out)
	})
}

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/cmd/config"
	"skillrouter/router/mcpserver"
)

func (s *shell) mcpCommand() *cobra.Command {
	var agent string
	cmd := s.command(&cobra.Command{
		Use: "mcp [--agent ID]", Short: "Serve the router's tools to an agent, as MCP on standard input and output", Args: cobra.NoArgs,
		Long: `Speaks the Model Context Protocol on standard input and output, for clients that
start their servers themselves. It is a client of the running router, and starts
one that outlives it if there is none on this machine. It ends with its input.

The calls are made as the agent that --agent or SKILLROUTER_AGENT names. If
neither does, a token says who calls; without one it is "captain". A token that
belongs to one agent can read its messages only if that agent is named here.`,
	}, func(ctx context.Context, _ []string) error {
		agent = s.agent(agent)
		if agent == "" && s.token == "" && s.env("SKILLROUTER_TOKEN") == "" {
			agent = mcpserver.DefaultAgent
		}
		if agent != "" {
			if err := skillrouter.CheckAgentID("--agent", agent); err != nil {
				return usagef("--agent %s", skillrouter.MessageOf(err))
			}
		}
		c, err := s.ensureRunning(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		tools := mcpserver.New(mcpserver.Services{
			Knowledge: c.Knowledge, Episodes: c.Episodes, Router: c.Router, Mailbox: c.Mailbox, Presence: c.Presence,
		}, mcpserver.Options{Agent: agent, Version: version().Version, Log: s.logger(config.Log{Level: "warn"})})
		return tools.ServeStdio(ctx, s.in, s.out)
	})
	flags := cmd.Flags()
	flags.StringVar(&agent, "agent", "", "agent that the calls are made as (SKILLROUTER_AGENT)")
	flags.StringVar(&s.server, "server", "", "URL of the router (SKILLROUTER_SERVER)")
	flags.StringVar(&s.token, "token", "", "token to send (SKILLROUTER_TOKEN)")
	return cmd
}

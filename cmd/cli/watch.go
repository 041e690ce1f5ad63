package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"skillrouter/cmd/watch"
	"skillrouter/router/client"
	"skillrouter/router/feed"
)

func (s *shell) watchCommand() *cobra.Command {
	var project string
	return s.calls(command{
		use: "watch [--project NAME]", short: "Watch the team: its agents, what happens, and what waits for your word",
		long: `Shows the team on the terminal: each agent with its task, what happens as it
happens, and the approvals that wait. Enter opens an approval; a allows it once,
d denies it. That takes a person, as "check approve" does. ? shows the keys.

It goes on across restarts of the router. Where the output is no terminal, and
with --json, it prints each event on a line of its own from now on.`,
		flags: options{option("project", &project, "only this project's agents, events and approvals")},
	}, func(ctx context.Context, c *client.Client) error {
		if s.json || !isTerminal(s.in) || !isTerminal(s.out) || s.env("TERM") == "" || s.env("TERM") == "dumb" {
			return s.followEvents(ctx, c, feed.Query{After: feed.Now, Project: project}, watch.WriteLine)
		}
		if state, err := c.Persons.State(ctx); err == nil && state.Set {
			s.asked = "Passphrase, to allow and deny what waits (empty: only watch): "
			if err := c.SignIn(ctx); err != nil && !errors.Is(err, errNothingTyped) {
				return err
			}
		}
		s.screen = true
		return watch.Screen(ctx, c, watch.Options{
			Project: project, In: s.in, Out: s.out, Env: os.Environ(), Colours: s.colours(),
		})
	})
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/router"
	"skillrouter/router/client"
)

func (s *shell) eventsCommand() *cobra.Command {
	var query router.FeedQuery
	var follow bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "events [--follow] [--type TYPE] [--agent ID] [--project NAME] [--after SEQ]", Short: "Show what happened, or follow it as it happens", Args: cobra.NoArgs,
		Long: `Shows the events of the feed after a seq, the oldest first. With --follow it
begins with what happens from now on, unless --after says otherwise, and goes
on across restarts of the router until it is interrupted. docs/events.md lists
the types.`,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		if follow {
			return s.followEvents(ctx, c, query)
		}
		query.After = max(query.After, 0)
		page, err := c.Feed.Feed(ctx, query)
		for err == nil && len(page.Events) == 0 && page.More { // it has looked at enough, and found none yet
			query.After = page.Seen
			page, err = c.Feed.Feed(ctx, query)
		}
		if err != nil {
			return err
		}
		return s.print(page, func(w io.Writer) { s.eventTable(w, page) })
	}))
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on with what happens")
	flags.StringSliceVar(&query.Types, "type", nil, "only of these types, or groups such as task.*")
	flags.StringVar(&query.Agent, "agent", "", "only what this agent did, what happened to it, and messages to it")
	flags.StringVar(&query.Project, "project", "", "only of this project")
	flags.Int64Var(&query.After, "after", -1, "only those with a greater seq; 0: from the beginning")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most (0: 100)")
	cmd.MarkFlagsMutuallyExclusive("follow", "limit")
	return cmd
}

// followEvents prints each event on a line of its own as it happens.
func (s *shell) followEvents(ctx context.Context, c *client.Client, query router.FeedQuery) error {
	if query.After < 0 {
		query.After = router.FeedNow
	}
	away := false
	return c.Feed.Follow(ctx, client.FeedFollower{
		Query: query,
		Up: func() {
			if away {
				fmt.Fprintln(s.err, "skillrouter: connected again")
			}
			away = false
		},
		Down: func(err error, _ time.Duration) {
			if !away {
				fmt.Fprintf(s.err, "skillrouter: %s; trying again\n", clean(explain(err)))
			}
			away = true
		},
	}, func(event router.FeedEvent) error {
		if s.json {
			encoder := json.NewEncoder(s.out)
			encoder.SetEscapeHTML(false)
			return encoder.Encode(event)
		}
		_, err := fmt.Fprintf(s.out, "%s  #%d  %s  %s  %s  %s\n",
			event.At.Local().Format(time.TimeOnly), event.Seq, event.Type, clean(event.Agent), clean(event.Subject), clean(string(event.Data)))
		return err
	})
}

func (s *shell) eventTable(w io.Writer, page router.FeedPage) {
	if len(page.Events) == 0 {
		fmt.Fprintln(w, "No events.")
		return
	}
	now := s.now()
	rows := make([][]string, len(page.Events))
	for i, e := range page.Events {
		rows[i] = []string{fmt.Sprint(e.Seq), e.Type, e.Agent, e.Subject, string(e.Data), ago(now, e.At)}
	}
	table(w, []string{"SEQ", "TYPE", "AGENT", "SUBJECT", "DATA", "WHEN"}, rows)
	if page.More {
		fmt.Fprintf(w, "There are more: --after %d\n", page.Seen)
	}
}

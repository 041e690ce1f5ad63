package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/feed"
)

func (s *shell) eventsCommand() *cobra.Command {
	query := feed.Query{After: -1}
	var follow bool
	cmd := s.calls(command{
		lists: true, use: "events [--follow] [--type TYPE] [--agent ID] [--project NAME] [--after SEQ]", short: "Show what happened, or follow it as it happens",
		long: `Shows the events of the feed after a seq, the oldest first. With --follow it
begins with what happens from now on, unless --after says otherwise. It goes on
across restarts of the router until it is interrupted. The page docs/http-api.md
lists the types.`,
		flags: append(s.flags(&query, "type", "agent", "project", "after", "limit"),
			option("follow,f", &follow, "go on with what happens"),
		),
	}, func(ctx context.Context, c *client.Client) error {
		if follow {
			return s.followEvents(ctx, c, query, printEvent)
		}
		query.After = max(query.After, 0)
		page, err := client.Send(ctx, c, feed.Service.Feed, query)
		for err == nil && len(page.Events) == 0 && page.More { // it has looked at enough, and found none yet
			query.After = page.Seen
			page, err = client.Send(ctx, c, feed.Service.Feed, query)
		}
		return printed(s, page, err, printEvents)
	})
	cmd.MarkFlagsMutuallyExclusive("follow", "limit")
	return cmd
}

// followEvents prints each event on a line of its own as it happens.
func (s *shell) followEvents(ctx context.Context, c *client.Client, query feed.Query, show func(w io.Writer, event feed.Event)) error {
	if query.After < 0 {
		query.After = feed.Now
	}
	up, down := s.awayOnce()
	return c.Feed.Follow(ctx, client.FeedFollower{Query: query, Up: up, Down: down}, func(event feed.Event) error {
		return s.print(event, func(w io.Writer) { show(w, event) })
	})
}

var (
	printEvent  = page[feed.Event]("{{clock .At}}  #{{.Seq}}  {{.Type}}  {{.Agent}}  {{.Subject}}  {{.Data}}")
	printEvents = page[feed.Page](`{{with .Events}}{{table "seq type agent_id=AGENT subject data at=WHEN" .}}{{else}}No events.{{end}}
{{- if and .More .Events}}
There are more: --after {{.Seen}}
{{- end}}`)
)

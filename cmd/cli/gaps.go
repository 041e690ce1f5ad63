package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/learning/verdict"
	"skillrouter/router/client"
)

func (s *shell) gapsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "gaps", Short: "Questions that found nothing"}, s.gapsList(), s.gapsDismiss())
}

func (s *shell) gapsList() *cobra.Command {
	var query verdict.GapQuery
	gaps := columns[verdict.Gap]{
		heads: []string{"GAP", "ASKED", "LAST", "PROJECT", "QUESTION"},
		cells: func(g verdict.Gap) cells {
			return cells{shortID(g.ID), fmt.Sprintf("%d×", g.Count), g.LastAsked, g.Project, g.Question}
		},
	}
	return asks(s, command{use: "list", short: "List gaps", flags: options{
		option("project,p", &query.Project, "only of this project"),
		choice("order", &query.Order, []verdict.GapOrder{verdict.GapsRecent, verdict.GapsOften}, "which first (default \"recent\")"),
		limit(&query.Limit),
	}}, sends(verdict.Service.Gaps, &query), func(w io.Writer, page verdict.GapPage) {
		if page.Total == 0 {
			fmt.Fprintln(w, "No gaps.")
			return
		}
		gaps.list(w, page.Gaps)
		if most := int64(learning.MaxLimit); int64(page.Count) < min(page.Total, most) {
			fmt.Fprintf(w, "There are more: --limit %d\n", min(page.Total, most))
		}
	})
}

func (s *shell) gapsDismiss() *cobra.Command {
	var id string
	return s.calls(command{use: "dismiss GAP", short: "Forget a question until it is asked again", args: exactly(&id)}, func(ctx context.Context, c *client.Client) error {
		id, err := fullID(ctx, c, "gaps", id)
		if err != nil {
			return err
		}
		err = client.Have(ctx, c, verdict.Service.Dismiss, id)
		return printed(s, map[string]string{"id": id}, err, func(w io.Writer, _ map[string]string) { fmt.Fprintf(w, "%s dismissed\n", id) })
	})
}

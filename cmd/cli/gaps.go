package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning/feedback"
	"skillrouter/router/client"
)

func (s *shell) gapsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "gaps", Short: "What was asked and found nothing"}, s.gapsList(), s.gap("show GAP", "Show a gap", client.Gaps.Gap), s.gapsDismiss(),
		s.gap("check GAP", "Ask a gap's question again", client.Gaps.Check),
		s.gap("reopen GAP", "Take a dismissal back", client.Gaps.Reopen))
}

func (s *shell) gapsList() *cobra.Command {
	var query feedback.GapQuery
	gaps := columns[feedback.Gap]{
		heads: []string{"GAP", "ASKED", "LAST", "IN", "PROJECT", "QUESTION"},
		cells: func(g feedback.Gap) cells {
			return cells{shortID(g.ID), fmt.Sprintf("%d×", g.Count), g.LastAsked, g.AskedIn, g.Project, g.Question}
		},
	}
	return asks(s, command{use: "list", short: "List gaps", flags: options{
		choice("status", &query.Status, feedback.GapStatuses(), "only this status (default \"open\")"),
		option("project,p", &query.Project, "only of this project"),
		option("in", (*string)(&query.AskedIn), "only those asked in knowledge, episodes, lessons, query or search"),
		choice("order", &query.Order, []feedback.GapOrder{feedback.GapsRecent, feedback.GapsOften}, "which first (default \"recent\")"),
		cursor(&query.Cursor),
		limit(&query.Limit),
	}}, sends(client.Gaps.List, &query), func(w io.Writer, page feedback.GapPage) {
		if page.Total == 0 {
			fmt.Fprintln(w, "No gaps.")
			return
		}
		gaps.list(w, page.Gaps)
		moreOf(w, page.Count, page.Total, page.Next)
	})
}

func (s *shell) gapsDismiss() *cobra.Command {
	var id, reason string
	return asks(s, command{
		use: "dismiss GAP", short: "Say that a gap need not be filled", args: exactly(&id), flags: options{option("reason", &reason, "why not")},
	}, withIDTo("gaps", client.Gaps.Dismiss, &id, &reason), printGap)
}

// gap is a command that changes one gap.
func (s *shell) gap(use, short string, change func(gaps client.Gaps, ctx context.Context, id string) (feedback.Gap, error)) *cobra.Command {
	var id string
	return asks(s, command{use: use, short: short, args: exactly(&id)}, withID("gaps", change, &id), printGap)
}

func printGap(w io.Writer, gap feedback.Gap) {
	by := ""
	if gap.AnsweredBy != "" {
		by = " by " + clean(gap.AnsweredBy)
	}
	fmt.Fprintf(w, "%s is %s%s: %s\n", gap.ID, gap.Status, by, clean(gap.Question))
}

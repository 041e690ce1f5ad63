package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) gapsCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "gaps", Short: "What was asked and found nothing",
	}, s.gapsList(), s.gapsDismiss(),
		s.gapsOne("check GAP", "Ask a gap's question again", learning.GapService.Check),
		s.gapsOne("reopen GAP", "Take a dismissal back", learning.GapService.Reopen))
}

func (s *shell) gapsList() *cobra.Command {
	var query learning.GapQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List gaps", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		page, err := c.Gaps.List(ctx, query)
		if err != nil {
			return err
		}
		return s.print(page, func(w io.Writer) {
			if page.Total == 0 {
				fmt.Fprintln(w, "No gaps.")
				return
			}
			now, rows := s.now(), make([][]string, len(page.Gaps))
			for i, g := range page.Gaps {
				rows[i] = []string{g.ID, fmt.Sprintf("%d×", g.Count), ago(now, g.LastAsked), fmt.Sprint(g.AskedIn), g.Project, g.Question}
			}
			table(w, []string{"GAP", "ASKED", "LAST", "IN", "PROJECT", "QUESTION"}, rows)
			if page.Next != "" {
				fmt.Fprintf(w, "%d of %d; more with --cursor %s\n", page.Count, page.Total, clean(page.Next))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar((*string)(&query.Status), "status", "", "open, answered or dismissed (default \"open\")")
	flags.StringVarP(&query.Project, "project", "p", "", "only of this project")
	flags.StringVar((*string)(&query.AskedIn), "in", "", "only those asked in knowledge, episodes, lessons, query or search")
	flags.StringVar((*string)(&query.Order), "order", "", "recent or count (default \"recent\")")
	flags.StringVar(&query.Cursor, "cursor", "", "go on where a page ended")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) gapsDismiss() *cobra.Command {
	var reason string
	cmd := s.gapsOne("dismiss GAP", "Say that a gap need not be filled", func(gaps learning.GapService, ctx context.Context, id string) (learning.Gap, error) {
		return gaps.Dismiss(ctx, id, reason)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "why not")
	return cmd
}

// gapsOne is a command that changes one gap.
func (s *shell) gapsOne(use, short string, change func(gaps learning.GapService, ctx context.Context, id string) (learning.Gap, error)) *cobra.Command {
	return s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		gap, err := change(c.Gaps, ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(gap, func(w io.Writer) {
			by := ""
			if gap.AnsweredBy != "" {
				by = " by " + clean(gap.AnsweredBy)
			}
			fmt.Fprintf(w, "%s is %s%s: %s\n", gap.ID, gap.Status, by, clean(gap.Question))
		})
	}))
}

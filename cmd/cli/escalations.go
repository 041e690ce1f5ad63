package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) escalationsCommand() *cobra.Command {
	group := s.group(
		&cobra.Command{
			Use: "escalations", Short: "See and settle what lessons ask of supervisors",
			Long: "Shows the lessons that somebody should look at, and settles them. An escalation is named by its id.",
		},
		s.escalationsList(), s.escalationsShow(), s.escalationsRules(),
	)
	for _, verb := range []struct {
		use, short string
		call       func(c *client.Client) func(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error)
	}{
		{"review ID [NOTES]", "Say that you have looked at it", func(c *client.Client) func(context.Context, string, operational.EscalationVerdict) (operational.Escalation, error) {
			return c.Escalations.Review
		}},
		{"resolve ID [NOTES]", "Say that it is settled; if it recurs, it is raised anew", func(c *client.Client) func(context.Context, string, operational.EscalationVerdict) (operational.Escalation, error) {
			return c.Escalations.Resolve
		}},
		{"dismiss ID [NOTES]", "Say that it is no matter; it is never raised again for this reason", func(c *client.Client) func(context.Context, string, operational.EscalationVerdict) (operational.Escalation, error) {
			return c.Escalations.Dismiss
		}},
	} {
		var by string
		cmd := s.remote(s.command(&cobra.Command{Use: verb.use, Short: verb.short, Args: cobra.MinimumNArgs(1)},
			func(ctx context.Context, args []string) error {
				c, err := s.client()
				if err != nil {
					return err
				}
				escalation, err := verb.call(c)(ctx, args[0], operational.EscalationVerdict{By: s.agent(by), Notes: strings.Join(args[1:], " ")})
				if err != nil {
					return err
				}
				return s.print(escalation, func(w io.Writer) { s.escalationTable(w, []operational.Escalation{escalation}) })
			}))
		cmd.Flags().StringVar(&by, "by", "", "who says so (SKILLROUTER_AGENT)")
		group.AddCommand(cmd)
	}
	return group
}

func (s *shell) escalationsList() *cobra.Command {
	var filter operational.EscalationFilter
	var statuses []string
	var all bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List open escalations, the most urgent first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		for _, status := range statuses {
			filter.Status = append(filter.Status, operational.EscalationStatus(status))
		}
		if !all && len(statuses) == 0 {
			filter.Status = []operational.EscalationStatus{operational.EscalationPending, operational.EscalationReviewed}
		}
		list, err := c.Escalations.List(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "No escalations.")
				return
			}
			s.escalationTable(w, list)
		})
	}))
	flags := cmd.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "only those with this status: pending, reviewed, resolved, dismissed; may be repeated")
	flags.BoolVar(&all, "all", false, "settled ones too")
	flags.StringVar(&filter.To, "to", "", "only those that went to this agent")
	flags.StringVar(&filter.LessonID, "lesson", "", "only those of this lesson")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) escalationsShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show ID", Short: "Show one escalation with its history", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		escalation, err := c.Escalations.Escalation(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(escalation, func(w io.Writer) {
			s.escalationTable(w, []operational.Escalation{escalation})
			fmt.Fprintln(w)
			now := s.now()
			for _, h := range escalation.History {
				fmt.Fprintf(w, "%-10s %-12s %s  %s\n", ago(now, h.At), h.To, clean(h.By), clean(h.Notes))
			}
		})
	}))
}

// escalationsRules prints the built-in rules; no router is asked.
func (s *shell) escalationsRules() *cobra.Command {
	return s.command(&cobra.Command{
		Use: "rules", Short: "Print the built-in escalation rules, as a file to begin with", Args: cobra.NoArgs,
	}, func(context.Context, []string) error {
		_, err := io.WriteString(s.out, learning.EscalationRulesExample())
		return err
	})
}

func (s *shell) escalationTable(w io.Writer, list []operational.Escalation) {
	now := s.now()
	rows := make([][]string, len(list))
	for i, e := range list {
		rows[i] = []string{e.ID, string(e.Priority), string(e.Status), e.To, e.Reason, e.Title, fmt.Sprint(e.Occurrences), ago(now, e.LastRaised)}
	}
	table(w, []string{"ID", "PRIORITY", "STATUS", "TO", "REASON", "LESSON", "TIMES", "RAISED"}, rows)
}

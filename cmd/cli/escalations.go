package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning/escalation"
	"skillrouter/operational"
)

func (s *shell) escalationsCommand() *cobra.Command {
	return s.group(
		&cobra.Command{
			Use: "escalations", Short: "See and settle what lessons ask of supervisors",
			Long: "Shows the lessons that somebody should look at, and settles them. An escalation is named by its id, or by a beginning or end of it that is no other's.",
		},
		s.escalationsList(), s.escalationsShow(), s.escalationsRules(),
		s.escalationsVerb("review ID [NOTES]", "Say that you have looked at it", operational.EscalationService.Review),
		s.escalationsVerb("resolve ID [NOTES]", "Say that it is settled; if it recurs, it is raised anew", operational.EscalationService.Resolve),
		s.escalationsVerb("dismiss ID [NOTES]", "Say that it is no matter; it is never raised again for this reason", operational.EscalationService.Dismiss),
	)
}

// escalationsVerb passes a judgement on one escalation.
func (s *shell) escalationsVerb(
	use, short string, judge func(escalations operational.EscalationService, ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error),
) *cobra.Command {
	var id string
	var verdict operational.EscalationVerdict
	return asks(s, command{
		use: use, short: short, args: joined(1, &id, &verdict.Notes),
		flags: options{who("agent", &verdict.By, s.agent, "who says so (SKILLROUTER_AGENT)").once("by")},
	}, withIDTo("escalations", judge, &id, &verdict), escalationTable.one)
}

func (s *shell) escalationsList() *cobra.Command {
	var filter operational.EscalationFilter
	var all bool
	return lists(s, command{use: "list", short: "List open escalations, the most urgent first", flags: append(s.flags(&filter, "status", "to", "lesson", "limit"),
		option("all", &all, "settled ones too"),
	), before: func() error {
		if !all && len(filter.Status) == 0 {
			filter.Status = []operational.EscalationStatus{operational.EscalationPending, operational.EscalationReviewed}
		}
		return nil
	}}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(operational.EscalationService.List, &filter), escalationTable.list)
}

func (s *shell) escalationsShow() *cobra.Command {
	var id string
	return asks(s, command{use: "show ID", short: "Show one escalation with its history", args: exactly(&id)}, withID("escalations", operational.EscalationService.Escalation, &id), func(w io.Writer, escalation operational.Escalation) {
		escalationTable.one(w, escalation)
		fmt.Fprintln(w)
		now := s.now()
		for _, h := range escalation.History {
			fmt.Fprintf(w, "%-10s %-12s %s  %s\n", ago(now, h.At), h.To, clean(h.By), clean(h.Notes))
		}
	})
}

// escalationsRules prints the built-in rules; no router is asked.
func (s *shell) escalationsRules() *cobra.Command {
	return s.made(command{use: "rules", short: "Print the built-in escalation rules, as a file to begin with"}, func(context.Context) error {
		_, err := io.WriteString(s.out, escalation.RulesExample())
		return err
	})
}

var escalationTable = columns[operational.Escalation]{
	"No escalations.",
	[]string{"ID", "PRIORITY", "STATUS", "TO", "REASON", "LESSON", "TIMES", "RAISED"},
	func(e operational.Escalation) cells {
		return cells{shortID(e.ID), e.Priority, e.Status, e.To, e.Reason, e.Title, e.Occurrences, e.LastRaised}
	},
}

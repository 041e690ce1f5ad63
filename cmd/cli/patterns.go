package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
)

func (s *shell) patternsCommand() *cobra.Command {
	return s.group(
		&cobra.Command{
			Use: "patterns", Short: "See what recurs: list, show, confirm, deprecate",
			Long: "Shows what recurs in lessons and episodes. A pattern is named by its number, such as 7, or by its id.",
		},
		s.patternsList("list", "List patterns, the latest seen first", nil),
		s.patternsList("emerging", "List patterns that are not confirmed yet, and why they are patterns", []string{string(learning.PatternEmerging)}),
		s.patternsShow(),
		s.patternsVerb("confirm PATTERN [NOTES]", "Say that a pattern is real and should be enforced",
			func(ctx context.Context, c *client.Client, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error) {
				return c.Patterns.Confirm(ctx, ref, draft)
			}),
		s.patternsVerb("deprecate PATTERN [NOTES]", "Say that a pattern holds no more; it is kept",
			func(ctx context.Context, c *client.Client, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error) {
				return c.Patterns.Deprecate(ctx, ref, draft)
			}),
	)
}

// patternsList lists patterns; statuses, if there are any, are not for the user to choose.
func (s *shell) patternsList(use, short string, statuses []string) *cobra.Command {
	var filter learning.PatternFilter
	var kind string
	chosen := statuses
	cmd := s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: cobra.NoArgs},
		func(ctx context.Context, _ []string) error {
			filter.Type = learning.PatternType(kind)
			for _, status := range chosen {
				filter.Statuses = append(filter.Statuses, learning.PatternStatus(status))
			}
			c, err := s.client()
			if err != nil {
				return err
			}
			patterns, err := c.Patterns.List(ctx, filter)
			if err != nil {
				return err
			}
			return s.print(patterns, func(w io.Writer) {
				if len(patterns) == 0 {
					fmt.Fprintln(w, "No patterns.")
					return
				}
				s.patternTable(w, patterns)
				if statuses == nil {
					return
				}
				for _, p := range patterns {
					fmt.Fprintf(w, "\n%d  %s\n", p.Number, p.Name)
					indented(w, strings.Join(p.Why, "\n"))
				}
			})
		}))
	flags := cmd.Flags()
	flags.StringVar(&kind, "type", "", "only those of this type, such as recurring_failure")
	flags.StringVar(&filter.Domain, "domain", "", "only those of this domain")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	flags.IntVar(&filter.Offset, "offset", 0, "how many to pass over")
	if statuses == nil {
		flags.StringSliceVar(&chosen, "status", nil, "only those with this status; may be repeated (default: all but deprecated)")
	}
	return cmd
}

func (s *shell) patternsShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show PATTERN", Short: "Show one pattern with its reasons and evidence", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		pattern, err := c.Patterns.Pattern(ctx, args[0])
		return s.printPattern(pattern, err)
	}))
}

// patternsVerb passes a judgement on one pattern.
func (s *shell) patternsVerb(
	use, short string, judge func(ctx context.Context, c *client.Client, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error),
) *cobra.Command {
	var by string
	cmd := s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: cobra.MinimumNArgs(1)},
		func(ctx context.Context, args []string) error {
			c, err := s.client()
			if err != nil {
				return err
			}
			pattern, err := judge(ctx, c, args[0], learning.ConfirmationDraft{By: s.person(by), Notes: strings.Join(args[1:], " ")})
			return s.printPattern(pattern, err)
		}))
	cmd.Flags().StringVar(&by, "by", "", "who judges (SKILLROUTER_AGENT, else you)")
	return cmd
}

// printPattern prints all that is known of a pattern.
func (s *shell) printPattern(pattern learning.Pattern, err error) error {
	if err != nil {
		return err
	}
	return s.print(pattern, func(w io.Writer) {
		s.patternTable(w, []learning.Pattern{pattern})
		for _, part := range []struct{ name, text string }{
			{"Description", pattern.Description},
			{"Recommended", pattern.Action},
			{"Prevention", strings.Join(pattern.Prevention, "\n")},
			{"Why", strings.Join(pattern.Why, "\n")},
			{"Confirmed by", pattern.ConfirmedBy},
			{"Lessons", strings.Join(pattern.LessonIDs, "\n")},
		} {
			if part.text != "" {
				fmt.Fprintf(w, "\n%s\n", part.name)
				indented(w, part.text)
			}
		}
	})
}

func (s *shell) patternTable(w io.Writer, patterns []learning.Pattern) {
	now := s.now()
	rows := make([][]string, len(patterns))
	for i, p := range patterns {
		rows[i] = []string{
			fmt.Sprint(p.Number), p.Name, string(p.Type), string(p.Status), fmt.Sprint(p.Frequency), fmt.Sprintf("%.2f", p.Confidence), p.Domain, ago(now, p.LastSeen),
		}
	}
	table(w, []string{"NO", "NAME", "TYPE", "STATUS", "SEEN", "CONF", "DOMAIN", "LAST"}, rows)
}

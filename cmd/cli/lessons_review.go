package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) lessonsReview() *cobra.Command {
	var query learning.ReviewQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "review", Short: "List lessons that can be promoted, and those not validated for long", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		review, err := c.Lessons.Review(ctx, query)
		if err != nil {
			return err
		}
		return s.print(review, func(w io.Writer) {
			if len(review.Promotions)+len(review.Stale) == 0 {
				fmt.Fprintln(w, "Nothing needs your eye.")
				return
			}
			if len(review.Promotions) > 0 {
				fmt.Fprintln(w, "Can be promoted:")
				rows := make([][]string, len(review.Promotions))
				for i, p := range review.Promotions {
					rows[i] = []string{fmt.Sprint(p.Number), p.Title, fmt.Sprintf("%s → %s", p.From, p.To), p.Why}
				}
				table(w, []string{"NO", "TITLE", "LEVEL", "WHY"}, rows)
			}
			if len(review.Stale) > 0 {
				if len(review.Promotions) > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintln(w, "Not validated for long:")
				rows := make([][]string, len(review.Stale))
				for i, l := range review.Stale {
					rows[i] = []string{fmt.Sprint(l.Number), l.Title, string(l.Level), fmt.Sprintf("%.0f", l.Days)}
				}
				table(w, []string{"NO", "TITLE", "LEVEL", "DAYS"}, rows)
			}
		})
	}))
	flags := cmd.Flags()
	flags.IntVar(&query.StaleDays, "stale-days", 0, fmt.Sprintf("days without validation after which a lesson is stale (%d)", learning.DefaultStaleDays))
	flags.StringVar(&query.Domain, "domain", "", "only this domain")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) lessonsHistory() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "history LESSON", Short: "Show what happened to a lesson, oldest first", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		changes, err := c.Lessons.History(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(changes, func(w io.Writer) {
			now := s.now()
			rows := make([][]string, len(changes))
			for i, c := range changes {
				rows[i] = []string{ago(now, c.At), c.Kind, c.Agent, moved(c), c.Note}
			}
			table(w, []string{"WHEN", "WHAT", "WHO", "MOVED", "NOTE"}, rows)
		})
	}))
}

// moved says what a change moved.
func moved(c learning.LessonChange) string {
	if c.After == nil {
		return ""
	}
	before := learning.Snapshot{}
	if c.Before != nil {
		before = *c.Before
	}
	var parts []string
	step := func(from, to string) {
		switch {
		case to == "" || from == to:
		case from == "":
			parts = append(parts, to)
		default:
			parts = append(parts, from+" → "+to)
		}
	}
	step(string(before.Level), string(c.After.Level))
	step(string(before.Status), string(c.After.Status))
	from := ""
	if c.Before != nil {
		from = fmt.Sprintf("%.2f", before.Confidence)
	}
	step(from, fmt.Sprintf("%.2f", c.After.Confidence))
	return strings.Join(parts, ", ")
}

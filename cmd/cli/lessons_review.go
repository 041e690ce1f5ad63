package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
)

func (s *shell) lessonsReview() *cobra.Command {
	var query learning.ReviewQuery
	promotions := columns[learning.Suggestion]{
		heads: []string{"NO", "TITLE", "LEVEL", "WHY"},
		cells: func(p learning.Suggestion) cells {
			return cells{p.Number, p.Title, fmt.Sprintf("%s → %s", p.From, p.To), p.Why}
		},
	}
	stale := columns[learning.StaleLesson]{
		heads: []string{"NO", "TITLE", "LEVEL", "DAYS"},
		cells: func(l learning.StaleLesson) cells {
			return cells{l.Number, l.Title, l.Level, fmt.Sprintf("%.0f", l.Days)}
		},
	}
	return asks(s, command{
		use: "review", short: "List lessons that can be promoted, and those not validated for long",
		flags: options{
			option("stale-days", &query.StaleDays, fmt.Sprintf("days without validation after which a lesson is stale (%d)", learning.DefaultStaleDays)),
			option("domain", &query.Domain, "only this domain"),
			limit(&query.Limit),
		},
	}, sends(client.Lessons.Review, &query), func(w io.Writer, review learning.Review) {
		if len(review.Promotions)+len(review.Stale) == 0 {
			fmt.Fprintln(w, "Nothing needs your eye.")
			return
		}
		if len(review.Promotions) > 0 {
			fmt.Fprintln(w, "Can be promoted:")
			promotions.list(w, review.Promotions)
		}
		if len(review.Stale) > 0 {
			if len(review.Promotions) > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, "Not validated for long:")
			stale.list(w, review.Stale)
		}
	})
}

func (s *shell) lessonsHistory() *cobra.Command {
	var ref string
	return asks(s, command{
		use: "history LESSON", short: "Show what happened to a lesson, oldest first", args: exactly(&ref),
	}, sends(client.Lessons.History, &ref), columns[learning.LessonChange]{
		heads: []string{"WHEN", "WHAT", "WHO", "MOVED", "NOTE"},
		cells: func(c learning.LessonChange) cells { return cells{c.At, c.Kind, c.Agent, moved(c), c.Note} },
	}.list)
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

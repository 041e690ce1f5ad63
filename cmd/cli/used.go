package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
)

func (s *shell) usedCommand() *cobra.Command {
	var id string
	var use learning.AnswerDraft
	var not, unlearn bool
	return s.calls(command{
		use: "used ID --for QUESTION", short: "Say that a knowledge entry answered a question, so that like questions find it", args: exactly(&id),
		flags: options{
			option("for", &use.Query, "the question"),
			option("not-helpful", &not, "it did not answer it"),
			option("forget", &unlearn, "take back what was learned of the entry"),
			who("agent", &use.AgentID, s.agent, "whose voice it is (SKILLROUTER_AGENT)"),
		},
		before: func() error {
			if unlearn == (use.Query != "") {
				return errors.New("say --for QUESTION or --forget")
			}
			if not {
				use.Helpful = new(bool)
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		if unlearn {
			gone, err := c.Answered.Unlearn(ctx, id)
			return printed(s, gone, err, func(w io.Writer, gone learning.AnswersGone) { fmt.Fprintf(w, "%d forgotten\n", gone.Deleted) })
		}
		learned, err := c.Answered.Answered(ctx, id, use)
		return printed(s, learned, err, func(w io.Writer, learned learning.AnswerLearned) {
			if !learned.Learned {
				fmt.Fprintln(w, "Counted; the question has no word to learn from.")
				return
			}
			fmt.Fprintf(w, "%s learned; %d kept of it\n", clean(learned.ID), learned.Questions)
		})
	})
}

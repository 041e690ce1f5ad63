package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) usedCommand() *cobra.Command {
	var use learning.AnswerDraft
	var not, unlearn bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "used ID --for QUESTION", Short: "Say that a knowledge entry answered a question, so that like questions find it", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		if unlearn == (use.Query != "") {
			return errors.New("say --for QUESTION or --forget")
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		if unlearn {
			gone, err := c.Answered.Unlearn(ctx, args[0])
			if err != nil {
				return err
			}
			return s.print(gone, func(w io.Writer) { fmt.Fprintf(w, "%d forgotten\n", gone.Deleted) })
		}
		if not {
			use.Helpful = new(bool)
		}
		use.AgentID = s.agent(use.AgentID)
		learned, err := c.Answered.Answered(ctx, args[0], use)
		if err != nil {
			return err
		}
		return s.print(learned, func(w io.Writer) {
			if !learned.Learned {
				fmt.Fprintln(w, "Counted; the question has no word to learn from.")
				return
			}
			fmt.Fprintf(w, "%s learned; %d kept of it\n", clean(learned.ID), learned.Questions)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&use.Query, "for", "", "the question")
	flags.BoolVar(&not, "not-helpful", false, "it did not answer it")
	flags.BoolVar(&unlearn, "forget", false, "take back what was learned of the entry")
	flags.StringVar(&use.AgentID, "agent", "", "whose voice it is (SKILLROUTER_AGENT)")
	return cmd
}

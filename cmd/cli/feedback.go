package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
)

func (s *shell) feedbackCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "feedback", Short: "Teach the router what kind of question a query is",
	}, s.feedbackTeach(), s.feedbackList(), s.feedbackForget())
}

func (s *shell) feedbackTeach() *cobra.Command {
	var draft router.FeedbackDraft
	var wrong bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "teach TEXT... (--is TYPE | --wrong)", Short: "Say what kind of question a query is, or that the router's choice is wrong", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		if wrong == (draft.QueryType != "") {
			return errors.New("say --is TYPE or --wrong")
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		draft.Query = strings.Join(args, " ")
		if wrong {
			draft.Correct = new(bool)
		}
		taught, err := c.Router.Teach(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(taught, func(w io.Writer) {
			fmt.Fprintf(w, "%s taught; it was %s (%.2f) and is %s (%.2f) now\n", taught.ID,
				taught.Before.QueryType, taught.Before.Confidence, taught.Now.QueryType, taught.Now.Confidence)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar((*string)(&draft.QueryType), "is", "", "what it is: knowledge, episode, operational or recon")
	flags.BoolVar(&wrong, "wrong", false, "the router's choice is wrong")
	flags.StringVar(&draft.Note, "note", "", "why")
	return cmd
}

func (s *shell) feedbackList() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List what was taught, the oldest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Router.Feedback(ctx)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if list.Count == 0 {
				fmt.Fprintln(w, "Nothing was taught.")
				return
			}
			now, rows := s.now(), make([][]string, list.Count)
			for i, e := range list.Feedback {
				kind := e.QueryType
				if e.Not {
					kind = "not " + kind
				}
				rows[i] = []string{e.ID, ago(now, e.CreatedAt), kind, e.AgentID, e.Query}
			}
			table(w, []string{"ID", "TAUGHT", "IS", "AGENT", "QUERY"}, rows)
		})
	}))
}

func (s *shell) feedbackForget() *cobra.Command {
	var all bool
	var agent string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "forget (ID | --all)", Short: "Forget one thing that was taught, or all", Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		if all == (len(args) > 0) {
			return errors.New("say an id or --all")
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		gone := router.FeedbackGone{Deleted: 1}
		if all {
			gone, err = c.Router.UnteachAll(ctx, agent)
		} else {
			err = c.Router.Unteach(ctx, args[0])
		}
		if err != nil {
			return err
		}
		return s.print(gone, func(w io.Writer) { fmt.Fprintf(w, "%d forgotten\n", gone.Deleted) })
	}))
	cmd.Flags().BoolVar(&all, "all", false, "everything that was taught")
	cmd.Flags().StringVar(&agent, "agent", "", "with --all: only what this agent taught")
	return cmd
}

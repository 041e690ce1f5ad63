package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) rememberCommand() *cobra.Command {
	var draft learning.KnowledgeDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "remember TITLE [CONTENT] --category NAME", Short: "Store what was learned", Args: cobra.RangeArgs(1, 2),
		Long: `Stores an entry of knowledge. Without CONTENT, or with "-", the content is read
from standard input. The seed's categories are error_solution, pattern,
best_practice and gotcha; any other name is allowed.`,
	}, func(ctx context.Context, args []string) error {
		draft.Title = args[0]
		if len(args) == 2 && args[1] != "-" {
			draft.Content = args[1]
		} else {
			text, err := io.ReadAll(io.LimitReader(s.in, learning.MaxContent+1))
			if err != nil {
				return err
			}
			draft.Content = string(text)
		}
		draft.AgentID = s.agent(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		stored, err := c.Knowledge.Store(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(stored, func(w io.Writer) {
			what := "stored"
			switch {
			case stored.Duplicate:
				what = "is there already"
			case stored.Updated:
				what = "updated"
			}
			fmt.Fprintf(w, "%s %s\n", clean(stored.ID), what)
		})
	}))
	flags := cmd.Flags()
	flags.StringVarP(&draft.Category, "category", "c", learning.CategoryPattern, "category")
	flags.StringSliceVar(&draft.Tags, "tag", nil, "tag; may be repeated")
	flags.StringVar(&draft.Project, "project", "", "project that it is about")
	flags.StringVar(&draft.Source, "source", "", "where it comes from")
	flags.StringVar(&draft.AgentID, "agent", "", "who learned it (SKILLROUTER_AGENT)")
	flags.StringVar(&draft.ID, "id", "", "your own id; the same id again updates the entry")
	return cmd
}

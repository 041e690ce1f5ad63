package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
)

func (s *shell) rememberCommand() *cobra.Command {
	draft := learning.KnowledgeDraft{Content: "-", Category: learning.CategoryPattern}
	return asks(s, command{
		use: "remember TITLE [CONTENT] --category NAME", short: "Store what was learned", args: between(1, &draft.Title, &draft.Content),
		long: `Stores an entry of knowledge. Without CONTENT, or with "-", the content is read
from standard input. The seed's categories are error_solution, pattern,
best_practice and gotcha; any other name is allowed.`,
		flags: options{
			option("category,c", &draft.Category, "category"),
			option("tag", &draft.Tags, "tag; may be repeated"),
			option("project", &draft.Project, "project that it is about"),
			option("source", &draft.Source, "where it comes from"),
			who("agent", &draft.AgentID, s.agent, "who learned it (SKILLROUTER_AGENT)"),
			option("id", &draft.ID, "your own id; the same id again updates the entry"),
		},
		before: func() error { return s.text(&draft.Content, learning.MaxContent) },
	}, sends(client.Knowledge.Store, &draft), func(w io.Writer, stored learning.Stored) {
		what := "stored"
		switch {
		case stored.Duplicate:
			what = "is there already"
		case stored.Updated:
			what = "updated"
		}
		fmt.Fprintf(w, "%s %s\n", clean(stored.ID), what)
	})
}

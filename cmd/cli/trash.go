package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/trash"
)

const changeRows = "number=NO operation=DONE kind id title project by at=WHEN until"

// deletable are the kinds whose rows are deleted, by what their commands are called. Their deleted rows can be had back.
var deletable = map[string]string{"knowledge": "knowledge", "episodes": "episode", "facts": "fact", "procedures": "procedure"}

// trashed are the commands for what was deleted of a kind; list gets a flag that lists that instead.
func (s *shell) trashed(v verbs, list *cobra.Command) []*cobra.Command {
	filter, ref := trash.Filter{Kind: deletable[v.name]}, trash.DeletedRef{Kind: deletable[v.name]}
	deleted := false
	gone := s.does(command{use: "list", do: trash.Service.Deleted, in: &filter, hides: "kind project mine cursor limit", rows: changeRows, none: "Nothing that was deleted."})
	list.Flags().BoolVar(&deleted, "deleted", false, "what was deleted in the last 30 days and can be had back, instead")
	if list.Flags().Lookup("cursor") == nil {
		list.Flags().StringVar(&filter.Cursor, "cursor", "", "go on where a page of --deleted ended")
	}
	usual := list.RunE
	list.RunE = func(cmd *cobra.Command, args []string) error {
		if !deleted {
			return usual(cmd, args)
		}
		filter.Project, _ = cmd.Flags().GetString("project") // nothing where the list has no such flag
		filter.Cursor, _ = cmd.Flags().GetString("cursor")
		filter.Limit, _ = cmd.Flags().GetInt("limit")
		return gone.RunE(cmd, nil)
	}
	return []*cobra.Command{
		s.does(command{
			use: "restore " + v.of, short: "Put back what was deleted, with its id, its versions and what was said of it", do: trash.Service.Restore,
			in: &ref, words: []string{"id"}, hides: "kind", says: "{{.ID}} is back: {{.Title}}",
		}),
		s.does(command{
			use: "forget " + v.of, short: "Delete for good: restore does not bring it back; for the captain", do: trash.Service.Forget,
			in: &ref, words: []string{"id"}, hides: "kind", says: "{{.ID}} is forgotten. {{.Notice}}",
		}),
	}
}

func (s *shell) undoCommand() *cobra.Command {
	var handle string
	var yes, list bool
	var draft trash.LastChange
	return s.calls(command{
		use: "undo [HANDLE]", short: "Take back what you did last, or what a person decided at an agent's prompt", into: []any{&handle},
		long: `Takes back your own last change in this project: a delete, an edit, a merge, a retirement,
or that you accepted or declined something. It says what that is, and asks. A second
undo takes back the change before it. It refuses if somebody else changed the same
thing since. Messages, stops and runs have left: they are not taken back.

With the HANDLE of a decision or a constraint that is in force it takes that one back.
If it had replaced another one, that one is in force again.`,
		flags: options{
			option("yes", &yes, "take it back without asking"),
			option("list", &list, "list your changes that can be taken back"),
			option("change", &draft.Change, "take back the change of this number"),
			who("agent", &draft.AgentID, s.agent, "whose change it is (SKILLROUTER_AGENT)"),
		},
	}, func(ctx context.Context, c *client.Client) error {
		draft.Project = s.project()
		switch {
		case list:
			mine, err := client.Send(ctx, c, trash.Service.Deleted, trash.Filter{Mine: true, Limit: 100})
			return printed(s, mine, err, func(w io.Writer, mine trash.ChangePage) {
				tableOf(w, changeRows, "You changed nothing that can be taken back.", mine.Changes)
			})
		case handle != "":
			undone, err := client.Send(ctx, c, decision.Service.Undo, decision.Undo{Handle: handle, Project: draft.Project})
			return printed(s, undone, err, printUnsaid)
		}
		would, err := client.Send(ctx, c, trash.Service.Undo, draft)
		if err != nil {
			return err
		}
		if !yes {
			fmt.Fprintln(s.err, clean(would.Notice))
			if !isTerminal(s.in) {
				return errs.Errorf(errs.Invalid, "say --yes to take it back")
			}
			if said, err := s.askWord(bufio.NewReader(s.in), "Take it back? [y/N] "); err != nil || said != "y" {
				return err
			}
		}
		draft.Change, draft.Confirm = would.Number, true
		undone, err := client.Send(ctx, c, trash.Service.Undo, draft)
		return printed(s, undone, err, func(w io.Writer, undone trash.ChangeUndone) {
			fmt.Fprintln(w, clean(undone.Notice))
			if undone.Said != nil {
				printUnsaid(w, *undone.Said)
			}
		})
	})
}

func printUnsaid(w io.Writer, undone decision.Resolution) {
	fmt.Fprintf(w, "no longer in force: %s\n", clean(undone.Text))
	for _, text := range undone.Instead {
		fmt.Fprintf(w, "in force again: %s\n", clean(text))
	}
}

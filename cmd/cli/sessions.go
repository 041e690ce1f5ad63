package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router"
)

func (s *shell) sessionsCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "sessions", Short: "Begin and end stretches of work, and hand over what is open"},
		s.sessionsStart(), s.sessionsEnd(), s.sessionsList(), s.sessionsShow(),
	)
}

func (s *shell) sessionsStart() *cobra.Command {
	var draft router.SessionDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "start [GOAL]", Short: "Begin a session, and see what the last one left", Args: cobra.MaximumNArgs(1),
		Long: `Begins a session of an agent. Until it ends, the agent's episodes belong to it. A
session of the agent that is still open is ended. What former sessions left to
the agent is shown.`,
	}, func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			draft.Goal = args[0]
		}
		draft.AgentID = s.sender(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		started, err := c.Sessions.Start(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(started, func(w io.Writer) {
			verb := "began"
			if started.Resumed {
				verb = "goes on"
			}
			fmt.Fprintf(w, "session %s of %s %s\n", clean(started.ID), clean(started.AgentID), verb)
			if started.Ended != nil {
				fmt.Fprintf(w, "session %s was still open and was ended\n", clean(started.Ended.ID))
			}
			if started.Inherited != nil {
				fmt.Fprintf(w, "\nhanded over:\n")
				session(w, *started.Inherited)
			}
			for _, id := range started.AlsoInherited {
				fmt.Fprintf(w, "handed over too: session %s\n", clean(id))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.AgentID, "agent", "", "whose session (SKILLROUTER_AGENT, else captain)")
	flags.StringVar(&draft.ID, "id", "", "the session's id; one is given if none is named")
	flags.StringVar(&draft.Project, "project", "", "project")
	flags.StringVar(&draft.Persona, "persona", "", "persona (default)")
	return cmd
}

func (s *shell) sessionsEnd() *cobra.Command {
	var end router.SessionEnd
	var id string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "end [SUMMARY]", Short: "End a session, and hand over what is open", Args: cobra.MaximumNArgs(1),
		Long: `Ends a session: the agent's unfinished tasks, unacknowledged messages, undone
steps of procedures and open reminders are listed with it, and its successor is
told by a message. "-" reads the summary from standard input.`,
	}, func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			end.Summary = args[0]
		}
		if end.Summary == "-" {
			text, err := io.ReadAll(io.LimitReader(s.in, operational.MaxSessionSummary+1))
			if err != nil {
				return err
			}
			end.Summary = string(text)
		}
		end.AgentID = s.sender(end.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		ended, err := c.Sessions.End(ctx, id, end)
		if err != nil {
			return err
		}
		return s.print(ended, func(w io.Writer) {
			if ended.AlreadyEnded {
				fmt.Fprintln(w, "it had ended before")
			}
			session(w, ended.Session)
			for name, numbers := range map[string][]int64{"reassigned": ended.Reassigned, "released": ended.Released} {
				if len(numbers) > 0 {
					fmt.Fprintf(w, "tasks %s: %v\n", name, numbers)
				}
			}
			if ended.Consolidated != nil {
				fmt.Fprintf(w, "consolidated: %d proposals, %d accepted\n", len(ended.Consolidated.Proposals), ended.Consolidated.Accepted)
			}
			for _, notice := range ended.Notices {
				fmt.Fprintln(w, clean(notice))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&end.AgentID, "agent", "", "whose current session (SKILLROUTER_AGENT, else captain)")
	flags.StringVar(&id, "id", "", "the session to end; the agent's current one if none is named")
	flags.StringVar(&end.Successor, "successor", "", "agent that goes on; whoever does if none is named")
	flags.BoolVar(&end.Reassign, "reassign", false, "hand the agent's tasks on too")
	return cmd
}

func (s *shell) sessionsList() *cobra.Command {
	var filter operational.SessionFilter
	var status string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List sessions, the latest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		filter.Status = operational.SessionStatus(status)
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Sessions.List(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "No sessions.")
				return
			}
			now := s.now()
			rows := make([][]string, len(list))
			for i, one := range list {
				rows[i] = []string{
					one.ID, string(one.Status), one.AgentID, one.Project, fmt.Sprint(one.Handover.Count()), one.Successor,
					ago(now, one.StartedAt), cmp.Or(one.Summary, one.Goal),
				}
			}
			table(w, []string{"ID", "STATUS", "AGENT", "PROJECT", "OPEN", "SUCCESSOR", "BEGAN", "SUMMARY"}, rows)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.AgentID, "agent", "", "only this agent's")
	flags.StringVar(&filter.Persona, "persona", "", "only this persona's")
	flags.StringVar(&filter.Project, "project", "", "only this project's")
	flags.StringVar(&filter.Successor, "successor", "", "only those that were handed to this agent")
	flags.BoolVar(&filter.Waiting, "waiting", false, "only those whose hand-over nobody has begun with yet")
	flags.StringVar(&status, "status", "", "only open or ended ones")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) sessionsShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show ID", Short: "Show a session, and what it left undone", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Sessions.Session(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) { session(w, found) })
	}))
}

// session prints what a session said and left undone.
func session(w io.Writer, one operational.Session) {
	fmt.Fprintf(w, "session %s of %s (%s)\n", clean(one.ID), clean(one.AgentID), clean(string(one.Status)))
	for _, line := range [][2]string{{"goal", one.Goal}, {"summary", one.Summary}, {"project", one.Project}, {"successor", one.Successor}, {"went on from", one.Previous}} {
		if line[1] != "" {
			fmt.Fprintf(w, "  %s: %s\n", line[0], clean(shortened(line[1])))
		}
	}
	if one.Handover == nil {
		return
	}
	if one.Handover.Count() == 0 {
		fmt.Fprintln(w, "  nothing was left undone")
	}
	h := one.Handover
	for _, list := range [][]operational.OpenItem{h.Tasks, h.Messages, h.Steps, h.Reminders} {
		for _, item := range list {
			fmt.Fprintf(w, "  %s %s (%s): %s\n", clean(item.Kind), clean(item.ID), clean(item.Status), clean(item.Title))
		}
	}
	if shown := len(h.Tasks) + len(h.Messages) + len(h.Steps) + len(h.Reminders); shown < h.Count() {
		fmt.Fprintf(w, "  and %d more\n", h.Count()-shown)
	}
}

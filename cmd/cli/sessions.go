package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router/session"
)

func (s *shell) sessionsCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "sessions", Short: "Begin and end stretches of work, and hand over what is open"},
		s.sessionsStart(), s.sessionsEnd(), s.sessionsList(), s.sessionsShow(),
	)
}

func (s *shell) sessionsStart() *cobra.Command {
	var draft session.Draft
	return asks(s, command{
		use: "start [GOAL]", short: "Begin a session, and see what the last one left", args: between(0, &draft.Goal),
		long: `Begins a session of an agent. Until it ends, the agent's episodes belong to it. A
session of the agent that is still open is ended. What former sessions left to
the agent is shown.`,
		flags: append(s.flags(&draft, "id", "project", "persona"),
			who("agent", &draft.AgentID, s.sender, "whose session (SKILLROUTER_AGENT, else captain)"),
		),
	}, sends(session.Service.Start, &draft), func(w io.Writer, started session.Started) {
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
			printSession(w, *started.Inherited)
		}
		for _, id := range started.AlsoInherited {
			fmt.Fprintf(w, "handed over too: session %s\n", clean(id))
		}
	})
}

func (s *shell) sessionsEnd() *cobra.Command {
	var id string
	var end session.End
	return asks(s, command{
		use: "end [SUMMARY]", short: "End a session, and hand over what is open", args: between(0, &end.Summary),
		long: `Ends a session: the agent's unfinished tasks, unacknowledged messages, undone
steps of procedures and open reminders are listed with it, and its successor is
told by a message. "-" reads the summary from standard input.`,
		flags: append(s.flags(&end, "successor", "reassign"),
			who("agent", &end.AgentID, s.sender, "whose current session (SKILLROUTER_AGENT, else captain)"),
			option("id", &id, "the session to end; the agent's current one if none is named"),
		),
		before: func() error { return s.text(&end.Summary, operational.MaxSessionSummary) },
	}, withIDTo("sessions", session.Service.End, &id, &end), func(w io.Writer, ended session.Ended) {
		if ended.AlreadyEnded {
			fmt.Fprintln(w, "it had ended before")
		}
		printSession(w, ended.Session)
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
}

func (s *shell) sessionsList() *cobra.Command {
	var filter operational.SessionFilter
	return lists(s, command{use: "list", short: "List sessions, the latest first", flags: s.flags(&filter, "agent", "persona", "project", "successor", "waiting", "status", "limit")}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(session.Service.List, &filter), columns[operational.Session]{
		"No sessions.",
		[]string{"ID", "STATUS", "AGENT", "PROJECT", "OPEN", "SUCCESSOR", "BEGAN", "SUMMARY"},
		func(one operational.Session) cells {
			return cells{one.ID, one.Status, one.AgentID, one.Project, one.Handover.Count(), one.Successor, one.StartedAt, first(one.Summary, one.Goal)}
		},
	}.list)
}

func (s *shell) sessionsShow() *cobra.Command {
	var id string
	return asks(s, command{
		use: "show ID", short: "Show a session, and what it left undone", args: exactly(&id),
	}, withID("sessions", session.Service.Session, &id), printSession)
}

// printSession prints what a session said and left undone.
func printSession(w io.Writer, one operational.Session) {
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

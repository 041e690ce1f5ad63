package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/operational"
)

func (s *shell) remindersCommand() *cobra.Command {
	return s.group(
		&cobra.Command{
			Use: "reminders", Short: "Things to do later: add, list, do, put off",
			Long: `Reminders come due at a time, when something happens, or when a condition over
facts holds. What is due is in its agent's mailbox and in this list until it is done.`,
		},
		s.remindersAdd(), s.remindersList(), s.remindersShow(),
		s.remindersEnd("done NUMBER [NOTE]", "Say that it is done; one that recurs waits for its next time", true),
		s.remindersEnd("cancel NUMBER [NOTE]", "End a reminder, a recurring one for good", false),
		s.remindersSnooze(), s.remindersEvent(),
	)
}

func (s *shell) remindersAdd() *cobra.Command {
	var draft operational.ReminderDraft
	var content, maker string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "add TASK TRIGGER", Short: "Add a reminder", Args: cobra.ExactArgs(2),
		Long: `Adds a reminder that waits for its trigger:

  time:+1hour   time:+1 day 2 hours   time:2026-12-24T18:00:00+01:00
  event:deployment   event:task.*         (told by "reminders event", or in the event log)
  condition:fact("queue.length") > 100    (over the facts of its persona)
  cron:0 9 * * MON-FRI                    (with --timezone; default UTC)`,
	}, func(ctx context.Context, args []string) error {
		draft.Task, draft.Trigger, draft.CreatedBy = args[0], args[1], s.agent(maker)
		if content != "" {
			draft.Context = json.RawMessage(content)
			if !json.Valid(draft.Context) {
				return usagef("--context is not JSON")
			}
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		r, err := c.Reminders.Schedule(ctx, draft)
		return s.printReminder(r, err)
	}))
	flags := cmd.Flags()
	flags.StringVar(&content, "context", "", "what will be needed then, a JSON object")
	flags.StringVar(&draft.Recurring, "recurring", "", "cron expression of the times after the first")
	flags.StringVar(&draft.Timezone, "timezone", "", "of the cron expression, such as Europe/Berlin (default UTC)")
	flags.StringVar(&draft.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&draft.AgentID, "for", "", "agent that it is for (default: whoever works for the persona)")
	flags.StringVar(&draft.Project, "project", "", "project")
	flags.StringVar(&draft.ConversationID, "conversation", "", "conversation that it belongs to")
	flags.StringVar(&draft.IdempotencyKey, "key", "", "the same key again is the same reminder")
	flags.StringVar(&maker, "agent", "", "agent that adds it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) remindersList() *cobra.Command {
	var filter operational.ReminderFilter
	var statuses []string
	var all bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List what is due and what is to come", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		for _, status := range statuses {
			filter.Status = append(filter.Status, operational.ReminderStatus(status))
		}
		filter.Open = !all && len(statuses) == 0
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Reminders.List(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "No reminders.")
				return
			}
			s.reminderTable(w, list)
		})
	}))
	flags := cmd.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "only pending, due, completed or cancelled ones; may be repeated")
	flags.BoolVar(&all, "all", false, "completed and cancelled ones too")
	flags.StringVar(&filter.Persona, "persona", "", "only those of this persona")
	flags.StringVar(&filter.AgentID, "agent", "", "only those that are for this agent, or that it made")
	flags.StringVar(&filter.Project, "project", "", "only those of this project")
	flags.Int64Var(&filter.After, "after", 0, "only greater numbers")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) remindersShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show NUMBER", Short: "Show one reminder", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		number, err := reminderNumber(args[0])
		if err != nil {
			return err
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		r, err := c.Reminders.Reminder(ctx, number)
		if err != nil {
			return err
		}
		return s.print(r, func(w io.Writer) {
			s.reminderTable(w, []operational.Reminder{r})
			for _, part := range []struct{ name, text string }{
				{"Task", r.Task},
				{"Context", string(r.Context)},
				{"Recurs", strings.TrimSpace(r.Recurring + " " + r.Timezone)},
				{"Delivered to", r.DeliveredTo},
				{"Note", r.Note},
			} {
				if part.text != "" {
					fmt.Fprintf(w, "\n%s\n", part.name)
					indented(w, part.text)
				}
			}
		})
	}))
}

func (s *shell) remindersEnd(use, short string, done bool) *cobra.Command {
	var note operational.ReminderNote
	cmd := s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: cobra.MinimumNArgs(1)},
		func(ctx context.Context, args []string) error {
			number, err := reminderNumber(args[0])
			if err != nil {
				return err
			}
			note.Note, note.AgentID = strings.Join(args[1:], " "), s.agent(note.AgentID)
			c, err := s.client()
			if err != nil {
				return err
			}
			end := c.Reminders.Cancel
			if done {
				end = c.Reminders.Complete
			}
			r, err := end(ctx, number, note)
			return s.printReminder(r, err)
		}))
	cmd.Flags().StringVar(&note.AgentID, "agent", "", "agent that does it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) remindersSnooze() *cobra.Command {
	var snooze operational.ReminderSnooze
	cmd := s.remote(s.command(&cobra.Command{
		Use: "snooze NUMBER FOR", Short: "Let a reminder come again later: 10min, 2h, 1 day", Args: cobra.MinimumNArgs(2),
	}, func(ctx context.Context, args []string) error {
		number, err := reminderNumber(args[0])
		if err != nil {
			return err
		}
		snooze.For, snooze.AgentID = strings.Join(args[1:], " "), s.agent(snooze.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		r, err := c.Reminders.Snooze(ctx, number, snooze)
		return s.printReminder(r, err)
	}))
	cmd.Flags().StringVar(&snooze.AgentID, "agent", "", "agent that does it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) remindersEvent() *cobra.Command {
	var happening operational.Happening
	cmd := s.remote(s.command(&cobra.Command{
		Use: "event NAME", Short: "Tell of something, for the reminders that wait for it", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		happening.Name, happening.AgentID = args[0], s.agent(happening.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		fired, err := c.Reminders.Happened(ctx, happening)
		if err != nil {
			return err
		}
		return s.print(struct {
			Fired int `json:"fired"`
		}{fired}, func(w io.Writer) { fmt.Fprintf(w, "%s came due\n", plural(fired, "reminder")) })
	}))
	cmd.Flags().StringVar(&happening.AgentID, "agent", "", "agent that tells of it (SKILLROUTER_AGENT)")
	cmd.Flags().StringVar(&happening.Project, "project", "", "project")
	return cmd
}

func reminderNumber(text string) (int64, error) {
	number, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64)
	if err != nil || number < 1 {
		return 0, usagef("%q is no reminder's number", text)
	}
	return number, nil
}

// printReminder prints what became of a reminder.
func (s *shell) printReminder(r operational.Reminder, err error) error {
	if err != nil {
		return err
	}
	return s.print(r, func(w io.Writer) { s.reminderTable(w, []operational.Reminder{r}) })
}

func (s *shell) reminderTable(w io.Writer, list []operational.Reminder) {
	rows := make([][]string, len(list))
	for i, r := range list {
		status := string(r.Status)
		if r.Missed {
			status += ", missed"
		}
		when := string(r.TriggerType) + ":" + r.TriggerValue
		if r.ScheduledFor != nil {
			when = r.ScheduledFor.Local().Format(time.DateTime)
		}
		whom := r.AgentID
		if whom == "" {
			whom = r.DeliveredTo
		}
		rows[i] = []string{fmt.Sprint(r.Number), r.Task, status, when, r.Persona, whom, r.CreatedBy}
	}
	table(w, []string{"NO", "TASK", "STATUS", "WHEN", "PERSONA", "FOR", "BY"}, rows)
}

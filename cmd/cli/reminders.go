package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/internal/errs"
	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) remindersCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "reminders", short: "Things to do later: add, list, show, edit, delete", of: "NUMBER",
		long: `Reminders come due at a time, when something happens, or when a condition over
facts holds. What is due is in its agent's mailbox and in this list until it is done.`,
		add: s.remindersAdd("add"), list: s.remindersList(), show: s.remindersShow(), edit: s.remindersEdit(),
		remove: s.removeReminder, gone: "Cancel a reminder, a recurring one for good",
		more: []*cobra.Command{
			s.remindersEnd("done NUMBER [NOTE]", "Say that it is done; one that recurs waits for its next time", operational.ReminderService.Complete),
			s.remindersSnooze(), s.remindersEvent(),
		},
		former: []*cobra.Command{s.remindersEnd("cancel NUMBER [NOTE]", "End a reminder, a recurring one for good", operational.ReminderService.Cancel)},
	})
}

func (s *shell) remindersAdd(name string) *cobra.Command {
	var draft operational.ReminderDraft
	var content, when string
	var words []string
	return asks(s, command{
		use: name + " TASK WHEN\n  skillrouter " + name + " TASK TRIGGER", short: "Add a reminder", args: listed(cobra.MinimumNArgs(1), &words),
		long: `Adds a reminder for a time, in words such as "tomorrow at 9", "in 2 hours",
"friday 17:30" or "2026-12-24 18:00", read on this machine's clock. The time may
stand after the task, before it, or behind --at. Or the reminder waits for its
trigger:

  time:+1hour   time:+1 day 2 hours   time:2026-12-24T18:00:00+01:00
  event:deployment   event:task.*         (told by "reminders event", or in the event log)
  condition:fact("queue.length") > 100    (over the facts of its persona)
  cron:0 9 * * MON-FRI                    (with --timezone; default UTC)`,
		flags: append(s.flags(&draft, "recurring", "timezone", "persona", "project", "conversation"),
			who("agent", &draft.CreatedBy, s.agent, "agent that adds it (SKILLROUTER_AGENT)"),
			option("at", &when, "when it comes due, such as \"tomorrow at 9\""),
			option("context", &content, "what will be needed then, a JSON object"),
			option("for", &draft.AgentID, "agent that it is for (default: whoever works for the persona)"),
			option("key", &draft.IdempotencyKey, "the same key again is the same reminder"),
		),
		before: func() error {
			last := words[len(words)-1]
			kind, _, found := strings.Cut(last, ":")
			triggered := found && len(words) > 1 && operational.TriggerType(strings.ToLower(kind)).Known()
			switch {
			case triggered && when != "":
				return usagef("--at and a TRIGGER exclude each other")
			case when != "":
				at, err := operational.ParseWhen(when, s.now())
				if err != nil {
					return usagef("--at %s", errs.MessageOf(err))
				}
				draft.Task, draft.Trigger = strings.Join(words, " "), "time:"+at.Format(time.RFC3339)
			case triggered:
				draft.Task, draft.Trigger = strings.Join(words[:len(words)-1], " "), last
			default:
				zone := first(draft.Timezone, s.zone())
				place, err := time.LoadLocation(zone)
				if err != nil {
					place = time.UTC // the router refuses the zone
				}
				task, at, again, err := operational.ParseRecurring(strings.Join(words, " "), s.now(), place)
				if err != nil {
					return usagef("the reminder %s", errs.MessageOf(err))
				}
				if again != "" && draft.Recurring == "" {
					draft.Recurring, draft.Timezone = again, zone
				}
				draft.Task, draft.Trigger = task, "time:"+at.Format(time.RFC3339)
			}
			if content == "" {
				return nil
			}
			if draft.Context = json.RawMessage(content); !json.Valid(draft.Context) {
				return usagef("--context is not JSON")
			}
			return nil
		},
	}, sends(operational.ReminderService.Schedule, &draft), reminderTable.one)
}

func (s *shell) remindersList() *cobra.Command {
	var filter operational.ReminderFilter
	var all bool
	return lists(s, command{use: "list", short: "List what is due and what is to come", flags: append(s.flags(&filter, "status", "persona", "agent", "project", "limit"),
		option("all", &all, "completed and cancelled ones too"),
		option("cursor", &filter.After, "only greater numbers").once("after"),
	), before: func() error {
		filter.Open = !all && len(filter.Status) == 0
		return nil
	}}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(operational.ReminderService.List, &filter), reminderTable.list)
}

func (s *shell) remindersShow() *cobra.Command {
	var number reminderNumber
	return asks(s, command{
		use: "show NUMBER", short: "Show one reminder", args: exactly(&number.text), before: number.read,
	}, sends(operational.ReminderService.Reminder, &number.of), func(w io.Writer, r operational.Reminder) {
		reminderTable.one(w, r)
		sections(w, section{"Task", r.Task}, section{"Context", string(r.Context)},
			section{"Recurs", strings.TrimSpace(r.Recurring + " " + r.Timezone)}, section{"Delivered to", r.DeliveredTo}, section{"Note", r.Note})
	})
}

func (s *shell) remindersEdit() *cobra.Command {
	var number reminderNumber
	var snooze operational.ReminderSnooze
	var patch operational.ReminderPatch
	var when string
	var content *string
	var says bool // something but the time
	return asks(s, command{
		use: "edit NUMBER [--at WHEN] [--task TEXT]", short: "Change what a reminder says, or when it comes due", args: exactly(&number.text),
		flags: options{
			option("at", &when, "when it comes due, such as \"tomorrow at 9\""),
			optional("task", &patch.Task, "", "what it reminds of"),
			optional("project", &patch.Project, "", "project that it belongs to; \"\" is none"),
			optional("context", &content, "", "what will be needed then, a JSON object"),
			who("agent", &snooze.AgentID, s.agent, "agent that does it (SKILLROUTER_AGENT)"),
		},
		before: func() error {
			if content != nil {
				if patch.Context = json.RawMessage(*content); !json.Valid(patch.Context) {
					return usagef("--context is not JSON")
				}
			}
			says = patch.Task != nil || patch.Project != nil || content != nil
			switch {
			case when == "" && !says:
				return usagef("say what to change: --task TEXT or --at WHEN")
			case when != "":
				at, err := operational.ParseWhen(when, s.now())
				if err != nil {
					return usagef("--at %s", errs.MessageOf(err))
				}
				snooze.Until = &at
			}
			patch.AgentID = snooze.AgentID
			return number.read()
		},
	}, func(ctx context.Context, c *client.Client) (r operational.Reminder, err error) {
		if says {
			if r, err = client.SendTo(ctx, c, operational.ReminderService.Edit, number.of, patch); err != nil {
				return r, err
			}
		}
		if snooze.Until != nil {
			r, err = client.SendTo(ctx, c, operational.ReminderService.Snooze, number.of, snooze)
		}
		return r, err
	}, reminderTable.one)
}

func (s *shell) remindersEnd(
	use, short string, end func(reminders operational.ReminderService, ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error),
) *cobra.Command {
	var number reminderNumber
	var note operational.ReminderNote
	return asks(s, command{
		use: use, short: short, args: joined(1, &number.text, &note.Note), before: number.read,
		flags: options{who("agent", &note.AgentID, s.agent, "agent that does it (SKILLROUTER_AGENT)")},
	}, sendsTo(end, &number.of, &note), reminderTable.one)
}

func (s *shell) remindersSnooze() *cobra.Command {
	var number reminderNumber
	var snooze operational.ReminderSnooze
	return asks(s, command{
		use: "snooze NUMBER FOR", short: "Let a reminder come again later: 10min, 2h, 1 day", args: joined(2, &number.text, &snooze.For), before: number.read,
		flags: options{who("agent", &snooze.AgentID, s.agent, "agent that does it (SKILLROUTER_AGENT)")},
	}, sendsTo(operational.ReminderService.Snooze, &number.of, &snooze), reminderTable.one)
}

func (s *shell) remindersEvent() *cobra.Command {
	type fired struct {
		Fired int `json:"fired"`
	}
	var happening operational.Happening
	return asks(s, command{
		use: "event NAME", short: "Tell of something, for the reminders that wait for it", args: exactly(&happening.Name),
		flags: s.flags(&happening, "agent", "project"),
	}, func(ctx context.Context, c *client.Client) (fired, error) {
		count, err := client.Send(ctx, c, operational.ReminderService.Happened, happening)
		return fired{count}, err
	}, func(w io.Writer, f fired) { fmt.Fprintf(w, "%s came due\n", plural(f.Fired, "reminder")) })
}

// reminderNumber is an argument that names a reminder.
type reminderNumber struct {
	text string
	of   int64
}

func (n *reminderNumber) read() (err error) {
	n.of, err = strconv.ParseInt(strings.TrimPrefix(n.text, "#"), 10, 64)
	if err != nil || n.of < 1 {
		return usagef("%q is no reminder's number", n.text)
	}
	return nil
}

var reminderTable = columns[operational.Reminder]{
	"No reminders.",
	[]string{"NO", "TASK", "STATUS", "WHEN", "PERSONA", "FOR", "BY"},
	func(r operational.Reminder) cells {
		status := string(r.Status)
		if r.Missed {
			status += ", missed"
		}
		when := string(r.TriggerType) + ":" + r.TriggerValue
		if r.ScheduledFor != nil {
			when = r.ScheduledFor.Local().Format(time.DateTime)
		}
		return cells{r.Number, r.Task, status, when, r.Persona, first(r.AgentID, r.DeliveredTo), r.CreatedBy}
	},
}

// zone is the name of this machine's time zone; empty if it is not known.
func (s *shell) zone() string {
	name, _ := s.lookupEnv("TZ")
	if link, err := os.Readlink("/etc/localtime"); err == nil && name == "" {
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

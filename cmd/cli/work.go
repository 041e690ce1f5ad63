package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/session"
)

// These are the kinds of what a team works at. How a plain command is made of its line, see plain.go.

// deletedHelp is the help of a list's flag where what people delete is cancelled.
const deletedHelp = "cancelled ones, which restore lets wait again, instead"

const taskRows = "number=NO title status+progress+waits_for agent_id project priority=PRIO updated_at=CHANGED"

func (s *shell) tasksCommand() *cobra.Command {
	var filter operational.TaskFilter
	deleted := false
	return s.verbs(verbs{
		name: "tasks", short: "Share work: add, claim, report, finish",
		long: "Shares work between agents. A task is named by its number, such as 7, or by its id.",
		rows: taskRows,
		plain: []command{
			{
				use: "list", short: "List unfinished tasks, the most urgent first", do: operational.TaskService.List, in: &filter, hides: "open any_of after",
				flags: options{option("deleted", &deleted, deletedHelp)},
				all:   "finished ones too", unlessAll: func() {
					if deleted {
						filter.Status = append(filter.Status, operational.TaskCancelled)
					}
					if len(filter.Status) == 0 {
						filter.Open = new(true)
					}
				},
			},
			{use: "ready", short: "List the tasks that can be claimed", do: operational.TaskService.Ready, hides: "open any_of after ready status unheld", none: "No task can be claimed now."},
			{use: "add TITLE [DESCRIPTION]", short: "Add a task", do: operational.TaskService.Create, in: &operational.TaskDraft{CreatedBy: s.env("SKILLROUTER_AGENT")}, hides: "created_by"},
			{use: "show TASK", do: operational.TaskService.Task},
			{use: "claim [TASK] [--agent ID]", short: "Claim a task, or the next that waits", do: operational.TaskService.ClaimNext, one: operational.TaskService.Claim},
			{use: "progress TASK PERCENT [NOTE...]", short: "Report how far a task has come", do: operational.TaskService.Progress, words: []string{"id", "progress"}},
			{use: "block TASK REASON...", short: "Say that a task cannot go on, and why", do: operational.TaskService.Block},
			{use: "unblock TASK [NOTE...]", short: "Let a blocked task go on", do: operational.TaskService.Unblock},
			{use: "complete TASK [RESULT...]", short: "End a task with its result", do: operational.TaskService.Complete},
			{use: "fail TASK ERROR...", short: "End a task that failed, and say why", do: operational.TaskService.Fail},
			{use: "release TASK [NOTE...]", short: "Give a task back for another to claim", do: operational.TaskService.Release},
			{use: "cancel TASK [NOTE...]", short: "End a task that is not wanted any more", do: operational.TaskService.Cancel},
			{use: "restore TASK [NOTE...]", short: "Let a cancelled task wait again", do: operational.TaskService.Restore},
			{use: "wait TASK [--after TASK]", short: "Say which tasks must be finished first; without --after it waits for none", do: operational.TaskService.Wait},
			{use: "reassign TASK AGENT", short: "Hand a task to an agent, whoever holds it", do: operational.TaskService.Reassign, words: []string{"id", "agent_id"}, flags: options{option("agent", new(string), "taken, as of the others: who hands it on is who calls")}},
		},
	})
}

func (s *shell) reconCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "recon", short: "Findings of reconnaissance: environments, scans, findings",
		plain: []command{
			{use: "environments", short: "List what is scanned", do: operational.ReconService.Environments, none: "No environments.", rows: "name=ENVIRONMENT kind project description"},
			{use: "environment NAME", do: operational.ReconService.StoreEnvironment, says: "{{.Name}} stored"},
			{use: "scans", do: operational.ReconService.Scans, none: "No scans.", rows: "id=SCAN environment scanner status started_at summary"},
			{use: "scan ENVIRONMENT SCANNER", short: "Record that a scan began", do: operational.ReconService.StartScan, says: "{{.ID}} {{.Status}}"},
			{use: "finish SCAN [SUMMARY]", do: operational.ReconService.FinishScan, says: "{{.ID}} {{.Status}}"},
			{
				use: "findings", aliases: []string{"list"}, short: "List findings, the worst first", do: operational.ReconService.Findings, hides: "any_of", none: "No findings.",
				rows: "id=FINDING severity status cve title environment location last_seen=SEEN",
			},
			{use: "summary", short: "Count findings", do: operational.ReconService.Summary, hides: "any_of limit"},
			{
				use: "report ENVIRONMENT TITLE --severity SEVERITY", short: "Report a finding", do: operational.ReconService.Report,
				says: "{{.ID}} {{if .New}}new{{else if .Reopened}}open again{{else}}seen again{{end}}",
			},
			{use: "decide FINDING STATUS [NOTE]", do: operational.ReconService.Decide, says: "{{.ID}} {{.Status}}"},
		},
		more: []*cobra.Command{s.reconShow()},
	})
}

func (s *shell) reconShow() *cobra.Command {
	type shown struct {
		operational.Finding
		History []operational.FindingChange `json:"history"`
	}
	var id string
	return asks(s, command{use: "show FINDING", short: "Show one finding with its history", into: []any{&id}}, func(ctx context.Context, c *client.Client) (f shown, err error) {
		if f.Finding, err = client.Send(ctx, c, operational.ReconService.Finding, id); err != nil {
			return f, err
		}
		f.History, err = client.Send(ctx, c, operational.ReconService.History, id)
		return f, err
	}, inFull[shown])
}

func (s *shell) escalationsCommand() *cobra.Command {
	var filter operational.EscalationFilter
	return s.verbs(verbs{
		name: "escalations", short: "See and settle what lessons ask of supervisors",
		long:  "Shows the lessons that somebody should look at, and settles them. An escalation is named by its id, or by a beginning or end of it that is no other's.",
		names: "short status title",
		rows:  "short=ID priority status escalated_to=TO reason title=LESSON occurrence_count=TIMES last_raised_at=RAISED",
		plain: []command{
			{
				use: "list", short: "List open escalations, the most urgent first", do: operational.EscalationService.List, in: &filter,
				all: "settled ones too", unlessAll: func() {
					if len(filter.Status) == 0 {
						filter.Status = []operational.EscalationStatus{operational.EscalationPending, operational.EscalationReviewed}
					}
				},
			},
			{use: "show ID", do: operational.EscalationService.Escalation},
			{use: "review ID [NOTES...]", do: operational.EscalationService.Review, as: s.agent},
			{use: "resolve ID [NOTES...]", do: operational.EscalationService.Resolve, as: s.agent},
			{use: "dismiss ID [NOTES...]", do: operational.EscalationService.Dismiss, as: s.agent},
		},
		more: []*cobra.Command{
			s.made(command{use: "rules", short: "Print the built-in escalation rules, as a file to begin with"}, func(context.Context) error { // no router is asked
				_, err := io.WriteString(s.out, escalation.RulesExample())
				return err
			}),
		},
	})
}

func (s *shell) sessionsCommand() *cobra.Command {
	var id string
	return s.verbs(verbs{
		name: "sessions", short: "Begin and end stretches of work, and hand over what is open",
		rows: "id status agent_id project successor started_at=BEGAN summary|goal",
		plain: []command{
			{
				use: "start [GOAL]", short: "Begin a session, and see what the last one left", do: session.Service.Start, as: s.sender, hides: "data",
				says: "session {{.ID}} of {{.AgentID}} is {{.Status}}", full: true,
				long: `Begins a session of an agent. Until it ends, the agent's episodes belong to it. A
session of the agent that is still open is ended. The command shows what former
sessions left to the agent.`,
			},
			{
				use: "end [SUMMARY]", short: "End a session, and hand over what is open", do: session.Service.End, as: s.sender,
				says: "session {{.ID}} of {{.AgentID}} is {{.Status}}", full: true,
				long: `Ends a session, and tells its successor by a message. The session lists the agent's
unfinished tasks, unacknowledged messages, undone steps of procedures and open
reminders. "-" reads the summary from standard input.`,
				words: []string{"summary"}, in: &id, flags: options{option("id", &id, "the session to end; the agent's current one if none is named")},
			},
			{use: "list", short: "List sessions, the latest first", do: session.Service.List},
			{use: "show ID", short: "Show a session, and what it left undone", do: session.Service.Session},
		},
	})
}

func (s *shell) tokenCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "token", short: "Issue, list and revoke tokens",
		long: `Tokens say who is calling. With the first one issued, every call needs one. The
owner's token, in the data folder, is used by these commands if you can read it.`,
		rows: "id=TOKEN agent_id|person=WHOSE scopes expires_at=VALID revoked_at=REVOKED created_at=ISSUED projects note",
		plain: []command{
			{
				use: "create [--agent ID|--person NAME] --scope SCOPE", aliases: []string{}, short: "Issue a token and print its secret, once", do: operational.TokenService.Issue,
				long: `Issues a token and prints its secret on standard output: it is shown once.
Scopes: read (see what is shared), agent (act as the agent that --agent names),
captain (act as any agent), admin (everything, tokens too).

A person's token has a name: --person NAME --scope captain, or --scope read for one
who only looks. The ledger says by that name who allowed or refused what the guard
blocked. The token signs in to the dashboard. No agent's token is a person's, and a
program that an agent runs cannot issue one.

With --project, a token of the scope read or agent sees and writes the rows of these
projects alone. Rows of other projects, or of none, are not there for it. Calls that do
not keep to projects are refused.`,
				show: func(w io.Writer, issued operational.IssuedToken) {
					fmt.Fprintf(s.err, "Token %s. Keep the secret: it is not shown again.\n", clean(issued.ID))
					fmt.Fprintln(w, clean(issued.Secret))
				},
			},
			{use: "list", short: "List tokens, without their secrets", do: operational.TokenService.List, none: "No tokens."},
			{use: "revoke TOKEN", short: "Revoke a token, at once and for good", do: operational.TokenService.Revoke, says: "{{.ID}} revoked"},
		},
	})
}

func (s *shell) experienceCommand() *cobra.Command {
	var draft experience.Draft
	var problem experience.Problem
	var solution experience.Solution
	var took time.Duration
	var filter experience.Filter
	var learned experience.LearnDraft
	return s.verbs(verbs{
		name: "experience", short: "How operations went, and the lessons of it",
		plain: []command{
			{
				use: "record OPERATION OUTCOME", short: "Record how an operation went", do: experience.Service.Record, as: s.sender,
				long:  "Records how an operation, such as build, went. OUTCOME is success, failure or partial.",
				words: []string{"operation_type"}, in: &draft, hides: "duration_ms",
				flags: options{
					option("problem", &problem.Query, "what was to be solved"),
					option("solution", &solution.Approach, "what was done about it"),
					option("tool", &solution.Tool, "the tool that it was done with"),
					option("took", &took, "how long it took, such as 1.5s"),
				},
				before: func() error {
					if problem.Query != "" {
						draft.Problem = &problem
					}
					if solution.Approach != "" || solution.Tool != "" {
						draft.Solution = &solution
					}
					if took != 0 {
						draft.DurationMS = new(took.Milliseconds())
					}
					return nil
				},
				says: "Episode {{.EpisodeID}} recorded, of utility {{.Utility}}.{{with .Patterns}}\nIt belongs to a pattern: {{.}}.{{end}}",
			},
			{
				use: "list [OPERATION]", short: "Show how operations went, the latest first", do: experience.Service.Recall, in: &filter,
				words: []string{"operation_type"}, rows: "id=NO operation_type outcome utility_score=UTILITY notes agent_id timestamp=WHEN", none: "Nothing is known of it.",
			},
			{
				use: "learn STATEMENT EPISODE...", do: experience.Service.Learn, words: []string{"lesson_statement", "episode_ids"}, in: &learned, hides: "pattern_description",
				flags: options{option("pattern", &learned.Description, "what recurs; left out: the statement")},
				before: func() error {
					learned.Description = first(learned.Description, learned.Statement)
					return nil
				},
				says: "{{if .Created}}Lesson {{.LessonNumber}} learned, of confidence {{.InitialConfidence}}.{{else}}Lesson {{.LessonNumber}} says so already: another occurrence of it was counted.{{end}}",
			},
		},
		more: []*cobra.Command{s.experienceLessons()},
	})
}

func (s *shell) experienceLessons() *cobra.Command {
	var query experience.ApplicableQuery
	var contexts []string
	return s.does(command{
		use: "lessons [CONTEXT...]", short: "Show the lessons that hold for an operation or in a context, the surest first", do: experience.Service.Applicable,
		into: []any{&contexts}, in: &query, hides: "operation_type",
		before: func() error {
			var words []any
			for _, word := range contexts { // what is learned names its kind of context; people need not
				for _, kind := range []string{"", "operation:", "server:", "env:"} {
					words = append(words, kind+word)
				}
			}
			if len(words) > 0 {
				query.Context = map[string]any{"where": words}
			}
			return nil
		},
		says: `{{with .Lessons}}{{table "id=NO current_confidence=CONFIDENCE statement=LESSON contexts times_applied=APPLIED times_succeeded=WORKED" .}}{{else}}No lesson holds there.{{end}}
{{- if gt (plus .Summary.High .Summary.Medium .Summary.Low) (len .Lessons)}}
There are more: raise --limit
{{- end}}`,
	})
}

const reminderRows = "id=NO task status+missed scheduled_for|trigger_value=WHEN persona agent_id|delivered_to=FOR created_by=BY"

func (s *shell) remindersCommand() *cobra.Command {
	var filter operational.ReminderFilter
	deleted := false
	return s.verbs(verbs{
		name: "reminders", short: "Things to do later: add, list, show, edit, delete", of: "NUMBER",
		long: `Reminders come due at a time, when something happens, or when a condition over
facts holds. A due reminder is in its agent's mailbox and in this list until it is done.`,
		rows: reminderRows,
		plain: []command{
			{
				use: "list", short: "List what is due and what is to come", do: operational.ReminderService.List, in: &filter, hides: "open after",
				flags: options{option("cursor", &filter.After, "only greater numbers").once("after"), option("deleted", &deleted, deletedHelp)},
				all:   "completed and cancelled ones too", unlessAll: func() {
					if deleted {
						filter.Status = append(filter.Status, operational.ReminderCancelled)
					}
					filter.Open = len(filter.Status) == 0
				},
			},
			{use: "show NUMBER", do: operational.ReminderService.Reminder},
			{use: "done NUMBER [NOTE...]", do: operational.ReminderService.Complete},
			{use: "cancel NUMBER [NOTE...]", short: "End a reminder, a recurring one for good", do: operational.ReminderService.Cancel, hidden: true},
			{use: "restore NUMBER [NOTE...]", short: "Let a cancelled reminder wait again", do: operational.ReminderService.Restore},
			{use: "snooze NUMBER FOR...", short: "Let a reminder come again later: 10min, 2h, 1 day", do: operational.ReminderService.Snooze},
			{use: "event NAME", short: "Tell of something, for the reminders that wait for it", do: operational.ReminderService.Happened, hides: "data", says: "reminders that came due: {{.Held}}"},
		},
		more:   []*cobra.Command{s.remindersAdd("add"), s.remindersEdit()},
		remove: command{do: operational.ReminderService.Cancel, short: "Cancel a reminder, a recurring one for good", became: "cancelled"},
	})
}

func (s *shell) remindersAdd(name string) *cobra.Command {
	var draft operational.ReminderDraft
	var when string
	var words []string
	return s.does(command{
		do: operational.ReminderService.Schedule, in: &draft, rows: reminderRows,
		use: name + " TASK WHEN\n  skillrouter " + name + " TASK TRIGGER", short: "Add a reminder", into: []any{&words},
		long: `Adds a reminder for a time, such as "tomorrow at 9", "in 2 hours", "friday 17:30",
"24 december" or "2026-12-24 18:00". It can come again: "every day at 9", "every monday
and thursday", "every 15 minutes", "every 2 weeks on friday", "monthly". The words are read by this machine's clock,
and stand after the task, before it, or behind --at. Or the reminder waits for its trigger:

  time:+1hour   time:+1 day 2 hours   time:2026-12-24T18:00:00+01:00
  event:deployment   event:task.*         (told by "reminders event", or in the event log)
  condition:fact("queue.length") > 100    (over the facts of its persona)
  cron:0 9 * * MON-FRI                    (in --timezone; default: this machine's)`,
		hides: "task trigger agent_id created_by",
		flags: options{
			option("at", &when, "when it comes due, such as \"tomorrow at 9\""),
			option("for", &draft.AgentID, "agent that it is for (default: whoever works for the persona)"),
			who("agent", &draft.CreatedBy, s.agent, "agent that adds it (SKILLROUTER_AGENT)"),
		},
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
				if operational.TriggerType(strings.ToLower(kind)) == operational.TriggerCron {
					draft.Timezone = first(draft.Timezone, s.zone())
				}
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
			return nil
		},
	})
}

func (s *shell) remindersEdit() *cobra.Command {
	var number int64
	var snooze operational.ReminderSnooze
	var patch operational.ReminderPatch
	var when string
	var says bool // something but the time
	return asks(s, command{
		use: "edit NUMBER [--at WHEN] [--task TEXT]", short: "Change what a reminder says, or when it comes due", into: []any{&number},
		flags: append(s.flags(&patch, "task", "project", "context"),
			option("at", &when, "when it comes due, such as \"tomorrow at 9\""),
			who("agent", &snooze.AgentID, s.agent, "agent that does it (SKILLROUTER_AGENT)"),
		),
		before: func() error {
			says = patch.Task != nil || patch.Project != nil || patch.Context != nil
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
			return nil
		},
	}, func(ctx context.Context, c *client.Client) (r operational.Reminder, err error) {
		if says {
			if r, err = client.SendTo(ctx, c, operational.ReminderService.Edit, number, patch); err != nil {
				return r, err
			}
		}
		if snooze.Until != nil {
			r, err = client.SendTo(ctx, c, operational.ReminderService.Snooze, number, snooze)
		}
		return r, err
	}, printReminder)
}

func printReminder(w io.Writer, r operational.Reminder) {
	tableOf(w, reminderRows, "", []operational.Reminder{r})
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

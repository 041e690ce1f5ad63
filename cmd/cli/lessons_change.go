package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
	"skillrouter/router/mcpserver"
)

// person is who judges: the flag, else the agent whose wrapper started this
// shell, else, if no token says who calls, the user at the terminal, or the
// captain where a service or a container has none.
func (s *shell) person(flag string) string {
	if named := s.agent(flag); named != "" || s.token != "" || s.env("SKILLROUTER_TOKEN") != "" {
		return named
	}
	return first(s.env("USER"), s.env("USERNAME"), mcpserver.DefaultAgent)
}

func (s *shell) lessonsValidate() *cobra.Command {
	var ref string
	draft := learning.ValidationDraft{Type: learning.ValidationConfirmed}
	return asks(s, command{
		use: "validate LESSON [JUDGEMENT] [NOTES...]", short: "Judge a lesson; its confidence moves with it",
		long:  "Judges a lesson. JUDGEMENT is " + names(learning.ValidationTypes()) + "; confirmed if you say none.",
		args:  joined(1, &ref, (*string)(&draft.Type), &draft.Notes),
		flags: options{who("by", &draft.By, s.person, "who judges (SKILLROUTER_AGENT, else you)")},
	}, sendsTo(client.Lessons.Validate, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsApply() *cobra.Command {
	var ref string
	var draft learning.ApplicationDraft
	return asks(s, command{
		use: "apply LESSON OUTCOME [NOTES...]", short: "Say that a lesson was applied, and how it went",
		long: "Says that a lesson was applied. OUTCOME is " + names(learning.Results()) + ".",
		args: joined(2, &ref, (*string)(&draft.Outcome), &draft.Notes),
		flags: options{
			option("context", &draft.Context, "where: what counts as a context of its own; the project or the agent if you say none"),
			who("agent", &draft.Agent, s.agent, "who applied it (SKILLROUTER_AGENT)"),
		},
	}, sendsTo(client.Lessons.Apply, &ref, &draft), func(w io.Writer, applied learning.Applied) {
		fmt.Fprintf(w, "lesson %d: confidence %.2f, was %.2f; applied %d times, %.0f%% with success\n",
			applied.LessonNumber, applied.NewConfidence, applied.PreviousConfidence, applied.TotalApplications, 100*applied.SuccessRate)
		if applied.Deprecated {
			fmt.Fprintln(w, "it has failed too often and was retired")
		}
	})
}

func (s *shell) lessonsPromote() *cobra.Command {
	var ref string
	var draft learning.PromotionDraft
	return asks(s, command{
		use: "promote LESSON [NOTES...]", short: "Draw a pattern from cases, or raise a pattern to a principle", args: joined(1, &ref, &draft.Notes),
		long: `Draws a pattern from a case and another that is independent of it: a new lesson
that names its cases, which stay. Or raises a pattern to a principle, after three
successful applications in distinct contexts. A refusal says what is missing.
"lessons review" lists those that can be promoted.`,
		flags: options{
			option("source", &draft.Sources, "further lesson that it was drawn from; may be repeated"),
			who("by", &draft.By, s.person, "who promotes it (SKILLROUTER_AGENT, else you)"),
		},
	}, sendsTo(client.Lessons.Promote, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsRetire() *cobra.Command {
	var ref string
	var draft learning.RetirementDraft
	return asks(s, command{
		use: "retire LESSON REASON...", short: "Take a lesson out of use; it is kept with its history", args: joined(2, &ref, &draft.Reason),
		flags: options{
			option("superseded-by", &draft.SupersededBy, "the lesson that stands in its place"),
			who("by", &draft.By, s.person, "who retires it (SKILLROUTER_AGENT, else you)"),
		},
	}, sendsTo(client.Lessons.Retire, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsRestore() *cobra.Command {
	var ref, note string
	return asks(s, command{
		use: "restore LESSON [NOTE...]", short: "Take a retired lesson back into use", args: joined(1, &ref, &note),
	}, sendsTo(client.Lessons.Restore, &ref, &note), lessonTable.one)
}

func (s *shell) lessonsEdit() *cobra.Command {
	var ref string
	var patch learning.LessonPatch
	var severity learning.Severity
	var instead, commands []string
	return asks(s, command{
		use: "edit LESSON --FIELD TEXT...", short: "Change what a lesson says; what it said stays in its history", args: exactly(&ref),
		flags: options{
			optional("title", &patch.Title, "", "a line"),
			optional("category", &patch.Category, "", "category"),
			optional("context", &patch.Context, "", "what was happening"),
			optional("action", &patch.Action, "", "what was done"),
			optional("outcome", &patch.Outcome, "", "what came of it"),
			optional("root-cause", &patch.RootCause, "", "why it happened"),
			optional("solution", &patch.Solution, "", "how to mend or avoid it"),
			given("instead", &patch.Alternatives, &instead, phrases("instead", &instead, "what to do instead, in place of all there is; may be repeated")),
			given("severity", &patch.Severity, &severity, option("severity", (*string)(&severity), names(learning.Severities()))),
			optional("tag", &patch.Tags, nil, "tag, in place of all there are; may be repeated"),
			given("command", &patch.RelatedCommands, &commands, phrases("command", &commands, "command that it is about, in place of all there are; may be repeated")),
			optional("trigger", &patch.TriggerPattern, "", "of an anti_pattern: an RE2 expression over each command"),
			optional("transferability", &patch.Transferability, 0, "1, only where it was learned, to 5, everywhere"),
		},
		before: func() error {
			if patch == (learning.LessonPatch{}) {
				return usagef("say what to change")
			}
			return nil
		},
	}, sendsTo(client.Lessons.Edit, &ref, &patch), lessonTable.one)
}

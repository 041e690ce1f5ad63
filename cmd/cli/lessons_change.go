package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router/client"
	"skillrouter/router/mcpserver"
)

// lessonChange makes a command that changes the lesson that is its first
// argument, and shows the lesson as it is then.
func (s *shell) lessonChange(cmd *cobra.Command, change func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error)) *cobra.Command {
	return s.remote(s.command(cmd, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		lesson, err := change(ctx, c, args)
		if err != nil {
			return err
		}
		return s.print(lesson, func(w io.Writer) { s.lessonTable(w, lesson) })
	}))
}

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
	var by string
	cmd := s.lessonChange(&cobra.Command{
		Use: "validate LESSON [JUDGEMENT] [NOTES...]", Short: "Judge a lesson; its confidence moves with it", Args: cobra.MinimumNArgs(1),
		Long: "Judges a lesson. JUDGEMENT is " + names(learning.ValidationTypes()) + "; confirmed if you say none.",
	}, func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error) {
		draft := learning.ValidationDraft{Type: learning.ValidationConfirmed, By: s.person(by)}
		if len(args) > 1 {
			draft.Type, draft.Notes = learning.ValidationType(args[1]), strings.Join(args[2:], " ")
		}
		return c.Lessons.Validate(ctx, args[0], draft)
	})
	cmd.Flags().StringVar(&by, "by", "", "who judges (SKILLROUTER_AGENT, else you)")
	return cmd
}

func (s *shell) lessonsApply() *cobra.Command {
	var draft learning.ApplicationDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "apply LESSON OUTCOME [NOTES...]", Short: "Say that a lesson was applied, and how it went", Args: cobra.MinimumNArgs(2),
		Long: "Says that a lesson was applied. OUTCOME is " + names(learning.Results()) + ".",
	}, func(ctx context.Context, args []string) error {
		draft.Outcome, draft.Notes, draft.Agent = learning.Result(args[1]), strings.Join(args[2:], " "), s.agent(draft.Agent)
		c, err := s.client()
		if err != nil {
			return err
		}
		applied, err := c.Lessons.Apply(ctx, args[0], draft)
		if err != nil {
			return err
		}
		return s.print(applied, func(w io.Writer) {
			fmt.Fprintf(w, "lesson %d: confidence %.2f, was %.2f; applied %d times, %.0f%% with success\n",
				applied.LessonNumber, applied.NewConfidence, applied.PreviousConfidence, applied.TotalApplications, 100*applied.SuccessRate)
			if applied.Deprecated {
				fmt.Fprintln(w, "it has failed too often and was retired")
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.Context, "context", "", "where: what counts as a context of its own; the project or the agent if you say none")
	flags.StringVar(&draft.Agent, "agent", "", "who applied it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) lessonsPromote() *cobra.Command {
	var draft learning.PromotionDraft
	cmd := s.lessonChange(&cobra.Command{
		Use: "promote LESSON [NOTES...]", Short: "Draw a pattern from cases, or raise a pattern to a principle", Args: cobra.MinimumNArgs(1),
		Long: `Draws a pattern from a case and another that is independent of it: a new lesson
that names its cases, which stay. Or raises a pattern to a principle, after three
successful applications in distinct contexts. A refusal says what is missing.
"lessons review" lists those that can be promoted.`,
	}, func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error) {
		draft.By, draft.Notes = s.person(draft.By), strings.Join(args[1:], " ")
		return c.Lessons.Promote(ctx, args[0], draft)
	})
	cmd.Flags().StringSliceVar(&draft.Sources, "source", nil, "further lesson that it was drawn from; may be repeated")
	cmd.Flags().StringVar(&draft.By, "by", "", "who promotes it (SKILLROUTER_AGENT, else you)")
	return cmd
}

func (s *shell) lessonsRetire() *cobra.Command {
	var draft learning.RetirementDraft
	cmd := s.lessonChange(&cobra.Command{
		Use: "retire LESSON REASON...", Short: "Take a lesson out of use; it is kept with its history", Args: cobra.MinimumNArgs(2),
	}, func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error) {
		draft.By, draft.Reason = s.person(draft.By), strings.Join(args[1:], " ")
		return c.Lessons.Retire(ctx, args[0], draft)
	})
	cmd.Flags().StringVar(&draft.SupersededBy, "superseded-by", "", "the lesson that stands in its place")
	cmd.Flags().StringVar(&draft.By, "by", "", "who retires it (SKILLROUTER_AGENT, else you)")
	return cmd
}

func (s *shell) lessonsRestore() *cobra.Command {
	return s.lessonChange(&cobra.Command{
		Use: "restore LESSON [NOTE...]", Short: "Take a retired lesson back into use", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error) {
		return c.Lessons.Restore(ctx, args[0], strings.Join(args[1:], " "))
	})
}

func (s *shell) lessonsEdit() *cobra.Command {
	var cmd *cobra.Command
	var title, category, situation, action, outcome, cause, solution, severity, trigger string
	var instead, tags, commands []string
	var transferability int
	cmd = s.lessonChange(&cobra.Command{
		Use: "edit LESSON --FIELD TEXT...", Short: "Change what a lesson says; what it said stays in its history", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) (learning.Lesson, error) {
		var patch learning.LessonPatch
		graded := learning.Severity(severity)
		flags := cmd.Flags()
		changed := 0
		for name, set := range map[string]func(){
			"title":           func() { patch.Title = &title },
			"category":        func() { patch.Category = &category },
			"context":         func() { patch.Context = &situation },
			"action":          func() { patch.Action = &action },
			"outcome":         func() { patch.Outcome = &outcome },
			"root-cause":      func() { patch.RootCause = &cause },
			"solution":        func() { patch.Solution = &solution },
			"instead":         func() { patch.Alternatives = &instead },
			"severity":        func() { patch.Severity = &graded },
			"tag":             func() { patch.Tags = &tags },
			"command":         func() { patch.RelatedCommands = &commands },
			"trigger":         func() { patch.TriggerPattern = &trigger },
			"transferability": func() { patch.Transferability = &transferability },
		} {
			if flags.Changed(name) {
				set()
				changed++
			}
		}
		if changed == 0 {
			return learning.Lesson{}, usagef("say what to change")
		}
		return c.Lessons.Edit(ctx, args[0], patch)
	})
	flags := cmd.Flags()
	flags.StringVar(&title, "title", "", "a line")
	flags.StringVar(&category, "category", "", "category")
	flags.StringVar(&situation, "context", "", "what was happening")
	flags.StringVar(&action, "action", "", "what was done")
	flags.StringVar(&outcome, "outcome", "", "what came of it")
	flags.StringVar(&cause, "root-cause", "", "why it happened")
	flags.StringVar(&solution, "solution", "", "how to mend or avoid it")
	flags.StringArrayVar(&instead, "instead", nil, "what to do instead, in place of all there is; may be repeated")
	flags.StringVar(&severity, "severity", "", names(learning.Severities()))
	flags.StringSliceVar(&tags, "tag", nil, "tag, in place of all there are; may be repeated")
	flags.StringArrayVar(&commands, "command", nil, "command that it is about, in place of all there are; may be repeated")
	flags.StringVar(&trigger, "trigger", "", "of an anti_pattern: an RE2 expression over each command")
	flags.IntVar(&transferability, "transferability", 0, "1, only where it was learned, to 5, everywhere")
	return cmd
}

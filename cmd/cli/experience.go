package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/learning"
)

func (s *shell) experienceCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "experience", Short: "How operations went, and the lessons of it"},
		s.experienceRecord(), s.experienceList(), s.experienceLessons(), s.experienceLearn(),
	)
}

func (s *shell) experienceRecord() *cobra.Command {
	var draft learning.ExperienceDraft
	var problem learning.ExperienceProblem
	var solution learning.ExperienceSolution
	var quality float64
	var took time.Duration
	var cmd *cobra.Command
	cmd = s.remote(s.command(&cobra.Command{
		Use: "record OPERATION OUTCOME", Short: "Record how an operation went", Args: cobra.ExactArgs(2),
		Long: "Records how an operation, such as build, went. OUTCOME is success, failure or partial.",
	}, func(ctx context.Context, args []string) error {
		draft.OperationType, draft.Outcome = args[0], learning.Result(args[1])
		if problem.Query != "" {
			draft.Problem = &problem
		}
		if solution.Approach != "" || solution.Tool != "" {
			draft.Solution = &solution
		}
		if cmd.Flags().Changed("quality") {
			draft.QualityScore = &quality
		}
		if cmd.Flags().Changed("took") {
			ms := took.Milliseconds()
			draft.DurationMS = &ms
		}
		draft.AgentID = s.sender(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		recorded, err := c.Experience.Record(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(recorded, func(w io.Writer) {
			fmt.Fprintf(w, "Episode %d recorded, of utility %.2f.\n", recorded.EpisodeID, recorded.Utility)
			for _, pattern := range recorded.Patterns {
				fmt.Fprintf(w, "It belongs to a pattern: %s.\n", clean(pattern))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&problem.Query, "problem", "", "what was to be solved")
	flags.StringVar(&solution.Approach, "solution", "", "what was done about it")
	flags.StringVar(&solution.Tool, "tool", "", "the tool that it was done with")
	flags.StringVar(&draft.Notes, "notes", "", "what else there is to say")
	flags.Float64Var(&quality, "quality", 0, "how good it was, 0 to 1")
	flags.DurationVar(&took, "took", 0, "how long it took, such as 1.5s")
	flags.StringVar(&draft.Project, "project", "", "project")
	flags.StringVar(&draft.AgentID, "agent", "", "agent that did it (SKILLROUTER_AGENT, else captain)")
	return cmd
}

func (s *shell) experienceList() *cobra.Command {
	var filter learning.ExperienceFilter
	var outcome string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list [OPERATION]", Short: "Show how operations went, the latest first", Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		filter.OperationType, filter.Outcome = strings.Join(args, ""), learning.Result(outcome)
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Experience.Recall(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			if found.Count == 0 {
				fmt.Fprintln(w, "Nothing is known of it.")
				return
			}
			now := s.now()
			rows := make([][]string, found.Count)
			for i, e := range found.Episodes {
				rows[i] = []string{fmt.Sprint(e.Number), e.OperationType, string(e.Outcome), fmt.Sprintf("%.2f", e.Utility), e.Notes, e.AgentID, ago(now, time.UnixMilli(e.Timestamp))}
			}
			table(w, []string{"NO", "OPERATION", "OUTCOME", "UTILITY", "NOTES", "AGENT", "WHEN"}, rows)
			for _, p := range found.Patterns {
				fmt.Fprintf(w, "Pattern %d: %s (%s, seen %d times, confidence %.2f)\n", p.Number, clean(p.Description), p.Status, p.Frequency, p.CurrentConfidence)
			}
		})
	}))
	cmd.Flags().StringVar(&outcome, "outcome", "", "only these: success, failure, partial")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "how many at most")
	cmd.Flags().IntVar(&filter.Offset, "offset", 0, "how many of the latest to pass over")
	return cmd
}

func (s *shell) experienceLessons() *cobra.Command {
	var query learning.ApplicableQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "lessons [CONTEXT...]", Short: "Show the lessons that hold for an operation or in a context, the surest first",
	}, func(ctx context.Context, args []string) error {
		var words []any
		for _, word := range args { // what is learned names its kind of context; people need not
			for _, kind := range []string{"", "operation:", "server:", "env:"} {
				words = append(words, kind+word)
			}
		}
		if len(words) > 0 {
			query.Context = map[string]any{"where": words}
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Experience.Applicable(ctx, query)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			if len(found.Lessons) == 0 {
				fmt.Fprintln(w, "No lesson holds there.")
				return
			}
			rows := make([][]string, len(found.Lessons))
			for i, l := range found.Lessons {
				rows[i] = []string{fmt.Sprint(l.Number), fmt.Sprintf("%.2f", l.CurrentConfidence), l.Statement, strings.Join(l.Contexts, ", "), fmt.Sprintf("%d of %d", l.TimesSucceeded, l.TimesApplied)}
			}
			table(w, []string{"NO", "CONFIDENCE", "LESSON", "CONTEXTS", "WORKED"}, rows)
		})
	}))
	cmd.Flags().Float64Var(&query.MinConfidence, "min-confidence", 0, "least confidence, 0 to 1")
	cmd.Flags().IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) experienceLearn() *cobra.Command {
	var draft learning.LearnDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "learn STATEMENT EPISODE...", Short: "Make a lesson of what at least three episodes show", Args: cobra.MinimumNArgs(2),
	}, func(ctx context.Context, args []string) error {
		draft.Statement = args[0]
		for _, arg := range args[1:] {
			number, err := strconv.ParseInt(arg, 10, 64)
			if err != nil {
				return skillrouter.InvalidField("EPISODE", "must be the number of an episode, as `skillrouter experience list` shows it")
			}
			draft.EpisodeIDs = append(draft.EpisodeIDs, number)
		}
		if draft.Description == "" {
			draft.Description = draft.Statement
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		learned, err := c.Experience.Learn(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(learned, func(w io.Writer) {
			if !learned.Created {
				fmt.Fprintf(w, "Lesson %d says so already: another occurrence of it was counted.\n", learned.LessonNumber)
				return
			}
			fmt.Fprintf(w, "Lesson %d learned, of confidence %.2f.\n", learned.LessonNumber, learned.InitialConfidence)
		})
	}))
	cmd.Flags().StringVar(&draft.Description, "pattern", "", "what recurs; left out: the statement")
	return cmd
}

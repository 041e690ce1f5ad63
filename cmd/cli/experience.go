package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/internal/errs"
	"skillrouter/learning/experience"
)

func (s *shell) experienceCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "experience", Short: "How operations went, and the lessons of it"},
		s.experienceRecord(), s.experienceList(), s.experienceLessons(), s.experienceLearn(),
	)
}

func (s *shell) experienceRecord() *cobra.Command {
	var draft experience.Draft
	var problem experience.Problem
	var solution experience.Solution
	var length time.Duration
	var took *time.Duration
	return asks(s, command{
		use: "record OPERATION OUTCOME", short: "Record how an operation went", args: exactly(&draft.OperationType, (*string)(&draft.Outcome)),
		long: "Records how an operation, such as build, went. OUTCOME is success, failure or partial.",
		flags: options{
			option("problem", &problem.Query, "what was to be solved"),
			option("solution", &solution.Approach, "what was done about it"),
			option("tool", &solution.Tool, "the tool that it was done with"),
			option("notes", &draft.Notes, "what else there is to say"),
			optional("quality", &draft.QualityScore, 0, "how good it was, 0 to 1"),
			given("took", &took, &length, option("took", &length, "how long it took, such as 1.5s")),
			s.belongs(&draft.Project),
			who("agent", &draft.AgentID, s.sender, "agent that did it (SKILLROUTER_AGENT, else captain)"),
		},
		before: func() error {
			if problem.Query != "" {
				draft.Problem = &problem
			}
			if solution.Approach != "" || solution.Tool != "" {
				draft.Solution = &solution
			}
			if took != nil {
				draft.DurationMS = new(took.Milliseconds())
			}
			return nil
		},
	}, sends(experience.Service.Record, &draft), func(w io.Writer, recorded experience.Recorded) {
		fmt.Fprintf(w, "Episode %d recorded, of utility %.2f.\n", recorded.EpisodeID, recorded.Utility)
		for _, pattern := range recorded.Patterns {
			fmt.Fprintf(w, "It belongs to a pattern: %s.\n", clean(pattern))
		}
	})
}

func (s *shell) experienceList() *cobra.Command {
	var filter experience.Filter
	episodes := columns[experience.Experience]{
		heads: []string{"NO", "OPERATION", "OUTCOME", "UTILITY", "NOTES", "AGENT", "WHEN"},
		cells: func(e experience.Experience) cells {
			return cells{e.Number, e.OperationType, e.Outcome, fmt.Sprintf("%.2f", e.Utility), e.Notes, e.AgentID, time.UnixMilli(e.Timestamp)}
		},
	}
	return asks(s, command{
		use: "list [OPERATION]", short: "Show how operations went, the latest first", args: between(0, &filter.OperationType),
		flags: options{
			option("outcome", (*string)(&filter.Outcome), "only these: success, failure, partial"),
			limit(&filter.Limit),
			option("offset", &filter.Offset, "how many of the latest to pass over"),
		},
	}, sends(experience.Service.Recall, &filter), func(w io.Writer, found experience.Recall) {
		if found.Count == 0 {
			fmt.Fprintln(w, "Nothing is known of it.")
			return
		}
		episodes.list(w, found.Episodes)
		if next := filter.Offset + found.Count; found.Total != nil && int64(next) < *found.Total {
			fmt.Fprintf(w, "There are more: --offset %d\n", next)
		}
		for _, p := range found.Patterns {
			fmt.Fprintf(w, "Pattern %d: %s (%s, seen %d times, confidence %.2f)\n", p.Number, clean(p.Description), p.Status, p.Frequency, p.CurrentConfidence)
		}
	})
}

func (s *shell) experienceLessons() *cobra.Command {
	var query experience.ApplicableQuery
	var contexts []string
	lessons := columns[experience.ApplicableLesson]{
		"No lesson holds there.",
		[]string{"NO", "CONFIDENCE", "LESSON", "CONTEXTS", "WORKED"},
		func(l experience.ApplicableLesson) cells {
			return cells{l.Number, fmt.Sprintf("%.2f", l.CurrentConfidence), l.Statement, strings.Join(l.Contexts, ", "), fmt.Sprintf("%d of %d", l.TimesSucceeded, l.TimesApplied)}
		},
	}
	return asks(s, command{
		use: "lessons [CONTEXT...]", short: "Show the lessons that hold for an operation or in a context, the surest first",
		args:  listed(cobra.ArbitraryArgs, &contexts),
		flags: s.flags(&query, "min-confidence", "limit"),
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
	}, sends(experience.Service.Applicable, &query), func(w io.Writer, found experience.Applicable) {
		lessons.list(w, found.Lessons)
		if n := len(found.Lessons); found.Summary.High+found.Summary.Medium+found.Summary.Low > n {
			fmt.Fprintf(w, "There are more: --limit %d\n", min(2*n, experience.MaxShown))
		}
	})
}

func (s *shell) experienceLearn() *cobra.Command {
	var draft experience.LearnDraft
	var words []string
	return asks(s, command{
		use: "learn STATEMENT EPISODE...", short: "Make a lesson of what at least three episodes show", args: listed(cobra.MinimumNArgs(2), &words),
		flags: options{option("pattern", &draft.Description, "what recurs; left out: the statement")},
		before: func() error {
			draft.Statement = words[0]
			for _, word := range words[1:] {
				number, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					return errs.InvalidField("EPISODE", "must be the number of an episode, as `skillrouter experience list` shows it")
				}
				draft.EpisodeIDs = append(draft.EpisodeIDs, number)
			}
			draft.Description = first(draft.Description, draft.Statement)
			return nil
		},
	}, sends(experience.Service.Learn, &draft), func(w io.Writer, learned experience.Learned) {
		if !learned.Created {
			fmt.Fprintf(w, "Lesson %d says so already: another occurrence of it was counted.\n", learned.LessonNumber)
			return
		}
		fmt.Fprintf(w, "Lesson %d learned, of confidence %.2f.\n", learned.LessonNumber, learned.InitialConfidence)
	})
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) lessonsCommand() *cobra.Command {
	below := []*cobra.Command{
		s.lessonsReport(), s.lessonsList(), s.lessonsShow(), s.lessonsSearch(),
		s.lessonsValidate(), s.lessonsApply(), s.lessonsEdit(), s.lessonsPromote(), s.lessonsRetire(), s.lessonsRestore(),
		s.lessonsReview(), s.lessonsHistory(),
		s.lessonsPreflight(), s.lessonsGuard(),
	}
	below = append(below, s.lessonsFolder()...)
	return s.group(&cobra.Command{
		Use: "lessons", Short: "What was learned: report, find, judge, promote, retire",
		Long: "Tends the lessons that agents report. A lesson is named by its number, such as 7, or by its id.",
	}, below...)
}

func (s *shell) lessonsList() *cobra.Command {
	var filter learning.LessonFilter
	var kind, severity, level string
	var statuses []string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List lessons, the newest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		filter.Type, filter.Severity, filter.Level = learning.LessonType(kind), learning.Severity(severity), learning.Level(level)
		for _, status := range statuses {
			filter.Statuses = append(filter.Statuses, learning.LessonStatus(status))
		}
		page, err := c.Lessons.List(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(page, func(w io.Writer) {
			if len(page.Lessons) == 0 {
				fmt.Fprintln(w, "No lessons.")
				return
			}
			s.lessonTable(w, page.Lessons...)
			if page.Next != "" {
				fmt.Fprintf(w, "There are more: --cursor %s\n", clean(page.Next))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&kind, "type", "", "only this type: "+names(learning.LessonTypes()))
	flags.StringVar(&filter.Domain, "domain", "", "only this domain")
	flags.StringVar(&filter.Category, "category", "", "only this category")
	flags.StringVar(&severity, "severity", "", "only this severity: "+names(learning.Severities()))
	flags.StringVar(&level, "level", "", "only this level: "+names(learning.Levels()))
	flags.StringSliceVar(&statuses, "status", nil, "only this status: "+names(learning.LessonStatuses())+"; may be repeated; none: all but retired")
	flags.StringVar(&filter.SourceAgent, "agent", "", "only those that this agent reported")
	flags.StringVar(&filter.Project, "project", "", "only this project")
	flags.StringVar(&filter.Tag, "tag", "", "only those with this tag")
	flags.Float64Var(&filter.MinConfidence, "min-confidence", 0, "only those with this much confidence left, 0 to 1")
	flags.StringVar(&filter.Cursor, "cursor", "", "go on where the page before ended")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) lessonsShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show LESSON", Short: "Show everything that a lesson says", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		lesson, err := c.Lessons.Lesson(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(lesson, func(w io.Writer) { s.lessonText(w, lesson) })
	}))
}

func (s *shell) lessonsSearch() *cobra.Command {
	var query learning.LessonQuery
	var own bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "search TEXT...", Short: "Find the lessons that fit a situation, best first", Args: cobra.MinimumNArgs(1),
		Aliases: []string{"relevant"},
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		query.Context = strings.Join(args, " ")
		query.Agent = s.agent(query.Agent)
		if own {
			cross := false
			query.CrossDomain = &cross
		}
		found, err := c.Lessons.Relevant(ctx, query)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			corrections(w, found.Corrected)
			noticed(w, found.Notice)
			if len(found.Results) == 0 {
				fmt.Fprintln(w, "No lesson fits.")
			}
			for i, hit := range found.Results {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%d. %s  [lesson %d, %s, %.3f]\n", i+1, clean(hit.Title), hit.Number, hit.Type, hit.Score)
				fmt.Fprintf(w, "    (%s; %s; similarity %.2f, recency %.2f, confidence %.2f)\n",
					place(hit.Lesson), hit.Severity, hit.Similarity, hit.Recency, hit.Confidence)
				indented(w, shortened(first(hit.Solution, hit.Outcome, hit.Context)))
				explained(w, hit.Score, hit.Why)
			}
			if found.LeftOut > 0 {
				fmt.Fprintf(w, "\n%d more were too long to add.\n", found.LeftOut)
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&query.Domain, "domain", "", "the domain that it is about")
	flags.BoolVar(&own, "own-domain", false, "no lessons of other domains")
	flags.StringVar(&query.Agent, "agent", "", "agent whose domain counts (SKILLROUTER_AGENT)")
	flags.StringVar(&query.Project, "project", "", "only this project")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	flags.BoolVar(&query.Explain, "explain", false, "show what each score is made of")
	return cmd
}

// place is where a lesson belongs.
func place(l learning.Lesson) string {
	if l.Category == l.Domain {
		return clean(l.Domain)
	}
	return clean(l.Domain + "/" + l.Category)
}

func (s *shell) lessonTable(w io.Writer, lessons ...learning.Lesson) {
	now := s.now()
	rows := make([][]string, len(lessons))
	for i, l := range lessons {
		rows[i] = []string{
			fmt.Sprint(l.Number), l.Title, string(l.Type), place(l), string(l.Severity), string(l.Level), lessonStanding(l),
			fmt.Sprintf("%.2f", l.Confidence), fmt.Sprintf("%d×", l.Occurrences), ago(now, l.LastOccurred),
		}
	}
	table(w, []string{"NO", "TITLE", "TYPE", "DOMAIN", "SEVERITY", "LEVEL", "STATUS", "CONF", "SEEN", "LAST"}, rows)
}

// lessonText is everything that a lesson says, for people.
func (s *shell) lessonText(w io.Writer, l learning.Lesson) {
	s.lessonTable(w, l)
	fmt.Fprintf(w, "\n%s; reported by %s; applied %d times, %d with success\n", clean(l.ID), clean(first(l.SourceAgent, "nobody")), l.TimesApplied, l.TimesSucceeded)
	if l.ValidatedBy != "" && l.LastValidatedAt != nil {
		verdict := "judged"
		if l.Validated {
			verdict = "confirmed"
		}
		fmt.Fprintf(w, "%s by %s %s\n", verdict, clean(l.ValidatedBy), ago(s.now(), *l.LastValidatedAt))
	}
	if l.RetiredAt != nil {
		fmt.Fprintf(w, "retired %s: %s\n", ago(s.now(), *l.RetiredAt), clean(l.RetiredReason))
	}
	if l.SupersededBy != "" {
		fmt.Fprintf(w, "superseded by %s\n", clean(l.SupersededBy))
	}
	for _, part := range []struct{ name, text string }{
		{"Title", l.Title},
		{"Context", l.Context},
		{"Done", l.Action},
		{"Outcome", l.Outcome},
		{"Root cause", l.RootCause},
		{"Solution", l.Solution},
		{"Instead", strings.Join(l.Alternatives, "\n")},
		{"Commands", strings.Join(l.RelatedCommands, "\n")},
		{"Trigger", l.TriggerPattern},
		{"Files", strings.Join(l.RelatedFiles, "\n")},
		{"Tags", strings.Join(l.Tags, ", ")},
		{"Drawn from", strings.Join(l.SourceCaseIDs, "\n")},
		{"Validation", l.ValidationNotes},
		{"Body", l.Body},
	} {
		if part.text != "" {
			fmt.Fprintf(w, "\n%s\n", part.name)
			indented(w, part.text)
		}
	}
}

// lessonStanding is a lesson's status, or that it waits for somebody to make a rule of it.
func lessonStanding(l learning.Lesson) string {
	if l.Proposed && l.Status != learning.StatusRetired {
		return "proposed"
	}
	return string(l.Status)
}

// names lists an enumeration for a flag's help.
func names[Name ~string](all []Name) string {
	texts := make([]string, len(all))
	for i, name := range all {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

const lessonRows = "number=NO title lesson_type=TYPE domain severity level status+proposed confidence=CONF occurrence_count=SEEN last_occurred=LAST"

func (s *shell) lessonsCommand() *cobra.Command {
	query := lesson.Query{Shown: true}
	var own bool
	return s.verbs(verbs{
		name: "lessons", short: "Lessons, from what went well or badly: add, list, show, edit, delete", of: "LESSON",
		long: "Tends the lessons that agents report. A lesson is named by its number, such as 7, or by its id.",
		rows: lessonRows,
		plain: []command{
			s.lessonsAdd(lesson.Draft{}),
			{use: "list", do: lesson.Service.List},
			{use: "show LESSON", short: "Show everything that a lesson says", do: lesson.Service.Lesson},
			s.lessonsEdit("LESSON"),
			{
				use: "search TEXT...", aliases: []string{"relevant"}, short: "Find the lessons that fit a situation, best first", do: lesson.Service.Relevant,
				words: []string{"context"}, in: &query, found: "lesson_type domain category severity last_occurred confidence", hides: "shown prefer_project include_cross_domain",
				flags: options{option("own-domain", &own, "no lessons of other domains"), s.minRelevance(&query.MinRelevance, &query.Shown)},
				before: func() error {
					query.PreferProject = s.project()
					if own {
						query.CrossDomain = new(bool)
					}
					return nil
				},
			},
			{
				use: "validate LESSON [JUDGEMENT] [NOTES...]", short: "Judge a lesson; its confidence moves with it", do: lesson.Service.Validate,
				long:  "Judges a lesson. JUDGEMENT is " + names(lesson.ValidationTypes()) + "; confirmed if you say none.",
				words: []string{"id", "validation_type"}, in: &lesson.ValidationDraft{Type: lesson.ValidationConfirmed}, as: s.person,
			},
			{
				use: "apply LESSON OUTCOME [NOTES...]", short: "Say that a lesson was applied, and how it went", do: lesson.Service.Apply,
				long: "Says that a lesson was applied. OUTCOME is " + names(learning.Results()) + ".",
				says: "lesson {{.LessonNumber}}: confidence {{.NewConfidence}}, was {{.PreviousConfidence}}; applied {{.TotalApplications}} times, success rate {{.SuccessRate}}{{if .Deprecated}}\nit has failed too often and was retired{{end}}",
			},
			{
				use: "promote LESSON [NOTES...]", short: "Draw a pattern from cases, or raise a pattern to a principle", do: lesson.Service.Promote, as: s.person,
				long: `Draws a pattern from a case and another that is independent of it: a new lesson
that names its cases, which stay. Or raises a pattern to a principle, after three
successful applications in distinct contexts. A refusal says what is missing.
"lessons review" lists those that can be promoted.`,
			},
			{use: "retire LESSON REASON...", do: lesson.Service.Retire, as: s.person, hidden: true},
			{use: "restore LESSON [NOTE...]", do: lesson.Service.Restore},
			{
				use: "review", short: "List lessons that can be promoted, and those not validated for long", do: lesson.Service.Review,
				says: `{{with .Promotions}}Can be promoted:
{{table "number=NO title from to why" .}}

{{end}}
{{- with .Stale}}Not validated for long:
{{table "number=NO title level days" .}}
{{end}}
{{- if not (or .Promotions .Stale)}}Nothing needs your eye.{{end}}`,
			},
			{use: "history LESSON", short: "Show what happened to a lesson, oldest first", do: lesson.Service.History, rows: "at=WHEN kind=WHAT agent_id=WHO after.level=LEVEL after.status=STATUS before.confidence=WAS after.confidence=CONFIDENCE note"},
		},
		more:   []*cobra.Command{s.lessonsExport(), s.lessonsImport(), s.lessonsIndex(), s.lessonsPreflight(), s.lessonsGuard()},
		remove: s.retires("Retire a lesson: it is kept with its history, and restore takes it back"),
	})
}

// lessonsAdd reports a lesson, which begins as a draft.
func (s *shell) lessonsAdd(draft lesson.Draft) command {
	return command{
		use: "add TITLE --type TYPE --domain DOMAIN", aliases: []string{"report"}, short: "Report a lesson", do: lesson.Service.Report, in: &draft, says: reportedPage,
		hides: "body contexts level transferability source_case_ids status",
		long: `Reports what was learned. The same lesson again counts as another occurrence.

  skillrouter lessons add "Never prune volumes on prod" --type anti_pattern --domain docker \
      --severity critical --command "docker volume prune" --instead "docker volume rm NAME"`,
		before: func() error {
			draft.Category = first(draft.Category, draft.Domain)
			return nil
		},
	}
}

const reportedPage = `lesson {{.Number}} ({{.LessonID}}) {{if .Duplicate}}was known; seen {{.Occurrences}} times now{{else}}recorded{{end}}
{{- if .Patterns}}
it belongs to {{count .Patterns "pattern"}}
{{- end}}
{{- with .EscalatedTo}}
escalated to {{.}}
{{- end}}
{{- with .Redacted}}
cut out before it was stored: {{.}}
{{- end}}
{{- range .Notes}}
note: {{.}}
{{- end}}`

// retires is how a lesson, or the rule that it is, is taken out of use.
func (s *shell) retires(short string) command {
	return command{do: lesson.Service.Retire, short: short, became: "retired", as: s.person, in: &lesson.RetirementDraft{Reason: "deleted on the command line"}}
}

func (s *shell) lessonsEdit(of string) command {
	return command{
		use: "edit " + of + " --FIELD TEXT...", short: "Change what a lesson says; what it said stays in its history",
		do: lesson.Service.Edit, rows: lessonRows, kind: "lessons", hides: "confidence",
	}
}

// rulesCommand tends the guard's rules, which are lessons of the type anti_pattern and those that come with the program.
func (s *shell) rulesCommand() *cobra.Command {
	list, show := s.rules("list"), s.rules("show RULE")
	list.hidden, show.hidden = false, false
	show.short = "Show a rule and how it did"
	add := s.lessonsAdd(lesson.Draft{Type: learning.LessonAntiPattern})
	add.use, add.short = "add TITLE --domain DOMAIN --command COMMAND [--instead TEXT]", "Add a rule that warns of a command, or blocks it"
	remove := s.retires("Retire the lesson of a rule: the guard forgets it, and `lessons restore` takes it back")
	return s.verbs(verbs{
		name: "rules", short: "Rules, by which the guard warns and blocks: add, list, show, edit, delete", of: "RULE",
		plain:  []command{add, s.lessonsEdit("RULE"), list, show, s.rulesRestore()},
		remove: remove,
	})
}

// names lists an enumeration for a flag's help.
func names[Name ~string](all []Name) string {
	return strings.Join(safetext.Strings(all), ", ")
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

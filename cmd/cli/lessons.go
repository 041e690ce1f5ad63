package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/safetext"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
	"skillrouter/router/mcpserver"
)

func (s *shell) lessonsCommand() *cobra.Command {
	more := []*cobra.Command{
		s.lessonsSearch(), s.lessonsValidate(), s.lessonsApply(), s.lessonsPromote(), s.lessonsRestore(), s.lessonsReview(), s.lessonsHistory(),
		s.lessonsPreflight(), s.lessonsGuard(), s.lessonsInit(),
	}
	return s.verbs(verbs{
		name: "lessons", short: "What went well or badly, and why: add, list, show, edit, delete", of: "LESSON",
		long: "Tends the lessons that agents report. A lesson is named by its number, such as 7, or by its id.",
		add:  named(s.lessonsReport(), "add"), list: s.lessonsList(), show: s.lessonsShow(), edit: s.lessonsEdit(),
		remove: removeLesson, gone: "Retire a lesson: it is kept with its history, and restore takes it back",
		more: append(more, s.lessonsFolder()...), former: []*cobra.Command{s.lessonsRetire()},
	})
}

// rulesCommand tends the guard's rules, which are lessons of the type anti_pattern and those that come with the program.
func (s *shell) rulesCommand() *cobra.Command {
	list := s.checkRules()
	list.Use, list.Short = "list", "List the guard's rules and how they did"
	list.RemoveCommand(list.Commands()...)
	show := s.checkRules()
	show.Use, show.Short, show.Args = "show RULE", "Show a rule and how it did", explainedWords(cobra.ExactArgs(1))
	show.RemoveCommand(show.Commands()...)
	edit, add := s.lessonsEdit(), s.lessonsReport()
	edit.Use, edit.Short = "edit RULE --FIELD TEXT...", "Change a rule of a lesson; what it said stays in its history"
	add.Use, add.Short = "add TITLE --domain DOMAIN --command COMMAND --instead TEXT", "Add a rule that warns of a command, or blocks it"
	_ = add.Flags().Set("type", string(learning.LessonAntiPattern)) // one of its values
	add.Flags().Lookup("type").DefValue = string(learning.LessonAntiPattern)
	return s.verbs(verbs{
		name: "rules", short: "What the guard warns of and blocks: add, list, show, edit, delete", of: "RULE",
		add: add, list: list, show: show, edit: edit, remove: removeLesson, gone: "Retire the lesson of a rule: the guard forgets it, and `lessons restore` takes it back",
		more: []*cobra.Command{s.checkRestore()},
	})
}

func (s *shell) lessonsList() *cobra.Command {
	var filter lesson.Filter
	return asks(s, command{use: "list", short: "List lessons, the newest first", flags: append(s.flags(&filter, "domain", "category", "severity", "level", "status", "project", "tag", "min-confidence", "cursor", "limit"),
		choice("type", &filter.Type, learning.LessonTypes(), "only this type"),
		option("agent", &filter.SourceAgent, "only those that this agent reported"),
	)}, sends(lesson.Service.List, &filter), func(w io.Writer, page lesson.Page) {
		lessonTable.list(w, page.Lessons)
		if page.Next != "" && len(page.Lessons) > 0 {
			fmt.Fprintf(w, "There are more: --cursor %s\n", clean(page.Next))
		}
	})
}

func (s *shell) lessonsShow() *cobra.Command {
	var ref string
	return asks(s, command{
		use: "show LESSON", short: "Show everything that a lesson says", args: exactly(&ref),
	}, withID("lessons", lesson.Service.Lesson, &ref), s.printLesson)
}

func (s *shell) lessonsSearch() *cobra.Command {
	query := lesson.Query{Shown: true}
	var own bool
	return finds(s, command{
		use: "search TEXT...", short: "Find the lessons that fit a situation, best first", aliases: []string{"relevant"}, args: joined(1, &query.Context),
		flags: append(s.flags(&query, "domain", "agent", "project"),
			option("own-domain", &own, "no lessons of other domains"),
			limit(&query.Limit),
			scores(&query.Explain),
			s.minRelevance(&query.MinRelevance, &query.Shown),
		),
		before: func() error {
			query.PreferProject = s.project()
			if own {
				query.CrossDomain = new(bool)
			}
			return nil
		},
	}, sends(lesson.Service.Relevant, &query), func(found lesson.Results) int { return len(found.Results) }, func(w io.Writer, found lesson.Results) {
		searched(w, found.Corrected, found.Notice)
		nothing(w, len(found.Results), nil)
		for i, one := range learning.FoldFound(found.Results) {
			hit := found.Results[one.At]
			hitHead(w, i, hit.Title, "lesson %d, %s, %s", hit.Number, hit.Type, share(hit.Relevance))
			fmt.Fprintf(w, "    (%s; %s; seen %s, confidence %.2f)\n", place(hit.Lesson), hit.Severity, ago(s.now(), hit.LastOccurred), hit.Confidence)
			indented(w, shortened(first(hit.Solution, hit.Outcome, hit.Context)))
			printIf(w, "    %s\n", one.Like())
			explained(w, hit.Score, hit.Why)
		}
		if found.LeftOut > 0 {
			fmt.Fprintf(w, "\n%d more were too long to add.\n", found.LeftOut)
		}
	})
}

// place is where a lesson belongs.
func place(l lesson.Lesson) string {
	if l.Category == l.Domain {
		return clean(l.Domain)
	}
	return clean(l.Domain + "/" + l.Category)
}

var lessonTable = columns[lesson.Lesson]{
	"No lessons.",
	[]string{"NO", "TITLE", "TYPE", "DOMAIN", "SEVERITY", "LEVEL", "STATUS", "CONF", "SEEN", "LAST"},
	func(l lesson.Lesson) cells {
		return cells{
			l.Number, l.Title, l.Type, place(l), l.Severity, l.Level, lessonStanding(l),
			fmt.Sprintf("%.2f", l.Confidence), fmt.Sprintf("%d×", l.Occurrences), l.LastOccurred,
		}
	},
}

// printLesson prints everything that a lesson says, for people.
func (s *shell) printLesson(w io.Writer, l lesson.Lesson) {
	lessonTable.one(w, l)
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
	printIf(w, "superseded by %s\n", l.SupersededBy)
	sections(w, section{"Title", l.Title}, section{"Context", l.Context}, section{"Done", l.Action}, section{"Outcome", l.Outcome},
		section{"Root cause", l.RootCause}, section{"Solution", l.Solution}, section{"Instead", strings.Join(l.Alternatives, "\n")},
		section{"Commands", strings.Join(l.RelatedCommands, "\n")}, section{"Trigger", l.TriggerPattern}, section{"Files", strings.Join(l.RelatedFiles, "\n")},
		section{"Tags", strings.Join(l.Tags, ", ")}, section{"Drawn from", strings.Join(l.SourceCaseIDs, "\n")},
		section{"Validation", l.ValidationNotes}, section{"Body", l.Body})
}

// lessonStanding is a lesson's status, or that it waits for somebody to make a rule of it.
func lessonStanding(l lesson.Lesson) string {
	if l.Proposed && l.Status != lesson.StatusRetired {
		return "proposed"
	}
	return string(l.Status)
}

// names lists an enumeration for a flag's help.
func names[Name ~string](all []Name) string {
	return strings.Join(safetext.Strings(all), ", ")
}

func (s *shell) lessonsReview() *cobra.Command {
	var query lesson.ReviewQuery
	promotions := columns[lesson.Suggestion]{
		heads: []string{"NO", "TITLE", "LEVEL", "WHY"},
		cells: func(p lesson.Suggestion) cells {
			return cells{p.Number, p.Title, fmt.Sprintf("%s → %s", p.From, p.To), p.Why}
		},
	}
	stale := columns[lesson.Stale]{
		heads: []string{"NO", "TITLE", "LEVEL", "DAYS"},
		cells: func(l lesson.Stale) cells {
			return cells{l.Number, l.Title, l.Level, fmt.Sprintf("%.0f", l.Days)}
		},
	}
	return asks(s, command{
		use: "review", short: "List lessons that can be promoted, and those not validated for long",
		flags: s.flags(&query, "stale-days", "domain", "limit"),
	}, sends(lesson.Service.Review, &query), func(w io.Writer, review lesson.Review) {
		if len(review.Promotions)+len(review.Stale) == 0 {
			fmt.Fprintln(w, "Nothing needs your eye.")
			return
		}
		if len(review.Promotions) > 0 {
			fmt.Fprintln(w, "Can be promoted:")
			promotions.list(w, review.Promotions)
		}
		if len(review.Stale) > 0 {
			if len(review.Promotions) > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, "Not validated for long:")
			stale.list(w, review.Stale)
		}
		if most := cmp.Or(query.Limit, learning.DefaultListing); max(len(review.Promotions), len(review.Stale)) >= most {
			fmt.Fprintf(w, "There may be more: --limit %d\n", min(2*most, learning.MaxLimit))
		}
	})
}

func (s *shell) lessonsHistory() *cobra.Command {
	var ref string
	return asks(s, command{
		use: "history LESSON", short: "Show what happened to a lesson, oldest first", args: exactly(&ref),
	}, withID("lessons", lesson.Service.History, &ref), columns[lesson.Change]{
		heads: []string{"WHEN", "WHAT", "WHO", "MOVED", "NOTE"},
		cells: func(c lesson.Change) cells { return cells{c.At, c.Kind, c.Agent, moved(c), c.Note} },
	}.list)
}

// moved says what a change moved.
func moved(c lesson.Change) string {
	if c.After == nil {
		return ""
	}
	before := lesson.Snapshot{}
	if c.Before != nil {
		before = *c.Before
	}
	var parts []string
	step := func(from, to string) {
		switch {
		case to == "" || from == to:
		case from == "":
			parts = append(parts, to)
		default:
			parts = append(parts, from+" → "+to)
		}
	}
	step(string(before.Level), string(c.After.Level))
	step(string(before.Status), string(c.After.Status))
	from := ""
	if c.Before != nil {
		from = fmt.Sprintf("%.2f", before.Confidence)
	}
	step(from, fmt.Sprintf("%.2f", c.After.Confidence))
	return strings.Join(parts, ", ")
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
	var ref string
	draft := lesson.ValidationDraft{Type: lesson.ValidationConfirmed}
	return asks(s, command{
		use: "validate LESSON [JUDGEMENT] [NOTES...]", short: "Judge a lesson; its confidence moves with it",
		long:  "Judges a lesson. JUDGEMENT is " + names(lesson.ValidationTypes()) + "; confirmed if you say none.",
		args:  joined(1, &ref, (*string)(&draft.Type), &draft.Notes),
		flags: options{who("agent", &draft.By, s.person, "who judges (SKILLROUTER_AGENT, else you)").once("by")},
	}, withIDTo("lessons", lesson.Service.Validate, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsApply() *cobra.Command {
	var ref string
	var draft lesson.ApplicationDraft
	return asks(s, command{
		use: "apply LESSON OUTCOME [NOTES...]", short: "Say that a lesson was applied, and how it went",
		long:  "Says that a lesson was applied. OUTCOME is " + names(learning.Results()) + ".",
		args:  joined(2, &ref, (*string)(&draft.Outcome), &draft.Notes),
		flags: s.flags(&draft, "context", "agent"),
	}, withIDTo("lessons", lesson.Service.Apply, &ref, &draft), func(w io.Writer, applied lesson.Applied) {
		fmt.Fprintf(w, "lesson %d: confidence %.2f, was %.2f; applied %d times, %.0f%% with success\n",
			applied.LessonNumber, applied.NewConfidence, applied.PreviousConfidence, applied.TotalApplications, 100*applied.SuccessRate)
		if applied.Deprecated {
			fmt.Fprintln(w, "it has failed too often and was retired")
		}
	})
}

func (s *shell) lessonsPromote() *cobra.Command {
	var ref string
	var draft lesson.PromotionDraft
	return asks(s, command{
		use: "promote LESSON [NOTES...]", short: "Draw a pattern from cases, or raise a pattern to a principle", args: joined(1, &ref, &draft.Notes),
		long: `Draws a pattern from a case and another that is independent of it: a new lesson
that names its cases, which stay. Or raises a pattern to a principle, after three
successful applications in distinct contexts. A refusal says what is missing.
"lessons review" lists those that can be promoted.`,
		flags: options{
			option("source", &draft.Sources, "further lesson that it was drawn from; may be repeated"),
			option("title", &draft.Title, "title of the pattern that is drawn (default: the case's)"),
			who("agent", &draft.By, s.person, "who promotes it (SKILLROUTER_AGENT, else you)").once("by"),
		},
	}, withIDTo("lessons", lesson.Service.Promote, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsRetire() *cobra.Command {
	var ref string
	var draft lesson.RetirementDraft
	return asks(s, command{
		use: "retire LESSON REASON...", short: "Take a lesson out of use; it is kept with its history", args: joined(2, &ref, &draft.Reason),
		flags: options{
			option("superseded-by", &draft.SupersededBy, "the lesson that stands in its place"),
			who("agent", &draft.By, s.person, "who retires it (SKILLROUTER_AGENT, else you)").once("by"),
		},
	}, withIDTo("lessons", lesson.Service.Retire, &ref, &draft), lessonTable.one)
}

func (s *shell) lessonsRestore() *cobra.Command {
	var ref, note string
	return asks(s, command{
		use: "restore LESSON [NOTE...]", short: "Take a retired lesson back into use", args: joined(1, &ref, &note),
	}, withIDTo("lessons", lesson.Service.Restore, &ref, &note), lessonTable.one)
}

func (s *shell) lessonsEdit() *cobra.Command {
	var ref string
	var patch lesson.Patch
	var severity learning.Severity
	var instead, commands []string
	return asks(s, command{
		use: "edit LESSON --FIELD TEXT...", short: "Change what a lesson says; what it said stays in its history", args: exactly(&ref),
		flags: append(s.flags(&patch, "title", "category", "context", "outcome", "root-cause", "solution", "transferability"),
			optional("action", &patch.Action, "", "what was done"),
			given("instead", &patch.Alternatives, &instead, phrases("instead", &instead, "what to do instead, in place of all there is; may be repeated")),
			given("severity", &patch.Severity, &severity, choice("severity", &severity, learning.Severities(), "how grave it is")),
			optional("tag", &patch.Tags, nil, "tag, in place of all there are; may be repeated"),
			given("command", &patch.RelatedCommands, &commands, phrases("command", &commands, "command that it is about, in place of all there are; may be repeated")),
			optional("trigger", &patch.TriggerPattern, "", "of an anti_pattern: an RE2 expression over each command"),
		),
		before: changes(s, &patch, nil),
	}, withIDTo("lessons", lesson.Service.Edit, &ref, &patch), lessonTable.one)
}

package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// lessonView is what a model needs of a lesson.
type lessonView struct {
	ID              string              `json:"id"`
	Number          int64               `json:"number"`
	Type            learning.LessonType `json:"lesson_type"`
	Domain          string              `json:"domain"`
	Category        string              `json:"category"`
	Severity        learning.Severity   `json:"severity"`
	Level           lesson.Level        `json:"level"`
	Status          lesson.Status       `json:"status"`
	Title           string              `json:"title"`
	Context         string              `json:"context,omitempty"`
	Action          string              `json:"action_taken,omitempty"`
	Outcome         string              `json:"outcome,omitempty"`
	RootCause       string              `json:"root_cause,omitempty"`
	Solution        string              `json:"solution,omitempty"`
	Alternatives    []string            `json:"alternatives,omitempty"`
	RelatedCommands []string            `json:"related_commands,omitempty"`
	Body            string              `json:"body,omitempty"`
	Tags            []string            `json:"tags,omitempty"`
	Project         string              `json:"project,omitempty"`
	SourceAgent     string              `json:"source_agent"`
	Trust           learning.Trust      `json:"trust"`
	Confidence      float64             `json:"confidence"`
	Occurrences     int64               `json:"occurrence_count"`
	CreatedAt       time.Time           `json:"created_at"`
	Similarity      *float64            `json:"similarity,omitempty"` // of what was searched for, as the two below
	Recency         *float64            `json:"recency_score,omitempty"`
	RelevanceScore  *float64            `json:"relevance_score,omitempty"`
	Why             []learning.Reason   `json:"why,omitempty"`
	CutBytes        int                 `json:"cut_bytes,omitempty"` // of the texts, left out of this answer
}

type oneLesson struct {
	Lesson lessonView `json:"lesson"`
	Notice string     `json:"notice"`
}

type lessonPage struct {
	Lessons []lessonView `json:"lessons"`
	Next    string       `json:"next,omitempty"` // cursor of the next page
	Notice  string       `json:"notice,omitempty"`
}

// lessonListing is what list_lessons takes: of the statuses that a filter may name one.
type lessonListing struct {
	lesson.Filter
	status lesson.Status
}

// addLessonTools offers the two that every agent needs, and what looks after
// lessons, in the toolset for it.
func (s *Server) addLessonTools() {
	lessons := s.services.Lessons
	add(s, tool{
		name: "report_lesson", title: "Report a lesson", effect: adds, holds: "lesson_id",
		description: "Report what worked, what failed, or what nobody should do again (anti_pattern: its related_commands are stopped).",
	}, described[lesson.Draft]("lesson_type!", "domain!", "title!", "context!", "action_taken!", "outcome!", "category", "root_cause", "solution", "alternatives", "severity", "tags", "related_commands", "project"), then(func(ctx context.Context, d lesson.Draft) (lesson.Reported, error) {
		d.Category = cmp.Or(d.Category, d.Domain)
		return lessons.Report(ctx, d)
	}, reportedLesson))
	add(s, tool{
		name: "get_relevant_lessons", title: "Relevant lessons", effect: reads, holds: "results",
		description: "The lessons that fit a task. Ask before you begin it.",
	}, func(p *params, q *lesson.Query) {
		p.must("context", &q.Context, "The task")
		p.may("domain", &q.Domain, "")
		p.here(&q.PreferProject)
		p.may("max_results", &q.Limit, upTo(learning.MaxLimit, lesson.DefaultLimit))
		p.may("explain", &q.Explain, "")
		p.actor(&q.Agent)
	}, then(lessons.Relevant, func(found lesson.Results) (hits[lessonView], string) {
		out := hits[lessonView]{LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice}
		out.Results = views(found.Results, func(hit lesson.Hit) lessonView {
			one := shownLesson(hit.Lesson)
			one.Similarity, one.Recency, one.RelevanceScore, one.Why = &hit.Similarity, &hit.Recency, &hit.Score, hit.Why
			return one
		})
		return out, out.said(lessonEntry, "No lesson fits. Once you have learned something here, use report_lesson.", "best first", "lesson", "lessons")
	}))
	add(s, tool{
		name: "list_lessons", title: "List lessons", set: ToolsetLessons, effect: reads, holds: "lessons",
		description: "Lessons by what they are, newest first; retired ones only if asked for.",
	}, func(p *params, l *lessonListing) {
		p.may("lesson_type", &l.Type, "", among(learning.LessonTypes()...))
		p.may("domain", &l.Domain, "")
		p.may("category", &l.Category, "")
		p.may("severity", &l.Severity, "", among(learning.Severities()...))
		p.may("level", &l.Level, "", among(lesson.Levels()...))
		p.may("status", &l.status, "", among(lesson.Statuses()...))
		p.may("tag", &l.Tag, "")
		p.may("project", &l.Project, "")
		p.may("cursor", &l.Cursor, nextPage)
		p.limit(&l.Limit, learning.DefaultListing, learning.MaxLimit)
	}, then(func(ctx context.Context, l lessonListing) (lesson.Page, error) {
		if l.status != "" {
			l.Statuses = []lesson.Status{l.status}
		}
		return lessons.List(ctx, l.Filter)
	}, func(page lesson.Page) (lessonPage, string) {
		out := lessonPage{Lessons: views(page.Lessons, shownLesson), Next: page.Next}
		f := listing(out.Lessons, &out.Notice, lessonEntry, "There are no such lessons.", "%s, newest first.", count(len(out.Lessons), "lesson", "lessons"))
		if out.Next != "" && len(out.Lessons) > 0 {
			f.say("There are more: ask again with cursor %q.", out.Next)
		}
		return out, f.String()
	}))
	add(s, tool{
		name: "get_lesson", title: "One lesson", set: ToolsetLessons, effect: reads, holds: "lesson",
		description: "Everything that a lesson says.",
		resource: &resource{
			template: "memory://lessons/{id}", name: "lesson", description: "A lesson, by its id or number", arguments: []string{"lesson"},
			latest: func(ctx context.Context, offer func(name string, values ...string)) error {
				page, err := lessons.List(ctx, lesson.Filter{Limit: listedPerKind})
				for _, l := range page.Lessons {
					offer(": "+l.Title, l.ID)
				}
				return err
			},
		},
	}, whichLesson, then(lessons.Lesson, func(l lesson.Lesson) (oneLesson, string) {
		return changedLesson(l, "Lesson %d.", l.Number)
	}))
	add(s, tool{
		name: "validate_lesson", title: "Judge a lesson", set: ToolsetLessons, effect: adds, holds: "lesson",
		description: "Say whether a lesson holds; its confidence moves with it.",
	}, func(p *params, c *change[string, lesson.ValidationDraft]) {
		whichLesson(p, &c.id)
		p.must("validation_type", &c.draft.Type, "", among(lesson.ValidationTypes()...))
		p.may("notes", &c.draft.Notes, "Why")
		p.actor(&c.draft.By)
	}, func(ctx context.Context, c change[string, lesson.ValidationDraft]) (out oneLesson, text string, err error) {
		l, err := lessons.Validate(ctx, c.id, c.draft)
		if err == nil {
			out, text = changedLesson(l, "Judged %s; lesson %d has confidence %.2f now.", c.draft.Type, l.Number, l.Confidence)
		}
		return out, text, err
	})
	add(s, tool{
		name: "promote_lesson", title: "Promote a lesson", set: ToolsetLessons, effect: adds, holds: "lesson",
		description: "Draw a pattern, a new lesson, from two independent cases, which stay; or raise a pattern to a principle (three successful applications in distinct contexts). A refusal says which evidence is missing.",
	}, describedOne[string, lesson.PromotionDraft]("lesson!", theLesson, "source_case_ids", "title", "notes"), then(changing(lessons.Promote), func(l lesson.Lesson) (oneLesson, string) {
		return changedLesson(l, "Lesson %d is a %s now.", l.Number, l.Level)
	}))
	add(s, tool{
		name: "retire_lesson", title: "Retire a lesson", set: ToolsetLessons, effect: adds, holds: "lesson",
		description: "Take a lesson out of use. It is kept with its history and can be restored.",
	}, describedOne[string, lesson.RetirementDraft]("lesson!", theLesson, "reason!", "superseded_by"), then(changing(lessons.Retire), func(l lesson.Lesson) (oneLesson, string) {
		return changedLesson(l, "Lesson %d is retired.", l.Number)
	}))
	add(s, tool{
		name: "restore_lesson", title: "Restore a lesson", set: ToolsetLessons, effect: ensure, holds: "lesson",
		description: "Take a retired lesson back into use.",
	}, func(p *params, c *change[string, string]) {
		whichLesson(p, &c.id)
		p.may("note", &c.draft, "Why")
	}, then(changing(lessons.Restore), func(l lesson.Lesson) (oneLesson, string) {
		return changedLesson(l, "Lesson %d is in use again.", l.Number)
	}))
	s.addLessonReview()
}

// whichLesson is how every tool here names a lesson.
const theLesson = "Its id or number"

func whichLesson(p *params, lesson *string) { p.must("lesson", lesson, theLesson) }

// changedLesson is a lesson after what was done to it.
func changedLesson(l lesson.Lesson, format string, args ...any) (oneLesson, string) {
	out := oneLesson{shownLesson(l), notice}
	text := alone(&out.Lesson, lessonEntry, format, args...)
	return out, text
}

func reportedLesson(r lesson.Reported) (lesson.Reported, string) {
	var said strings.Builder
	if r.Duplicate {
		fmt.Fprintf(&said, "Known already as lesson %d (%s): occurrence %d was counted.", r.Number, visible(r.LessonID), r.Occurrences)
	} else {
		fmt.Fprintf(&said, "Recorded as lesson %d (%s).", r.Number, visible(r.LessonID))
	}
	if r.Patterns > 0 {
		fmt.Fprintf(&said, " It belongs to %s.", count(r.Patterns, "pattern", "patterns"))
	}
	if len(r.EscalatedTo) > 0 {
		fmt.Fprintf(&said, " Escalated to %s.", visible(strings.Join(r.EscalatedTo, ", ")))
	}
	said.WriteString(redacted(r.Redacted))
	for _, note := range r.Notes {
		fmt.Fprintf(&said, "\nNote: %s", visible(note))
	}
	return r, said.String()
}

// shownLesson copies what may be shortened later: a service may keep its own.
func shownLesson(l lesson.Lesson) lessonView {
	return lessonView{
		ID: l.ID, Number: l.Number, Type: l.Type, Domain: l.Domain, Category: l.Category, Severity: l.Severity, Level: l.Level, Status: l.Status,
		Title: l.Title, Context: l.Context, Action: l.Action, Outcome: l.Outcome, RootCause: l.RootCause, Solution: l.Solution,
		Alternatives: slices.Clone(l.Alternatives), RelatedCommands: slices.Clone(l.RelatedCommands), Body: l.Body, Tags: l.Tags,
		Project: l.Project, SourceAgent: l.SourceAgent, Trust: l.Trust, Confidence: l.Confidence, Occurrences: l.Occurrences, CreatedAt: l.CreatedAt,
	}
}

// Says is what a lesson that was found says, to be compared with what others say.
func (l *lessonView) Says() (s learning.Saying) {
	if l.RelevanceScore != nil {
		said := slices.Concat([]string{string(l.Type), l.Title, l.Context, l.Action, l.Outcome, l.RootCause, l.Solution, l.Body}, l.Alternatives, l.RelatedCommands)
		s = learning.Saying{ID: l.ID, Kind: "lesson", Where: l.Project + " " + l.Domain, Trust: l.Trust, Text: strings.Join(said, "\n")}
	}
	return s
}

func lessonEntry(l *lessonView) entry {
	texts := []*string{&l.Title, &l.Solution, &l.RootCause, &l.Outcome, &l.Context, &l.Action}
	texts = append(append(append(texts, each(l.Alternatives)...), each(l.RelatedCommands)...), &l.Body)
	return entry{texts, func(cut int) (string, []string) {
		l.CutBytes = cut
		label := fmt.Sprintf("lesson %d, %s, %s, %s %s, confidence %.2f, seen %d×, by %s, trust %q",
			l.Number, l.Type, l.Severity, l.Status, l.Level, l.Confidence, l.Occurrences, author(l.SourceAgent), string(l.Trust))
		if l.RelevanceScore != nil {
			label += fmt.Sprintf(", relevance %.3g", *l.RelevanceScore)
		}
		return label, []string{
			attributes("id", l.ID, "domain", l.Domain, "category", l.Category, "project", l.Project, "tags", strings.Join(l.Tags, ", ")),
			l.Title, part("Context", l.Context), part("Done", l.Action), part("Outcome", l.Outcome), part("Root cause", l.RootCause),
			part("Solution", l.Solution), part("Instead", strings.Join(l.Alternatives, "; ")), part("Commands", strings.Join(l.RelatedCommands, "; ")),
			l.Body, whyNote(l.Why), cutNote(cut),
		}
	}}
}

package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
)

type reportLesson struct {
	Type            learning.LessonType `json:"lesson_type"`
	Domain          string              `json:"domain"`
	Category        string              `json:"category"`
	Title           string              `json:"title"`
	Context         string              `json:"context"`
	Action          string              `json:"action_taken"`
	Outcome         string              `json:"outcome"`
	RootCause       string              `json:"root_cause"`
	Solution        string              `json:"solution"`
	Alternatives    []string            `json:"alternatives"`
	Severity        learning.Severity   `json:"severity"`
	Tags            []string            `json:"tags"`
	RelatedCommands []string            `json:"related_commands"`
	Project         string              `json:"project"`
}

type relevantLessons struct {
	Context string `json:"context"`
	Domain  string `json:"domain"`
	Limit   int    `json:"max_results"`
	Explain bool   `json:"explain"`
}

// lesson is what a model needs of a lesson.
type lesson struct {
	ID              string                `json:"id"`
	Number          int64                 `json:"number"`
	Type            learning.LessonType   `json:"lesson_type"`
	Domain          string                `json:"domain"`
	Category        string                `json:"category"`
	Severity        learning.Severity     `json:"severity"`
	Level           learning.Level        `json:"level"`
	Status          learning.LessonStatus `json:"status"`
	Title           string                `json:"title"`
	Context         string                `json:"context,omitempty"`
	Action          string                `json:"action_taken,omitempty"`
	Outcome         string                `json:"outcome,omitempty"`
	RootCause       string                `json:"root_cause,omitempty"`
	Solution        string                `json:"solution,omitempty"`
	Alternatives    []string              `json:"alternatives,omitempty"`
	RelatedCommands []string              `json:"related_commands,omitempty"`
	Body            string                `json:"body,omitempty"`
	Tags            []string              `json:"tags,omitempty"`
	Project         string                `json:"project,omitempty"`
	SourceAgent     string                `json:"source_agent"`
	Trust           learning.Trust        `json:"trust"`
	Confidence      float64               `json:"confidence"`
	Occurrences     int64                 `json:"occurrence_count"`
	CreatedAt       time.Time             `json:"created_at"`
	Similarity      *float64              `json:"similarity,omitempty"` // of what was searched for, as the two below
	Recency         *float64              `json:"recency_score,omitempty"`
	RelevanceScore  *float64              `json:"relevance_score,omitempty"`
	Why             []learning.Reason     `json:"why,omitempty"`
	CutBytes        int                   `json:"cut_bytes,omitempty"` // of the texts, left out of this answer
}

type lessonHits struct {
	Results   []lesson          `json:"results"`
	LeftOut   int               `json:"left_out,omitempty"` // found too, and over what the service answers at once
	Corrected map[string]string `json:"corrected,omitempty"`
	Degraded  string            `json:"degraded,omitempty"` // see knowledgeHits
	Notice    string            `json:"notice,omitempty"`
}

// addLessonTools offers the two that every agent needs; those that tend
// lessons are in a toolset of their own.
func (s *Server) addLessonTools() {
	add(s, tool{
		name: "report_lesson", title: "Report a lesson", effect: adds,
		description: "Report what worked, what failed, or what nobody should do again (anti_pattern: its related_commands are stopped).",
		input: arguments(
			required(oneOf("lesson_type", "", learning.LessonTypes()...)),
			required(text("domain", "")),
			required(text("title", "")),
			required(text("context", "")),
			required(text("action_taken", "")),
			required(text("outcome", "")),
			text("category", ""),
			text("root_cause", ""),
			text("solution", ""),
			texts("alternatives", "What to do instead"),
			oneOf("severity", "", learning.Severities()...),
			texts("tags", ""),
			texts("related_commands", ""),
			text("project", ""),
		),
		output: holds("lesson_id"),
	}, s.reportLesson)
	add(s, tool{
		name: "get_relevant_lessons", title: "Relevant lessons", effect: reads,
		description: "The lessons that fit a task. Ask before you begin it.",
		input: arguments(
			required(text("context", "The task")),
			text("domain", ""),
			upTo("max_results", "1–%d, default 10", learning.MaxLimit),
			boolean("explain", ""),
		),
		output: holds("results"),
	}, s.relevantLessons)
	s.addLessonTending()
}

func (s *Server) reportLesson(ctx context.Context, in reportLesson) (reply[learning.Reported], error) {
	if in.Category == "" {
		in.Category = in.Domain
	}
	reported, err := s.services.Lessons.Report(ctx, learning.LessonDraft{
		Type: in.Type, Domain: in.Domain, Category: in.Category, Title: in.Title, Context: in.Context, Action: in.Action,
		Outcome: in.Outcome, RootCause: in.RootCause, Solution: in.Solution, Alternatives: in.Alternatives, Severity: in.Severity,
		Tags: in.Tags, RelatedCommands: in.RelatedCommands, Project: in.Project, SourceAgent: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.Reported]{}, err
	}
	var said strings.Builder
	if reported.Duplicate {
		fmt.Fprintf(&said, "Known already as lesson %d (%s): occurrence %d was counted.", reported.Number, visible(reported.LessonID), reported.Occurrences)
	} else {
		fmt.Fprintf(&said, "Recorded as lesson %d (%s).", reported.Number, visible(reported.LessonID))
	}
	if reported.Patterns > 0 {
		fmt.Fprintf(&said, " It belongs to %s.", count(reported.Patterns, "pattern", "patterns"))
	}
	if len(reported.EscalatedTo) > 0 {
		fmt.Fprintf(&said, " Escalated to %s.", visible(strings.Join(reported.EscalatedTo, ", ")))
	}
	if len(reported.Redacted) > 0 {
		fmt.Fprintf(&said, " Secrets were cut out of it before it was stored: %s.", strings.Join(reported.Redacted, ", "))
	}
	for _, note := range reported.Notes {
		fmt.Fprintf(&said, "\nNote: %s", visible(note))
	}
	return reply[learning.Reported]{reported, said.String()}, nil
}

func (s *Server) relevantLessons(ctx context.Context, in relevantLessons) (reply[lessonHits], error) {
	found, err := s.services.Lessons.Relevant(ctx, learning.LessonQuery{
		Context: in.Context, Domain: in.Domain, Agent: s.actor(ctx, ""), Limit: in.Limit, Explain: in.Explain,
	})
	if err != nil {
		return reply[lessonHits]{}, err
	}
	out := lessonHits{Results: []lesson{}, LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice}
	for _, hit := range found.Results {
		shown := shownLesson(hit.Lesson)
		shown.Similarity, shown.Recency, shown.RelevanceScore = &hit.Similarity, &hit.Recency, &hit.Score
		shown.Why = hit.Why
		out.Results = append(out.Results, shown)
	}
	if len(out.Results) == 0 {
		return reply[lessonHits]{out, "No lesson fits. Once you have learned something here, use report_lesson." + corrections(out.Corrected) + degraded(out.Degraded)}, nil
	}
	out.Notice = notice
	f := newFence("Found %s, best first.%s%s%s", count(len(out.Results), "lesson", "lessons"), leftOut(out.LeftOut), corrections(out.Corrected), degraded(out.Degraded))
	f.addLessons(out.Results)
	return reply[lessonHits]{out, f.String()}, nil
}

// shownLesson copies what may be shortened later: a service may keep its own.
func shownLesson(l learning.Lesson) lesson {
	return lesson{
		ID: l.ID, Number: l.Number, Type: l.Type, Domain: l.Domain, Category: l.Category, Severity: l.Severity, Level: l.Level, Status: l.Status,
		Title: l.Title, Context: l.Context, Action: l.Action, Outcome: l.Outcome, RootCause: l.RootCause, Solution: l.Solution,
		Alternatives: slices.Clone(l.Alternatives), RelatedCommands: slices.Clone(l.RelatedCommands), Body: l.Body, Tags: l.Tags,
		Project: l.Project, SourceAgent: l.SourceAgent, Trust: l.Trust, Confidence: l.Confidence, Occurrences: l.Occurrences, CreatedAt: l.CreatedAt,
	}
}

// texts are what may be shortened of a lesson, what matters most first.
func (l *lesson) texts() []*string {
	list := []*string{&l.Title, &l.Solution, &l.RootCause, &l.Outcome, &l.Context, &l.Action}
	for i := range l.Alternatives {
		list = append(list, &l.Alternatives[i])
	}
	for i := range l.RelatedCommands {
		list = append(list, &l.RelatedCommands[i])
	}
	return append(list, &l.Body)
}

// addLessons shortens the lessons to what an answer may hold and appends them.
func (f *fence) addLessons(list []lesson) {
	texts := make([][]*string, len(list))
	for i := range list {
		texts[i] = list[i].texts()
	}
	for i, left := range fitTexts(texts) {
		list[i].CutBytes = left
	}
	f.explain()
	for i, l := range list {
		label := fmt.Sprintf("%d. lesson %d, %s, %s, %s %s, confidence %.2f, seen %d×, by %s, trust %q",
			i+1, l.Number, l.Type, l.Severity, l.Status, l.Level, l.Confidence, l.Occurrences, author(l.SourceAgent), string(l.Trust))
		if l.RelevanceScore != nil {
			label += fmt.Sprintf(", relevance %.3g", *l.RelevanceScore)
		}
		f.add(label,
			attributes("id", l.ID, "domain", l.Domain, "category", l.Category, "project", l.Project, "tags", strings.Join(l.Tags, ", ")),
			l.Title, part("Context", l.Context), part("Done", l.Action), part("Outcome", l.Outcome), part("Root cause", l.RootCause),
			part("Solution", l.Solution), part("Instead", strings.Join(l.Alternatives, "; ")), part("Commands", strings.Join(l.RelatedCommands, "; ")),
			l.Body, whyNote(l.Why), cutNote(l.CutBytes))
	}
}

// part is a text under its name, or nothing.
func part(name, text string) string {
	if text == "" {
		return ""
	}
	return name + ": " + text
}

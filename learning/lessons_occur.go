package learning

import (
	"fmt"
	"slices"

	"skillrouter"
)

// maxSuccessors bounds how far a line of superseded lessons is followed. Each
// stands for a rewording by a person.
const maxSuccessors = 64

// occur counts a report as another occurrence of a lesson that is there.
func (g *reporting) occur(tx PipelineTx, i int, known Lesson, sources []string) error {
	r, o := g.reports[i], &g.outcomes[i]
	lesson, err := successor(tx, known)
	if err != nil {
		return err
	}
	if lesson.ID != known.ID {
		o.Notes = append(o.Notes, fmt.Sprintf("%q was superseded by %q, of which this is counted as an occurrence", known.Title, lesson.Title))
	}
	if len(lesson.SourceCaseIDs) > 0 {
		sources = lesson.SourceCaseIDs
	} else if sources, err = resolveSources(tx, lesson.ID, sources); err != nil {
		return err
	}
	s := storing{report: r, outcome: i}
	before := snapshotOf(&lesson, g.at)
	if !lesson.active() && r.hearsay {
		return retiredAlready()
	}
	if !lesson.active() && r.lesson.active() {
		restore(&lesson)
		s.reworded = true
		o.Notes = append(o.Notes, "it was retired; it happened again, and is a candidate again")
		g.changes = append(g.changes, LessonChange{
			LessonID: lesson.ID, Kind: ChangeRestored, Agent: r.lesson.SourceAgent, Note: "it happened again", Before: before, After: snapshotOf(&lesson, g.at), At: g.at,
		})
		g.events = append(g.events, lessonEvent(EventLessonRestored, &lesson, r.lesson.SourceAgent, g.at, LessonEvent{Reason: "it happened again"}))
	}
	lesson.Occurrences++
	if g.at.After(lesson.LastOccurred) {
		lesson.LastOccurred = g.at
	}
	if g.at.After(lesson.UpdatedAt) {
		lesson.UpdatedAt = g.at
	}
	change := LessonChange{LessonID: lesson.ID, Kind: ChangeOccurred, Agent: r.lesson.SourceAgent, At: g.at}
	severity := lesson.Severity
	var was, became *LessonPatch
	var others []string
	if !r.hearsay {
		was, became, others = enrich(&lesson, &r.lesson)
	}
	s.milder = milder(severity, lesson.Severity)
	lesson.SourceCaseIDs = sources
	if was != nil {
		lesson.UpdatedAt, s.reworded = laterThan(lesson.UpdatedAt, g.at), true
		change.Before, change.After = snapshotOf(&lesson, g.at), snapshotOf(&lesson, g.at)
		change.Before.Patch, change.After.Patch = was, became
	}
	if len(others) > 0 {
		o.Notes = append(o.Notes, "the stored lesson says something else, and was left as it is, in: "+joined(others))
	}
	if err := tx.UpdateLesson(lesson, lesson.print()); err != nil {
		return err
	}
	s.lesson = lesson
	g.changes = append(g.changes, change)
	var escalate []Escalation
	if !r.hearsay {
		escalate = g.lessons.escalations.For(present(lesson, g.at))
	}
	g.note(i, s, EventLessonOccurred, escalate)
	return nil
}

// successor returns the lesson that stands in the place of a superseded one.
func successor(tx PipelineTx, lesson Lesson) (Lesson, error) {
	for range maxSuccessors {
		if lesson.active() || lesson.SupersededBy == "" {
			return lesson, nil
		}
		next, found, err := tx.LessonOf(lesson.SupersededBy)
		if err != nil {
			return lesson, err
		}
		if !found {
			return lesson, nil
		}
		lesson = next
	}
	return lesson, skillrouter.Errorf(skillrouter.Conflict, "this lesson was superseded more than %d times", maxSuccessors)
}

// enrich fills in what the lesson does not say from a report of it, and raises
// its severity to the report's. It returns what changed, nil if nothing did,
// and the fields in which the report says something that was not taken.
func enrich(lesson, report *Lesson) (was, became *LessonPatch, others []string) {
	was, became = &LessonPatch{}, &LessonPatch{}
	changed := false
	for _, f := range []struct {
		name           string
		have           *string
		says           string
		before, now    **string
		sameNormalised bool
	}{
		{"title", &lesson.Title, report.Title, &was.Title, &became.Title, true},
		{"category", &lesson.Category, report.Category, &was.Category, &became.Category, true},
		{"context", &lesson.Context, report.Context, &was.Context, &became.Context, false},
		{"action_taken", &lesson.Action, report.Action, &was.Action, &became.Action, false},
		{"outcome", &lesson.Outcome, report.Outcome, &was.Outcome, &became.Outcome, false},
		{"root_cause", &lesson.RootCause, report.RootCause, &was.RootCause, &became.RootCause, false},
		{"solution", &lesson.Solution, report.Solution, &was.Solution, &became.Solution, false},
		{"body", &lesson.Body, report.Body, &was.Body, &became.Body, false},
		{"trigger_pattern", &lesson.TriggerPattern, report.TriggerPattern, &was.TriggerPattern, &became.TriggerPattern, false},
	} {
		switch {
		case f.says == "" || f.says == *f.have || f.sameNormalised && fold(f.says) == fold(*f.have):
		case *f.have == "":
			empty, text := "", f.says
			*f.have, *f.before, *f.now, changed = f.says, &empty, &text, true
		default:
			others = append(others, f.name)
		}
	}
	for _, f := range []struct {
		name        string
		have        *[]string
		says        []string
		before, now **[]string
	}{
		{"alternatives", &lesson.Alternatives, report.Alternatives, &was.Alternatives, &became.Alternatives},
		{"tags", &lesson.Tags, report.Tags, &was.Tags, &became.Tags},
		{"related_files", &lesson.RelatedFiles, report.RelatedFiles, &was.RelatedFiles, &became.RelatedFiles},
		{"related_commands", &lesson.RelatedCommands, report.RelatedCommands, &was.RelatedCommands, &became.RelatedCommands},
	} {
		switch {
		case len(f.says) == 0 || slices.Equal(f.says, *f.have):
		case len(*f.have) == 0:
			empty, list := []string{}, f.says
			*f.have, *f.before, *f.now, changed = f.says, &empty, &list, true
		default:
			others = append(others, f.name)
		}
	}
	if len(lesson.Contexts) == 0 && len(report.Contexts) > 0 {
		lesson.Contexts, changed = report.Contexts, true
	}
	if worse(report.Severity, lesson.Severity) {
		old, now := lesson.Severity, report.Severity
		lesson.Severity, was.Severity, became.Severity, changed = now, &old, &now, true
	}
	if report.BlockAction && !lesson.BlockAction && lesson.Type == LessonAntiPattern {
		old, now := false, true
		lesson.BlockAction, was.BlockAction, became.BlockAction, changed = true, &old, &now, true
	}
	if !changed {
		return nil, nil, others
	}
	return was, became, others
}

// worse tells whether a is a worse severity than b.
func worse(a, b Severity) bool {
	return slices.Index(Severities(), a) < slices.Index(Severities(), b)
}

package lesson

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// maxSuccessors bounds how far a line of superseded lessons is followed. Each
// stands for a rewording by a person.
const maxSuccessors = 64

// maxSameTitle bounds the rules with one title that a report is compared with.
// There is more than one only where two say what cannot be said by one.
const maxSameTitle = 16

// oneRule tells whether a report may count as an occurrence of a stored lesson. Of rules it may
// if the stored one stops all that the report's would: whoever takes a title first must not keep others'
// rules out. Where agents may not make rules for others, they do not wake one of theirs by saying it again,
// and what a captain reports does not stay as confined as an agent's rule of the same title.
func (g *reporting) oneRule(tx PipelineTx, known Lesson, r *report) bool {
	rules := g.lessons.rules
	if rules == nil || r.lesson.Type != learning.LessonAntiPattern || known.Type != learning.LessonAntiPattern || r.untrusted {
		return true
	}
	if known.Proposed != r.lesson.Proposed { // a proposal neither moves a rule nor keeps one out
		return false
	}
	lesson, err := successor(tx, r.writer, known)
	if err != nil {
		return true // occur says so
	}
	confined := rules.Confined(lesson.ID)
	switch {
	case !rules.Confines(r.writer):
		if confined && r.lesson.stops() {
			return false
		}
	case !lesson.active() && lesson.stops():
		if !confined || !principal.SameVoice(lesson.SourceAgent, r.lesson.SourceAgent) {
			return false
		}
	}
	return rules.Covers(&lesson, &r.lesson)
}

// occur counts a report as another occurrence of a lesson that is there.
func (g *reporting) occur(tx PipelineTx, r *report, known Lesson, sources []string) error {
	o := &r.outcome
	lesson, err := successor(tx, r.writer, known)
	if err != nil {
		return err
	}
	if lesson.ID != known.ID {
		o.Notes = append(o.Notes, fmt.Sprintf("%q was superseded by %q, of which this is counted as an occurrence", known.Title, lesson.Title))
	}
	if len(lesson.SourceCaseIDs) > 0 {
		sources = lesson.SourceCaseIDs
	} else if sources, err = resolveSources(tx, r.writer, lesson.ID, sources); err != nil {
		return err
	}
	s := &storing{report: r}
	before := snapshotOf(&lesson, g.at)
	if !lesson.active() && r.untrusted {
		return retiredAlready()
	}
	other := r.named && !g.oneRule(tx, lesson, r) // the id, or what superseded the rule, says that it is this one
	if other {
		o.Notes = append(o.Notes, "the stored rule was left as it is, as it does not stop what yours does: report yours under an id of its own, or edit it")
	}
	if !lesson.active() && r.lesson.active() && !other {
		restore(&lesson)
		s.reworded = true
		o.Notes = append(o.Notes, "it was retired; it happened again, and is a candidate again")
		g.changes = append(g.changes, Change{
			LessonID: lesson.ID, Kind: ChangeRestored, Agent: r.lesson.SourceAgent, Note: "it happened again", Before: before, After: snapshotOf(&lesson, g.at), At: g.at,
		})
		g.events = append(g.events, lessonEvent(EventRestored, &lesson, r.lesson.SourceAgent, g.at, Event{Reason: "it happened again"}))
	}
	lesson.Occurrences++
	lesson.LastOccurred, lesson.UpdatedAt = learning.Later(lesson.LastOccurred, g.at), learning.Later(lesson.UpdatedAt, g.at)
	change := Change{LessonID: lesson.ID, Kind: ChangeOccurred, Agent: r.lesson.SourceAgent, At: g.at}
	severity := lesson.Severity
	var was, became *Patch
	var others []string
	if !r.untrusted && !other {
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
		o.Notes = append(o.Notes, "the stored lesson says something else, and was left as it is, in: "+strings.Join(others, ", "))
	}
	if err := tx.UpdateLesson(lesson, lesson.fingerprint()); err != nil {
		return err
	}
	s.lesson = lesson
	g.changes = append(g.changes, change)
	if !r.untrusted {
		s.escalate = g.lessons.escalations.For(present(lesson, g.at))
	}
	g.note(s, EventOccurred)
	return nil
}

// successor returns the lesson that stands in the place of a superseded one.
func successor(tx PipelineTx, by principal.Principal, lesson Lesson) (Lesson, error) {
	for range maxSuccessors {
		if lesson.active() || lesson.SupersededBy == "" {
			return lesson, nil
		}
		next, found, err := tx.LessonOf(lesson.SupersededBy)
		if err != nil {
			return lesson, err
		}
		if !found || !by.Sees(next.Project) {
			return lesson, nil
		}
		lesson = next
	}
	return lesson, errs.Errorf(errs.Conflict, "this lesson was superseded more than %d times", maxSuccessors)
}

// named are texts that say the same where they differ in case and white space alone.
var named = []string{"title", "category"}

// ofRule is what a rule of the guard is recognised by, and what it recommends. An occurrence changes nothing of it.
var ofRule = []string{"related_commands", "trigger_pattern", "action_taken", "alternatives", "solution"}

// enrich fills in what the lesson does not say from a report of it, and raises
// its severity to the report's; what a rule stops stays as it is. It
// returns what changed, nil if nothing did, and the fields in which the report
// says something that was not taken.
func enrich(lesson, report *Lesson) (was, became *Patch, others []string) {
	var fill Patch
	set, into, from := reflect.ValueOf(&fill).Elem(), reflect.ValueOf(lesson).Elem(), reflect.ValueOf(report).Elem()
	rule := lesson.Type == learning.LessonAntiPattern && report.Type == learning.LessonAntiPattern
	for i := range set.NumField() {
		about := set.Type().Field(i)
		field, _, _ := strings.Cut(about.Tag.Get("json"), ",")
		says := from.FieldByName(about.Name)
		if !says.IsValid() || says.Kind() != reflect.String && says.Kind() != reflect.Slice || about.Name == "Severity" {
			continue
		}
		switch have := into.FieldByName(about.Name); {
		case says.Len() == 0 || reflect.DeepEqual(have.Interface(), says.Interface()):
		case slices.Contains(named, field) && learning.Fold(says.String()) == learning.Fold(have.String()):
		case rule && field == "related_commands": // it stops them
		case have.Len() == 0 && !(rule && slices.Contains(ofRule, field)):
			set.Field(i).Set(says.Addr())
		case field == "title": // people look for it first
			others = append([]string{field}, others...)
		default:
			others = append(others, field)
		}
	}
	if worse(report.Severity, lesson.Severity) && !rule {
		fill.Severity = &report.Severity
	}
	was, became = patchLesson(lesson, fill, time.Time{})
	if len(lesson.Contexts) == 0 && len(report.Contexts) > 0 {
		lesson.Contexts = report.Contexts
		if was == nil {
			was, became = &Patch{}, &Patch{}
		}
	}
	return was, became, others
}

// worse tells whether a is a worse severity than b.
func worse(a, b learning.Severity) bool {
	return slices.Index(learning.Severities(), a) < slices.Index(learning.Severities(), b)
}

// maxAncestors bounds how many lessons are looked at to see that a lesson is
// not its own ancestor: a principle draws on some patterns, each on some cases.
const maxAncestors = 1024

// resolveSources returns the ids of the lessons that a lesson was drawn from.
// It is an Invalid error, naming source_case_ids, if one of them is not there,
// or if the lesson of that id would be its own ancestor.
func resolveSources(tx PipelineTx, by principal.Principal, id string, refs []string) ([]string, error) {
	ids := make([]string, 0, len(refs))
	var next []string
	for _, ref := range refs {
		source, found, err := tx.LessonOf(ref)
		switch {
		case err != nil:
			return nil, err
		case found && !by.Sees(source.Project):
			return nil, noSource(ref)
		case ref == id || found && source.ID == id:
			return nil, ownAncestor()
		case !found:
			return nil, noSource(ref)
		}
		if !slices.Contains(ids, source.ID) {
			ids = append(ids, source.ID)
			next = append(next, source.SourceCaseIDs...)
		}
	}
	seen := map[string]bool{}
	for len(next) > 0 {
		ref := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[ref] {
			continue
		}
		if ref == id {
			return nil, ownAncestor()
		}
		if seen[ref] = true; len(seen) > maxAncestors {
			return nil, errs.InvalidField("source_case_ids", "draw on more than %d lessons", maxAncestors)
		}
		ancestor, _, err := tx.LessonOf(ref)
		if err != nil {
			return nil, err
		}
		next = append(next, ancestor.SourceCaseIDs...)
	}
	return ids, nil
}

func noSource(ref string) error {
	return errs.InvalidField("source_case_ids", "names %q, which no lesson is called", ref)
}

func ownAncestor() error {
	return errs.InvalidField("source_case_ids", "would make the lesson its own ancestor")
}

// SourceOrder returns the order in which drafts are to be stored, so that each
// comes after those of the same call that it was drawn from, and otherwise as
// they were given; and which of them stand in a circle of sources, and cannot be stored.
func SourceOrder(drafts []Draft) (order []int, cyclic map[int]bool) {
	byID := map[string]int{}
	for i := range drafts {
		if _, there := byID[drafts[i].ID]; !there && drafts[i].ID != "" {
			byID[drafts[i].ID] = i
		}
	}
	cyclic = map[int]bool{}
	visited, place := make([]bool, len(drafts)), make([]int, len(drafts))
	var path []int // to the draft that is visited; place is where each stands in it, from 1
	var visit func(i int)
	visit = func(i int) {
		visited[i], path = true, append(path, i)
		place[i] = len(path)
		for _, ref := range drafts[i].SourceCaseIDs {
			j, there := byID[strings.TrimSpace(ref)]
			if there && !visited[j] {
				visit(j)
			} else if there && place[j] > 0 {
				for _, member := range path[place[j]-1:] {
					cyclic[member] = true
				}
			}
		}
		path, place[i], order = path[:len(path)-1], 0, append(order, i)
	}
	for i := range drafts {
		if !visited[i] {
			visit(i)
		}
	}
	return order, cyclic
}

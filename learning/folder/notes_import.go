package folder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/redact"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// NoteStep is what became, or would become, of a lesson that was read from notes.
type NoteStep struct {
	Line   int      `json:"line"`
	Last   int      `json:"last_line"`
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Action Action   `json:"action"` // agreed, report, edit, left or refused
	Why    string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// NotesResult is what became of a file of notes.
type NotesResult struct {
	DryRun bool           `json:"dry_run,omitempty"`
	Counts map[Action]int `json:"counts"`
	Steps  []NoteStep     `json:"lessons"`
	Unread []Unread       `json:"unread"`
}

// ImportNotes takes lessons that were read from notes to the router. One that
// is there from an earlier import is left alone; if its text differs from the
// notes', update takes theirs. A lesson that is refused is named, and stops no other.
func ImportNotes(ctx context.Context, service lesson.Service, notes Notes, update, dryRun bool) (NotesResult, error) {
	result := NotesResult{DryRun: dryRun, Counts: map[Action]int{}, Steps: make([]NoteStep, len(notes.Lessons)), Unread: notes.Unread}
	notes, cut := notes.redacted()
	var fresh []int
	for i, n := range notes.Lessons {
		step := &result.Steps[i]
		*step = NoteStep{Line: n.Line, Last: n.Last, ID: n.Draft.ID, Title: n.Draft.Title, Action: ActionReport}
		if cut[i] {
			step.Notes = []string{"secrets were cut out"}
		}
		lesson, err := service.Lesson(ctx, n.Draft.ID)
		switch errs.CodeOf(err) {
		case errs.NotFound:
			fresh = append(fresh, i)
			continue
		case "":
		case errs.Forbidden: // the token may read nothing at all
			return result, err
		default:
			if err := step.failed(err); err != nil {
				return result, err
			}
			continue
		}
		p, differ := notePatch(n.Draft, lesson)
		switch {
		case len(differ) == 0:
			step.Action = ActionAgreed
		case !update:
			step.Action, step.Why = ActionLeft, "the router's differs in "+strings.Join(differ, ", ")+"; --update takes the notes' text"
		default:
			step.Action, step.Why = ActionEdit, "differs in "+strings.Join(differ, ", ")
			if !dryRun {
				if _, err := service.Edit(ctx, lesson.ID, p); err != nil {
					if err := step.failed(err); err != nil {
						return result, err
					}
				}
			}
		}
	}
	for len(fresh) > 0 && !dryRun {
		batch, size := fresh, 0
		for k, i := range fresh {
			d := notes.Lessons[i].Draft
			if size += len(d.Context) + len(d.Solution) + len(d.Body); k > 0 && (k == chunk || size > chunkBytes) {
				batch = fresh[:k]
				break
			}
		}
		fresh = fresh[len(batch):]
		if err := reportNotes(ctx, service, notes, result.Steps, batch); err != nil {
			return result, err
		}
	}
	for _, step := range result.Steps {
		result.Counts[step.Action]++
	}
	return result, nil
}

// redacted is the notes without their secrets: what is recognised in one
// lesson is cut out of all that were read from the file. It tells which lessons changed.
func (n Notes) redacted() (clean Notes, cut []bool) {
	clean, cut = n, make([]bool, len(n.Lessons))
	clean.Lessons = slices.Clone(n.Lessons)
	var redaction redact.Redaction
	for i := range clean.Lessons {
		d := &clean.Lessons[i].Draft
		redaction.Text(&d.Title, &d.Context, &d.Action, &d.Outcome, &d.RootCause, &d.Solution, &d.Body)
	}
	for i := range clean.Lessons {
		is, was := &clean.Lessons[i].Draft, &n.Lessons[i].Draft
		cut[i] = is.Title != was.Title || is.Context != was.Context || is.Action != was.Action || is.Outcome != was.Outcome ||
			is.RootCause != was.RootCause || is.Solution != was.Solution || is.Body != was.Body
	}
	return clean, cut
}

func reportNotes(ctx context.Context, service lesson.Service, notes Notes, steps []NoteStep, batch []int) error {
	drafts := make([]lesson.Draft, len(batch))
	for k, i := range batch {
		drafts[k] = notes.Lessons[i].Draft
	}
	answer, err := service.ReportAll(ctx, drafts)
	switch code := errs.CodeOf(err); {
	case err == nil:
	case len(batch) > 1 && (code == errs.Invalid || code == errs.TooLarge): // one of them is at fault
		half := len(batch) / 2
		return cmp.Or(reportNotes(ctx, service, notes, steps, batch[:half]), reportNotes(ctx, service, notes, steps, batch[half:]))
	case code == errs.Forbidden: // the token may report nothing at all
		return err
	default:
		return steps[batch[0]].failed(err)
	}
	var lower []int
	for _, refusal := range answer.Refused {
		if refusal.Index < 0 || refusal.Index >= len(batch) {
			continue
		}
		i := batch[refusal.Index]
		step := &steps[i]
		if draft := &notes.Lessons[i].Draft; refusal.Field == "level" && draft.Level == lesson.LevelPrinciple { // for whoever is no captain
			draft.Level = lesson.LevelPattern
			step.Notes = append(step.Notes, "it reads like a principle, which a captain would have to import")
			lower = append(lower, i)
			continue
		}
		step.Action, step.Why = ActionRefused, refused(refusal)
	}
	for _, outcome := range answer.Results {
		if outcome.Index < 0 || outcome.Index >= len(batch) {
			continue
		}
		step := &steps[batch[outcome.Index]]
		step.Notes = append(step.Notes, outcomeNotes(outcome)...)
		if outcome.Duplicate {
			step.Action, step.Why = ActionAgreed, "the router has it already as "+outcome.LessonID+"; another occurrence was counted"
		}
	}
	if len(lower) > 0 {
		return reportNotes(ctx, service, notes, steps, lower)
	}
	return nil
}

// refused is a refusal of a bulk call in one sentence.
func refused(refusal learning.Refusal) string {
	return strings.TrimSpace(refusal.Field + " " + strings.TrimPrefix(refusal.Error, refusal.Field+" "))
}

// outcomeNotes is what the writer of a reported lesson should know.
func outcomeNotes(outcome lesson.BulkOutcome) []string {
	notes := append([]string(nil), outcome.Notes...)
	if len(outcome.Redacted) > 0 {
		notes = append(notes, "the router cut out secrets: "+strings.Join(outcome.Redacted, ", "))
	}
	return notes
}

// failed makes an error that concerns one lesson alone the step's outcome, and returns any other.
func (step *NoteStep) failed(err error) error {
	as := Step{}
	if err := as.failed(err); err != nil {
		return err
	}
	step.Action, step.Why = ActionRefused, as.Why
	return nil
}

// notePatch is how a lesson's texts differ from a note's, secrets apart, which the router cuts out.
func notePatch(d lesson.Draft, lesson lesson.Lesson) (p lesson.Patch, differ []string) {
	for _, f := range []struct {
		name, want, have string
		set              **string
	}{
		{"title", d.Title, lesson.Title, &p.Title},
		{"context", d.Context, lesson.Context, &p.Context},
		{"root_cause", d.RootCause, lesson.RootCause, &p.RootCause},
		{"solution", d.Solution, lesson.Solution, &p.Solution},
		{"action_taken", d.Action, lesson.Action, &p.Action},
		{"outcome", d.Outcome, lesson.Outcome, &p.Outcome},
		{"body", d.Body, lesson.Body, &p.Body},
	} {
		if want := redacted(f.want); want != f.have {
			differ = append(differ, f.name)
			*f.set = &want
		}
	}
	expect := lesson.UpdatedAt
	p.Expect = &expect
	return p, differ
}

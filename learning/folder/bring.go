package folder

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Lessons are what a folder asks of a lesson.Service.
type Lessons interface {
	Lesson(ctx context.Context, ref string) (lesson.Lesson, error)
	List(ctx context.Context, filter lesson.Filter) (lesson.Page, error)
	ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error)
}

// Action is what became, or would become, of a lesson.
type Action string

// The actions.
const (
	ActionAgreed  Action = "agreed"  // both sides say the same
	ActionReport  Action = "report"  // the router gets a new lesson
	ActionWrite   Action = "write"   // the folder gets what the router says
	ActionLeft    Action = "left"    // both sides have it and differ; nothing is done
	ActionRefused Action = "refused" // the file, or the lesson, could not be taken
)

// Step is what became, or would become, of one lesson.
type Step struct {
	ID     string   `json:"id,omitempty"`
	Path   string   `json:"path,omitempty"` // of its file
	Line   int      `json:"line,omitempty"` // of notes: its first and last line
	Last   int      `json:"last_line,omitempty"`
	Title  string   `json:"title,omitempty"`
	Action Action   `json:"action"`
	Why    string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"` // what else came of it
}

// Result is what became of an export or an import.
type Result struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Counts  map[Action]int `json:"counts"`
	Steps   []Step         `json:"lessons"` // all but those that agreed and of which there is nothing to say
	Skipped []Trouble      `json:"skipped,omitempty"`
	Unread  []Unread       `json:"unread,omitempty"` // of notes: lines that are in no lesson
	Index   bool           `json:"index_written,omitempty"`
}

// Options are how an export or an import is done.
type Options struct {
	DryRun bool   // say what would be done, and change nothing
	Domain string // of files that say none; empty: DefaultDomain
}

func newResult(options Options, scan Scan) Result {
	r := Result{DryRun: options.DryRun, Counts: map[Action]int{}, Steps: []Step{}, Skipped: scan.Skipped}
	for _, trouble := range scan.Refused {
		r.add(Step{ID: trouble.ID, Path: trouble.Path, Action: ActionRefused, Why: trouble.Why})
	}
	return r
}

func (r *Result) add(step Step) {
	r.Counts[step.Action]++
	if step.Action != ActionAgreed || len(step.Notes) > 0 {
		r.Steps = append(r.Steps, step)
	}
}

// failed makes an error that concerns one lesson alone the step's outcome, and returns any other.
func (step *Step) failed(err error) error {
	switch errs.CodeOf(err) {
	case errs.Conflict, errs.Invalid, errs.NotFound, errs.TooLarge, errs.Forbidden, errs.PassphraseNeeded:
		step.Action, step.Why = ActionRefused, reason(err)
		return nil
	}
	return err
}

// Export writes the router's lessons that have no file to a folder, and its index. A file that says something else is left
// as it is, and named: git merges what several people change.
func Export(ctx context.Context, dir *Dir, service Lessons, options Options, now time.Time) (Result, error) {
	scan, err := dir.Scan(options.Domain)
	if err != nil {
		return Result{}, err
	}
	lessons, err := all(ctx, service)
	if err != nil {
		return Result{}, err
	}
	result := newResult(options, scan)
	files, taken := map[string]*File{}, map[string]bool{}
	for i, f := range scan.Files {
		files[f.Draft.ID], taken[strings.ToLower(f.Path)] = &scan.Files[i], true
	}
	for _, trouble := range scan.Refused {
		taken[strings.ToLower(trouble.Path)] = true
		files[trouble.ID] = nil
	}
	for _, l := range lessons {
		d := Of(l)
		f, there := files[d.ID]
		step := Step{ID: d.ID, Path: FileName(d), Action: ActionWrite, Why: "has no file"}
		switch {
		case f != nil:
			step.Path, step.Action, step.Why = f.Path, ActionAgreed, ""
			if differ := differing(d, f.Draft); len(differ) > 0 {
				step.Action, step.Why = ActionLeft, "the file differs in "+strings.Join(names(differ), ", ")
			}
		case there && d.ID != "": // its file was refused, and says so
			continue
		case taken[strings.ToLower(step.Path)]:
			step.Action, step.Why = ActionRefused, "its file would be one that another lesson has"
		case !options.DryRun:
			text, err := Render(d)
			if err == nil {
				err = dir.write(step.Path, text)
			}
			if err == nil {
				taken[strings.ToLower(step.Path)] = true
				scan.Files = append(scan.Files, File{step.Path, d})
			} else if err := step.failed(err); err != nil {
				return result, err
			}
		}
		result.add(step)
	}
	if !options.DryRun {
		result.Index, err = dir.WriteIndex(dir.Index(scan.Files, now))
	}
	return result, err
}

// Import takes a folder's lessons to the router. One that is there and says something else is left as it is, and named. A
// lesson that the router refuses is named, and stops no other.
func Import(ctx context.Context, dir *Dir, service Lessons, options Options) (Result, error) {
	scan, err := dir.Scan(options.Domain)
	if err != nil {
		return Result{}, err
	}
	t := taking{service: service, options: options, result: newResult(options, scan)}
	for _, f := range scan.Files {
		t.items = append(t.items, &item{Step{ID: f.Draft.ID, Path: f.Path}, f.Draft})
	}
	return t.run(ctx)
}

// ImportNotes takes lessons that were read from notes to the router, as Import does. What is recognised as a secret in one
// lesson is cut out of all that were read from the file.
func ImportNotes(ctx context.Context, service Lessons, notes Notes, options Options) (Result, error) {
	t := taking{service: service, options: options, notes: true, result: newResult(options, Scan{})}
	t.result.Unread = notes.Unread
	var redaction redact.Redaction
	for _, n := range notes.Lessons {
		t.items = append(t.items, &item{Step{ID: n.Draft.ID, Line: n.Line, Last: n.Last, Title: n.Draft.Title}, n.Draft})
		d := &t.items[len(t.items)-1].draft
		redaction.Text(&d.Title, &d.Context, &d.Action, &d.Outcome, &d.RootCause, &d.Solution, &d.Body)
	}
	for i, n := range notes.Lessons {
		if one := t.items[i]; len(differing(one.draft, n.Draft)) > 0 {
			one.step.Notes = []string{"secrets were cut out"}
		}
	}
	return t.run(ctx)
}

// taking is an import under way.
type taking struct {
	service Lessons
	options Options
	notes   bool // notes say little of a lesson: what they do not say is no difference
	items   []*item
	result  Result
}

// item is a lesson that is to be taken.
type item struct {
	step  Step
	draft lesson.Draft
}

func (t *taking) run(ctx context.Context) (Result, error) {
	err := t.take(ctx)
	for _, one := range t.items {
		if one.step.Action != "" {
			t.result.add(one.step)
		}
	}
	return t.result, err
}

// take compares each lesson with the router's, and reports the new ones, each after those that it was drawn from.
func (t *taking) take(ctx context.Context) error {
	var fresh []*item
	for _, one := range t.items {
		known, err := t.service.Lesson(ctx, one.step.ID)
		switch {
		case errs.CodeOf(err) == errs.NotFound && t.options.DryRun:
			one.step.Action = ActionReport
		case errs.CodeOf(err) == errs.NotFound:
			fresh = append(fresh, one)
		case errs.CodeOf(err) == errs.Forbidden: // the token may read nothing at all
			return err
		case err == nil:
			t.compare(one, known)
		default:
			if err := one.step.failed(err); err != nil {
				return err
			}
		}
	}
	drafts := make([]lesson.Draft, len(fresh))
	for i, one := range fresh {
		drafts[i] = one.draft
	}
	var batch []*item
	size := 0
	order, _ := lesson.SourceOrder(drafts)
	for _, i := range order {
		d := &drafts[i]
		size += len(d.Context) + len(d.Solution) + len(d.Body)
		if len(batch) == chunk || len(batch) > 0 && size > chunkBytes {
			if err := t.report(ctx, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch = append(batch, fresh[i])
	}
	return t.report(ctx, batch)
}

// compare decides what becomes of a lesson that the router has.
func (t *taking) compare(one *item, known lesson.Lesson) {
	differ := slices.DeleteFunc(differing(clean(one.draft), Of(known)), func(k key) bool { return t.notes && !notesSay(k.name) })
	one.step.Action = ActionAgreed
	if len(differ) > 0 {
		one.step.Action, one.step.Why = ActionLeft, "the router's differs in "+strings.Join(names(differ), ", ")
	}
}

// notesSay tells the keys that notes say something of; the rest they guess.
func notesSay(name string) bool {
	return slices.Contains([]string{"title", "summary", "root_cause", "solution", "action_taken", "outcome", "body"}, name)
}

// clean is a draft as the router would keep it, without secrets.
func clean(d lesson.Draft) lesson.Draft {
	for _, text := range []*string{&d.Title, &d.Context, &d.Action, &d.Outcome, &d.RootCause, &d.Solution, &d.Body} {
		*text = redacted(*text)
	}
	return d
}

// chunk is how many lessons are reported in one call: an answer names at most
// learning.MaxRefusals that it refused. chunkBytes bounds a call's texts.
const (
	chunk      = learning.MaxRefusals
	chunkBytes = 4 << 20
)

// report takes new lessons to the router.
func (t *taking) report(ctx context.Context, batch []*item) error {
	if len(batch) == 0 {
		return nil
	}
	drafts := make([]lesson.Draft, len(batch))
	for i, one := range batch {
		drafts[i] = one.draft
	}
	answer, err := t.service.ReportAll(ctx, drafts)
	switch code := errs.CodeOf(err); {
	case err == nil:
	case len(batch) > 1 && (code == errs.Invalid || code == errs.TooLarge): // one of them is at fault
		half := len(batch) / 2
		if err := t.report(ctx, batch[:half]); err != nil {
			return err
		}
		return t.report(ctx, batch[half:])
	case code == errs.Forbidden: // the token may report nothing at all
		return err
	default:
		return batch[0].step.failed(err)
	}
	for _, one := range batch {
		one.step.Action = ActionReport
	}
	for _, refusal := range answer.Refused {
		if refusal.Index >= 0 && refusal.Index < len(batch) {
			step := &batch[refusal.Index].step
			step.Action, step.Why = ActionRefused, strings.TrimSpace(refusal.Field+" "+strings.TrimPrefix(refusal.Error, refusal.Field+" "))
		}
	}
	for _, outcome := range answer.Results {
		if outcome.Index < 0 || outcome.Index >= len(batch) {
			continue
		}
		step := &batch[outcome.Index].step
		step.Notes = append(step.Notes, outcome.Notes...)
		if len(outcome.Redacted) > 0 {
			step.Notes = append(step.Notes, "the router cut out secrets: "+strings.Join(outcome.Redacted, ", "))
		}
		if outcome.LessonID == step.ID {
			continue
		}
		for _, other := range t.items { // what was drawn from it names it as the router does
			for i, source := range other.draft.SourceCaseIDs {
				if source == step.ID {
					other.draft.SourceCaseIDs[i] = outcome.LessonID
				}
			}
		}
		if outcome.Duplicate {
			step.Action = ActionAgreed
			step.Notes = append(step.Notes, "the router has it already as "+outcome.LessonID+", which keeps its text; another occurrence was counted")
		}
	}
	return nil
}

func names(keys []key) (names []string) {
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}

// all lists every lesson, the retired ones too.
func all(ctx context.Context, service Lessons) ([]lesson.Lesson, error) {
	var lessons []lesson.Lesson
	filter := lesson.Filter{Statuses: lesson.Statuses(), Limit: learning.MaxLimit}
	for {
		page, err := service.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		lessons = append(lessons, page.Lessons...)
		if page.Next == "" {
			return lessons, nil
		}
		if page.Next == filter.Cursor {
			return nil, errs.Errorf(errs.Unavailable, "the router's listing does not move on")
		}
		filter.Cursor = page.Next
	}
}

package folder

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// Result is what became of bringing a folder and a router together.
type Result struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Counts  map[Action]int `json:"counts"`
	Steps   []Step         `json:"steps"` // all but those that agreed
	Skipped []Trouble      `json:"skipped,omitempty"`
	Index   bool           `json:"index_written"`
	Notes   []string       `json:"notes,omitempty"`
}

// Open tells whether something was refused, or awaits a decision.
func (r Result) Open() bool { return r.Counts[ActionRefused]+r.Counts[ActionConflict] > 0 }

// chunk is how many lessons are reported in one call: an answer names at most
// learning.MaxRefusals that it refused.
const chunk = learning.MaxRefusals

// chunkBytes bounds a call's texts, in bytes.
const chunkBytes = 4 << 20

// Sync brings a folder and a router together. What can be done is done: a
// lesson that one side refuses is named, and stops no other. An error means
// that the router or the folder could not be worked with; what was done until
// then is remembered.
func Sync(ctx context.Context, dir *Dir, service lesson.Service, settings Settings, now time.Time) (Result, error) {
	state, err := dir.ReadState()
	if err != nil {
		return Result{}, err
	}
	settings.Domain = cmp.Or(settings.Domain, state.Domain)
	scan, err := dir.Scan(settings.Domain)
	if err != nil {
		return Result{}, err
	}
	lessons, err := all(ctx, service)
	if err != nil {
		return Result{}, err
	}
	s := &syncing{
		dir: dir, service: service, settings: settings, state: state, taken: map[string]bool{},
		files: map[string]File{}, aliases: map[string]string{},
		result: Result{DryRun: settings.DryRun, Counts: map[Action]int{}, Steps: []Step{}, Skipped: scan.Skipped},
	}
	s.state.Domain = settings.Domain
	for _, f := range scan.Files {
		s.files[f.Entry.ID] = f
		s.taken[strings.ToLower(f.Path)] = true
	}
	for _, trouble := range scan.Refused {
		s.taken[strings.ToLower(trouble.Path)] = true
	}
	for id, agreed := range state.Lessons {
		if agreed.Lesson != "" {
			s.aliases[id] = agreed.Lesson
		}
	}
	steps := Plan(scan, lessons, state, settings)
	order(steps, lessons)
	if settings.DryRun {
		s.finish(steps)
		return s.result, nil
	}
	err = s.apply(ctx, steps)
	s.finish(steps)
	if saved := dir.writeState(s.state); saved != nil {
		if settings.Direction != ToRouter {
			return s.result, errors.Join(err, saved)
		}
		s.result.Notes = append(s.result.Notes, "what was agreed on could not be written to the folder: "+reason(saved))
	}
	if err == nil && settings.Direction != ToRouter {
		s.result.Index, err = dir.WriteIndex(dir.Index(slices.Collect(maps.Values(s.files)), now))
	}
	return s.result, err
}

// syncing is one Sync under way.
type syncing struct {
	dir      *Dir
	service  lesson.Service
	settings Settings
	state    State
	files    map[string]File   // by id, as they are now
	taken    map[string]bool   // paths in lower case
	aliases  map[string]string // the router's id by the file's, where it is another
	result   Result
}

// finish counts the steps and lists those that there is something to say of.
func (s *syncing) finish(steps []Step) {
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path)) })
	for _, step := range steps {
		s.result.Counts[step.Action]++
		if step.Action != ActionAgreed || len(step.Notes) > 0 {
			s.result.Steps = append(s.result.Steps, step)
		}
	}
}

// apply does the steps: reports first, in the order in which lessons rest on each other.
func (s *syncing) apply(ctx context.Context, steps []Step) error {
	var reports []*Step
	size := 0
	waiting := map[string]bool{}
	flush := func() error {
		err := s.report(ctx, reports)
		reports, size = nil, 0
		clear(waiting)
		return err
	}
	for i := range steps {
		step := &steps[i]
		if step.Action != ActionReport {
			continue
		}
		e := step.file.Entry
		// A source may turn out to be known by another id, and is reported before what names it.
		if slices.ContainsFunc(e.SourceCaseIDs, func(id string) bool { return waiting[id] }) {
			if err := flush(); err != nil {
				return err
			}
		}
		reports = append(reports, step)
		waiting[step.ID] = true
		if size += len(e.Body) + len(e.Summary) + len(e.Extra.Action) + len(e.Extra.Solution); len(reports) == chunk || size > chunkBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range steps {
		if err := s.one(ctx, &steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// one does a step that is no report. A refusal is the step's; only what would
// stop every other step too is an error.
func (s *syncing) one(ctx context.Context, step *Step) error {
	var err error
	switch step.Action {
	case ActionAgreed:
		if step.file != nil && step.lesson != nil {
			s.agree(step, *step.lesson)
		}
	case ActionEdit:
		err = s.edit(ctx, step)
	case ActionWrite:
		err = s.write(step)
	case ActionRetire:
		_, err = s.service.Retire(ctx, step.lesson.ID, lesson.RetirementDraft{Reason: "its file was deleted from the lessons folder"})
	}
	return step.failed(err)
}

// failed makes an error that concerns one lesson alone the step's outcome, and returns any other.
func (step *Step) failed(err error) error {
	switch errs.CodeOf(err) {
	case "":
		return nil
	case errs.Conflict:
		step.Action, step.Why = ActionConflict, reason(err)
	case errs.Invalid, errs.NotFound, errs.TooLarge, errs.Forbidden, errs.PassphraseNeeded:
		step.Action, step.Why = ActionRefused, reason(err)
	default:
		return err
	}
	return nil
}

// agree remembers that a file and a lesson stand for each other as they are.
func (s *syncing) agree(step *Step, lesson lesson.Lesson) {
	f, ok := s.files[step.ID]
	if !ok {
		return
	}
	router := Of(lesson)
	router.ID = step.ID
	agreed := Agreed{Path: f.Path, Folder: f.Entry.Hash(), Router: router.Hash()}
	if lesson.ID != step.ID {
		agreed.Lesson = lesson.ID
		s.aliases[step.ID] = lesson.ID
	}
	s.state.Lessons[step.ID] = agreed
}

// report takes new lessons to the router.
func (s *syncing) report(ctx context.Context, steps []*Step) error {
	if len(steps) == 0 {
		return nil
	}
	drafts := make([]lesson.Draft, len(steps))
	for i, step := range steps {
		drafts[i] = step.file.Entry.Draft()
		drafts[i].SourceCaseIDs = s.routerIDs(drafts[i].SourceCaseIDs)
	}
	answer, err := s.service.ReportAll(ctx, drafts)
	if err != nil {
		return err
	}
	heard := make([]bool, len(steps))
	for _, refusal := range answer.Refused {
		if refusal.Index >= 0 && refusal.Index < len(steps) {
			heard[refusal.Index] = true
			steps[refusal.Index].Action, steps[refusal.Index].Why = ActionRefused, refused(refusal)
		}
	}
	for _, outcome := range answer.Results {
		if outcome.Index < 0 || outcome.Index >= len(steps) || heard[outcome.Index] {
			continue
		}
		heard[outcome.Index] = true
		step := steps[outcome.Index]
		step.Notes = append(step.Notes, outcomeNotes(outcome)...)
		if outcome.LessonID != step.ID {
			step.Lesson = outcome.LessonID
		}
		if outcome.Duplicate {
			step.Notes = append(step.Notes, "the router has it already as "+outcome.LessonID+", which keeps its text; another occurrence was counted")
		}
		lesson, err := s.service.Lesson(ctx, outcome.LessonID)
		if err != nil {
			if err := step.failed(err); err != nil {
				return err
			}
			continue
		}
		s.agree(step, lesson)
	}
	for i, step := range steps {
		if !heard[i] {
			step.Action, step.Why = ActionRefused, "the router did not say what became of it"
		}
	}
	return nil
}

// write takes a lesson to its file.
func (s *syncing) write(step *Step) error {
	entry := Of(*step.lesson)
	entry.ID = step.ID
	for id, lesson := range s.aliases {
		for i, source := range entry.SourceCaseIDs {
			if source == lesson {
				entry.SourceCaseIDs = slices.Clone(entry.SourceCaseIDs)
				entry.SourceCaseIDs[i] = id
			}
		}
	}
	target := FileName(entry)
	if step.file != nil {
		target = step.file.Path
		if text, err := s.dir.read(target, MaxFile); err == nil {
			place, _, _ := strings.Cut(target, "/")
			level, _ := levelOf(place)
			if now, err := Parse(text, level, s.settings.Domain); err != nil || now.Hash() != step.file.Entry.Hash() {
				return errs.Errorf(errs.Conflict, "the file changed meanwhile")
			}
		}
		if sameText(step.file.Entry.Body, entry.Body) {
			entry.Body = step.file.Entry.Body // line ends and blank lines are the file's own
		}
		if step.file.Entry.Level != entry.Level {
			target = path.Join(places[entry.Level], path.Base(target))
		}
	}
	text, err := Render(entry)
	if err != nil {
		return err
	}
	moved := step.file != nil && target != step.file.Path
	if (step.file == nil || moved) && (s.taken[strings.ToLower(target)] || s.dir.exists(target)) {
		return errs.Errorf(errs.Conflict, "its file would be %s, which is another's", target)
	}
	if moved {
		if err := s.dir.move(step.file.Path, target); err != nil {
			return err
		}
		delete(s.taken, strings.ToLower(step.file.Path))
	}
	if err := s.dir.write(target, text); err != nil {
		return err
	}
	step.Path = target
	s.taken[strings.ToLower(target)] = true
	s.files[step.ID] = File{target, entry}
	s.agree(step, *step.lesson)
	return nil
}

// sameText compares without line ends, and blank space at the ends.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// all lists every lesson, the retired ones too.
func all(ctx context.Context, service lesson.Service) ([]lesson.Lesson, error) {
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

package lesson

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
)

// Report implements Service. It needs ScopeAgent.
//
// If a lesson has the draft's ID, that lesson occurred again. Otherwise it is
// known by its title in its domain, and a draft without an ID by its whole text
// too: who gives two lessons two ids knows that they are two. With an ID, a
// pattern or a principle may have the title of a lesson below its level, such as
// the case that it was drawn from. A rule and what is none are never one lesson:
// whoever reports an anti_pattern means it to be checked.
//
// An occurrence fills in what the stored lesson does not say and raises its
// severity to the report's; nothing that it says is overwritten, and of a rule
// nothing changes that it stops: a report that would stop more is a rule of its own. A retired
// lesson that occurs again is a candidate again or, if another stands in its
// place, an occurrence of that one.
func (l *Lessons) Report(ctx context.Context, draft Draft) (_ Reported, err error) {
	ctx, span := trace.StartMemory(ctx, "create_memory", "lesson")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx).Keeping()
	r, err := l.prepare(ctx, writer, draft, l.now.Stamp())
	if err != nil {
		return Reported{}, err
	}
	if err := l.ready(ctx); err != nil {
		return Reported{}, err
	}
	if err := l.report(ctx, &reporting{reports: []*report{r}}); err != nil {
		return Reported{}, err
	}
	return r.outcome.Reported, r.outcome.err
}

// report is a draft that was checked and redacted, with all that can be made
// of it before it is compared with what is stored.
type report struct {
	index     int // in the request
	writer    principal.Principal
	lesson    Lesson // as it is stored if it is new
	like      likeness.Of
	escalate  []Escalation // if it is new
	named     bool         // the client gave the id
	untrusted bool         // nobody vouches for it: it counts, and changes nothing that is there
	redacted  []string
	notes     []string

	outcome reportOutcome // when it was stored or refused
}

// prepare does all that a report costs and that need not wait for its turn.
func (l *Lessons) prepare(ctx context.Context, writer principal.Principal, draft Draft, at time.Time) (*report, error) {
	author, err := writer.SpeakingAs("source_agent", draft.SourceAgent)
	if err != nil {
		return nil, err
	}
	if err := checkGrant(writer, &draft); err != nil {
		return nil, err
	}
	unproven := untrusted(draft.Trust)
	if unproven {
		draft.temper()
	}
	imported := draft.LastValidatedAt != nil || draft.Status != "" && draft.Status != StatusCandidate
	if err := cmp.Or(checkDraft(&draft, at), writer.Into("project", &draft.Project), writer.NamesNone("id", draft.ID)); err != nil {
		return nil, err
	}
	r := &report{named: draft.ID != "", writer: writer, untrusted: unproven}
	draft.ID = cmp.Or(draft.ID, check.NewID())
	r.redacted = redactDraft(&draft)
	r.lesson = draft.lesson()
	r.lesson.SourceAgent, r.lesson.Trust, r.lesson.Confidence = author, learning.TrustOf(writer), *draft.Confidence
	r.lesson.Reporter = writer.Voice()
	r.lesson.Belief = Belief{InitialConfidence: *draft.Confidence, DecayConstant: DecayConstant, ConfidenceAt: at}
	r.lesson.Occurrences, r.lesson.LastOccurred, r.lesson.CreatedAt, r.lesson.UpdatedAt = 1, at, at, at
	r.lesson.Validated = draft.Status == StatusValidated || draft.Status == StatusCanonical
	if imported || unproven {
		r.lesson.Trust = learning.TrustImported
	}
	if draft.Status == StatusRetired {
		r.lesson.RetiredAt, r.lesson.RetiredReason = &at, "it was retired where it comes from"
	}
	if l.rules != nil && r.lesson.Type == learning.LessonAntiPattern {
		if r.notes, err = l.rules.CheckRule(ctx, r.lesson, draft.Force); err != nil {
			return nil, err
		}
		if r.lesson.Proposed {
			r.notes = append(r.notes, "it is proposed: no rule of the guard until another agent, or a captain, confirms it")
		}
	}
	r.like = likeness.Prepare(r.lesson.likenessParts())
	if !unproven {
		r.escalate = l.escalations.For(r.lesson)
	}
	return r, nil
}

// reporting is one transaction's reports, and what becomes of them.
type reporting struct {
	lessons *Lessons
	at      time.Time
	reports []*report
	aliases map[string]string // of a bulk call: ids that it gives to lessons that have another

	stored  []*storing
	changes []Change
	events  []eventlog.Event
}

type reportOutcome struct {
	Reported
	err error
}

// storing is a lesson as a report left it.
type storing struct {
	lesson   Lesson
	report   *report
	first    bool
	reworded bool              // an occurrence changed what the search sees of it
	milder   learning.Severity // what its severity was, if an occurrence made it worse
	escalate []Escalation
}

// report stores reports in one transaction. Without an error each has its outcome then.
func (l *Lessons) report(ctx context.Context, g *reporting) error {
	g.lessons, g.at = l, l.now.Stamp()
	err := l.store.Change(ctx, g.decide, g.announce)()
	if err != nil {
		g.forget()
	}
	return err
}

// forget takes out of the likeness what was to be stored and is not.
func (g *reporting) forget() {
	for _, s := range g.stored {
		if s.first {
			g.lessons.like.Remove(s.lesson.ID)
		}
	}
	g.stored, g.changes, g.events = nil, nil, nil
}

// decide says what becomes of each report beside what is stored, and stores it.
func (g *reporting) decide(tx PipelineTx) error {
	g.forget()
	for _, r := range g.reports {
		before := len(g.stored)
		if err := g.one(tx, r); err != nil {
			if errs.CodeOf(err) == errs.Internal || errs.CodeOf(err) == errs.StorageFull {
				return err
			}
			r.outcome.err = err // refused before anything of it was written
		}
		for _, s := range g.stored[before:] {
			if err := g.observe(tx, s); err != nil {
				return err
			}
		}
	}
	if err := tx.AddChange(g.changes...); err != nil {
		return err
	}
	return tx.AddEvents(g.events...)
}

// observe lets patterns form of a report before the next one is decided: what
// they are must not depend on which reports share a transaction.
func (g *reporting) observe(tx PipelineTx, s *storing) error {
	if g.lessons.patterns == nil || !s.lesson.active() || s.report.lesson.PatternID != "" {
		return nil // what was learned from a pattern forms no further one: it would count the same episodes twice
	}
	patterns, events, err := g.lessons.patterns.observe(tx, s.lesson, s.report.lesson.SourceAgent, s.first, g.at)
	if err != nil {
		return err
	}
	g.events = append(g.events, events...)
	o := &s.report.outcome
	if s.report.writer.Walled() {
		return nil // patterns gather what happened in any project
	}
	o.Patterns = len(patterns)
	for _, p := range patterns {
		o.PatternIDs = append(o.PatternIDs, p.ID)
	}
	return nil
}

// one decides one report.
func (g *reporting) one(tx PipelineTx, r *report) error {
	r.outcome = reportOutcome{Reported: Reported{Status: "recorded", Redacted: r.redacted, Notes: slices.Clone(r.notes)}}
	sources, err := resolveSources(tx, r.writer, r.lesson.ID, g.actual(r.lesson.SourceCaseIDs))
	if err != nil {
		return err
	}
	known, found, err := g.known(tx, r)
	if err != nil {
		return err
	}
	if found {
		if r.named && known.ID != r.lesson.ID && g.aliases != nil {
			g.aliases[r.lesson.ID] = known.ID
		}
		return g.occur(tx, r, known, sources)
	}
	lesson := r.lesson
	lesson.SourceCaseIDs = sources
	if err := tx.InsertLesson(&lesson, lesson.fingerprint()); err != nil {
		return err
	}
	g.lessons.like.Put(lesson.ID, r.like)
	g.note(&storing{lesson: lesson, report: r, first: true, escalate: r.escalate}, EventReported)
	g.changes = append(g.changes, Change{LessonID: lesson.ID, Kind: ChangeReported, Agent: lesson.SourceAgent, After: snapshotOf(&lesson, g.at), At: g.at})
	return nil
}

// actual returns the ids of lessons that the call named otherwise.
func (g *reporting) actual(refs []string) []string {
	if len(g.aliases) == 0 || len(refs) == 0 {
		return refs
	}
	refs = slices.Clone(refs)
	for i, ref := range refs {
		if id, known := g.aliases[ref]; known {
			refs[i] = id
		}
	}
	return refs
}

// known finds the lesson that a report is another occurrence of.
func (g *reporting) known(tx PipelineTx, r *report) (Lesson, bool, error) {
	if r.named {
		known, found, err := tx.LessonOf(r.lesson.ID)
		if err == nil && found && known.Domain != r.lesson.Domain {
			err = &errs.Error{Code: errs.Conflict, Field: "id", Message: "a lesson of another domain has this id"}
		}
		if err != nil || found {
			return known, found, err
		}
	}
	known, found, err := g.byFingerprint(tx, r)
	if found && r.named && slices.Index(Levels(), r.lesson.Level) > slices.Index(Levels(), known.Level) {
		found = false
	}
	if err != nil || found || r.named {
		return known, found, err
	}
	for _, hit := range g.lessons.like.Like(r.like, likeness.LikeFilter{Domain: r.lesson.Domain, Types: []learning.LessonType{r.lesson.Type}, Self: r.lesson.ID}) {
		if hit.Text < likeness.Duplicate {
			continue
		}
		known, found, err := tx.LessonOf(hit.ID)
		if err != nil {
			return known, false, err
		}
		if found && r.writer.Sees(known.Project) && known.Domain == r.lesson.Domain && known.Type == r.lesson.Type && g.oneRule(tx, known, r) {
			r.outcome.Notes = append(r.outcome.Notes, fmt.Sprintf("it says nearly the same as %q, and counts as another occurrence of that", known.Title))
			return known, true, nil
		}
	}
	return Lesson{}, false, nil
}

// byFingerprint finds the lesson with a report's fingerprint that was reported first.
// Of rules, it is the first that stops what the report's would.
func (g *reporting) byFingerprint(tx PipelineTx, r *report) (Lesson, bool, error) {
	all, err := tx.LessonsByFingerprint(r.lesson.fingerprint(), maxSameTitle)
	if err != nil {
		return Lesson{}, false, err
	}
	for _, known := range all {
		if r.writer.Sees(known.Project) && g.oneRule(tx, known, r) {
			return known, true, nil
		}
	}
	return Lesson{}, false, nil
}

// note tells of a report that was stored or counted.
func (g *reporting) note(s *storing, event string) {
	o := &s.report.outcome
	o.LessonID, o.Number, o.Occurrences, o.Duplicate = s.lesson.ID, s.lesson.Number, s.lesson.Occurrences, !s.first
	o.EscalatedTo = EscalatedTo(s.escalate)
	agent := cmp.Or(s.report.writer.AgentID, s.report.lesson.SourceAgent)
	g.stored = append(g.stored, s)
	g.events = append(g.events, lessonEvent(event, &s.lesson, agent, g.at, Event{Escalate: s.escalate, Milder: s.milder}))
}

// byNumber compares lessons by when they were reported.
func byNumber(a, b Lesson) int { return cmp.Compare(a.Number, b.Number) }

// announce keeps the index and the rules in step with what was committed.
func (g *reporting) announce() {
	var fresh []Lesson
	for _, s := range g.stored {
		if s.first {
			fresh = append(fresh, s.lesson)
		}
	}
	g.lessons.took(fresh, g.at)
	for _, s := range g.stored {
		if !s.first {
			now := present(s.lesson, g.at)
			g.lessons.keep(&now, &now, s.reworded)
		}
	}
}

// lessonEvent makes the event of a change to a lesson as it is after it.
func lessonEvent(kind string, lesson *Lesson, agent string, at time.Time, data Event) eventlog.Event {
	data.Number, data.Type, data.Domain, data.Title = lesson.Number, lesson.Type, lesson.Domain, lesson.Title
	data.Severity, data.Level, data.Confidence = lesson.Severity, lesson.Level, lesson.At(at)
	return eventlog.Event{Type: kind, Subject: lesson.ID, Agent: agent, Project: lesson.Project, At: at}.With(data)
}

// Bounds of a bulk call of lessons. A group is one write: large enough to share
// a commit's cost, small enough that other writers hardly wait, because each
// lesson is compared with what is stored and may form patterns.
const (
	lessonGroup = 128
	groupBytes  = 1 << 20
)

// ReportAll implements Service. It needs ScopeAgent. source_case_ids may
// name lessons of the same call by the ids that it gives them, whatever their
// order. Beside an error the answer tells what was stored before it, which stays.
func (l *Lessons) ReportAll(ctx context.Context, drafts []Draft) (BulkReported, error) {
	writer := principal.Of(ctx)
	err := writer.Need(principal.ScopeAgent)
	if err == nil {
		err = l.ready(ctx)
	}
	var done []*report // what was stored or refused
	if err == nil {
		done, err = l.reportAll(ctx, writer, drafts)
	}
	slices.SortFunc(done, func(x, y *report) int { return cmp.Compare(x.index, y.index) })
	result := BulkReported{Results: []BulkOutcome{}, Refused: []learning.Refusal{}}
	for _, r := range done {
		o := r.outcome
		switch {
		case o.err == nil:
			if o.Duplicate {
				result.Duplicates++
			}
			result.Results = append(result.Results, BulkOutcome{Index: r.index, Reported: o.Reported})
		case result.RefusedCount < learning.MaxRefusals:
			result.Refused = append(result.Refused, learning.Refusal{Index: r.index, Field: errs.FieldOf(o.err), Error: learning.Sentence(o.err)})
			fallthrough
		default:
			result.RefusedCount++
		}
	}
	result.Processed = len(result.Results)
	return result, err
}

// reportAll stores drafts a group at a time, and returns those that were stored or refused.
func (l *Lessons) reportAll(ctx context.Context, writer principal.Principal, drafts []Draft) ([]*report, error) {
	order, cyclic := SourceOrder(drafts)
	at, aliases := l.now.Stamp(), map[string]string{}
	var done, group []*report
	size := 0
	for n, i := range order {
		r, err := l.prepare(ctx, writer, drafts[i], at)
		if cyclic[i] {
			err = ownAncestor()
		}
		switch {
		case errs.CodeOf(err) == errs.Internal:
			return done, err
		case err != nil:
			done = append(done, &report{index: i, outcome: reportOutcome{err: err}})
		default:
			r.index = i
			group, size = append(group, r), size+lessonSize(&r.lesson)
		}
		if last := n == len(order)-1; len(group) == lessonGroup || size >= groupBytes || last && len(group) > 0 {
			if err := l.report(ctx, &reporting{reports: group, aliases: aliases}); err != nil {
				return done, err
			}
			done, group, size = append(done, group...), nil, 0
		}
	}
	return done, nil
}

package lesson

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
)

// Take takes in lessons of another router as they are: none is merged with
// another that is like it, no pattern forms, nobody is told. An anti_pattern
// that is in use is a guard rule from then on. It needs ScopeCaptain.
func (l *Lessons) Take(ctx context.Context, lessons []Lesson, t learning.Taking) ([]learning.Taken, error) {
	by, at := principal.Of(ctx), l.now.Stamp()
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	return learning.Taker[Lesson, Lesson, PipelineTx]{
		ID: func(lesson *Lesson) string { return lesson.ID },
		Check: func(lesson Lesson) (Lesson, error) {
			ready, err := l.takeLesson(ctx, lesson, at)
			ready.Trust = learning.TrustOfTaken(by)
			return ready, err
		},
		Change: l.store.Change,
		Put: func(tx PipelineTx, _ int, lesson *Lesson) (bool, error) {
			if _, there, err := tx.LessonOf(lesson.ID); err != nil || there {
				return there, err
			}
			if err := tx.InsertLesson(lesson, lesson.fingerprint()); err != nil {
				return false, err
			}
			change := Change{LessonID: lesson.ID, Kind: learning.ChangeImported, Agent: by.AgentID, After: snapshotOf(lesson, at), At: at}
			if err := tx.AddChange(change); err != nil {
				return false, err
			}
			return false, tx.AddEvents(lessonEvent(learning.EventLessonImported, lesson, by.AgentID, at, Event{}))
		},
		Stored: func(stored []Lesson) { l.took(stored, at) },
	}.Take(ctx, lessons, t)
}

// took keeps what is in memory in step with new lessons that were stored.
func (l *Lessons) took(stored []Lesson, at time.Time) {
	var active, rules []Lesson
	for _, lesson := range stored {
		if _, there := l.like.WordsOf(lesson.ID); !there {
			l.like.Put(lesson.ID, likeness.Prepare(lesson.likenessParts()))
		}
		if lesson.active() {
			active = append(active, lesson)
		}
		if lesson.Type == learning.LessonAntiPattern {
			rules = append(rules, present(lesson, at))
		}
	}
	l.Put(active...)
	if l.rules != nil && len(rules) > 0 {
		l.rules.KeepRules(rules...)
	}
}

func (l *Lessons) takeLesson(ctx context.Context, given Lesson, at time.Time) (Lesson, error) {
	if err := cmp.Or(checkID("id", given.ID), learning.CheckAuthor("source_agent", given.SourceAgent)); err != nil {
		return given, err
	}
	draft := given.Draft()
	if err := checkDraft(&draft, at); err != nil {
		return given, err
	}
	if err := cmp.Or(
		checkBelief(given.Belief),
		learning.CheckFigures("occurrence_count", given.Occurrences, "times_applied", given.TimesApplied, "times_succeeded", given.TimesSucceeded),
		check.Names("validated_by", given.ValidatedBy, "pattern_id", given.PatternID, "superseded_by", given.SupersededBy),
		check.Texts(MaxText, "validation_notes", given.ValidationNotes, "retired_reason", given.RetiredReason),
	); err != nil {
		return given, err
	}
	redactDraft(&draft)
	draft.SourceAgent, draft.PatternID, draft.Trust, draft.LastValidatedAt = given.SourceAgent, given.PatternID, learning.TrustImported, learning.CopyTime(given.LastValidatedAt)
	e := given
	overlay.Copy(&e, &draft)
	var c redact.Redaction
	c.Text(&e.ValidationNotes, &e.RetiredReason)
	e.Number, e.Reporter, e.Validator, e.RetiredAt = 0, "", "", learning.CopyTime(given.RetiredAt)
	e.Occurrences, e.TimesSucceeded = max(given.Occurrences, 1), min(given.TimesSucceeded, given.TimesApplied)
	e.Deprecated = given.Deprecated && given.Status == StatusRetired
	learning.Moments(at, at, &e.CreatedAt)
	learning.Moments(at, e.CreatedAt, &e.UpdatedAt, &e.LastOccurred, &e.ConfidenceAt)
	learning.OptionalMoments(at, e.LastValidatedAt, e.RetiredAt)
	if e.Status == StatusRetired && e.RetiredAt == nil {
		e.RetiredAt, e.RetiredReason = &at, "it was retired where it comes from"
	}
	e.Confidence = e.At(at)
	if l.rules != nil && e.Type == learning.LessonAntiPattern && e.active() {
		if _, err := l.rules.CheckRule(ctx, e, false); err != nil {
			return given, err
		}
	}
	return e, nil
}

// Take takes in patterns of another router, with what of their evidence is
// here: lessons and episodes are to be taken in before. It needs ScopeCaptain.
func (p *Patterns) Take(ctx context.Context, records []PatternRecord, t learning.Taking) ([]learning.Taken, error) {
	by, at := principal.Of(ctx), p.now.Stamp()
	return learning.Taker[PatternRecord, Pattern, PipelineTx]{
		ID:     func(record *PatternRecord) string { return record.ID },
		Check:  func(record PatternRecord) (Pattern, error) { return takePattern(record.Pattern, at) },
		Change: p.store.Change,
		Put: func(tx PipelineTx, i int, pattern *Pattern) (bool, error) {
			if _, there, err := tx.PatternOf(pattern.ID); err != nil || there {
				return there, err
			}
			evidence, err := carriedEvidence(tx, *pattern, records[i])
			if err != nil {
				return false, err
			}
			if err := settleMade(tx, pattern, evidence); err != nil {
				return false, err
			}
			if err := tx.InsertPattern(pattern); err != nil {
				return false, err
			}
			if _, err := tx.AddEvidence(pattern.ID, evidence...); err != nil {
				return false, err
			}
			return false, tx.AddEvents(eventlog.Event{Type: learning.EventPatternImported, Subject: pattern.ID, Agent: by.AgentID, At: at})
		},
		Stored: func(stored []Pattern) {
			for i := range stored {
				p.represent(&stored[i])
			}
		},
	}.Take(ctx, records, t)
}

// carriedEvidence returns what of a pattern's evidence is here, the latest last.
func carriedEvidence(tx PipelineTx, pattern Pattern, record PatternRecord) (evidence []Evidence, err error) {
	for _, id := range slices.Backward(record.LessonIDs) {
		lesson, there, err := tx.LessonOf(id)
		if err != nil {
			return nil, err
		}
		if there {
			evidence = append(evidence, Evidence{Kind: EvidenceLesson, Ref: lesson.ID, Agent: lesson.SourceAgent, At: lesson.CreatedAt})
		}
	}
	numbers, err := tx.EpisodeNumbers(record.Episodes)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(record.Episodes) {
		if number, there := numbers[id]; there {
			evidence = append(evidence, Evidence{Kind: EvidenceEpisode, Ref: strconv.FormatInt(number, 10), At: pattern.LastSeen})
		}
	}
	return evidence, nil
}

// takeMade checks what the experience server's clients see of a pattern, and makes it of a
// pattern of episodes that comes from a router of before. The numbers of its
// episodes are another router's: settleMade gives it those that they have here.
func takeMade(p *Pattern) error {
	kinds := []PatternType{PatternSuccess, PatternFailure, PatternCorrelation}
	if !slices.Contains(kinds, p.Type) {
		p.Made = nil
		return nil
	}
	made := PatternAsMade{Type: p.Type, Description: p.Description, Frequency: p.Frequency, InitialConfidence: p.InitialConfidence}
	if p.Made != nil {
		made = *p.Made
	}
	made.EpisodeIDs, p.Made = []int64{}, &made
	if err := cmp.Or(
		check.OneOf("as_made.pattern_type", made.Type, kinds),
		check.Text("as_made.description", made.Description, MaxText),
		learning.CheckFigures("as_made.frequency", made.Frequency),
	); err != nil {
		return err
	}
	return check.Range("as_made.initial_confidence", made.InitialConfidence, 0, 1e6)
}

// settleMade finishes what takeMade began: here another pattern may stand for the type already.
func settleMade(tx PipelineTx, p *Pattern, evidence []Evidence) error {
	if p.Made == nil {
		return nil
	}
	if p.OperationType != "" {
		_, there, err := tx.OperationPattern(p.OperationType)
		if err != nil {
			return err
		}
		if there {
			p.Made, p.Status = nil, PatternDeprecated
			return nil
		}
	}
	made := *p.Made // a transaction may run twice
	made.EpisodeIDs = []int64{}
	for _, e := range slices.Backward(evidence) {
		if e.Kind == EvidenceEpisode {
			number, err := strconv.ParseInt(e.Ref, 10, 64)
			if err != nil {
				return err
			}
			made.EpisodeIDs = append(made.EpisodeIDs, number)
		}
	}
	p.Made = &made
	return nil
}

func takePattern(p Pattern, at time.Time) (Pattern, error) {
	if err := cmp.Or(
		checkID("id", p.ID),
		check.OneOf("pattern_type", p.Type, PatternTypes()),
		check.OneOf("status", p.Status, PatternStatuses()),
		check.Texts(MaxText, "pattern_name", p.Name, "description", p.Description, "recommended_action", p.Action, "command", p.Command),
		check.Names("domain", p.Domain, "operation_type", p.OperationType, "confirmed_by", p.ConfirmedBy, "representative", p.Representative),
	); err != nil {
		return p, err
	}
	for _, items := range []struct {
		field string
		list  *[]string
	}{{"categories", &p.Categories}, {"prevention_steps", &p.Prevention}, {"why", &p.Why}, {"lesson_ids", &p.LessonIDs}} {
		*items.list = defaults.List(slices.Clone(*items.list))
		if len(*items.list) > MaxEvidence {
			return p, errs.InvalidField(items.field, "holds more than %d", MaxEvidence)
		}
		for _, item := range *items.list {
			if err := check.Text(items.field, item, MaxListItem); err != nil {
				return p, err
			}
		}
	}
	if err := cmp.Or(
		checkBelief(p.Belief),
		check.Range("discrimination_weight", p.Weight, 0, 1e6),
		check.Range("action_confidence", p.ActionConfidence, 0, 1),
		learning.CheckFigures("occurrence_count", p.Frequency, "lesson_count", p.Lessons, "agent_count", p.Agents,
			"times_applied", p.TimesApplied, "times_succeeded", p.TimesSucceeded),
	); err != nil {
		return p, err
	}
	if p.Status == PatternConfirmed && p.Type == PatternAntiPattern {
		p.Status, p.ConfirmedBy, p.ConfirmedAt = PatternEmerging, "", nil // it would block what somebody here does: somebody here confirms it
	}
	if err := takeMade(&p); err != nil {
		return p, err
	}
	var c redact.Redaction
	c.Text(&p.Name, &p.Description, &p.Action, &p.Command)
	if p.Made != nil {
		c.Text(&p.Made.Description)
	}
	c.List(p.Categories, p.Prevention, p.Why)
	p.ConfirmedAt, p.LastValidated = learning.CopyTime(p.ConfirmedAt), learning.CopyTime(p.LastValidated)
	learning.Moments(at, at, &p.CreatedAt)
	learning.Moments(at, p.CreatedAt, &p.UpdatedAt, &p.FirstSeen, &p.LastSeen, &p.ConfidenceAt)
	learning.OptionalMoments(at, p.ConfirmedAt, p.LastValidated)
	return p, nil
}

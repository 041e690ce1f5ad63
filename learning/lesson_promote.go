package learning

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
)

// What a promotion needs (seed 001, "Promotion lifecycle").
const (
	// PromotionCases is how many independent cases make a pattern.
	PromotionCases = 2
	// PromotionContexts is in how many distinct contexts a pattern must have been applied with success to be a principle.
	PromotionContexts = 3

	maxPromotionCases        = MaxListItems // cases that are looked at: as many as a lesson can name
	maxPromotionApplications = 1000         // applications that are looked at, the latest
	maxNamed                 = 5            // pieces of evidence that a message names
)

var _ LessonService = (*Lessons)(nil)

// Promote implements LessonService. It needs ScopeAgent; no scope stands in
// for the evidence:
//   - A case becomes a pattern with PromotionCases independent cases. The lesson
//     itself counts, the cases it was drawn from, those that the draft names, and those
//     that a pattern gathers with it. Cases are independent if they come from different
//     agents, projects or sessions (SessionIdle apart): one incident, reported
//     twice, is one case. Retired lessons are no evidence.
//   - A pattern becomes a principle with successful applications in
//     PromotionContexts distinct contexts.
//   - A principle is the end, and what is retired is not promoted.
//
// The evidence stays on the lesson as its sources. A lesson that was validated
// is canonical from then on; another is validated by its evidence.
func (l *Lessons) Promote(ctx context.Context, ref string, draft PromotionDraft) (Lesson, error) {
	by, err := speaker(skillrouter.PrincipalOf(ctx), "promoted_by", draft.By)
	if err != nil {
		return Lesson{}, err
	}
	if err := skillrouter.CheckText("notes", draft.Notes, MaxLessonText); err != nil {
		return Lesson{}, err
	}
	if err := cleanList("source_case_ids", &draft.Sources); err != nil {
		return Lesson{}, err
	}
	new(redaction).text(&draft.Notes)
	return l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		if !lesson.active() {
			return nil, retiredAlready()
		}
		sources := slices.Clone(lesson.SourceCaseIDs)
		if len(draft.Sources) > 0 {
			if sources, err = resolveSources(tx, lesson.ID, append(sources, draft.Sources...)); err != nil {
				return nil, err
			}
		}
		evidence, err := promotionOf(tx, lesson, sources)
		if err != nil {
			return nil, err
		}
		if evidence.missing != "" {
			return nil, skillrouter.Errorf(skillrouter.Conflict, "%s", evidence.missing)
		}
		lesson.Level = evidence.to
		for _, id := range append(sources, evidence.cases...) {
			if id != lesson.ID && len(lesson.SourceCaseIDs) < MaxListItems && !slices.Contains(lesson.SourceCaseIDs, id) {
				lesson.SourceCaseIDs = append(slices.Clip(lesson.SourceCaseIDs), id)
			}
		}
		if lesson.PatternID == "" {
			lesson.PatternID = evidence.pattern
		}
		if lesson.Status == StatusValidated || lesson.Status == StatusCanonical {
			lesson.Status = StatusCanonical
		} else {
			lesson.Status, lesson.Validated, lesson.ValidatedBy, lesson.LastValidatedAt = StatusValidated, true, by, &at
		}
		return []lessonMove{{kind: ChangePromoted, event: EventLessonPromoted, by: by, note: remark(evidence.why, draft.Notes)}}, nil
	})
}

// promotion is the evidence that a lesson has for the next level.
type promotion struct {
	to       Level
	cases    []string // ids of the cases, the lesson's own among them if it is one
	contexts []string
	pattern  string // id of the pattern that gathers them
	why      string
	missing  string // what is there and what is missing; empty: nothing is missing
}

// named returns what a review shows of the evidence.
func (p *promotion) named() []string {
	if p.to == LevelPrinciple {
		return p.contexts
	}
	return p.cases
}

// promotionOf gathers the evidence that a lesson drawn from those sources has for the next level.
func promotionOf(tx PipelineTx, lesson *Lesson, sources []string) (promotion, error) {
	switch lesson.Level {
	case LevelCase:
		return casePromotion(tx, lesson, sources)
	case LevelPattern:
		return patternPromotion(tx, lesson)
	}
	return promotion{missing: "this lesson is a principle: there is no further level"}, nil
}

func casePromotion(tx PipelineTx, lesson *Lesson, sources []string) (promotion, error) {
	p := promotion{to: LevelPattern}
	cases := []Lesson{*lesson}
	add := func(id string, drawn bool) error {
		if len(cases) > maxPromotionCases || slices.ContainsFunc(cases, func(c Lesson) bool { return c.ID == id }) {
			return nil
		}
		found, there, err := tx.LessonOf(id)
		if err != nil || !there || !found.active() || found.Level != LevelCase {
			return err
		}
		if !drawn && slices.Contains(found.SourceCaseIDs, lesson.ID) {
			return nil // it was drawn from this one
		}
		cases = append(cases, found)
		return nil
	}
	for _, id := range sources {
		if err := add(id, true); err != nil {
			return p, err
		}
	}
	patterns, err := tx.PatternsOf(Evidence{Kind: EvidenceLesson, Ref: lesson.ID})
	if err != nil {
		return p, err
	}
	for _, pattern := range patterns {
		if pattern.Status == PatternDeprecated || pattern.Command != "" {
			continue
		}
		ids, err := tx.LessonEvidence(pattern.ID, maxPromotionCases)
		if err != nil {
			return p, err
		}
		for _, id := range ids {
			if err := add(id, false); err != nil {
				return p, err
			}
		}
		if p.pattern == "" {
			p.pattern = pattern.ID
		}
	}
	independent := independentCases(cases)
	for _, c := range independent {
		p.cases = append(p.cases, c.ID)
	}
	p.why = fmt.Sprintf("%d independent cases: %s", len(independent), someOf(p.cases))
	if missing := PromotionCases - len(independent); missing > 0 {
		p.missing = fmt.Sprintf("a pattern needs %d independent cases, of different agents, projects or sessions; there is %d (%s), and %d is missing",
			PromotionCases, len(independent), someOf(p.cases), missing)
		if same := len(cases) - len(independent); same > 0 {
			p.missing += fmt.Sprintf("; %d further are of the same agent, project and session as another, and count with it", same)
		}
	}
	return p, nil
}

// independentCases returns as many of the cases as are independent of one
// another, the earliest first.
func independentCases(cases []Lesson) []Lesson {
	ordered := slices.Clone(cases)
	slices.SortFunc(ordered, func(a, b Lesson) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return int(a.Number - b.Number)
	})
	type place struct{ agent, project string }
	last := map[place]time.Time{}
	independent := ordered[:0]
	for _, c := range ordered {
		from := place{c.SourceAgent, c.Project}
		if previous, known := last[from]; known && c.CreatedAt.Sub(previous) < SessionIdle {
			continue
		}
		last[from] = c.CreatedAt
		independent = append(independent, c)
	}
	return independent
}

func patternPromotion(tx PipelineTx, lesson *Lesson) (promotion, error) {
	p := promotion{to: LevelPrinciple, pattern: lesson.PatternID}
	applications, err := tx.Applications(lesson.ID, maxPromotionApplications)
	if err != nil {
		return p, err
	}
	succeeded, known := 0, map[string]bool{}
	for _, a := range applications {
		if a.Outcome != ResultSuccess {
			continue
		}
		succeeded++
		place := a.Context
		if place == "" {
			place = a.Agent
		}
		if normal := string(appendNormal(nil, place)); normal != "" && !known[normal] {
			known[normal] = true
			p.contexts = append(p.contexts, place)
		}
	}
	slices.Sort(p.contexts)
	p.why = fmt.Sprintf("%d successful applications in %d distinct contexts: %s", succeeded, len(p.contexts), someOf(p.contexts))
	if missing := PromotionContexts - len(p.contexts); missing > 0 {
		p.missing = fmt.Sprintf("a principle needs successful applications in %d distinct contexts; there are %d of %d applications in %d (%s), and %d more are missing",
			PromotionContexts, succeeded, len(applications), len(p.contexts), someOf(p.contexts), missing)
	}
	return p, nil
}

// someOf names the first of a list.
func someOf(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	text := strings.Join(list[:min(len(list), maxNamed)], ", ")
	if more := len(list) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

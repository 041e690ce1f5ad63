package lesson

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// What a promotion needs (the original lessons folder, "Promotion lifecycle").
const (
	// PromotionCases is how many independent cases make a pattern.
	PromotionCases = 2
	// PromotionContexts is in how many distinct contexts a pattern must have been applied with success to be a principle.
	PromotionContexts = 3

	maxPromotionCases        = MaxListItems // cases that are looked at: as many as a lesson can name
	maxPromotionApplications = 1000         // applications that are looked at, the latest
	maxNamed                 = 5            // pieces of evidence that a message names
)

var _ Service = (*Lessons)(nil)

// Promote implements Service. It needs ScopeAgent; no scope stands in
// for the evidence:
//   - Of PromotionCases independent cases a new pattern is drawn, whose sources
//     name each of them; the cases stay what and where they are. The lesson itself
//     counts, the cases that it or the draft names, and those that a pattern gathers
//     with it. Cases are independent if they come from different voices (tokens), projects or
//     sessions (SessionIdle apart): one incident, reported twice, is one case. Two
//     that name no agent are two. Retired lessons are no evidence.
//   - A pattern becomes a principle, in place, with successful applications in
//     PromotionContexts distinct contexts.
//   - A principle is the end, and what is retired is not promoted.
//
// A new pattern is validated by its evidence; a principle that was validated
// before is canonical. It returns the pattern or principle.
func (l *Lessons) Promote(ctx context.Context, ref string, draft PromotionDraft) (Lesson, error) {
	caller := principal.Of(ctx)
	by, err := caller.SpeakingAs("promoted_by", draft.By)
	if err := cmp.Or(err, check.Text("notes", draft.Notes, MaxText), cleanList("source_case_ids", &draft.Sources)); err != nil {
		return Lesson{}, err
	}
	if draft.Title != "" {
		if err := learning.CheckTitle(draft.Title); err != nil {
			return Lesson{}, err
		}
	}
	new(redact.Redaction).Text(&draft.Notes, &draft.Title)
	id := check.NewID()
	var drawn *Lesson
	lesson, err := l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		drawn = nil
		if !lesson.active() {
			return nil, retiredAlready()
		}
		sources := slices.Clone(lesson.SourceCaseIDs)
		if len(draft.Sources) > 0 {
			if sources, err = resolveSources(tx, caller, lesson.ID, append(sources, draft.Sources...)); err != nil {
				return nil, err
			}
		}
		evidence, err := promotionOf(tx, lesson, sources)
		if err != nil {
			return nil, err
		}
		if evidence.missing != "" {
			return nil, errs.Errorf(errs.Conflict, "%s", evidence.missing)
		}
		why := remark(evidence.why, draft.Notes)
		if evidence.to == LevelPattern {
			pattern := drawPattern(id, lesson, evidence, by, at)
			pattern.Reporter, pattern.Validator = caller.Voice(), caller.Voice()
			pattern.Title = cmp.Or(draft.Title, pattern.Title)
			drawn = &pattern
			return nil, storeDrawn(tx, drawn, lesson, by, why, at)
		}
		if draft.Title != "" {
			return nil, errs.InvalidField("title", "names a pattern that is drawn from cases; a principle keeps its title until it is edited")
		}
		lesson.Level = evidence.to
		for _, id := range sources {
			if id != lesson.ID && len(lesson.SourceCaseIDs) < MaxListItems && !slices.Contains(lesson.SourceCaseIDs, id) {
				lesson.SourceCaseIDs = append(slices.Clip(lesson.SourceCaseIDs), id)
			}
		}
		if lesson.Status == StatusValidated || lesson.Status == StatusCanonical {
			lesson.Status = StatusCanonical
		} else {
			lesson.Status, lesson.Validated, lesson.ValidatedBy, lesson.Validator, lesson.LastValidatedAt = StatusValidated, true, by, caller.Judge(), &at
		}
		return []lessonMove{{kind: ChangePromoted, event: EventPromoted, by: by, note: why}}, nil
	}, func(at time.Time) {
		if drawn != nil {
			l.took([]Lesson{*drawn}, at)
		}
	})
	if err == nil && drawn != nil {
		lesson = present(*drawn, drawn.CreatedAt)
	}
	return lesson, err
}

// drawPattern is the pattern that is drawn from a case and the others of its
// evidence. It says what the case says, without what makes the case a guard rule:
// the case stays, and goes on guarding.
func drawPattern(id string, from *Lesson, evidence promotion, by string, at time.Time) Lesson {
	p := *from
	p.ID, p.Number, p.Level, p.PatternID, p.SourceCaseIDs = id, 0, LevelPattern, evidence.pattern, evidence.drawn
	if by != "" {
		p.SourceAgent = by
	}
	p.RelatedCommands, p.TriggerPattern, p.BlockAction = []string{}, "", false
	p.Status, p.Validated, p.ValidatedBy, p.LastValidatedAt, p.ValidationNotes = StatusValidated, true, by, &at, ""
	p.Belief = Belief{InitialConfidence: from.At(at), DecayConstant: DecayConstant, ConfidenceAt: at}
	p.Confidence = p.InitialConfidence
	p.Occurrences, p.LastOccurred, p.TimesApplied, p.TimesSucceeded = evidence.occurrences, evidence.lastOccurred, 0, 0
	p.CreatedAt, p.UpdatedAt = at, at
	return p
}

// storeDrawn stores a pattern that was drawn from a case, with the history of both.
func storeDrawn(tx PipelineTx, drawn, from *Lesson, by, why string, at time.Time) error {
	if err := tx.InsertLesson(drawn, drawn.fingerprint()); err != nil {
		return err
	}
	before := snapshotOf(from, at)
	if err := tx.AddChange(
		Change{LessonID: drawn.ID, Kind: ChangePromoted, Agent: by, Note: why, Before: before, After: snapshotOf(drawn, at), At: at},
		Change{LessonID: from.ID, Kind: ChangePromoted, Agent: by, Note: "pattern " + drawn.ID + " was drawn from it", Before: before, After: before, At: at},
	); err != nil {
		return err
	}
	previous := from.At(at)
	return tx.AddEvents(lessonEvent(EventPromoted, drawn, by, at, Event{Previous: &previous, Reason: why}))
}

// promotion is the evidence that a lesson has for the next level.
type promotion struct {
	to       Level
	cases    []string // ids of the independent cases, the lesson's own among them if it is one
	drawn    []string // ids of every case that is looked at, the lesson's own first
	contexts []string
	pattern  string // id of the pattern that gathers them
	why      string
	missing  string // what is there and what is missing; empty: nothing is missing

	occurrences  int64 // of all of those cases
	lastOccurred time.Time
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
	pattern, already, err := tx.PatternDrawnFrom(lesson.ID)
	if err != nil {
		return p, err
	}
	if already {
		p.missing = fmt.Sprintf("lesson %d is a pattern that was drawn from this case already", pattern.Number)
		return p, nil
	}
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
		p.pattern = cmp.Or(p.pattern, pattern.ID)
	}
	for _, c := range cases[:min(len(cases), MaxListItems)] {
		p.drawn = append(p.drawn, c.ID)
		p.occurrences += c.Occurrences
		p.lastOccurred = learning.Later(p.lastOccurred, c.LastOccurred)
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
// another, the earliest first. Nothing says that two without an agent are one
// incident: files of a lessons folder name none.
func independentCases(cases []Lesson) []Lesson {
	ordered := slices.SortedFunc(slices.Values(cases), func(a, b Lesson) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), byNumber(a, b)) })
	type place struct{ voice, project string }
	last := map[place]time.Time{}
	independent := ordered[:0]
	for _, c := range ordered {
		from := place{principal.KindOf(c.Reporter), c.Project}
		named := c.SourceAgent != "" && c.Trust != learning.TrustImported // who imports is not who learned
		if previous, known := last[from]; known && named && c.CreatedAt.Sub(previous) < learning.SessionIdle {
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
		if a.Outcome != learning.ResultSuccess {
			continue
		}
		succeeded++
		place := cmp.Or(a.Context, "none named") // without a token, agents that name none are one
		if normal := string(learning.AppendNormal(nil, place)); normal != "" && !known[normal] {
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

// maxStaleDays bounds how old what is stale may have to be: a hundred years.
const maxStaleDays = 36_500

// Review implements Service. It needs ScopeRead. It looks at a bounded
// number of lessons, those with the strongest evidence, and those that wait longest.
func (l *Lessons) Review(ctx context.Context, query ReviewQuery) (Review, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), check.Name("domain", query.Domain)); err != nil {
		return Review{}, err
	}
	query.StaleDays = cmp.Or(query.StaleDays, DefaultStaleDays)
	if query.StaleDays < 1 || query.StaleDays > maxStaleDays {
		return Review{}, errs.InvalidField("stale_days", "must lie between 1 and %d", maxStaleDays)
	}
	limit, err := check.Limit(query.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return Review{}, err
	}
	at := l.now.Stamp()
	review := Review{Promotions: []Suggestion{}, Stale: []Stale{}}
	may, err := l.store.PromotableLessons(ctx, query.Domain, PromotionCases, PromotionContexts, limit)
	if err != nil {
		return Review{}, err
	}
	if err := l.store.View(ctx, func(tx PipelineTx) error {
		for i := range may {
			lesson := &may[i]
			evidence, err := promotionOf(tx, lesson, lesson.SourceCaseIDs)
			if err != nil {
				return err
			}
			if evidence.missing == "" && len(review.Promotions) < limit {
				review.Promotions = append(review.Promotions, Suggestion{
					LessonID: lesson.ID, Number: lesson.Number, Title: lesson.Title, From: lesson.Level, To: evidence.to,
					Evidence: evidence.named(), Why: evidence.why,
				})
			}
		}
		return nil
	}); err != nil {
		return Review{}, err
	}
	stale, err := l.store.StaleLessons(ctx, query.Domain, at.AddDate(0, 0, -query.StaleDays), limit)
	if err != nil {
		return Review{}, err
	}
	for i := range stale {
		lesson := &stale[i]
		since := lesson.CreatedAt
		if lesson.LastValidatedAt != nil {
			since = *lesson.LastValidatedAt
		}
		review.Stale = append(review.Stale, Stale{
			LessonID: lesson.ID, Number: lesson.Number, Title: lesson.Title, Level: lesson.Level,
			Days: float64(at.Sub(since).Truncate(time.Hour)) / float64(Day),
		})
	}
	return review, nil
}

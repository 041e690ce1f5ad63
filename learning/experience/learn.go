package experience

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of what is learned and asked for.
const (
	// MaxLearnEpisodes bounds the episodes that a lesson is learned from: more of them say nothing new.
	MaxLearnEpisodes = 1000
	// MaxContextTerms bounds the words of a context that lessons are looked up by, and
	// maxContextDepth how deeply they may be nested in it.
	MaxContextTerms = 256
	maxContextDepth = 8
)

// Applicable implements Service. It needs ScopeRead.
func (x *Experiences) Applicable(ctx context.Context, query ApplicableQuery) (Applicable, error) {
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead),
		check.Range("min_confidence", query.MinConfidence, 0, 1),
	); err != nil {
		return Applicable{}, err
	}
	limit, err := check.Limit(query.Limit, MaxShown, MaxShown)
	if err != nil {
		return Applicable{}, err
	}
	where, err := whereabouts(query)
	if err != nil {
		return Applicable{}, err
	}
	at := x.now.Stamp()
	found, summary, err := x.store.ApplicableLessons(ctx, where, query.MinConfidence, limit, at)
	if err != nil {
		return Applicable{}, err
	}
	views, err := x.lessonViews(ctx, found, at)
	return Applicable{Lessons: views, Summary: summary}, err
}

// whereabouts are where lessons must hold that a query asks for.
func whereabouts(query ApplicableQuery) (w Whereabouts, err error) {
	if query.OperationType != "" {
		operation, err := checkOperation(query.OperationType)
		if err != nil {
			return w, err
		}
		w.OperationType = lowerASCII(operation)
	}
	w.Context = query.Context != nil
	for name, value := range query.Context {
		if w.Names, err = contextTerms(w.Names, name, 1); err != nil {
			return w, err
		}
		if w.Texts, err = contextTerms(w.Texts, value, 1); err != nil {
			return w, err
		}
	}
	if len(w.Names)+len(w.Texts) > MaxContextTerms {
		return w, errs.InvalidField("context", "holds more than %d words and texts", MaxContextTerms)
	}
	return w, nil
}

// contextTerms adds the texts of a value in a context, in small letters.
func contextTerms(terms []string, value any, depth int) ([]string, error) {
	if depth > maxContextDepth {
		return nil, errs.InvalidField("context", "is nested more than %d deep", maxContextDepth)
	}
	var err error
	switch v := value.(type) {
	case string:
		if err = check.Text("context", v, lesson.MaxListItem); err != nil {
			return nil, err
		}
		if v = lowerASCII(strings.TrimSpace(v)); v != "" && !slices.Contains(terms, v) && len(terms) <= MaxContextTerms {
			terms = append(terms, v)
		}
	case []any:
		for _, one := range v {
			if terms, err = contextTerms(terms, one, depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		return contextTerms(terms, slices.Collect(maps.Values(v)), depth)
	}
	return terms, nil
}

// lowerASCII folds the case of the letters that the database folds too.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Lessons implements Service. It needs ScopeRead.
func (x *Experiences) Lessons(ctx context.Context, filter lesson.Filter) (Lessons, error) {
	// Not nothing but a confidence and a limit: it is our own listing, in pages, that is asked for.
	if plain := (lesson.Filter{MinConfidence: filter.MinConfidence, Limit: filter.Limit}); reflect.DeepEqual(filter, plain) {
		all, err := x.Applicable(ctx, ApplicableQuery{MinConfidence: filter.MinConfidence, Limit: filter.Limit})
		return Lessons{Lessons: all.Lessons, Count: len(all.Lessons), Summary: all.Summary}, err
	}
	page, err := x.lessons.List(ctx, filter)
	if err != nil {
		return Lessons{}, err
	}
	views, err := x.lessonViews(ctx, page.Lessons, x.now.Stamp())
	list := Lessons{Lessons: views, Count: len(views), Next: page.Next}
	for _, l := range views {
		list.Summary.count(l.CurrentConfidence)
	}
	return list, err
}

func (s *ConfidenceSummary) count(confidence float64) {
	switch {
	case confidence >= lesson.HighConfidence:
		s.High++
	case confidence >= lesson.MediumConfidence:
		s.Medium++
	default:
		s.Low++
	}
}

// Lesson implements Service. It needs ScopeRead.
func (x *Experiences) Lesson(ctx context.Context, number int64) (ApplicableLesson, error) {
	if err := checkNumber("id", number); err != nil {
		return ApplicableLesson{}, err
	}
	l, err := x.lessons.Lesson(ctx, strconv.FormatInt(number, 10))
	if err != nil {
		return ApplicableLesson{}, err
	}
	views, err := x.lessonViews(ctx, []lesson.Lesson{l}, x.now.Stamp())
	if err != nil {
		return ApplicableLesson{}, err
	}
	return views[0], nil
}

// Apply implements Service. It needs ScopeAgent.
func (x *Experiences) Apply(ctx context.Context, number int64, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	if err := checkNumber("lesson_id", number); err != nil {
		return lesson.Applied{}, err
	}
	return x.lessons.Apply(ctx, strconv.FormatInt(number, 10), draft)
}

// lessonViews shows lessons as the experience server's clients see them.
func (x *Experiences) lessonViews(ctx context.Context, lessons []lesson.Lesson, at time.Time) ([]ApplicableLesson, error) {
	var ids []string
	for _, l := range lessons {
		if l.PatternID != "" {
			ids = append(ids, l.PatternID)
		}
	}
	numbers, err := x.store.PatternNumbers(ctx, ids)
	if err != nil {
		return nil, err
	}
	views := make([]ApplicableLesson, 0, len(lessons))
	for _, l := range lessons {
		view := ApplicableLesson{
			Number: l.Number, LessonID: l.ID, Statement: l.Title, Contexts: l.Contexts,
			InitialConfidence: l.InitialConfidence, DecayConstant: l.DecayConstant, LastValidated: latest(l.ConfidenceAt, l.LastValidatedAt),
			TimesApplied: l.TimesApplied, TimesSucceeded: l.TimesSucceeded, CreatedAt: l.CreatedAt.UnixMilli(),
			CurrentConfidence: l.At(at),
		}
		if l.RetiredAt != nil {
			view.DeprecatedAt = new(l.RetiredAt.UnixMilli())
		}
		if number, ok := numbers[l.PatternID]; ok {
			view.PatternID = &number
		}
		views = append(views, view)
	}
	return views, nil
}

// Learn implements Service. It needs ScopeAgent. The pattern is
// stored first and the lesson, which points to it, after: a client whose call
// was cut off between the two repeats it and finds the pattern there. The same
// statement learned again is another occurrence of its lesson.
func (x *Experiences) Learn(ctx context.Context, draft LearnDraft) (Learned, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeAgent), checkLearn(&draft)); err != nil {
		return Learned{}, err
	}
	at := x.now.Stamp()
	var pattern lesson.Pattern
	var from []Experience
	err := x.store.ChangeExperiences(ctx, func(tx Tx) (err error) {
		if from, err = tx.ExperiencesOf(draft.EpisodeIDs); err != nil {
			return err
		}
		if len(from) < MinEpisodes {
			return errs.InvalidField("episode_ids", "names %d episodes that are there, and a lesson takes at least %d", len(from), MinEpisodes)
		}
		pattern, err = learnedPattern(tx, draft, from, at)
		return err
	}, nil)()
	if err != nil {
		return Learned{}, err
	}
	reported, err := x.lessons.Report(ctx, learnedLesson(draft, from, pattern))
	if err != nil {
		return Learned{}, err
	}
	lesson, err := x.lessons.Lesson(ctx, reported.LessonID)
	return Learned{
		LessonNumber: reported.Number, LessonID: reported.LessonID, Created: !reported.Duplicate,
		InitialConfidence: lesson.InitialConfidence, PatternID: &pattern.Number,
	}, err
}

func checkLearn(draft *LearnDraft) error {
	if err := cmp.Or(
		check.Required("pattern_description", draft.Description, lesson.MaxText),
		check.Required("lesson_statement", draft.Statement, learning.MaxTitle),
	); err != nil {
		return err
	}
	if len(draft.EpisodeIDs) > MaxLearnEpisodes {
		return errs.InvalidField("episode_ids", "may hold at most %d numbers", MaxLearnEpisodes)
	}
	draft.Description, _ = redact.Text(strings.TrimSpace(draft.Description))
	var numbers []int64 // in the order given, each once
	known := map[int64]bool{}
	for _, number := range draft.EpisodeIDs {
		if !known[number] {
			numbers = append(numbers, number)
		}
		known[number] = true
	}
	if draft.EpisodeIDs = numbers; len(numbers) < MinEpisodes {
		return errs.InvalidField("episode_ids", "must hold at least %d different numbers", MinEpisodes)
	}
	return nil
}

// learnedLesson is what episodes teach: a lesson of level pattern, of the type
// that their outcomes give, that holds where they happened.
func learnedLesson(draft LearnDraft, from []Experience, pattern lesson.Pattern) lesson.Draft {
	s := summed(from)
	outcome := fmt.Sprintf("%d of %d succeeded, with a mean utility of %.2f", s.successes, len(from), s.utility)
	if s.successes == 0 { // the figures are of the failures that it was learned from, and not of what it advises
		outcome = fmt.Sprintf("Learned from %d operations that went wrong", len(from))
	}
	var numbers []string
	for _, e := range from[:min(len(from), lesson.MaxEvidence)] {
		numbers = append(numbers, strconv.FormatInt(e.Number, 10))
	}
	return lesson.Draft{
		Type: learnedType(s.rate), Domain: GeneralDomain, Category: s.types[0], Title: draft.Statement,
		Context: draft.Description,
		Action:  fmt.Sprintf("Learned from %d episodes of %s: %s", len(from), strings.Join(s.types, ", "), strings.Join(numbers, ", ")),
		Outcome: outcome,
		Level:   lesson.LevelPattern, Contexts: s.contexts, Confidence: &s.confidence, PatternID: pattern.ID,
	}
}

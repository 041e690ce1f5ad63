package learning

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter"
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

// Applicable implements ExperienceService. It needs ScopeRead.
func (x *Experiences) Applicable(ctx context.Context, query ApplicableQuery) (Applicable, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return Applicable{}, err
	}
	if err := skillrouter.CheckRange("min_confidence", query.MinConfidence, 0, 1); err != nil {
		return Applicable{}, err
	}
	limit, err := skillrouter.Limit(query.Limit, DefaultRecall, MaxLimit)
	if err != nil {
		return Applicable{}, err
	}
	var contexts []string
	if query.OperationType != "" {
		operation, err := checkOperation(query.OperationType)
		if err != nil {
			return Applicable{}, err
		}
		contexts = append(contexts, lowerASCII(operation))
	}
	if contexts, err = contextTerms(contexts, query.Context, 0); err != nil {
		return Applicable{}, err
	}
	at := x.time()
	found, summary, err := x.store.ApplicableLessons(ctx, contexts, query.MinConfidence, limit, at)
	if err != nil {
		return Applicable{}, err
	}
	views, err := x.lessonViews(ctx, found, at)
	return Applicable{Lessons: views, Summary: summary}, err
}

// contextTerms adds the words of a context: the names of its members and the
// texts in it, as contexts are compared.
func contextTerms(terms []string, value any, depth int) ([]string, error) {
	if depth > maxContextDepth {
		return nil, skillrouter.InvalidField("context", "is nested more than %d deep", maxContextDepth)
	}
	var err error
	add := func(s string) {
		if err == nil {
			err = skillrouter.CheckText("context", s, MaxListItem)
		}
		if s = lowerASCII(strings.TrimSpace(s)); s != "" && !slices.Contains(terms, s) && len(terms) <= MaxContextTerms {
			terms = append(terms, s)
		}
	}
	switch v := value.(type) {
	case string:
		add(v)
	case []any:
		for _, one := range v {
			if terms, err = contextTerms(terms, one, depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name, one := range v {
			if add(name); err != nil {
				return nil, err
			}
			if terms, err = contextTerms(terms, one, depth+1); err != nil {
				return nil, err
			}
		}
	}
	if err == nil && len(terms) > MaxContextTerms {
		err = skillrouter.InvalidField("context", "holds more than %d words and texts", MaxContextTerms)
	}
	return terms, err
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

// Lessons implements ExperienceService. It needs ScopeRead.
func (x *Experiences) Lessons(ctx context.Context, filter LessonFilter) (ExperienceLessons, error) {
	page, err := x.lessons.List(ctx, filter)
	if err != nil {
		return ExperienceLessons{}, err
	}
	views, err := x.lessonViews(ctx, page.Lessons, x.time())
	return ExperienceLessons{Lessons: views, Count: len(views), Next: page.Next}, err
}

// Lesson implements ExperienceService. It needs ScopeRead.
func (x *Experiences) Lesson(ctx context.Context, number int64) (ApplicableLesson, error) {
	if err := checkNumber("id", number); err != nil {
		return ApplicableLesson{}, err
	}
	lesson, err := x.lessons.Lesson(ctx, strconv.FormatInt(number, 10))
	if err != nil {
		return ApplicableLesson{}, err
	}
	views, err := x.lessonViews(ctx, []Lesson{lesson}, x.time())
	if err != nil {
		return ApplicableLesson{}, err
	}
	return views[0], nil
}

// Apply implements ExperienceService. It needs ScopeAgent.
func (x *Experiences) Apply(ctx context.Context, number int64, draft ApplicationDraft) (Applied, error) {
	if err := checkNumber("lesson_id", number); err != nil {
		return Applied{}, err
	}
	return x.lessons.Apply(ctx, strconv.FormatInt(number, 10), draft)
}

// lessonViews shows lessons as seed 003's clients see them.
func (x *Experiences) lessonViews(ctx context.Context, lessons []Lesson, at time.Time) ([]ApplicableLesson, error) {
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
			InitialConfidence: l.InitialConfidence, DecayConstant: l.DecayConstant, LastValidated: unixMillis(l.LastValidatedAt),
			TimesApplied: l.TimesApplied, TimesSucceeded: l.TimesSucceeded, CreatedAt: l.CreatedAt.UnixMilli(),
			DeprecatedAt: unixMillis(l.RetiredAt), CurrentConfidence: l.At(at),
		}
		if number, ok := numbers[l.PatternID]; ok {
			view.PatternID = &number
		}
		views = append(views, view)
	}
	return views, nil
}

// Learn implements ExperienceService. It needs ScopeAgent. The pattern is
// stored first and the lesson, which points to it, after: a client whose call
// was cut off between the two repeats it and finds the pattern there. The same
// statement learned again is another occurrence of its lesson.
func (x *Experiences) Learn(ctx context.Context, draft LearnDraft) (Learned, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return Learned{}, err
	}
	if err := checkLearn(&draft); err != nil {
		return Learned{}, err
	}
	at := x.time()
	var pattern Pattern
	var from []Experience
	err := x.store.Change(ctx, func(tx PipelineTx) (err error) {
		if from, err = tx.ExperiencesOf(draft.EpisodeIDs); err != nil {
			return err
		}
		if len(from) < MinEpisodes {
			return skillrouter.InvalidField("episode_ids", "names %d episodes that are there, and a lesson takes at least %d", len(from), MinEpisodes)
		}
		pattern, err = learnedPattern(tx, draft.Description, from, at)
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
	if err := skillrouter.CheckRequired("pattern_description", draft.Description, MaxLessonText); err != nil {
		return err
	}
	if err := skillrouter.CheckRequired("lesson_statement", draft.Statement, MaxTitle); err != nil {
		return err
	}
	if len(draft.EpisodeIDs) > MaxLearnEpisodes {
		return skillrouter.InvalidField("episode_ids", "may hold at most %d numbers", MaxLearnEpisodes)
	}
	draft.Description, _ = skillrouter.Redact(strings.TrimSpace(draft.Description))
	draft.EpisodeIDs = slices.Clone(draft.EpisodeIDs)
	slices.Sort(draft.EpisodeIDs)
	draft.EpisodeIDs = slices.Compact(draft.EpisodeIDs)
	if len(draft.EpisodeIDs) < MinEpisodes {
		return skillrouter.InvalidField("episode_ids", "must hold at least %d different numbers", MinEpisodes)
	}
	return nil
}

// learnedLesson is what episodes teach: a lesson of level pattern, of the type
// that their outcomes give, that holds where they happened.
func learnedLesson(draft LearnDraft, from []Experience, pattern Pattern) LessonDraft {
	var successes int64
	var mean float64
	var types, numbers []string
	for _, e := range from {
		if e.Outcome == ResultSuccess {
			successes++
		}
		mean += e.Utility / float64(len(from))
		if !slices.Contains(types, e.OperationType) && len(types) < MaxListItems {
			types = append(types, e.OperationType)
		}
		if len(numbers) < MaxEvidence {
			numbers = append(numbers, strconv.FormatInt(e.Number, 10))
		}
	}
	rate := successShare(successes, int64(len(from)))
	confidence := learnedConfidence(rate, len(from), mean)
	return LessonDraft{
		Type: learnedType(rate), Domain: GeneralDomain, Category: types[0], Title: draft.Statement,
		Context: draft.Description,
		Action:  fmt.Sprintf("Learned from %d episodes of %s: %s", len(from), strings.Join(types, ", "), strings.Join(numbers, ", ")),
		Outcome: fmt.Sprintf("%d of %d succeeded, with a mean utility of %.2f", successes, len(from), mean),
		Level:   LevelPattern, Contexts: types, Confidence: &confidence, PatternID: pattern.ID,
	}
}

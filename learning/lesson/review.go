package lesson

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

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

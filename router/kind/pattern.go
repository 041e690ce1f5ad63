package kind

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
)

// Pattern is what is known of patterns. In an export they stand behind the lessons and episodes that they gather.
var Pattern = Kind{
	Name: router.KindPattern, Plural: "patterns", Exported: 4,
	Decode: decoded[lesson.PatternRecord],
	Page: Page{
		Folder: "patterns", Title: "pattern_name", Key: []string{"id"}, Text: "description",
		Parts: []Part{{"Recommended action", "recommended_action"}}, Drop: []string{"number", "confidence", "episode_ids"},
	},
}

// Patterns are the patterns of a service.
func Patterns(service *lesson.Patterns, rows interface {
	// PatternsAfter returns patterns whose Number is greater than after, in order, with their evidence.
	PatternsAfter(ctx context.Context, after int64, limit int) ([]lesson.PatternRecord, error)
},
) Memory {
	return Memory{
		Kind: Pattern,
		Export: paged(func(ctx context.Context, _ string, now time.Time, last lesson.PatternRecord, limit int) ([]lesson.PatternRecord, error) {
			page, err := rows.PatternsAfter(ctx, last.Number, limit)
			for i := range page {
				page[i].Confidence = page[i].At(now)
			}
			return page, err
		}),
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, id string) (any, error) {
			p, err := service.Pattern(ctx, id)
			p.Confidence = 0
			return p, err
		}, func(ctx context.Context, id string) error {
			by := cmp.Or(principal.Of(ctx).AgentID, "captain")
			_, err := service.Deprecate(ctx, id, lesson.ConfirmationDraft{By: by, Notes: Undone})
			return unlessOver(err)
		}},
	}
}

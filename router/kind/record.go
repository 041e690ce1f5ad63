package kind

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
)

// Page says where a page of Markdown has a record's members. What it does not name stands in the front matter.
type Page struct {
	Folder string
	Title  string   // the member that is the heading
	Key    []string // the members that the record is known by
	Text   string   // the member below the heading; empty: none
	Parts  []Part   // members under headings of their own, in this order
	Drop   []string // members that follow from others, or that another router numbers anew
	// StoreIDs is set where the store alone gives ids: a page that people wrote without one gets none.
	StoreIDs bool
}

// Part is a member under a heading of its own.
type Part struct{ Heading, Member string }

// exportPage is how many records are read at a time.
const exportPage = 200

// decoded reads the memory of a record, beside which its kind stands.
func decoded[T any](text []byte) (any, error) {
	memory := new(T)
	return memory, strictjson.DecodeBeside(text, memory, "kind")
}

// paged is an export that reads page by page, each behind the last record of the one before it.
func paged[T any](read func(ctx context.Context, project string, now time.Time, last T, limit int) ([]T, error)) func(context.Context, string, time.Time, func(any) error) error {
	return func(ctx context.Context, project string, now time.Time, visit func(record any) error) error {
		var last T
		for {
			page, err := read(ctx, project, now, last, exportPage)
			if err != nil || len(page) == 0 {
				return err
			}
			last = page[len(page)-1]
			for i := range page {
				if err := visit(&page[i]); err != nil {
					return err
				}
			}
		}
	}
}

// taken is an import by a service that takes records of one type.
func taken[T any](take func(ctx context.Context, records []T, taking learning.Taking) ([]learning.Taken, error)) func(context.Context, []any, learning.Taking) ([]learning.Taken, error) {
	return func(ctx context.Context, records []any, taking learning.Taking) ([]learning.Taken, error) {
		list := make([]T, len(records))
		for i, record := range records {
			if one, ok := record.(*T); ok && one != nil {
				list[i] = *one
			}
		}
		return take(ctx, list, taking)
	}
}

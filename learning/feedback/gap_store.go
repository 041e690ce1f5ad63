package feedback

import (
	"context"
	"time"
)

// GapStore keeps gaps. learning/store implements it on learning.db.
type GapStore interface {
	// AddMisses adds to gaps what was gathered of them, makes those that are new, and opens
	// answered ones again; dismissed ones stay dismissed. Of more gaps than most, those
	// that were asked longest ago are deleted.
	AddMisses(ctx context.Context, misses []GapMisses, most int) error
	// Gap returns one.
	Gap(ctx context.Context, id string) (gap Gap, ok bool, err error)
	// ListGaps returns the gaps that a query selects, in its order, after a place in it;
	// and how many it selects on all pages.
	ListGaps(ctx context.Context, query GapQuery, after *GapMark) ([]Gap, int64, error)
	// OpenGaps returns open gaps that were not checked after a time, those that were not for the longest first.
	OpenGaps(ctx context.Context, since time.Time, limit int) ([]Gap, error)
	// ChangeGap stores what decide makes of a gap, in one transaction, and returns it.
	// decide may be called twice. A gap that is not there is a NotFound error.
	ChangeGap(ctx context.Context, id string, decide func(gap *Gap) error) (Gap, error)
	// MarkChecked notes that open gaps were asked again and not found.
	MarkChecked(ctx context.Context, ids []string, at time.Time) error
}

// GapMark is a place in a listing: that of the gap with these.
type GapMark struct {
	Value int64 // the count, or the Unix milliseconds of the last question
	ID    string
}

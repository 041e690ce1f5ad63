package shelf

import (
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/learning"
)

// authorTag begins the engine's tag that says who wrote something. No tag that
// a writer chooses begins so.
const authorTag = "\x00by:"

// Written returns tags and the one for an author, if there is one.
func Written(tags []string, author string) []string {
	if author == "" {
		return tags
	}
	return append(slices.Clip(tags), authorTag+author)
}

// SpanOf joins the three ways in which a query bounds a time.
func SpanOf(since, until time.Time, said string, now time.Time) (learning.TimeRange, error) {
	span, err := learning.ParseTimeRange("time_range", said, now)
	return span.Meet(learning.TimeRange{From: since, To: until}), err
}

// Moment is a time as the index compares it; 0 is none.
func Moment(t time.Time) int64 {
	switch ms := t.UnixMilli(); {
	case t.IsZero():
		return 0
	case ms == 0:
		return -1 // nothing is of that millisecond either
	default:
		return ms
	}
}

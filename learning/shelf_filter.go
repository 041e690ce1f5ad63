package learning

import (
	"slices"
	"time"
)

// authorTag begins the engine's tag that says who wrote something. No tag that
// a writer chooses begins so.
const authorTag = "\x00by:"

// written returns tags and the one for an author, if there is one.
func written(tags []string, author string) []string {
	if author == "" {
		return tags
	}
	return append(slices.Clip(tags), authorTag+author)
}

// spanOf joins the three ways in which a query bounds a time.
func spanOf(since, until time.Time, said string, now time.Time) (TimeRange, error) {
	span, err := ParseTimeRange("time_range", said, now)
	return span.Meet(TimeRange{since, until}), err
}

// moment is a time as the index compares it; 0 is none.
func moment(t time.Time) int64 {
	switch ms := t.UnixMilli(); {
	case t.IsZero():
		return 0
	case ms == 0:
		return -1 // nothing is of that millisecond either
	default:
		return ms
	}
}

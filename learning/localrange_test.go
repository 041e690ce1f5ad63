package learning_test

import (
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning"
)

// TestLocalTimeRange: the days of a range are those of whoever asks.
func TestLocalTimeRange(t *testing.T) {
	now := time.Date(2026, 7, 15, 0, 30, 0, 0, time.FixedZone("there", 2*60*60)) // in UTC it is the day before
	for text, want := range map[string]string{
		"today": "2026-07-14T22:00:00Z..2026-07-15T22:00:00Z", "yesterday": "2026-07-13T22:00:00Z..2026-07-14T22:00:00Z",
		"2026-01-15": "2026-01-14T22:00:00Z..2026-01-15T22:00:00Z", "2026-01-01..": "2025-12-31T22:00:00Z..", "24h": "2026-07-13T22:30:00Z..",
		"this month": "2026-06-30T22:00:00Z..2026-07-31T22:00:00Z", "2026-01-15T10:00:00Z..now": "2026-01-15T10:00:00Z..2026-07-14T22:30:00Z",
		"soon": "soon", "": "",
	} {
		got := learning.LocalTimeRange(text, now)
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if _, err := learning.ParseTimeRange("r", got, now); err != nil && want != "soon" {
			t.Errorf("%q is refused: %v", got, err)
		}
		if got := learning.LocalTimeRange(text, now.UTC()); got != text {
			t.Errorf("%q is %q in UTC", text, got)
		}
	}
}

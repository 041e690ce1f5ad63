package lesson_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/learning/lesson"
)

// TestWhoHasMostGivesWay: a flood in many names of one token takes away nobody else's.
func TestWhoHasMostGivesWay(t *testing.T) {
	asks := []lesson.Approval{{Number: 1, Agent: "b"}, {Number: 2, Agent: "c:one"}}
	for i := range 2198 {
		asks = append(asks, lesson.Approval{Number: int64(i + 3), Agent: fmt.Sprintf("a:%d", i%22)})
	}
	gone := lesson.GiveWay(asks, 2000, "")
	if len(gone) != 200 || slices.Contains(gone, 1) || slices.Contains(gone, 2) || !slices.Contains(gone, 3) || slices.Max(gone) != 202 {
		t.Errorf("%d go: %v", len(gone), gone)
	}
	if gone := lesson.GiveWay(asks, len(asks), ""); len(gone) != 0 {
		t.Errorf("%v go though there is room", gone)
	}
}

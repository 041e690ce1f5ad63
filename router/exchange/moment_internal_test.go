package exchange

import (
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// TestTimesAsNumbers: seconds and milliseconds since 1970 are times, as numbers and as texts; another number is none.
func TestTimesAsNumbers(t *testing.T) {
	for said, want := range map[string]string{
		"1735786800": "2025-01-02", "1735786800123": "2025-01-02", `"1735786800.5"`: "2025-01-02", `"2025-01-02 03:04:05"`: "2025-01-02", "null": "0001-01-01", `"yesterday"`: "0001-01-01", "7": "0001-01-01",
	} {
		var got []Item
		text := `[{"memory":"m","created_at":` + said + `},{"memory":"other","created_at":"2025-01-02"}]`
		if err := readMem0(strings.NewReader(text), Options{}, func(i Item) bool { got = append(got, i); return true }); err != nil || len(got) != 2 || got[1].Refused != "" {
			t.Fatalf("%s: %v, %+v", said, err, got)
		}
		when := "refused"
		if got[0].Refused == "" {
			when = got[0].Record.Memory.(*knowledge.Knowledge).CreatedAt.UTC().Format(time.DateOnly)
		}
		if when != want {
			t.Errorf("%s: %s, want %s", said, when, want)
		}
	}
}

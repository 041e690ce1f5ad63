package cli

import (
	"bytes"
	"strings"
	"testing"

	"skillrouter/learning"
	"skillrouter/tfidf"
)

func TestExplained(t *testing.T) {
	print := func(score float64, why ...learning.Reason) string {
		var out bytes.Buffer
		explained(&out, score, why)
		return out.String()
	}
	word := func(term string, weight float64) learning.Reason {
		return learning.Reason{Lane: tfidf.LaneWord, Term: term, Weight: weight}
	}
	want := `    +0.750  75%  words              keys 0.500, rotate 0.250
    +0.250  25%  letters in common
    +1.000 100%  sum, exactly the score
`
	if got := print(1, word("rotate", 0.25), learning.Reason{Lane: tfidf.LaneLetters, Weight: 0.25}, word("keys", 0.5)); got != want {
		t.Errorf("printed\n%s", got)
	}
	if got := print(1, word("a", 0.5)); !strings.Contains(got, "the score is 1") {
		t.Errorf("a sum that is not the score is passed over: %s", got)
	}
	if got := print(1, learning.Reason{Lane: "moon", Weight: 1}); !strings.Contains(got, "moon") {
		t.Errorf("an unknown lane is passed over: %s", got)
	}
	many := make([]learning.Reason, 9)
	for i := range many {
		many[i] = word("w\x1b", 0.125)
	}
	if got := print(1.125, many...); !strings.Contains(got, "3 more") || strings.Contains(got, "\x1b") {
		t.Errorf("printed %q", got)
	}
	if got := print(1); got != "" {
		t.Errorf("explained nothing as %q", got)
	}
}

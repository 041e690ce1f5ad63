package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/tfidf"
)

func TestAskWhich(t *testing.T) {
	hits := []knowledge.Hit{{Knowledge: knowledge.Knowledge{ID: "a", Title: "first\x1b[2J"}}, {Knowledge: knowledge.Knowledge{ID: "b"}}, {Knowledge: knowledge.Knowledge{ID: "c"}}}
	for name, test := range map[string]struct {
		answers   string
		good, bad []string
		says      string
		fails     bool
	}{
		"right and wrong":         {"1, 3\n2\n", []string{"a", "c"}, []string{"b"}, "Which are wrong?", false},
		"twice the same":          {"1 1\n\n", []string{"a"}, nil, "", false},
		"nothing":                 {"\n\n", nil, nil, "Nothing was kept.", false},
		"a number that is none":   {"4\n0\nx\n2\n\n", []string{"b"}, nil, "4 is none of 1 to 3.", false},
		"the last without a line": {"1\n2", []string{"a"}, []string{"b"}, "", false},
		"no answer":               {"", nil, nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := &shell{in: strings.NewReader(test.answers), out: &out}
			var draft feedback.JudgementDraft
			err := s.askWhich(&draft, hits)
			if (err != nil) != test.fails || !slices.Equal(draft.Good, test.good) || !slices.Equal(draft.Bad, test.bad) {
				t.Errorf("right %v, wrong %v, %v", draft.Good, draft.Bad, err)
			}
			if !strings.Contains(out.String(), test.says) || strings.Contains(out.String(), "\x1b") {
				t.Errorf("printed %q", out.String())
			}
		})
	}
	if (&shell{in: strings.NewReader("1\n")}).terminal() {
		t.Error("a reader is taken for a terminal")
	}
}

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

package question_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/quick"

	"skillrouter/router/classify"
	"skillrouter/router/question"
)

var updateSections = flag.Bool("update-sections", false, "write testdata/sections.golden")

// TestSections measures on judged queries where they are taken apart. The
// golden says what comes of each; a change that moves it must change it on purpose.
func TestSections(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/sections.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	var golden strings.Builder
	judged, hit, missed, wrong := 0, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		judged++
		want := strings.Split(line, " || ")
		query := strings.Join(want, " ")
		got := question.Questions(c, query)
		verdict := "same"
		switch {
		case len(want) == len(got):
			if len(want) > 1 {
				hit++
			}
		case len(got) > 1:
			wrong++
			verdict = "DIFFERS"
		default:
			missed++
			verdict = "MISSED"
		}
		fmt.Fprintf(&golden, "%-7s %s\n", verdict, strings.Join(got, " || "))
	}
	precision, recall := float64(hit)/float64(max(hit+wrong, 1)), float64(hit)/float64(max(hit+missed, 1))
	fmt.Fprintf(&golden, "%d queries; precision %.3f, recall %.3f\n", judged, precision, recall)
	if *updateSections {
		if err := os.WriteFile("testdata/sections.golden", []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/sections.golden")
	if err != nil || string(want) != golden.String() {
		t.Errorf("the sections are not those of testdata/sections.golden (-update-sections writes it), %v:\n%s", err, golden.String())
	}
	if judged < 60 || precision < 0.95 || recall < 0.85 {
		t.Errorf("%d judged; precision %.3f, recall %.3f", judged, precision, recall)
	}
}

// TestQuestionsAreParts proves that whatever is asked, the parts stand in the
// query in their order, are few, and that taking apart does not fail.
func TestQuestionsAreParts(t *testing.T) {
	t.Parallel()
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	bits := []string{"who is free", " and ", "what broke", "? ", ", ", "\"", "`", "did we fix it yesterday", " but why ", "\x00", "\xff", "é", "; ", "is", "what", "the scan found xss", "“", "'"}
	parts := func(picks []uint8) bool {
		var b strings.Builder
		for _, p := range picks {
			b.WriteString(bits[int(p)%len(bits)])
		}
		rest := b.String()
		got := question.Questions(c, rest)
		if len(got) < 1 || len(got) > question.MaxSections {
			return false
		}
		for _, part := range got {
			at := strings.Index(rest, part)
			if at < 0 {
				return false
			}
			rest = rest[at+len(part):]
		}
		return true
	}
	if err := quick.Check(parts, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
	if got := question.Questions(c, strings.Repeat("what broke yesterday and who is free now? ", 100)); len(got) != 1 {
		t.Errorf("a long text is taken apart into %d", len(got))
	}
}

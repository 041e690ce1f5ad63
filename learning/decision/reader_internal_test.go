package decision

import (
	"os"
	"strings"
	"testing"
)

// The least of what is to be kept that is found in the prompts, and the most that is kept of others.
const leastSaid, mostFalse = 0.85, 0

// TestSaid reads prompts as people type them.
func TestSaid(t *testing.T) {
	for _, name := range []string{"testdata/prompts.txt", "testdata/prompts2.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		wanted, found, wrong, invented := 0, 0, 0, 0
		for line := range strings.Lines(string(data)) {
			kind, text, is := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !is {
				continue
			}
			got := ""
			for _, s := range Said(strings.ReplaceAll(text, `\n`, "\n")) {
				if s.Sure && !s.Back {
					got = s.Category
				}
			}
			switch {
			case kind == "none" && got != "":
				invented++
				t.Logf("%q is kept as a %s", text, got)
			case kind == "none":
			case got == "":
				wanted++
				t.Logf("%q is not kept", text)
			default:
				wanted, found = wanted+1, found+1
				if kind != got {
					wrong++
					t.Logf("%q is a %s and kept as a %s", text, kind, got)
				}
			}
		}
		t.Logf("%s: %d of %d found, %d of another kind, %d of others kept", name, found, wanted, wrong, invented)
		if float64(found) < leastSaid*float64(wanted) || invented > mostFalse {
			t.Errorf("%s: %d of %d found, %d of others kept", name, found, wanted, invented)
		}
	}
}

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

// TestSaidInOtherLanguages reads prompts of people who do not write English. First figures of the second set: 46 of 49 found, and 1 of 36 others kept.
func TestSaidInOtherLanguages(t *testing.T) {
	for _, name := range []string{"testdata/languages.txt", "testdata/languages2.txt"} {
		t.Run(name, func(t *testing.T) { readForeign(t, name) })
	}
}

func readForeign(t *testing.T, name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	type figures struct{ wanted, found, other, invented int }
	all := map[string]*figures{}
	for line := range strings.Lines(string(data)) {
		part := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(part) < 3 {
			continue
		}
		f := all[part[0]]
		if f == nil {
			f = &figures{}
			all[part[0]] = f
		}
		got := "none"
		for _, s := range Said(part[2]) {
			if s.Sure && !s.Back {
				got = s.Category
			}
		}
		switch {
		case part[1] == "none" && got != "none":
			f.invented++
		case part[1] == "none":
			continue
		default:
			f.wanted++
			if got != "none" {
				f.found++
			}
			if got == part[1] {
				continue
			}
			f.other++
		}
		t.Logf("%s %q is %s and read as %s", part[0], part[2], part[1], got)
	}
	for language, f := range all {
		t.Logf("%s: %d of %d found, %d not or as another kind, %d of others kept", language, f.found, f.wanted, f.other, f.invented)
		if float64(f.found) < leastSaid*float64(f.wanted) || f.invented > mostFalse {
			t.Errorf("%s: %+v", language, *f)
		}
	}
}

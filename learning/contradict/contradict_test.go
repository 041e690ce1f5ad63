package contradict_test

import (
	"os"
	"strings"
	"testing"

	"skillrouter/learning/contradict"
)

// pair is a line of a collection.
type pair struct{ before, after string }

func pairs(t *testing.T, name, between string) (list []pair) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if a, b, ok := strings.Cut(strings.TrimSpace(line), between); ok && line[0] != '#' {
			list = append(list, pair{a, b})
		}
	}
	if len(list) < 200 {
		t.Fatalf("%s has %d pairs", name, len(list))
	}
	return list
}

func compare(earlier, later contradict.Text) contradict.Finding {
	return contradict.Compare(contradict.Read(earlier), contradict.Read(later))
}

// TestCollection holds what the rule finds in the two collections. The pairs were written before the rule; see docs/staleness.md for
// what its first run gave.
func TestCollection(t *testing.T) {
	count := func(list []pair) (replaces, contradicts int) {
		for _, p := range list {
			if p.before[0] == '[' { // of two projects, which are never compared
				continue
			}
			found := compare(contradict.Text{Title: p.before, Content: p.before}, contradict.Text{Title: p.after, Content: p.after})
			t.Logf("%d %s => %s (%s)", found.Verdict, p.before, p.after, found.Reason)
			switch found.Verdict {
			case contradict.Replaces:
				replaces++
			case contradict.Contradicts:
				contradicts++
			}
		}
		return replaces, contradicts
	}
	superseding := pairs(t, "superseding.txt", " => ")
	replaces, contradicts := count(superseding)
	t.Logf("superseding: %d of %d replace, %d contradict", replaces, len(superseding), contradicts)
	if replaces < 36 || replaces+contradicts < 188 {
		t.Errorf("of %d pairs that supersede %d are found, of these %d for sure", len(superseding), replaces+contradicts, replaces)
	}
	both := pairs(t, "both_true.txt", " || ")
	wrong, marked := count(both)
	t.Logf("both true: %d of %d replace, %d contradict", wrong, len(both), marked)
	if wrong > 0 || marked > 1 {
		t.Errorf("of %d pairs that are both true %d are marked, and %d replaced", len(both), marked, wrong)
	}
}

// TestASeriesContradictsNothing compares notes that are numbered because there are many, and values that are not.
func TestASeriesContradictsNothing(t *testing.T) {
	for _, c := range []struct {
		before, after contradict.Text
		want          bool
	}{
		{contradict.Text{Title: "Notes of the day 7", Content: "The build 7 was green."}, contradict.Text{Title: "Notes of the day 8", Content: "The build 8 was green."}, false},
		{contradict.Text{Title: "Sprint 12 retro", Content: "We shipped 5 tickets."}, contradict.Text{Title: "Sprint 13 retro", Content: "We shipped 7 tickets."}, false},
		{contradict.Text{Title: "Standup 2026-11-03", Content: "Two of us are on call."}, contradict.Text{Title: "Standup 2026-11-04", Content: "Three of us are on call."}, false},
		{contradict.Text{Title: "Incident 4: the cache", Content: "It took 30 minutes."}, contradict.Text{Title: "Incident 5: the cache", Content: "It took 40 minutes."}, false},
		{contradict.Text{Title: "The gateway listens on 8080", Content: "It listens on 8080."}, contradict.Text{Title: "The gateway listens on 9090", Content: "It listens on 9090."}, true},
		{contradict.Text{Title: "A sprint takes 14 days", Content: "A sprint takes 14 days."}, contradict.Text{Title: "A sprint takes 21 days", Content: "A sprint takes 21 days."}, true},
		{contradict.Text{Title: "CI runs Node 18", Content: "CI runs Node 18."}, contradict.Text{Title: "CI runs Node 20", Content: "CI runs Node 20."}, true},
	} {
		if found := compare(c.before, c.after); (found.Verdict != contradict.Unrelated) != c.want {
			t.Errorf("%q, then %q: %+v", c.before, c.after, found)
		}
	}
}

// TestUnderOneTitle compares entries that somebody wrote under one title, as people do who note a thing again.
func TestUnderOneTitle(t *testing.T) {
	for _, c := range []struct {
		title, before, after string
		want                 bool
	}{
		{"Auth tokens", "Access tokens expire after 15 minutes.", "Access tokens expire after 60 minutes.", true},
		{"Lock", "Locks expire within 15 minutes.", "Locks expire within 5 minutes.", true},
		{"Package manager", "Dependencies are installed with yarn.", "We moved from yarn to pnpm.", true},
		{"Queue", "Mails are sent through RabbitMQ.", "RabbitMQ was shut down.", true},
		{"Tests", "Unit tests run after 15 builds.", "Browser tests run after 15 builds.", false},
		{"Team", "Anna keeps the release notes.", "We moved from Berlin to Bonn.", false},
	} {
		found := compare(contradict.Text{Title: c.title, Content: c.before}, contradict.Text{Title: c.title, Content: c.after})
		if (found.Verdict != contradict.Unrelated) != c.want {
			t.Errorf("%q, then %q: %+v", c.before, c.after, found)
		}
	}
}

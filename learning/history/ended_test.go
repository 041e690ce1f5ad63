package history_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/history"
)

// mostOfSession is how many proposals a session may make by itself: somebody reads them.
const mostOfSession = 0.5

// TestEndedSessions holds what sessions propose at their end to what a person said in them, and to so little that it is read.
func TestEndedSessions(t *testing.T) {
	text, err := os.ReadFile("testdata/ended.txt")
	if err != nil {
		t.Fatal(err)
	}
	sessions := strings.Split(string(text), "\n=== ")[1:]
	proposed := 0
	for _, session := range sessions {
		name, said, _ := strings.Cut(session, "\n")
		said, wanted, _ := strings.Cut(said, "\nwant: ")
		turns, err := history.ReadTranscript(said)
		if err != nil {
			t.Fatal(name, err)
		}
		drafts, err := history.Rules{}.Said(t.Context(), history.Transcript{Persona: "default", Turns: turns})
		if err != nil {
			t.Fatal(name, err)
		}
		got := map[string]bool{}
		for _, d := range drafts {
			got[d.Evidence[0]] = true
			if d.Procedure != nil || d.Confidence < 0.5 || turns[d.Turns[0]].Role != "user" {
				t.Errorf("%s: %s", name, described(d))
			}
		}
		want := map[string]bool{}
		if wanted != "" {
			want[strings.TrimSpace(wanted)] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		proposed += len(got)
	}
	if rate := float64(proposed) / float64(len(sessions)); rate > mostOfSession {
		t.Errorf("%.2f proposals a session, more than %.2f", rate, mostOfSession)
	}
}

// readers is how many readers judged each proposal.
const readers = 5

// TestVerdicts holds the rules to the sentences that were read and found of use, and the verdicts to the share that is promised.
func TestVerdicts(t *testing.T) {
	text, err := os.ReadFile("testdata/verdicts.txt")
	if err != nil {
		t.Fatal(err)
	}
	read, verdicts, use := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != readers+2 {
			continue
		}
		who, said := parts[readers], parts[readers+1]
		if read++; who == "incident, gone" {
			continue
		}
		for _, verdict := range parts[:readers] {
			switch verdict {
			case "use":
				use, verdicts = use+1, verdicts+1
			case "none":
				verdicts++
			}
		}
		if who != "person" {
			continue
		}
		drafts, err := history.Rules{}.Said(t.Context(), history.Transcript{Persona: "default", Turns: []history.Turn{{Role: "user", Content: said}}})
		if err != nil || len(drafts) != 1 {
			t.Errorf("%q makes %d proposals, %v", said, len(drafts), err)
		}
	}
	if use*10 < verdicts*7 || read < 17 {
		t.Errorf("%d of %d verdicts on %d proposals say that they are of use", use, verdicts, read)
	}
}

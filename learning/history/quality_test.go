package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/history"
)

// expected is a line of a .want file: what a person would remember of the transcript.
type expected struct{ kind, what, how string }

func readWanted(t *testing.T, file string) (list []expected) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		e := expected{kind: kind, what: rest}
		switch kind {
		case "fact":
			e.what, e.how, _ = strings.Cut(rest, " = ")
		case "episode":
			e.what, e.how, _ = strings.Cut(rest, " => ")
		}
		list = append(list, e)
	}
	return list
}

// fits tells whether a proposal is what was expected.
func (e expected) fits(d history.ProposalDraft) bool {
	switch {
	case e.kind == "fact" && d.Fact != nil:
		return d.Fact.Key == e.what && string(d.Fact.Value) == e.how
	case e.kind == "episode" && d.Episode != nil:
		_, fix, _ := strings.Cut(d.Episode.Content, "\nFix: ")
		fix, _, _ = strings.Cut(fix, "\n")
		return strings.Contains(d.Episode.Content, "Symptom: ") && strings.Contains(d.Episode.Title, e.what) && strings.Contains(fix, e.how)
	case e.kind == "decision" && d.Episode != nil:
		return d.Episode.EventType == "decision" && strings.Contains(d.Episode.Title, e.what)
	case e.kind == "procedure" && d.Procedure != nil:
		steps := strings.Split(e.what, "; ")
		if len(steps) != len(d.Procedure.Steps) {
			return false
		}
		for i, step := range steps {
			if !strings.HasPrefix(d.Procedure.Steps[i].Run, step) {
				return false
			}
		}
		return true
	}
	return false
}

// described is a proposal on one line.
func described(d history.ProposalDraft) string {
	switch {
	case d.Fact != nil:
		return fmt.Sprintf("%.2f fact %s = %s", d.Confidence, d.Fact.Key, d.Fact.Value)
	case d.Episode != nil:
		return fmt.Sprintf("%.2f episode %s | %s", d.Confidence, d.Episode.Title, strings.ReplaceAll(d.Episode.Content, "\n", " | "))
	}
	var steps []string
	for _, s := range d.Procedure.Steps {
		steps = append(steps, s.Run)
	}
	return fmt.Sprintf("%.2f procedure %s: %s", d.Confidence, d.Procedure.Name, strings.Join(steps, "; "))
}

// TestRulesQuality holds the rules to what they find in transcripts. Those in
// seen were looked at while the rules were written; those in unseen were
// written before the rules first ran. Facts of other forms than the rules read, and pairs of commands, are not among the wanted: a model finds those.
func TestRulesQuality(t *testing.T) {
	for _, set := range []struct {
		name              string
		precision, recall float64
	}{{"seen", 0.9, 0.9}, {"unseen", 0.7, 0.8}} {
		t.Run(set.name, func(t *testing.T) {
			files, err := filepath.Glob("testdata/transcripts/" + set.name + "/*[tl]")
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			proposed, right, wanted := 0, 0, 0
			for _, file := range files {
				ext := filepath.Ext(file)
				if ext == ".want" {
					continue
				}
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				want := readWanted(t, strings.TrimSuffix(file, ext)+".want")
				found := make([]bool, len(want))
				drafts := extract(t, string(text))
				for _, d := range drafts {
					fits := false
					for i, e := range want {
						if e.fits(d) && !found[i] {
							found[i], fits = true, true
						}
					}
					if fits {
						right++
					} else {
						t.Logf("%s: not wanted: %s", file, described(d))
					}
				}
				for i, e := range want {
					if !found[i] {
						t.Logf("%s: missed: %+v", file, e)
					}
				}
				proposed, wanted = proposed+len(drafts), wanted+len(want)
			}
			precision, recall := float64(right)/float64(proposed), float64(right)/float64(wanted)
			t.Logf("%s: %d proposed, %d wanted, %d right: precision %.2f, recall %.2f", set.name, proposed, wanted, right, precision, recall)
			if precision < set.precision || recall < set.recall {
				t.Errorf("precision %.2f and recall %.2f; at least %.2f and %.2f are promised", precision, recall, set.precision, set.recall)
			}
		})
	}
}

// TestNobodysMistakes reads records in which a command did not go through and nobody did anything wrong:
// nothing is proposed of them. What truly failed in the same place is.
func TestNobodysMistakes(t *testing.T) {
	t.Parallel()
	const call = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}` + "\n"
	const answer = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%t}]}}` + "\n"
	session := func(command, said, between string) string {
		return fmt.Sprintf(call+answer+call+answer+call+answer, "1", command, "1", said, true, "2", between, "2", "", false, "3", command, "3", "done: 2 files", false)
	}
	for _, test := range []struct {
		name, command, said string
		proposed            int
	}{
		{"refused", "gh repo create acme/shop --push", "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).", 0},
		{"interrupted", "make deploy", "[Request interrupted by user for tool use]", 0},
		{"permission asked", "make deploy", "Claude requested permissions to use Bash, but you haven't granted it yet.", 0},
		{"an empty search", "rg -l TODO services", "Exit code 1", 0},
		{"a comparison", "cmp a.txt b.txt", "Exit code 1", 0},
		{"it failed", "make deploy", "Exit code 2\nmake: *** No rule to make target 'deploy'.  Stop.", 1},
	} {
		if got := extract(t, session(test.command, test.said, "git submodule update --init")); len(got) != test.proposed {
			for _, d := range got {
				t.Logf("%s: %s", test.name, described(d))
			}
			t.Errorf("%s: %d proposals, not %d", test.name, len(got), test.proposed)
		}
	}
}

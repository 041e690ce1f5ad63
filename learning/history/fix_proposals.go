package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// maxProposedSteps bounds the steps of a fix, the last ones.
const maxProposedSteps = 5

// process is a command that names a process of this one session by its number.
var process = lazyregexp.New(`(?i)\b(t?kill(?:\s+-\w+)*\s+|taskkill\s+/pid\s+|pg_(?:terminate|cancel)_backend\s*\(\s*)\d+`)

// fixes proposes the errors that were followed by what made the same go through.
func (s *scene) fixes() (drafts []ProposalDraft) {
	known := map[string]bool{}
	for _, m := range Mends(s.steps) {
		failed, worked := s.steps[m.Failed], s.steps[m.Worked]
		same := strings.TrimSpace(failed.Command) == strings.TrimSpace(worked.Command)
		var steps []string
		quotes := []int{m.Failed}
		for _, i := range m.Between {
			step := oneLine(s.steps[i].Command)
			if s.steps[i].Outcome == Edited {
				step = "edit " + step
			}
			if step = process.ReplaceAllString(step, "${1}PID"); !slices.Contains(steps, step) {
				steps = append(steps, step)
			}
			quotes = append(quotes, i)
		}
		many := len(steps) > maxProposedSteps-1
		steps = steps[max(0, len(steps)-maxProposedSteps):]
		if len(steps) == 0 && !same && !misspelt(failed.Command, worked.Command) {
			steps = []string{worked.Command}
		}
		if len(steps) == 0 || known[m.Program+"\n"+m.Error] {
			continue // it went through by itself, or is told already
		}
		known[m.Program+"\n"+m.Error] = true
		d := ProposalDraft{Kind: ProposalEpisode, Episode: fixEpisode(failed, worked, m.Said, strings.Join(steps, "; ")), Confidence: fixBase, Evidence: []string{m.Said}}
		for _, i := range append(quotes, m.Worked) {
			d.Evidence, d.Turns = append(d.Evidence, s.quotes[i]), append(d.Turns, s.turns[i])
		}
		for t := s.turns[m.Failed] + 1; t <= s.turns[m.Worked]; t++ {
			d.Turns = append(d.Turns, t)
		}
		if same {
			d.Confidence += fixSameRun
		}
		if len(steps) == 1 {
			d.Confidence += fixOne
		}
		if many {
			d.Confidence += fixMany
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// misspelt tells whether two commands have the same letters, in another order: that one failed teaches nothing.
func misspelt(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// fixEpisode tells of a failure and its fix.
func fixEpisode(failed, worked Step, said, fix string) *episode.Draft {
	symptom, command := cmp.Or(said, "it failed"), oneLine(failed.Command)
	context, _ := json.Marshal(map[string]string{"symptom": symptom, "failed_command": command, "fix": fix, "then_worked": oneLine(worked.Command)}) // strings cannot fail
	return &episode.Draft{
		EventType: episode.EventError, Title: check.Clip(command, 80) + ": " + cutMiddle(symptom, 120), Context: context,
		Content: fmt.Sprintf("Symptom: %s\nFailed command: %s\nFix: %s\nThen worked: %s", symptom, command, fix, oneLine(worked.Command)),
		Learned: fmt.Sprintf("When `%s` fails with “%s”: %s", command, symptom, fix),
	}
}

// oneLine is a text with single spaces for all its white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cutMiddle shortens a text to about n bytes from its middle: what is wrong often stands at the end.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + "…" + strings.ToValidUTF8(s[len(s)-n/2:], "")
}

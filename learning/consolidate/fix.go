package consolidate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"skillrouter/learning/episode"
)

// Bounds of an error and its fix.
const (
	maxFixReach = 60 // happenings between a failure and the run that went through
	maxFixSteps = 5  // of a fix, the last ones
)

// failure is a failed run, and the run with which its symptom was gone.
type failure struct {
	at, until int // positions of both in the scene; until may be what the user says
	progress  bool
}

// fixes finds errors that were followed by what fixed them: the same command,
// or nearly the same, failed and went through later.
func (s *ruleScene) fixes() []ProposalDraft {
	var drafts []ProposalDraft
	handled := map[int]bool{}
	for i, h := range s.happened {
		if h.command == nil || h.command.outcome != outcomeFailed || handled[i] {
			continue
		}
		for _, f := range s.chain(i, handled) {
			if draft, ok := s.fix(f); ok {
				drafts = append(drafts, draft)
			}
		}
	}
	return drafts
}

// chain follows the runs of what failed at i until one goes through. Nothing
// that never went through is a fix.
func (s *ruleScene) chain(i int, handled map[int]bool) []failure {
	var found []failure
	at := i
	for j := i + 1; j < len(s.happened) && j <= at+maxFixReach; j++ {
		h := s.happened[j]
		if h.works && !s.failedBetween(at, j) {
			return append(found, failure{at: at, until: j})
		}
		run := h.command
		if run == nil || !again(s.happened[at].command, run) {
			continue
		}
		switch run.outcome {
		case outcomeOK, outcomeProved:
			return append(found, failure{at: at, until: j})
		case outcomeFailed:
			handled[j] = true
			if symptomKind(run.symptom) != symptomKind(s.happened[at].command.symptom) {
				found = append(found, failure{at: at, until: j, progress: true})
			}
			at = j
		}
	}
	return nil
}

// tried tells whether anything else failed between two positions, and so may be what works now.
func (s *ruleScene) failedBetween(from, to int) bool {
	for _, h := range s.happened[from+1 : to] {
		if h.command != nil && h.command.outcome == outcomeFailed {
			return true
		}
	}
	return false
}

// again tells whether b is another attempt at what a failed to do.
func again(a, b *ruleRun) bool {
	if a.near(b.ruleCommand) {
		return true
	}
	// Another program under which the same is found: python, python3.
	return missing(a) && len(a.words) > 1 && slices.Equal(a.words[1:], b.words[1:])
}

// missing tells whether a run failed because there is no such program.
func missing(run *ruleRun) bool {
	return strings.Contains(run.symptom, "not found") || strings.Contains(run.symptom, "is not recognized")
}

// fix makes the proposal of a failure and what was done between it and the run that went through.
func (s *ruleScene) fix(f failure) (ProposalDraft, bool) {
	failed, end := s.happened[f.at].command, s.happened[f.until]
	confidence := fixBase
	var steps, quotes []string
	var turns []int
	cause, said := "", false
	quote := func(h happening) {
		quotes, turns = append(quotes, h.quote), append(turns, h.turn)
	}
	var kept []happening
	for _, h := range s.happened[f.at+1 : f.until] {
		switch run := h.command; {
		case h.cause != "":
			cause = h.cause
		case h.edited != "" || h.did != "":
			kept = append(kept, h)
		case run != nil && run.outcome != outcomeFailed && !run.looks && !run.tries && !again(failed, run) && (run.group() != "git" || failed.group() == "git" || changesTree(run)):
			kept = append(kept, h)
		}
	}
	many := len(kept) >= fixManyBegins
	kept = kept[max(0, len(kept)-maxFixSteps):]
	for _, h := range kept {
		step := ""
		switch {
		case h.command != nil:
			step = h.command.text
			if h.command.suggested {
				confidence += fixSuggested
			}
		case h.edited != "":
			step = "edit " + h.edited
		default:
			step, said = h.did, true
		}
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	changed := end.command != nil && !failed.same(end.command.ruleCommand) && !f.progress
	if end.command != nil && missing(failed) && strings.Fields(failed.text)[0] != strings.Fields(end.command.text)[0] {
		changed = true // python, python3
	}
	if len(steps) == 0 && changed && !typo(failed, end.command) {
		steps = append(steps, end.command.text)
	}
	if len(steps) == 0 {
		return ProposalDraft{}, false // it went through by itself
	}
	quote(s.happened[f.at])
	if failed.symptom != "" {
		quotes, turns = append(quotes, failed.symptom), append(turns, s.happened[f.at].turn)
		for t := s.happened[f.at].turn + 1; t <= end.turn; t++ {
			turns = append(turns, t)
		}
	}
	for _, h := range kept {
		quote(h)
	}
	quote(end)
	switch {
	case f.progress:
		confidence += fixProgress
	case end.command != nil && !changed:
		confidence += fixSameRun
	}
	if end.command != nil && end.command.outcome == outcomeProved {
		confidence += fixProved
	}
	if cause != "" {
		confidence += fixCause
	}
	if said {
		confidence += fixSaid
	}
	if len(steps) == 1 {
		confidence += fixOne
	}
	if many {
		confidence += fixMany
	}
	return ProposalDraft{
		Kind: ProposalEpisode, Episode: fixEpisode(failed, end, steps, cause, f.progress), Confidence: bounded(confidence), Evidence: quotes, Turns: turns,
	}, true
}

// changesTree tells whether a git command changes what a build or a test sees.
func changesTree(run *ruleRun) bool {
	switch run.verb() {
	case "checkout", "pull", "reset", "revert", "stash", "merge", "rebase", "switch", "restore", "submodule", "lfs", "clean", "apply", "config", "clone":
		return true
	}
	return false
}

// typo tells whether a command failed for its spelling alone, which teaches nothing.
func typo(a, b *ruleRun) bool {
	if !missing(a) && !strings.Contains(a.symptom, "is not a git command") {
		return false
	}
	x, y := []rune(strings.Join(a.words, " ")), []rune(strings.Join(b.words, " "))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// fixEpisode tells of a failure and its fix.
func fixEpisode(failed *ruleRun, end happening, steps []string, cause string, progress bool) *episode.Draft {
	symptom := cmp.Or(failed.symptom, "it failed")
	then := end.quote
	if end.command != nil {
		then = end.command.text
	}
	if progress {
		then = "the next error of the same command, which went through later"
	}
	fix := strings.Join(steps, "; ")
	var b strings.Builder
	told := map[string]string{}
	line := func(label, name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", label, text)
			told[name] = text
		}
	}
	line("Symptom", "symptom", symptom)
	line("Failed command", "failed_command", failed.text)
	line("Root cause", "root_cause", cause)
	line("Fix", "fix", fix)
	line("Then worked", "then_worked", then)
	context, _ := json.Marshal(told) // strings cannot fail
	title := cutBytes(oneLine(failed.text), 80) + ": " + cutMiddle(symptom, 120)
	return &episode.Draft{
		EventType: episode.EventError, Title: title, Content: strings.TrimSpace(b.String()), Context: context,
		Learned: fmt.Sprintf("When `%s` fails with “%s”: %s", oneLine(failed.text), symptom, fix),
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cutMiddle shortens a text to about n bytes from its middle: what is wrong often stands at the end.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := s[:n/2], s[len(s)-n/2:]
	return strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
}

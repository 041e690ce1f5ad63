package respond

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Bounds of what a hook tells and keeps of failures.
const (
	// failureBudget and failureCharacters bound what is told after a failure, in tokens and characters.
	failureBudget     = 400
	failureCharacters = 1600
	// failureText is how much of what a program said is asked with, from its end, and kept, from its beginning, in bytes.
	failureText = 1500
	// failureOutput is how much of what a program said is compared with earlier failures, in bytes: its beginning and its end.
	failureOutput = 12 << 10
	// foreignTools is how the tools of MCP servers are named.
	foreignTools = "mcp__"
	// maxAttempts is how many commands that failed are kept of a session, and attemptsLast for how many
	// commands more: what works long after was another matter.
	maxAttempts  = 4
	attemptsLast = 6
	// leastWord is how long a word is that tells a command from others, in letters.
	leastWord = 3
)

// attempt is a command that failed, kept in a small file until one like it works.
type attempt struct {
	Command string `json:"command"`
	Said    string `json:"said"`
	Left    int    `json:"left"`            // commands until it is forgotten
	Since   string `json:"since,omitempty"` // the use of a tool up to which the session's record was looked at
}

// misused is how programs say that they were called in a wrong way, or in a wrong place.
// That a test failed, or code does not compile, says nothing of how to call a program.
var misused = lazyregexp.New(`(?i)not found|no module named|cannot find (?:module|package)|unknown (?:command|option|flag|argument|shorthand)|unrecognized|invalid (?:option|choice|command)|illegal option|usage:|not recognized|no such (?:file|command|option|script)|permission denied|externally-managed|not installed|missing (?:script|dependency|module|argument)|virtual ?env|refus|must be run|only allow|use (?:pnpm|npm|yarn|bun|poetry|uv|make) |not supported|is not a|no configuration|connect|environment variable`)

// judged is how programs say that what they looked at is wrong: a test that failed says
// nothing of how tests are run.
var judged = lazyregexp.New(`\bFAIL(?:ED|S)?\b|(?i)assert|\bexpected\b|\bwant(?:ed)?\b|\d+ (?:tests? )?failed|does not compile|syntax error`)

// mend is what memory has for a failure: what worked the last time. Empty where nothing fits.
func (h *Hook) mend(ctx context.Context) (string, error) {
	if !h.call.Failed || h.call.Stopped || h.call.Tool == "" || !h.Dialect.Tells(h.Event) {
		return "", nil
	}
	said := h.call.Failure
	request := h.request(storable(did(h.call)+"\n"+said[max(0, len(said)-failureText):]), failureBudget)
	if command, foreign := did(h.call), strings.HasPrefix(h.call.Tool, foreignTools); command != "" || foreign {
		failed := failedCommand{Project: h.project, AgentID: h.agent, Command: storable(command), Error: storable(ends(said, failureOutput)), Session: request.SessionID, Folder: request.Folder}
		if command == "" {
			failed.Tool, failed.Args = h.call.Tool, h.call.Args
		}
		known, err := ask[failedAnswer](ctx, h.calls(), "/api/incidents/answer", failed)
		if err != nil || known.Text != "" || known.Incident != "" { // what else memory has of it would be the same again
			return known.Text, err
		}
	}
	request.Prompt, request.Failure, request.Characters = true, true, failureCharacters
	known, err := h.calls().context(ctx, request)
	return known.Text, err
}

// ends is a text of at most so many bytes: the first third of them from its beginning, the rest from its end.
func ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most/3] + "\n" + text[len(text)-most+most/3+1:]
}

// did is what a tool was asked to do, in a line of its own words.
func did(call hook.Call) string {
	text, _ := call.Args["command"].(string)
	return check.Head(text, MaxFailureCommand)
}

// notice keeps a command that failed, and records what worked in its place.
func (h *Hook) notice(ctx context.Context) error {
	name, command := h.attemptsPath(), did(h.call)
	if name == "" || strings.TrimSpace(command) == "" || h.call.Stopped {
		return nil
	}
	attempts := attemptsIn(name)
	if h.call.Failed {
		if len(wordsOf(command)) == 0 {
			return nil
		}
		said := check.Head(strings.TrimSpace(storable(h.call.Failure)), failureText)
		attempts = append(attempts, attempt{command, said, attemptsLast, h.call.ToolUse})
		keepAttempts(name, attempts[max(0, len(attempts)-maxAttempts):])
		return nil
	}
	if len(attempts) == 0 {
		return nil
	}
	left, mended := mendedBy(attempts, h.call)
	keepAttempts(name, left)
	return h.recordMended(ctx, mended, h.call)
}

// mendedBy returns the attempt that a command which worked has mended, if one is, and those that are left.
func mendedBy(attempts []attempt, call hook.Call) (left []attempt, mended *attempt) {
	command := did(call)
	for _, a := range attempts {
		if mended == nil && a.mendedBy(command) {
			mended = &a
		} else {
			left = append(left, a)
		}
	}
	if mended != nil {
		return left, mended
	}
	for i := range left {
		left[i].Left--
	}
	return slices.DeleteFunc(left, func(a attempt) bool { return a.Left <= 0 }), nil
}

// recordMended records what worked in the place of an attempt, unless there is none.
func (h *Hook) recordMended(ctx context.Context, mended *attempt, call hook.Call) error {
	if mended == nil {
		return nil
	}
	command := did(call)
	draft := h.episodeOf(call)
	draft.EventType = "outcome"
	draft.Title = OneLine("Worked: "+command, MaxFailureTitle)
	draft.Content = storable("This worked: " + command + "\n\nBefore it this had failed: " + mended.Command + "\n" + mended.Said)
	return h.calls().post(ctx, "/api/episodes", draft)
}

// mendedBy tells whether a command that worked is what the attempt should have been: one
// like it where the program was called in a wrong way, or the same one with more to it.
func (a attempt) mendedBy(worked string) bool {
	if misused.MatchString(a.Said) {
		return inPlaceOf(a.Command, worked)
	}
	failed, now := strings.Fields(a.Command), strings.Fields(worked)
	return len(now) > len(failed) && !judged.MatchString(a.Said) && !slices.ContainsFunc(failed, func(word string) bool { return !slices.Contains(now, word) })
}

// inPlaceOf tells whether a command that worked was meant as the one that failed: it
// is another one, and they have a telling word in common.
func inPlaceOf(failed, worked string) bool {
	if strings.Join(strings.Fields(failed), " ") == strings.Join(strings.Fields(worked), " ") {
		return false // what was mended lies elsewhere
	}
	words := wordsOf(failed)
	return slices.ContainsFunc(wordsOf(worked), func(word string) bool { return slices.Contains(words, word) })
}

// looks are programs that only look: what they did not find was not there.
var looks = []string{"ls", "cat", "grep", "rg", "find", "fd", "head", "tail", "less", "echo", "printf", "which", "type", "stat", "file", "wc", "tree", "pwd", "curl", "wget"}

// wordsOf are the words of a command that tell it from others: no flags, values of
// variables or connectives. A command that only looks has none.
func wordsOf(command string) (words []string) {
	for i, word := range strings.FieldsFunc(command, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`;|&(){}<>'"`+"`", r) }) {
		word = path.Base(word)
		switch {
		case i == 0 && slices.Contains(looks, word):
			return nil
		case strings.HasPrefix(word, "-") || strings.Contains(word, "="):
		case len(word) >= leastWord && strings.ContainsFunc(word, unicode.IsLetter) && !slices.Contains(common, word):
			words = append(words, word)
		}
	}
	return words
}

// common are words of commands of every kind.
var common = []string{"sudo", "env", "bash", "run", "exec", "install", "add", "get", "set", "src", "main", "true", "false", "null", "then", "done", "home", "tmp", "git", "python", "python3", "node", "docker"}

func (h *Hook) attemptsPath() string { return h.cached("failed-") }

func attemptsIn(name string) (attempts []attempt) {
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &attempts) != nil {
		return nil
	}
	return attempts
}

func keepAttempts(name string, attempts []attempt) {
	if len(attempts) == 0 {
		_ = os.Remove(name)
		return
	}
	keepJSON(name, attempts)
}

// maxOutcome is how much of the end of an agent's own record of a session is read to tell how a command ended, in bytes:
// that stands in its last lines, with at most some hundred kilobytes of output.
const maxOutcome = 1 << 20

// lookUp finds in Codex's own record how the command ended that the hook was
// called after: it stands there before the hook is run, and not in what the hook is told.
func (h *Hook) lookUp() error {
	if h.Dialect != hook.Codex || h.call.Tool != "Bash" || h.call.Transcript == "" || h.call.ToolUse == "" {
		return nil
	}
	lines, err := lastLines(h.call.Transcript, maxOutcome)
	if err != nil {
		return err
	}
	h.call.Failed, h.call.Failure = false, "" // what a command wrote says nothing, though it begin with an exit code
	for _, failed := range hook.RolloutFailures(lines) {
		if failed.ToolUse == h.call.ToolUse {
			h.call.Failed, h.call.Failure = true, failed.Failure
		}
	}
	return nil
}

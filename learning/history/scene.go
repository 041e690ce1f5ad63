package history

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/decision"
)

// scene is a transcript in its order: what was run and changed, and what was said.
type scene struct {
	steps  []Step
	turns  []int    // of the steps
	quotes []string // of the steps: the lines by which they stand in the transcript
	said   []saidLine
	typed  int // how many steps there were when one was typed last whose output has not come
}

// saidLine is a line of prose.
type saidLine struct {
	turn int
	role string
	text string
}

// maxOutput bounds the lines of one command's output that are looked at, from its beginning and from its end.
const maxOutput = 400

// maxPrompt bounds what stands before a command, in bytes.
const maxPrompt = 200

var (
	shellPrompt = lazyregexp.New(`^\s*(?:\([\w.-]+\) ?)?(?:(?:[\w.-]+@[\w.-]+(?::| )?[~/\w. -]*|\[[^\]\n]{1,60}\]|[~/][\w./-]*)? ?[$❯]|[\w.-]+@[\w.-]+ [~/\w.-]+ %) +(\S.*)$`)
	editedLine  = lazyregexp.New(`^\[edited ([^\]]+)\]$`)
)

// prompted returns what was typed at a prompt, if the line begins with one.
func prompted(line string) string {
	if !strings.ContainsAny(line[:min(len(line), maxPrompt)], "$❯%") {
		return ""
	}
	if m := shellPrompt.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

func hasPrompt(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return prompted(line) != "" })
}

// readScene takes a transcript apart. The output of a command stands below it, or in the tool's turn that follows.
func readScene(t Transcript) *scene {
	s := &scene{}
	var waiting []int // steps whose output has not come
	for i, turn := range t.Turns {
		lines := strings.Split(turn.Content, "\n")
		if turn.Role == roleTool && len(waiting) > 0 && !hasPrompt(lines) {
			s.answer(waiting[0], lines)
			waiting = waiting[1:]
			continue
		}
		waiting = s.read(i, turn.Role, lines)
	}
	return s
}

// answer says what a command printed.
func (s *scene) answer(step int, output []string) {
	if n := len(output); n > maxOutput {
		output = append(output[:maxOutput/2:maxOutput/2], output[n-maxOutput/2:]...)
	}
	one := &s.steps[step]
	one.Outcome, one.Exit = readOutcome(one.Command, output)
	said := slices.DeleteFunc(slices.Clone(output), func(line string) bool { return line == toolFailed })
	one.Output = check.Head(strings.Join(said, "\n"), MaxOutput)
}

// add adds a step of which it is not known yet how it went: that says nothing, as of one that was refused. What was typed before it, and printed
// nothing, went through.
func (s *scene) add(turn int, command, quote string, outcome Outcome) int {
	if last := s.typed - 1; last >= 0 && s.steps[last].Output == "" && s.steps[last].Outcome == Refused {
		s.steps[last].Outcome = Worked
	}
	s.typed = 0
	s.steps = append(s.steps, Step{Command: command, Outcome: outcome})
	s.turns, s.quotes = append(s.turns, turn), append(s.quotes, quote)
	return len(s.steps) - 1
}

// read reads the lines of a turn, and returns the steps whose output does not stand there.
func (s *scene) read(turn int, role string, lines []string) (waiting []int) {
	at, mark, shell := -1, "", false // the step whose output the next lines are, and the block that they stand in
	var output, block []string
	end := func() {
		if at >= 0 && len(strings.TrimSpace(strings.Join(output, ""))) > 0 {
			s.answer(at, output)
		} else if at >= 0 {
			waiting = append(waiting, at)
		}
		at, output = -1, nil
	}
	for i, line := range lines {
		plain := strings.TrimSpace(line)
		if m := decision.Fence(line); m != "" && mark == "" {
			lang := strings.ToLower(strings.TrimLeft(plain, "`~"))
			mark, shell, block = m, slices.Contains([]string{"bash", "sh", "shell", "zsh", "console", "terminal"}, lang), nil
			continue
		} else if m != "" && strings.HasPrefix(m, mark) {
			switch {
			case hasPrompt(block):
				end()
				waiting = append(waiting, s.read(turn, role, block)...)
			case shell && len(block) > 0:
				end()
				at = s.add(turn, strings.Join(block, "\n"), block[0], Refused)
				end()
			case !shell && at >= 0:
				output = append(output, block...)
			}
			mark = ""
			continue
		}
		if mark != "" {
			block = append(block, line)
			continue
		}
		if typed := prompted(line); typed != "" {
			if at >= 0 && len(output) == 0 { // another follows: it printed nothing
				output = []string{noOutput}
			}
			end()
			at = s.add(turn, typed, typed, Refused)
			s.typed = at + 1
			continue
		}
		if m := editedLine.FindStringSubmatch(plain); m != nil {
			end()
			s.add(turn, m[1], plain, Edited)
			continue
		}
		if at >= 0 && !(i > 0 && strings.TrimSpace(lines[i-1]) == "" && isProse(plain)) {
			output = append(output, line)
			continue
		}
		end()
		if plain != "" {
			s.said = append(s.said, saidLine{turn, role, plain})
		}
	}
	end()
	return waiting
}

// isProse tells whether a line is a sentence rather than something that a program prints.
func isProse(line string) bool {
	if len(strings.Fields(line)) < 3 || !strings.ContainsAny(line[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ`*") {
		return false
	}
	return strings.ContainsAny(line[len(line)-1:], ".!?:") || strings.Contains(line, "`") || strings.Contains(line, ". ")
}

var (
	exitCode = lazyregexp.New(`(?i)(?:\bexit(?:ed)?(?: with)?(?: code| status)[:=]? ?|\[exit(?: code)?:? |\breturn(?:ed)? code:? |non-zero exit status |\bexited with )(\d{1,3})\b`)

	// failures are lines by which programs say that they failed, where nobody says how they ended.
	failures = lazyregexp.New(strings.Join([]string{
		`command not found`, `: not found$`, `^Traceback \(most recent call last\)`, `^E {2,}\S`,
		`^(?:[\w./@:-]+: )*(?i:fatal|error|panic)(?: \w+| TS\d+|\[\w+\])*:`, `^(?:npm|pnpm) (?:ERR!|error|ERR_)`, ` ERR_\w+`, `^[\w.]*(?:Error|Exception)(?::| \[|$)`, `^ERROR\b`, `^Error `,
		`error TS\d+`, `No such file or directory`, `[Pp]ermission denied`, `[Cc]onnection refused`, `ECONNREFUSED`, `EADDRINUSE`, `address already in use`, `port is already allocated`,
		`[Cc]annot find module`, `No module named`, `Segmentation fault`, `[Oo]ut of memory`, `^CONFLICT \(`, `! \[rejected\]`, `make(?:\[\d+\])?: \*\*\*`, `\bFAILED\b`, `^(?:--- )?FAIL\b`,
		`(?i:build failed)`, `\b[1-9]\d* (?:failed|failing|failures?|errors?)\b`, `(?:timed out|[Tt]imeout exceeded)`, `^(?:[\w./-]+: )?(?i:could not|cannot|can't|unable to) `, `does not exist`,
		`[Aa]ccess denied`, `undefined reference`, `undefined: `, `password authentication failed`, `[Ss]yntax error`, `has no upstream branch`, `HTTP/[\d.]+ [45]\d\d`,
	}, "|"))
	// harmless are lines that hold such words and say something else.
	harmless = lazyregexp.New(`(?i)\b(?:0|no) (?:errors?|failed|failures|failing)\b|\bwarn(?:ing)?\b|deprecat|^\s*(?:#|//)|^\+\+\+|if .* (?:fails|failed)`)
)

// refused is how the guard's hook says that a command was never run: that is no failure of it.
const refused = "Skill Router's guard blocked this"

// readOutcome tells from what a command printed how it went, and with which exit code, if that is told.
func readOutcome(command string, output []string) (outcome Outcome, exit int) {
	failed, told, coded := false, false, false
	for _, line := range output {
		plain := strings.TrimSpace(line)
		if strings.Contains(plain, refused) || NotRun(plain) {
			return Refused, 0
		}
		if m := exitCode.FindStringSubmatch(plain); m != nil && len(plain) < 40 {
			exit, _ = strconv.Atoi(m[1]) // three digits
			coded = true
			continue
		}
		told = told || plain == toolFailed
		failed = failed || failures.MatchString(plain) && !harmless.MatchString(plain)
	}
	if coded && exit != 0 || told || failed && !coded && !Looks(command) {
		return Failed, exit
	}
	return Worked, 0
}

// failing are the commands whose last run failed, the latest first.
func (s *scene) failing() (commands []string) {
	seen := map[string]bool{}
	for _, step := range slices.Backward(s.steps) {
		if step.Outcome != Worked && step.Outcome != Failed {
			continue
		}
		text := oneLine(step.Command)
		if !seen[text] && step.Outcome == Failed {
			commands = append(commands, check.Head(text, maxAskedText))
		}
		seen[text] = true
	}
	return commands
}

package consolidate

import (
	"cmp"
	"strconv"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/incident"
)

// ruleOutcome is how a command went.
type ruleOutcome int

const (
	outcomeUnknown ruleOutcome = iota // nobody saw what it printed
	outcomeFailed
	outcomeOK     // nothing says that it failed
	outcomeProved // its output says that it worked
)

var (
	exitCode = lazyregexp.New(`(?i)(?:\bexit(?:ed)?(?: with)?(?: code| status)[:=]? ?|\[exit(?: code)?:? |\breturn(?:ed)? code:? |non-zero exit status |\bexited with )(\d{1,3})\b`)

	// failures are lines by which programs say that they failed.
	failures = lazyregexp.New(strings.Join([]string{
		`command not found`, `: not found$`, `^Traceback \(most recent call last\)`, `^E {2,}\S`,
		`^(?:[\w./@:-]+: )*(?i:fatal|error|panic)(?: \w+| TS\d+|\[\w+\])*:`, `^(?:npm|pnpm) (?:ERR!|error|ERR_)`, ` ERR_\w+`, `^[\w.]*(?:Error|Exception)(?::| \[|$)`, `^ERROR\b`, `^Error `,
		`error TS\d+`, `No such file or directory`, `[Pp]ermission denied`, `[Cc]onnection refused`, `ECONNREFUSED`, `EADDRINUSE`, `address already in use`,
		`port is already allocated`, `[Cc]annot find module`, `No module named`, `Segmentation fault`, `[Oo]ut of memory`, `OOMKilled`, `^CONFLICT \(`, `Automatic merge failed`,
		`! \[rejected\]`, `make(?:\[\d+\])?: \*\*\*`, `\bFAILED\b`, `^(?:--- )?FAIL\b`, `(?i:build failed)`, `\b[1-9]\d* (?:failed|failing|failures?|errors?)\b`,
		`(?:timed out|[Tt]imeout exceeded)`, `^(?:[\w./-]+: )?(?i:could not|cannot|can't|unable to) `, `does not exist`, `[Aa]ccess denied`, `is not recognized as an internal`,
		`undefined reference`, `undefined: `, `^\s*✖ `, `password authentication failed`, `[Ss]yntax error`, `\bcannot find package\b`, `is not a git command`, `has no upstream branch`, `HTTP/[\d.]+ [45]\d\d`, `^\s*(?:Status|status)?:? ?(?:50[0234]|40[134]) `,
	}, "|"))
	// harmless are lines that hold such words and say something else.
	harmless = lazyregexp.New(`(?i)\b(?:0|no) (?:errors?|failed|failures|failing)\b|\bwarn(?:ing)?\b|deprecat|^\s*(?:#|//)|^\+\+\+|if .* (?:fails|failed)`)
	// proofs are lines by which programs say that they worked.
	proofs = lazyregexp.New(`(?i)\b[1-9]\d* (?:passed|passing)\b|^ok\b|^PASS\b|\bBUILD SUCCESS|successfully|\bsucceeded\b|\bdone\b|\b0 (?:errors|failures)\b|found 0 vulnerabilities|compiled successfully|Server (?:is )?(?:running|listening|started)|HTTP/[\d.]+ 2\d\d|\(\d+ rows?\)|^INSERT 0 \d+|^(?:CREATE|ALTER) TABLE|\bhealthy\b|\bup to date\b|all checks passed|new branch`)

	pythonError = lazyregexp.New(`^(?:E +)?(?:[\w]+\.)*\w*(?:Error|Exception|NotFound|Interrupt|Exit)\b(?::|$)`)
	shellSays   = lazyregexp.New(`^(?:bash|zsh|sh|-bash|fish|/bin/sh|/usr/bin/\w+)(?::| )|^(?:fatal|error|Error|ERROR)\b`)
)

// refused is how the guard's hook says that a command was never run: that is no failure of it.
const refused = "Skill Router's guard blocked this"

// readOutcome tells from what a command printed how it went, and the line that says why it failed.
func readOutcome(c ruleCommand, output []string) (outcome ruleOutcome, symptom string) {
	code, coded := 0, false
	failed, told := false, false
	var first, python, shown, after string
	for _, line := range output {
		plain := strings.TrimSpace(line)
		if plain == "" {
			continue
		}
		if strings.Contains(plain, refused) || incident.NotRun(plain) {
			return outcomeUnknown, ""
		}
		if plain == toolFailed {
			told = true
			continue
		}
		if m := exitCode.FindStringSubmatch(plain); m != nil {
			code, _ = strconv.Atoi(m[1]) // three digits
			coded = true
			if len(plain) < 40 {
				continue
			}
		}
		if after == "" && first != "" && weakSymptom(first) && !weakSymptom(plain) {
			after = plain
		}
		if shown == "" {
			shown = plain
			if c.looks && (shellSays.MatchString(plain) || strings.HasPrefix(plain, c.words[0]+": ")) {
				failed, first = true, plain
			}
		}
		if c.looks || harmless.MatchString(plain) {
			continue
		}
		switch {
		case pythonError.MatchString(plain):
			failed, python = true, strings.TrimSpace(strings.TrimPrefix(plain, "E "))
		case failures.MatchString(plain) && (first == "" || weakSymptom(first)) && !weakSymptom(plain):
			failed, first = true, plain
		case failures.MatchString(plain):
			if failed = true; first == "" {
				first = plain
			}
		case !failed && proofs.MatchString(plain):
			outcome = outcomeProved
		}
	}
	switch {
	case coded && code == 0:
		return outcomeProved, ""
	case (coded || told) && shown == "" && code <= 1:
		return outcomeUnknown, "" // it said nothing: so ends a search that found nothing
	case coded || told || failed:
		symptom = symptomOf(first, python, after, shown)
		if symptom == "" && coded {
			symptom = "exit code " + strconv.Itoa(code)
		}
		return outcomeFailed, cutBytes(symptom, maxSymptom)
	case outcome == outcomeUnknown:
		return outcomeOK, ""
	}
	return outcome, ""
}

// symptomOf is the line that says most of why a command failed: the first that says what, an error of Python's, what
// stands after one that says only that, or what was printed first.
func symptomOf(first, python, after, shown string) string {
	switch {
	case first != "" && !weakSymptom(first):
		return first
	case python != "":
		return python
	}
	return cmp.Or(after, first, shown)
}

// weakSymptom tells whether a line says that something failed, and not what.
func weakSymptom(line string) bool {
	return strings.HasPrefix(line, "Traceback") || strings.HasPrefix(line, "FAILED") || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "--- FAIL") ||
		strings.HasPrefix(line, "npm ERR! code") || strings.HasPrefix(line, "npm error code") || weakCount.MatchString(line) || strings.HasPrefix(line, "make") || strings.HasPrefix(line, "!!!") || strings.HasSuffix(line, ":")
}

var (
	weakCount     = lazyregexp.New(`^[=\s]*\d+ (?:failed|failing|errors?)\b|^(?:ERROR|error):? (?:Command|Process) failed|^ERROR (?:\S+/)?\S+\.py`)
	symptomDetail = lazyregexp.New(`\d+|0x[0-9a-f]+|["'` + "`" + `][^"'` + "`" + `]*["'` + "`" + `]|/\S+`)
)

// symptomKind is a symptom without what differs from one time to the next.
func symptomKind(symptom string) string {
	return strings.ToLower(strings.Join(strings.Fields(symptomDetail.Compiled().ReplaceAllStringFunc(symptom, func(s string) string {
		if s[0] == '"' || s[0] == '\'' || s[0] == '`' {
			return s // names what is missing, which makes it another symptom
		}
		return ""
	})), " "))
}

// maxSymptom bounds the line that says what was wrong, in bytes.
const maxSymptom = 240

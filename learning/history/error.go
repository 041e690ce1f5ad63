package history

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// class is what kind of failure a command's is.
type class int

const (
	noMatch class = iota // nothing was found or printed: no failure
	mistake              // how a command was called, where, or what was missing: it can be told the next time
	ownWork              // what was looked at is wrong: a red test, code that does not compile
)

var (
	colours   = lazyregexp.New(`\x1b\[[0-9;?]*[A-Za-z]`)
	notice    = lazyregexp.New(`^(?:PreToolUse|PostToolUse|(?:Error: )?Exit code:? \d+$|Process exited with code \d+|Wall time: |Output:$|Error:?$|Error: Error|\[…\]|… \+\d+ lines?|\(node:\d+\).*Warning)`)
	exception = lazyregexp.New(`^(?:E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|NotReady|Configured|Exit|Interrupt|NotFound|DoesNotExist|Found)(?::\s.*|:)?$`)
	telling   = lazyregexp.New(`(?i)error|not found|no such|cannot|can't|denied|fatal|failed|unrecogni[sz]ed|invalid|refused|in use|exception|unknown|not permitted|blocked|usage|missing|unable|no module|no matches|timed out|required|did not match|undefined`)
	banner    = lazyregexp.New(`(?i)^\W*(?:\S+ )?(?:warn(?:ing)?|note|info|hint)\b|:\s*$`) // what is wrong stands below it
	hookLine  = lazyregexp.New(`hook id:`)
	blocked   = lazyregexp.New(`\b[Bb]locked\b`)

	shellName   = lazyregexp.New(`^(?:bash|zsh|sh|/bin/\w+)(?:: (?:line|eval|eval: line) ?(?:\d+|<n>))?: |\(eval\):(?:\d+|<n>):?`)
	addressIn   = lazyregexp.New(`https?://\S+`)
	memoryIn    = lazyregexp.New(`0x[0-9a-f]+`)
	hashIn      = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)
	pathIn      = lazyregexp.New(`(?:~|\.{1,2})?/[^\s:'",)]*|\b[\w.-]+/[^\s:'",)]*|\b[A-Za-z]:\\[^\s:'",)]*`)
	sourceIn    = lazyregexp.New(`(?:<p>|\b[\w-]+\.[a-z]\w{0,4})(?::\d+)+:?|(?:<p>|\b[\w-]+\.[a-z]\w{0,4})\(\d+(?:,\d+)?\):?`)
	packageIn   = lazyregexp.New(`(?i)\b(?:package|module) ['"]?[\w@][\w@.-]*/[\w@./-]+`) // a name with slashes, and no path
	uuidIn      = lazyregexp.New(`(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	timeIn      = lazyregexp.New(`\[?\b(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?`)
	placeIn     = lazyregexp.New(`\b(line|char|column|position)s? \d+`)
	numberIn    = lazyregexp.New(`\b\d+(?:\.\d+)*(?:[mµn]?s|[KMG]i?B|%)?\b`)
	testRunner  = lazyregexp.New(`\b(?:pytest|runtests\.py|bin/test|unittest|tox|nosetests|vitest|jest|mocha|rspec|go test|cargo test|ctest|phpunit)\b`)
	testRed     = lazyregexp.New(`\b[1-9]\d* failed\b|(?m:^FAILED \(|FAILED$)|AssertionError|Tests? failed|tests finished|(?m:^E  |^--- FAIL)|failures=|errors=|deselected|no tests ran`)
	runnerWrong = lazyregexp.New(`command not found|No module named|unrecognized arguments|file or directory not found|executable file not found|ImproperlyConfigured|AppRegistryNotReady`)
	buildRed    = lazyregexp.New(`(?i)error TS\d+|found [1-9]\d* errors?|\d+ problems?\b|build failed|error\[E\d+\]|does not compile|cannot use .* as|undefined: `)
	pythonRed   = lazyregexp.New(`(?:^|\.)[A-Z]\w*(?:Error|Exception)\b`)
	// settled are exceptions and messages that tell of what surrounds the code: a module that is not installed,
	// a framework that was not set up, a file, a connection.
	settled       = lazyregexp.New(`(?i)ModuleNotFoundError|No module named|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ImproperlyConfigured|AppRegistryNotReady|explicit app_label|no such table|INSTALLED_APPS|not configured|SECRET_KEY|no such file|FileNotFoundError|does not exist|permission|not permitted|denied|connection|refused|address already in use|timed? ?out|network|resolve|not found|locked|usage:|externally-managed|index\.lock|environment variable`)
	syntaxOfShell = lazyregexp.New(`(?i)syntax error|unexpected EOF|no matches found|parse error near|bad substitution|unterminated|unexpected end of file|unmatched|-e expression|bad pattern|unknown file attribute`)
)

// errorLines are the lines of what a command printed that may say what went wrong.
func errorLines(output string) (lines []string) {
	if strings.Contains(output, "\x1b[") {
		output = colours.ReplaceAllString(output, "")
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \t\r\n")
		if trimmed := strings.TrimSpace(line); trimmed != "" && !notice.MatchString(trimmed) {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, "Output: "), "Error: "))
		}
	}
	return lines
}

// errorLine is the line that says what went wrong: the hook that refused, the exception at the end of a
// trace, or the first that reads like an error.
func errorLine(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var hooks []string
	for _, line := range lines {
		if hookLine.MatchString(line) && len(hooks) < 3 {
			hooks = append(hooks, line)
		}
	}
	if hooks != nil {
		return strings.Join(hooks, " ")
	}
	for _, line := range slices.Backward(lines) {
		if blocked.MatchString(line) {
			return line
		}
	}
	for _, line := range slices.Backward(lines) {
		if exception.MatchString(strings.TrimSpace(line)) {
			return strings.TrimSpace(line)
		}
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, ">") && telling.MatchString(line) && !banner.MatchString(line) {
			return line
		}
	}
	if i := slices.IndexFunc(lines, telling.MatchString); i >= 0 {
		return lines[i]
	}
	return lines[len(lines)-1]
}

// mostSaid is how many lines of what a failed command printed say what went wrong.
const mostSaid = 4

// SaidOf is the program that a command failed by, and the lines that say what went wrong, without addresses and paths; both are
// empty where the command failed for what it looked at, such as a test that is red.
func SaidOf(command, printed string) (program, line string) {
	o := observe([]Step{{Command: check.Head(command, MaxCommand), Outcome: Failed, Output: printed}})
	f := o.failed(0)
	if f.class != mistake {
		return "", ""
	}
	said := []string{f.line}
	for _, line := range errorLines(printed) {
		if len(said) < mostSaid && telling.MatchString(line) && !strings.HasPrefix(line, " ") && !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	line = strings.Join(said, "\n")
	for _, in := range []*lazyregexp.Regexp{addressIn, pathIn} {
		line = in.ReplaceAllString(line, " ")
	}
	return f.program, line
}

// maxError bounds an error's line, in bytes: what tells it from others stands at its beginning.
const maxError = 160

// general is a line with what changes from one run to the next replaced: addresses, paths, hashes, numbers.
func general(line string) string {
	line = check.Head(line, 4*maxError)
	line = timeIn.ReplaceAllString(line, "")
	line = uuidIn.ReplaceAllString(line, "<h>")
	line = packageIn.Compiled().ReplaceAllStringFunc(line, func(name string) string { return strings.ReplaceAll(name, "/", ".") })
	line = addressIn.ReplaceAllString(line, "<url>")
	line = memoryIn.ReplaceAllString(line, "<n>")
	line = hashIn.ReplaceAllString(line, "<h>")
	line = pathIn.ReplaceAllString(line, "<p>")
	line = sourceIn.ReplaceAllString(line, "<p>:")
	line = placeIn.ReplaceAllString(line, "$1 <n>")
	line = numberIn.ReplaceAllString(line, "<n>")
	line = shellName.ReplaceAllString(line, "")
	return check.Head(oneLine(line), maxError)
}

// normal is how lines are compared: general, in small letters.
func normal(line string) string { return strings.ToLower(general(line)) }

var (
	// byName is an error that says by itself what is wrong, whatever program meets it: one with a name and a text.
	byName = lazyregexp.New(`^(?:[\w.]+(?:error|exception|notfound|doesnotexist|configured|notready): \S|no required module provides)`)
	// before stands before an error where one program prints what another said, and quoted is around a name in some versions.
	before = lazyregexp.New(`^(?:e\s+|(?:<p>|python[\d.]*|node): )`)
	quoted = lazyregexp.New("['\"`‘’“”]")
)

// identity is a failure without what differs where the same error is met: by another program, and printed by another version.
func identity(program, err string) (of, said string) {
	said = before.ReplaceAllString(err, "")
	lacks, isNamed := missing(said), byName.MatchString(said) && !strings.Contains(said, "<p>")
	said = check.Head(strings.ReplaceAll(quoted.ReplaceAllString(said, ""), "localhost", "<n>"), maxError-20)
	switch {
	case strings.Contains(said, "module") && lacks != "":
		return "", "no module " + strings.Trim(lacks, "'\"")
	case isNamed:
		return "", said
	}
	return program, said
}

// classOf tells what kind of failure it is that a command printed these lines of.
func classOf(command string, lines []string, exit int) class {
	switch {
	case exit == exitNotFound || exit == exitTimedOut:
		return mistake
	case len(lines) == 0:
		return noMatch
	}
	text := strings.Join(lines, "\n")
	end := strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
	if testRunner.MatchString(command) && testRed.MatchString(end) && !runnerWrong.MatchString(text) {
		return ownWork
	}
	line := errorLine(lines)
	switch {
	case hookLine.MatchString(line), blocked.MatchString(line):
		return mistake
	case strings.Contains(text, "Traceback (most recent call last)") || exception.MatchString(line):
		if settled.MatchString(line) && !strings.Contains(line, "ImportError: cannot import name") {
			return mistake
		}
		return ownWork
	case syntaxOfShell.MatchString(end), settled.MatchString(end):
		return mistake
	case buildRed.MatchString(end), testRed.MatchString(end), pythonRed.MatchString(line):
		return ownWork
	}
	return mistake
}

// lastLines is how many lines at the end of a long output tell how it went.
const lastLines = 25

// Exit codes that shells and timeout(1) give.
const (
	exitNotFound = 127
	exitTimedOut = 124
)

// missing is the name of what a failure says is not there: a command or a module.
func missing(output string) string {
	m := absent.FindStringSubmatch(output)
	for _, name := range m[min(1, len(m)):] {
		if name = strings.Trim(name, `'"`); name != "" {
			name, _, _ = strings.Cut(name, ".")
			return name
		}
	}
	return ""
}

var absent = lazyregexp.New(`(?i)(?:\S+: )?command not found: (\S+)|(\S+): (?:command )?not found|No module named '?([\w.]+)|Cannot find module '([^']+)'`)

// transient is how programs say that something stood in the way for a time: the same command goes through later.
var transient = lazyregexp.New(`(?i)\.lock\b|lock file|is locked|could not get lock|could not resolve|connection (?:refused|reset|timed out|closed)|econnrefused|econnreset|network is unreachable|\benotfound\b|getaddrinfo|failed to connect|could not connect|timed? ?out|address already in use|eaddrinuse|port \d+ is (?:already )?in use|too many requests|rate limit|temporary failure|no space left|out of memory|resource temporarily`)

package history

import (
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// observed is a session's steps with what the rules see in them.
type observed struct {
	steps []Step
	views []view
}

// view is what is read of a command once.
type view struct {
	read     bool
	looks    bool
	list     []simple
	programs []string
	words    []string
	scripts  []string
	targets  []string
}

func observe(steps []Step) *observed { return &observed{steps, make([]view, len(steps))} }

func (o *observed) view(i int) *view {
	v := &o.views[i]
	if !v.read {
		text := o.steps[i].Command
		v.read, v.list = true, simples(check.Head(text, MaxCommand))
		v.programs, v.words, v.looks = programs(v.list), tokens(text), looks(text, v.list)
		v.scripts, v.targets = scriptIn.FindAllString(check.Head(text, maxCompared), -1), targets(text)
	}
	return v
}

func hashOf(parts ...string) int64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return int64(h.Sum64()) //nolint:gosec // a number of 64 bits, whatever its sign
}

// chains are the identities of the commands: a step and the two before it, as they were run and with what
// they printed. The record of a session that was resumed begins with the one before, so that three
// steps which are known are the same steps. The first two of a session are known by the ids of their calls, or by the
// session where those tell nothing.
// A step that is no command has no identity, and so have the first two of what begins in the middle.
func (o *observed) chains(project, session string, begin bool) []int64 {
	all := make([]int64, len(o.steps))
	var last [2]string
	commands := 0
	for i, s := range o.steps {
		if !s.counts() {
			continue
		}
		own := strconv.FormatInt(hashOf(s.ID, s.Command, s.Digest), 36)
		switch {
		case commands >= len(last):
			all[i] = hashOf(project, last[0], last[1], own)
		case begin && unique.MatchString(s.ID):
			all[i] = hashOf(project, "call", own)
		case begin:
			all[i] = hashOf(project, "session", session, strconv.Itoa(commands), own)
		}
		last[0], last[1] = last[1], own
		commands++
	}
	return all
}

// unique is what an id of a call holds that no other session gives: a number by chance, or a time.
var unique = lazyregexp.New(`[0-9A-Za-z]{12}`)

// counts tells whether the step is a command that ran.
func (s Step) counts() bool { return s.Outcome == Worked || s.Outcome == Failed }

// failure is how a command failed.
type failure struct {
	program, line, err string
	class              class
	solved             *solution // what made it go through, if it is known
	others             []string  // what failed in its place before that
}

// failed reads how the command at i failed.
func (o *observed) failed(i int) (f failure) {
	s := o.steps[i]
	if s.Outcome != Failed {
		return f
	}
	lines := errorLines(s.Output)
	f.class = classOf(s.Command, lines, s.Exit)
	if f.class == noMatch {
		return f
	}
	f.line, _ = redact.Text(errorLine(lines))
	f.line = strings.TrimSpace(f.line)
	said := strings.TrimSpace(shellName.ReplaceAllString(f.line, "")) // an agent reads who said it, and the next shell may be another
	f.err = normal(said)
	if f.err == "" {
		f.err = "exit code " + strconv.Itoa(s.Exit)
	}
	f.program = failing(o.view(i).list, said)
	return f
}

var (
	changing = lazyregexp.New(`\b(?:pip|pip3|uv|npm|pnpm|yarn|bun|apt|apt-get|brew|conda|cargo|go|gem|pipx|bundle|composer|poetry)\s+(?:install|add|i|ci|get|sync|mod|build)\b|\b(?:mkdir|touch|mv|cp|ln|chmod|chown|export|source|kill|pkill|rm)\b|python3? -m (?:venv|pip|ensurepip)|uv venv|git (?:add|stash|init|config|checkout|switch|fetch|pull|reset|restore|submodule)|docker|systemctl|nvm use|sed -i|>\s*\S+|tee |\bmigrate\b`)
	writing  = lazyregexp.New(`^\s*(?:cat\s+(?:<<|>)|ed\b)|sed -i|tee |apply_patch|python3? -c .*write|>\s*\S+\.(?:py|ts|tsx|js|go|rs|java|rb|c|h|cpp|md|txt|toml|cfg|ini|json|ya?ml)`)
	looking  = lazyregexp.New(`^(?:cd \S+ && )?(?:which|type|command -v|pip3? (?:show|list|index|download)|grep|rg|find|ls|cat|sed -n|head|tail|nl|git (?:log|diff|show|status|grep)|wc|rm|mkdir|touch|tree)\b`)
	// reading is what of changing changes nothing.
	reading  = lazyregexp.New(`^\s*(?:cd \S+ && )?(?:docker\s+(?:--?v\w*|(?:compose\s+)?(?:version|info|ps|images|logs|inspect|config))|systemctl\s+(?:status|is-\w+|list-\w+)|git\s+(?:config\s+(?:--get|--list|-l)|stash\s+list|submodule\s+status))\b[^;&>]*$`)
	installs = lazyregexp.New(`\b(?:install|add|sync|venv)\b`)
	mending  = lazyregexp.New(`^(?:cd \S+ && )?(?:sed -i|perl -\w*i|ed|patch|apply_patch|git (?:apply|checkout|restore|stash))\b`) // it edits files
	// masked ends with what always goes through: that the whole did proves nothing.
	masked = lazyregexp.New(`\|\|\s*(?:echo|printf|true|:)(?:\s[^;&|]*)?$`)
	// risky is what no agent should be told to run: it deletes or forces. What fetches from elsewhere or skips a check is in learning.Foreign.
	risky = lazyregexp.New(`(?i)\brm\s|\brmdir\b|\bunlink\b|\bshred\b|--force|\s-f\b.*\bpush\b|\bpush\b.*\s(?:-f\b|-d\b|\+)|\bgit\b.*\s(?:checkout|switch)\b.*\s(?:-f\b|--discard-changes\b)|\bbranch\b.*\s(?-i:-D)\b|\bworktree\s+remove\b|--no-gpg-sign|\breset\b.*--hard|\bclean\s+-\w*[fdx]|\bgit\s+(?:restore|checkout\s+(?:--\s|\.))|\bstash\s+(?:drop|clear)|\bdrop\s+(?:table|database|schema)|\btruncate\b|--?delete\b|\sdelete(?:-[a-z-]+)?(?:\s|$)|\bdestroy\b|\bdrop(?:db|user)\b|\b(?:db|migrate)[:\s](?:drop|reset|fresh)|\bdowngrade\b|\bflush(?:all|db)?(?:\s|$)|\bdown\b.*\s(?:-v\b|--volumes\b)|\bremove-item\b|\b(?:del|rd)\s+/|\buninstall\b|\bunpublish\b|--break-system-packages|--ignore-installed|--legacy-peer-deps|--skip-\w+|--no-audit|--allow-unrelated|--yolo|--dangerously|\bchmod\s+(?:-r\s+)?0?777|\bkill(?:all)?\s|\bpkill\b|\|\|\s*(?:true|:)\s*$|\bsudo\b|\bprune\b`)
)

// solution is what made a failed command go through.
type solution struct {
	at      int
	edit    bool // edits of files alone
	steps   []string
	command string
}

// mentioning returns what tells whether a command names a thing; without a name none does.
func mentioning(name string) func(text string) bool {
	if name == "" {
		return func(string) bool { return false }
	}
	return regexp.MustCompile(`(?:^|[\s/'"=(])` + regexp.QuoteMeta(name) + `\b`).MatchString
}

// through finds the step that did what the failure at i was meant to do, and what failed in its place before that; 0: there is none.
func (o *observed) through(i int) (at int, others []string) {
	fail, of := o.steps[i], o.view(i)
	name := missing(fail.Output)
	mentions := mentioning(name)
	for j := i + 1; j < min(len(o.steps), i+1+Window); j++ {
		s := o.steps[j]
		if !s.counts() {
			continue
		}
		v := o.view(j)
		share := intersect(v.programs, of.programs)
		how, _ := learning.Likeness(v.words, of.words)
		switch {
		case s.Outcome == Worked && o.near(j, share, how, name, mentions, of):
			return j, others
		case s.Outcome == Failed && len(share) > 0 && how >= 0.3 && !o.again(i, j) && len(others) < maxAttempts:
			others = append(others, s.Command)
		}
	}
	return 0, others
}

// again tells whether two steps ran the same command.
func (o *observed) again(i, j int) bool {
	return strings.TrimSpace(o.steps[i].Command) == strings.TrimSpace(o.steps[j].Command)
}

// solve finds what made the failure at i go through, and what failed in its place before that.
func (o *observed) solve(i int) (found *solution, others []string) {
	at, others := o.through(i)
	if at == 0 {
		return nil, others
	}
	edits, wrote := 0, false
	found = &solution{at: at, command: o.steps[at].Command}
	between := 0
	var unknown []string
	for j := i + 1; j < at; j++ {
		switch s := o.steps[j]; {
		case s.Outcome == Edited:
			edits++
		case s.Outcome != Worked || unrelated(s.Command, o.steps[i].Output):
		case !changing.MatchString(s.Command) || reading.MatchString(s.Command):
			if o.mayMend(i, j) {
				unknown = append(unknown, s.Command)
			}
		case writing.MatchString(s.Command) || mending.MatchString(s.Command):
			between, wrote = between+1, true
		default:
			between++
			found.steps = append(found.steps, s.Command)
		}
	}
	if o.again(i, at) && between == 0 && edits == 0 {
		if len(unknown) == 0 || len(unknown) > mostUnknown {
			return nil, others // it went through by itself, or nobody knows by what
		}
		found.steps = unknown
	}
	found.steps = decisive(found.steps, mentioning(missing(o.steps[i].Output)))
	found.edit = len(found.steps) == 0 && (o.again(i, at) || edits > 0 || wrote)
	return found, others
}

// mostUnknown is how many commands of programs that are not known to change anything may be what mended another.
const mostUnknown = 2

// mayMend tells whether the command at j, which went through, may be what mended the failure at i, by what it runs.
func (o *observed) mayMend(i, j int) bool {
	own := len(intersect(o.view(j).programs, o.view(i).programs)) > 0
	return !own && !o.view(j).looks && !testRunner.MatchString(o.steps[j].Command) && !o.again(i, j)
}

// makesPlace is a command that moves files and folders about, and does nothing else.
var makesPlace = lazyregexp.New(`^\s*(?:mkdir|touch|mv|cp|ln|chmod|chown|rm)\b[^;&|]*$`)

// unrelated tells whether a command moves about files of which what a failure printed names none: it mended something else, if anything.
func unrelated(command, printed string) bool {
	return makesPlace.MatchString(command) && !slices.ContainsFunc(strings.Fields(command)[1:], func(word string) bool {
		name := path.Base(strings.Trim(word, `'"`))
		return !strings.HasPrefix(word, "-") && len(name) > 1 && strings.Contains(printed, name)
	})
}

// Mend is a command that failed, and the one that did what it was meant to do, by the places of their steps.
type Mend struct {
	Failed, Worked       int
	Between              []int  // what was run and changed between them that may have mended it
	Program, Said, Error string // what failed, the line that says so, and that line without what differs from one time to the next
}

// Mends finds in the steps of a session what failed and what made it go through, also red tests and code that did not compile.
func Mends(steps []Step) (list []Mend) {
	o := observe(steps)
	for i, s := range steps {
		f := o.failed(i)
		if f.class == noMatch {
			continue
		}
		m := Mend{Failed: i, Program: f.program, Said: f.line, Error: f.err}
		if m.Worked, _ = o.through(i); m.Worked == 0 {
			continue
		}
		for j := i + 1; j < m.Worked; j++ {
			if steps[j].Outcome == Edited || steps[j].Outcome == Worked && o.mayMend(i, j) && !unrelated(steps[j].Command, s.Output) {
				m.Between = append(m.Between, j)
			}
		}
		list = append(list, m)
	}
	return list
}

// Looks tells whether a command shows something and changes nothing.
func Looks(command string) bool { return looks(command, simples(command)) }

func looks(command string, list []simple) bool {
	return looking.MatchString(command) && !changing.MatchString(command) || reading.MatchString(command) || !slices.ContainsFunc(list, func(c simple) bool {
		words := programWords(c.words)
		return len(words) > 0 && !looksOnly()[words[0]] && !silent()[words[0]] && !filters()[words[0]]
	})
}

// ProgramOf is the program that a command runs first, with its subcommand; empty: none.
func ProgramOf(command string) string {
	return append(programs(simples(command)), "")[0]
}

// decisive are the steps of a fix that count: those that name what was missing, or else the last ones.
func decisive(steps []string, mentions func(string) bool) []string {
	if named := slices.DeleteFunc(slices.Clone(steps), func(s string) bool { return !mentions(s) }); len(named) > 0 {
		steps = named
	}
	return steps[max(0, len(steps)-maxFixSteps):]
}

// near tells whether the command at j, which went through, is what the failed one was meant to be.
func (o *observed) near(j int, share []string, how float64, name string, mentions func(string) bool, of *view) bool {
	text, v := strings.TrimSpace(o.steps[j].Command), o.view(j)
	if masked.MatchString(text) {
		return false
	}
	near := false
	switch {
	case len(share) == 0:
	case !slices.ContainsFunc(share, func(p string) bool { return !anything(p) }):
		near = how >= 0.6 || mentions(text) ||
			slices.Contains(share, pythonScript) && overlap(v.scripts, of.scripts)
	default:
		near = how >= 0.3
	}
	looks := looking.MatchString(text)
	if !near && name != "" && !looks && !mending.MatchString(text) {
		near = mentions(text) || overlap(v.targets, of.targets) || takesOver(v.list, of.list, name) // another program on the same target
	}
	if !near && len(share) > 0 && len(of.programs) == 1 && loners()[of.programs[0]] {
		near = true
	}
	if !near {
		return false
	}
	if !(installs.MatchString(text) && name != "" && len(share) == 0) && !looks {
		return true
	}
	only := !slices.ContainsFunc(share, func(p string) bool { return !looksOnly()[p] })
	return len(share) > 0 && !(only && how < 0.5)
}

// takesOver tells whether a program did what one that is missing was called for: it was called with the same words, of which
// one at least is no flag.
func takesOver(list, failed []simple, missing string) bool {
	for _, c := range failed {
		was := programWords(c.words)
		if len(was) < 2 || path.Base(was[0]) != missing || !slices.ContainsFunc(was[1:], func(word string) bool { return !strings.HasPrefix(word, "-") }) {
			continue
		}
		if slices.ContainsFunc(list, func(d simple) bool {
			now := programWords(d.words)
			return len(now) >= len(was) && slices.Equal(now[len(now)-len(was)+1:], was[1:])
		}) {
			return true
		}
	}
	return false
}

func intersect(a, b []string) (both []string) {
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		}
	}
	return both
}

// stored is a command as it is kept: without secrets, on one line, and without the body of a here-document.
func stored(command string) string {
	command, _ = redact.Text(check.Head(command, MaxCommand))
	if body := strings.Index(command, "<<"); body >= 0 {
		if end := strings.IndexByte(command[body:], '\n'); end >= 0 {
			command = command[:body+end] + " …"
		}
	}
	lines := strings.FieldsFunc(command, func(r rune) bool { return r == '\n' })
	for i := range lines {
		lines[i] = strings.TrimSuffix(oneLine(lines[i]), " \\")
	}
	return check.Head(strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "; "), maxStored)
}

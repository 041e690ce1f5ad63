package consolidate

import (
	"context"
	"encoding/json"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/guard/act"
)

// ruleScene is a transcript in the order in which things happened in it.
type ruleScene struct {
	happened []happening
	said     []ruleLine // prose, line by line
}

// happening is a command that was run, a file that was edited, or something
// that somebody says was done.
type happening struct {
	turn    int
	role    string
	quote   string
	command *ruleRun
	edited  string // the file
	did     string // the sentence
	cause   string // what somebody says was the cause
	works   bool   // the user says that it works now
}

// ruleRun is a run of a command.
type ruleRun struct {
	ruleCommand
	output    []string
	outcome   ruleOutcome
	symptom   string
	answered  bool // its output is known, though it may be empty
	suggested bool // it stands in a block: who says that it was run?
}

// ruleLine is a line of prose.
type ruleLine struct {
	turn int
	role string
	text string
}

var (
	shellPrompt = lazyregexp.New(`^\s*(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+(?::| )?[~/\w. -]*|\[[^\]\n]{1,60}\]|[~/][\w./-]*)? ?[$❯] +(\S.*)$`)
	zshPrompt   = lazyregexp.New(`^\s*[\w.-]+@[\w.-]+ [~/\w.-]+ % +(\S.*)$`)
	rootPrompt  = lazyregexp.New(`^\s*(?:[\w.-]+@[\w.-]+:[~/\w.-]*|\[[^\]\n]{1,60}\])# +(\S.*)$`)
	powerPrompt = lazyregexp.New(`^\s*PS [A-Z]:\\[^>\n]*> +(\S.*)$`)
	arrowPrompt = lazyregexp.New(`^➜ +\S+(?: git:\([^)]*\))?(?: ✗)? +(\S.*)$`)
	sqlPrompt   = lazyregexp.New(`^\s*(?:[\w-]+=[>#*!^]*[#>]|mysql>|sqlite>|sql>|duckdb>|MariaDB \[[^\]]*\]>) +(\S.*)$`)
	sqlMore     = lazyregexp.New(`^\s*(?:[\w-]+-[>#]|\s*->|\s*\.\.\.>) +(\S.*)$`)
	editedLine  = lazyregexp.New(`^\[edited ([^\]]+)\]$`)
	// ranInline is a command within a sentence that says that it was run.
	ranInline = lazyregexp.New("(?i)\\b(?:I|we|just|also|when I|after)? ?(?:ran|run|running|re-?ran|tried|executed|typed|called)\\b[^`.\\n]{0,20}`([^`\\n]+)`")
	// failsInline is a command within a sentence that says how it goes.
	failsInline = lazyregexp.New("`([^`\\n]+)` (?:still |now |just )?(fails|failed|errors|crashes|works|passes|passed|succeeds|succeeded|is failing|gives|says|throws|complains)")
	worksSaid   = lazyregexp.New(`(?i)\b(?:that|it|everything|this|which)(?:'s| is)? (?:works?|worked|did it|fixed it|passes|passed|did the trick|helped)\b|\b(?:works|passes|green|fixed) now\b|\ball (?:tests )?(?:pass|green)`)
	didSaid     = lazyregexp.New(`(?i)^(?:ok(?:ay)?,? |done[,.:]? |oh,? |ah,? |right,? |so )*I(?:'ve| have| just| had to| already)* (?:just |now )?(started|restarted|installed|uninstalled|set|added|fixed|changed|enabled|disabled|created|updated|upgraded|downgraded|removed|deleted|killed|stopped|freed|renamed|moved|logged in|turned|configured|increased|raised|rebuilt|pulled|granted|applied|exported|unset|opened|cleared|reset)\b`)
	causeSaid   = lazyregexp.New(`(?i)\b(?:the (?:actual |real |root )?(?:problem|issue|cause|root cause|reason|culprit) (?:is|was)(?: that)?|root cause:|(?:it |this )?(?:turns|turned) out(?: that)?|this (?:is|was) caused by|(?:it|this|that) (?:failed|fails|happens|happened|broke|is) because|caused by) (.{8,300})$`)
)

// maxOutput bounds the lines of one command's output that are looked at, from its beginning and from its end.
const maxOutput = 400

// maxPrompt bounds what stands before a command, in bytes.
const maxPrompt = 200

// readScene takes a transcript apart.
func readScene(ctx context.Context, t Transcript) *ruleScene {
	s := &ruleScene{}
	waiting := []*ruleRun{} // whose output has not come
	for i, turn := range t.Turns {
		if ctx.Err() != nil {
			return s
		}
		lines := strings.Split(turn.Content, "\n")
		if turn.Role == roleTool {
			r := sceneReader{ctx: ctx, scene: s, turn: i, role: turn.Role}
			if len(waiting) > 0 {
				waiting[0].output = append(waiting[0].output, lines...)
				waiting[0].answered = true
				waiting = waiting[1:]
				if !hasPrompt(lines) {
					continue
				}
			}
			r.read(lines)
			continue
		}
		if turn.Role == roleUser {
			for _, run := range waiting { // what the user says of it is all that is known
				verdict(run, lines)
			}
		}
		r := sceneReader{ctx: ctx, scene: s, turn: i, role: turn.Role}
		r.read(lines)
		waiting = waiting[:0]
		for _, run := range r.runs {
			if !run.answered {
				waiting = append(waiting, run)
			}
		}
		// Commands of one block have one answer: the last one's.
		if n := len(waiting); n > 1 && i+1 < len(t.Turns) && t.Turns[i+1].Role == roleTool && (i+2 >= len(t.Turns) || t.Turns[i+2].Role != roleTool) {
			for _, run := range waiting[:n-1] {
				run.answered, run.suggested = true, false
			}
			waiting = waiting[n-1:]
		}
	}
	for _, h := range s.happened {
		if run := h.command; run != nil && run.outcome == outcomeUnknown && run.answered {
			if n := len(run.output); n > maxOutput {
				run.output = append(run.output[:maxOutput/2:maxOutput/2], run.output[n-maxOutput/2:]...)
			}
			run.outcome, run.symptom = readOutcome(run.ruleCommand, run.output)
		}
	}
	return s
}

// verdict takes what the user says after a command for how it went.
func verdict(run *ruleRun, lines []string) {
	text := strings.Join(lines, "\n")
	if worksSaid.MatchString(text) {
		run.outcome, run.suggested = outcomeProved, false
		return
	}
	if outcome, symptom := readOutcome(run.ruleCommand, lines); outcome == outcomeFailed {
		run.outcome, run.symptom, run.suggested = outcome, symptom, false
	}
}

func hasPrompt(lines []string) bool {
	for _, line := range lines {
		if typed, _ := prompted(line); typed != "" {
			return true
		}
	}
	return false
}

// prompted returns what was typed at a prompt, if the line begins with one.
func prompted(line string) (typed string, sql bool) {
	if !strings.ContainsAny(line[:min(len(line), maxPrompt)], "$❯➜%#>") {
		return "", false
	}
	for _, p := range []*lazyregexp.Regexp{shellPrompt, zshPrompt, rootPrompt, powerPrompt, arrowPrompt} {
		if m := p.FindStringSubmatch(line); m != nil {
			return m[1], false
		}
	}
	if m := sqlPrompt.FindStringSubmatch(line); m != nil {
		return m[1], true
	}
	return "", false
}

// sceneReader reads one turn.
type sceneReader struct {
	ctx   context.Context
	scene *ruleScene
	turn  int
	role  string
	runs  []*ruleRun
	last  *ruleRun // whose output the next lines are
}

func (r *sceneReader) read(lines []string) {
	log := 0
	for _, line := range lines {
		if typed, _ := prompted(line); typed != "" {
			log++
		}
	}
	mark, lang := "", ""
	var block []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := fence(line); m != "" && mark == "" {
			mark, lang = m, strings.ToLower(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "`~")))
			block = nil
			continue
		} else if m != "" && strings.HasPrefix(m, mark) {
			r.block(lang, block)
			mark = ""
			continue
		}
		if mark != "" {
			block = append(block, line)
			continue
		}
		i = r.line(lines, i, log)
	}
	if mark != "" {
		r.block(lang, block)
	}
}

// line reads a line outside of blocks, and returns the last that it read.
func (r *sceneReader) line(lines []string, i, prompts int) int {
	line := lines[i]
	if typed, sql := prompted(line); typed != "" {
		text := typed
		for !sql && strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			i++
			text = strings.TrimSuffix(text, `\`) + " " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "> "))
		}
		for sql && !strings.HasSuffix(strings.TrimSpace(text), ";") && i+1 < len(lines) {
			m := sqlMore.FindStringSubmatch(lines[i+1])
			if m == nil {
				break
			}
			i++
			text += " " + m[1]
		}
		r.run(text, typed, sql, false)
		return i
	}
	plain := strings.TrimSpace(line)
	if m := editedLine.FindStringSubmatch(plain); m != nil {
		r.last = nil
		r.happen(happening{edited: m[1], quote: plain})
		return i
	}
	if strings.HasPrefix(plain, `{"`) {
		if a := readToolCall(json.RawMessage(plain)); a.command() != "" {
			r.run(a.command(), plain, a.sql(), false)
			return i
		}
	}
	if r.last != nil {
		// In a log, everything is output. Elsewhere a sentence after an empty line is not.
		if prompts > 1 && r.role != roleUser || !(i > 0 && strings.TrimSpace(lines[i-1]) == "" && isProse(plain)) {
			r.last.output = append(r.last.output, line)
			r.last.answered = r.last.answered || plain != ""
			return i
		}
		r.last = nil
	}
	if r.role != roleTool && r.role != roleSystem {
		r.prose(plain, lines)
	}
	if plain != "" {
		r.scene.said = append(r.scene.said, ruleLine{r.turn, r.role, plain})
	}
	return i
}

// prose looks for what somebody says was run, done or the cause.
func (r *sceneReader) prose(line string, lines []string) {
	if r.role == roleUser {
		if m := ranInline.FindStringSubmatch(line); m != nil && !strings.HasSuffix(line, "?") {
			if outcome, symptom := readOutcome(ruleCommand{}, lines); outcome == outcomeFailed {
				r.inline(m[1], line, outcome, symptom)
			}
		} else if m := failsInline.FindStringSubmatch(line); m != nil {
			switch m[2] {
			case "works", "passes", "passed", "succeeds", "succeeded":
				r.inline(m[1], line, outcomeProved, "")
			default:
				if outcome, symptom := readOutcome(ruleCommand{}, lines); outcome == outcomeFailed {
					r.inline(m[1], line, outcome, symptom)
				}
			}
		} else if worksSaid.MatchString(line) {
			r.happen(happening{works: true, quote: line})
		}
	}
	for _, sentence := range sentences(line) {
		if m := causeSaid.FindStringSubmatch(sentence); m != nil {
			r.happen(happening{cause: strings.TrimRight(m[1], ".!"), quote: sentence})
		} else if didSaid.MatchString(sentence) {
			r.happen(happening{did: strings.TrimRight(sentence, ".!"), quote: sentence})
		}
	}
}

func (r *sceneReader) inline(text, quote string, outcome ruleOutcome, symptom string) {
	c, ok := readCommand(r.ctx, text)
	if !ok {
		return
	}
	run := &ruleRun{ruleCommand: c, outcome: outcome, symptom: symptom, answered: true}
	r.happen(happening{command: run, quote: quote})
}

func (r *sceneReader) happen(h happening) {
	h.turn, h.role = r.turn, r.role
	r.scene.happened = append(r.scene.happened, h)
}

// run notes a command that was typed.
func (r *sceneReader) run(text, quote string, sql, suggested bool) {
	if r.last != nil {
		r.last.answered = true // another command follows: its output, if any, was shown
	}
	var c ruleCommand
	ok := false
	if sql {
		c, ok = readSQL(text)
	} else {
		c, ok = readCommand(r.ctx, text)
	}
	if !ok {
		r.last = nil
		return
	}
	run := &ruleRun{ruleCommand: c, suggested: suggested}
	r.runs = append(r.runs, run)
	r.last = run
	r.happen(happening{command: run, quote: quote})
}

func readSQL(text string) (ruleCommand, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 4<<10 || !sqlVerb.MatchString(text) {
		return ruleCommand{}, false
	}
	words := append([]string{sqlProgram}, strings.Fields(strings.TrimRight(text, "; "))...)
	return ruleCommand{text: text, words: words, tries: strings.EqualFold(words[1], "select")}, true
}

// block reads a fenced block.
func (r *sceneReader) block(lang string, lines []string) {
	lang, _, _ = strings.Cut(lang, " ")
	switch lang {
	case "bash", "sh", "shell", "zsh", "console", "terminal", "shell-session", "shellsession", "powershell", "":
		if hasPrompt(lines) {
			for i := 0; i < len(lines); i++ {
				if typed, _ := prompted(lines[i]); typed != "" || r.last != nil {
					i = r.line(lines, i, 2)
				}
			}
			if r.last != nil && len(r.last.output) > 0 {
				r.last = nil
			}
			return
		}
		if lang == "" || lang == "console" || lang == "terminal" {
			r.blockOutput(lines)
			return
		}
		text := strings.Join(lines, "\n")
		stmts, err := act.Parse(text)
		if err != nil || len(stmts) == 0 || len(stmts) > 12 {
			return
		}
		for _, st := range stmts {
			from, to := int(st.Pos().Offset()), int(st.End().Offset())
			if from < to && to <= len(text) {
				one := text[from:to]
				first, _, _ := strings.Cut(one, "\n")
				r.run(one, first, false, true)
				r.last = nil
			}
		}
	case "sql", "postgresql", "psql":
		text := strings.Join(lines, " ")
		if sqlVerb.MatchString(text) {
			r.run(text, strings.TrimSpace(lines[0]), true, true)
			r.last = nil
		}
	case "diff", "patch":
		for _, line := range lines {
			if file, ok := strings.CutPrefix(line, "+++ "); ok {
				r.happen(happening{edited: strings.TrimPrefix(strings.Fields(file + " ?")[0], "b/"), quote: line})
			}
		}
	case "text", "output", "log", "txt", "plaintext":
		r.blockOutput(lines)
	}
}

// blockOutput takes a block for what the command before it printed or, in what the
// user says, for what the assistant's printed.
func (r *sceneReader) blockOutput(lines []string) {
	if n := len(r.runs); n > 0 && len(r.runs[n-1].output) == 0 {
		r.runs[n-1].output, r.runs[n-1].answered, r.runs[n-1].suggested = lines, true, false
		r.last = nil
	}
}

// isProse tells whether a line is a sentence rather than something that a program prints.
func isProse(line string) bool {
	if len(strings.Fields(line)) < 3 || !strings.ContainsAny(line[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ`*") {
		return false
	}
	return strings.ContainsAny(line[len(line)-1:], ".!?:") || strings.Contains(line, "`") || strings.Contains(line, ". ")
}

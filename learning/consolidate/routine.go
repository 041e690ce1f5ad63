package consolidate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/procedure"
)

// Bounds of a repeated sequence.
const (
	maxRoutine     = 8   // commands of a sequence
	maxRoutineRuns = 400 // runs that are compared; a transcript with more has its last ones compared
	pairTimes      = 3   // how often two commands must have followed each other
	longTimes      = 2   // how often three or more must have
)

// routines finds sequences of commands that went through more than once, one
// after the other. What differs from one time to the next becomes a parameter.
func (s *ruleScene) routines() []ProposalDraft {
	var runs []happening
	for _, h := range s.happened {
		run := h.command
		if run == nil || run.suggested || run.looks && !run.tries || run.words[0] == sqlProgram || trivial[run.words[0]] {
			continue
		}
		if run.outcome == outcomeUnknown {
			continue
		}
		runs = append(runs, h)
	}
	runs = runs[max(0, len(runs)-maxRoutineRuns):]
	shapes := make([]string, len(runs))
	for i, h := range runs {
		if shapes[i] = shape(h.command); h.command.outcome == outcomeFailed {
			shapes[i] = fmt.Sprint("failed ", i) // no part of a sequence that worked
		}
	}
	var drafts []ProposalDraft
	taken := make([]bool, len(runs))
	for n := min(maxRoutine, len(runs)/2); n >= 2; n-- {
		for from := 0; from+n <= len(runs); from++ {
			at := occurrences(shapes, taken, from, n)
			least := longTimes
			if n == 2 {
				least = pairTimes
			}
			if len(at) < least || distinct(shapes[from:from+n]) < 2 || distinct(shapes[from:from+n]) <= n/2 || !acts(runs[from:from+n]) {
				continue
			}
			for _, a := range at {
				for k := range n {
					taken[a+k] = true
				}
			}
			if draft, ok := routine(runs, at, n); ok {
				drafts = append(drafts, draft)
			}
		}
	}
	return drafts
}

// acts tells whether a sequence does more than try whether things work.
func acts(runs []happening) bool {
	return slices.ContainsFunc(runs, func(h happening) bool { return !h.command.tries })
}

func distinct(shapes []string) int {
	seen := map[string]bool{}
	for _, s := range shapes {
		seen[s] = true
	}
	return len(seen)
}

// occurrences are where the n shapes from a position stand, without overlap; nil if a
// longer sequence has taken the first.
func occurrences(shapes []string, taken []bool, from, n int) (at []int) {
	for i := from; i+n <= len(shapes); i++ {
		if !slices.Equal(shapes[from:from+n], shapes[i:i+n]) || slices.Contains(taken[i:i+n], true) {
			if i == from {
				return nil
			}
			continue
		}
		at = append(at, i)
		i += n - 1
	}
	return at
}

// shape is what runs of one step have in common: the program, what it is told to do, its
// options, and how many other words there are.
func shape(run *ruleRun) string {
	parts := []string{run.group(), run.verb()}
	others := 0
	for _, w := range run.words[1:] {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(w, "-") {
			parts = append(parts, name)
		} else {
			others++
		}
	}
	// A single word that is no option says what is acted on, as in "make lint" and "make build".
	if !hasVerbs()[run.words[0]] && others > 0 && run.words[0] != "cp" && run.words[0] != "mv" {
		parts = append(parts, "/"+run.words[1])
		if program.MatchString(run.words[1]) && !strings.ContainsAny(run.words[1], "/.0123456789") {
			return strings.Join(parts, " ")
		}
		parts = parts[:len(parts)-1]
	}
	return strings.Join(append(parts, strconv.Itoa(others)), " ")
}

// routine makes the proposal of the n runs at each of the positions; ok is false
// for what no step can say.
func routine(runs []happening, at []int, n int) (p ProposalDraft, ok bool) {
	params := &routineParameters{names: map[string]string{}}
	draft := procedure.Draft{Category: "workflow"}
	var names []string
	for k := range n {
		texts := make([]string, len(at))
		for o, a := range at {
			if texts[o] = runs[a+k].command.text; strings.Contains(texts[o], "${") {
				return p, false // a step's own parameters are written so
			}
		}
		run := runs[at[0]+k].command
		name := run.group()
		if verb := run.verb(); verb != "" {
			name += " " + verb
		}
		draft.Steps = append(draft.Steps, procedure.Step{Name: fmt.Sprintf("%d_%s", k+1, slug(name, "_")), Description: "Run " + name, Run: params.template(texts)})
		if s := slug(name, "-"); len(names) == 0 || names[len(names)-1] != s {
			names = append(names, s)
		}
	}
	draft.Params = params.list
	draft.Name = strings.Trim(cutPlain(strings.Join(names, "-"), 60), "-")
	draft.Description = fmt.Sprintf("%d commands that were run one after the other %d times in a session", n, len(at))
	confidence := routineBase + routineAgain*float64(min(len(at)-2, 2))
	if n >= 3 {
		confidence += routineLong
	}
	if len(params.list) > manyParams {
		confidence += routineParams
	}
	p = ProposalDraft{Kind: ProposalProcedure, Procedure: &draft, Confidence: bounded(confidence)}
	for _, a := range at[:min(2, len(at))] {
		for k := range n {
			p.Evidence, p.Turns = append(p.Evidence, runs[a+k].quote), append(p.Turns, runs[a+k].turn)
		}
	}
	return p, true
}

// cutPlain cuts a text of ASCII.
func cutPlain(s string, n int) string { return s[:min(n, len(s))] }

var notSlug = lazyregexp.New(`[^a-z0-9]+`)

func slug(s, between string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), between), between)
}

// routineParameters gathers what differs between the times of a sequence.
type routineParameters struct {
	list  []procedure.Param
	names map[string]string // by the values that it had, so that one that comes twice is one
}

var (
	shellWord = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+|\s+`)
	versioned = lazyregexp.New(`^v?\d+\.\d+(?:\.\d+)?[\w.-]*$`)
	digits    = lazyregexp.New(`^\d+$`)
)

// template is a command with a parameter wherever the times differ.
func (p *routineParameters) template(texts []string) string {
	tokens := make([][]string, len(texts))
	for i, text := range texts {
		tokens[i] = shellWord.FindAllString(text, -1)
		if len(tokens[i]) != len(tokens[0]) {
			return texts[len(texts)-1] // their words do not stand beside each other: the last time is the best known
		}
	}
	var b strings.Builder
	before := ""
	for k, token := range tokens[0] {
		values := make([]string, len(tokens))
		same := true
		for i := range tokens {
			values[i] = tokens[i][k]
			same = same && values[i] == token
		}
		if strings.TrimSpace(token) == "" {
			b.WriteByte(' ')
			continue
		}
		if same {
			b.WriteString(token)
		} else {
			b.WriteString(p.differing(values, before))
		}
		before = token
	}
	return b.String()
}

// differing puts a parameter where words differ, after what they have in
// common. One in quotation marks is replaced with them: a step's parameter is
// quoted where it is put in.
func (p *routineParameters) differing(values []string, before string) string {
	if slices.ContainsFunc(values, func(v string) bool { return v[0] == '"' || v[0] == '\'' }) {
		bare := make([]string, len(values))
		for i, v := range values {
			bare[i] = strings.Trim(v, `"'`)
		}
		return reference(p.name(bare, "", before))
	}
	prefix, suffix := common(values)
	inner := make([]string, len(values))
	for i, v := range values {
		inner[i] = v[len(prefix) : len(v)-len(suffix)]
	}
	return prefix + reference(p.name(inner, prefix, before)) + suffix
}

// common is what all words begin and end with, up to a mark between parts of a word.
func common(values []string) (prefix, suffix string) {
	prefix, suffix = values[0], values[0]
	for _, v := range values[1:] {
		for !strings.HasPrefix(v, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(v, suffix) {
			suffix = suffix[1:]
		}
	}
	if i := strings.LastIndexAny(prefix, "=:/"); i >= 0 {
		prefix = prefix[:i+1]
	} else {
		prefix = ""
	}
	if i := strings.IndexAny(suffix, "=:/"); i >= 0 {
		suffix = suffix[i:]
	} else {
		suffix = ""
	}
	for _, v := range values {
		if len(prefix)+len(suffix) > len(v) {
			return prefix, ""
		}
	}
	return prefix, suffix
}

// name is the parameter that stands for the values.
func (p *routineParameters) name(values []string, prefix, before string) string {
	key := strings.Join(values, "\x00")
	if name, ok := p.names[key]; ok {
		return name
	}
	base := "value"
	flag, isFlag := strings.CutPrefix(before, "--")
	assigned, _, isAssigned := strings.Cut(strings.TrimLeft(prefix, "-"), "=")
	all := func(is func(string) bool) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return !is(v) })
	}
	switch {
	case isAssigned && slug(assigned, "_") != "":
		base = slug(assigned, "_")
	case isFlag && !strings.Contains(flag, "=") && slug(flag, "_") != "":
		base = slug(flag, "_")
	case before == "-m":
		base = "message"
	case all(versioned.MatchString):
		base = "version"
	case all(digits.MatchString):
		base = "number"
	case all(func(v string) bool { return strings.Contains(v, "://") }):
		base = "url"
	case all(func(v string) bool { return strings.ContainsAny(v, "/.") }):
		base = "path"
	case before != "" && program.MatchString(before) && !strings.HasPrefix(before, "-"):
		base = slug(before, "_") + "_name"
	}
	if base[0] >= '0' && base[0] <= '9' {
		base = "p" + base
	}
	name := base
	for n := 2; slices.ContainsFunc(p.list, func(q procedure.Param) bool { return q.Name == name }); n++ {
		name = fmt.Sprint(base, n)
	}
	p.names[key] = name
	p.list = append(p.list, procedure.Param{Name: name, Description: "Such as " + cutBytes(values[len(values)-1], 80)})
	return name
}

// reference is how a step names a parameter.
func reference(name string) string { return "${" + name + "}" }

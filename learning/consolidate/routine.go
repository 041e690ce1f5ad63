package consolidate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/incident"
	"skillrouter/learning/procedure"
)

// Bounds of a repeated sequence.
const (
	maxRoutine     = 8   // commands of a sequence
	maxRoutineRuns = 400 // runs that are compared; a transcript with more has its last ones compared
	pairTimes      = 3   // how often two commands must have followed each other
	longTimes      = 2   // how often three or more must have
)

// routines proposes sequences of commands that went through more than once, one after the other. What differs from one
// time to the next becomes a parameter.
func (s *scene) routines() (drafts []ProposalDraft) {
	var runs []int
	for i, step := range s.steps {
		if (step.Outcome == incident.Worked || step.Outcome == incident.Failed) && !incident.Looks(step.Command) && !strings.Contains(step.Command, "${") {
			runs = append(runs, i)
		}
	}
	runs = runs[max(0, len(runs)-maxRoutineRuns):]
	shapes := make([]string, len(runs))
	for k, i := range runs {
		if shapes[k] = shape(s.steps[i].Command); s.steps[i].Outcome == incident.Failed {
			shapes[k] = fmt.Sprint("failed ", k) // no part of a sequence that worked
		}
	}
	taken := make([]bool, len(runs))
	for n := min(maxRoutine, len(runs)/2); n >= 2; n-- {
		least := longTimes
		if n == 2 {
			least = pairTimes
		}
		for from := 0; from+n <= len(runs); from++ {
			at := occurrences(shapes, taken, from, n)
			if len(at) < least || distinct(shapes[from:from+n]) <= max(1, n/2) {
				continue
			}
			for _, a := range at {
				for k := range n {
					taken[a+k] = true
				}
			}
			drafts = append(drafts, s.routine(runs, at, n))
		}
	}
	return drafts
}

func distinct(shapes []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(shapes))))
}

// occurrences are where the n shapes from a position stand, without overlap; nil if a longer sequence has taken the first.
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

// shape is what runs of one step have in common: the program, what it is told to do, its options, and how many other words there are.
func shape(command string) string {
	parts, others := []string{incident.ProgramOf(command)}, 0
	for _, word := range shellWord.FindAllString(command, -1) {
		switch name, _, _ := strings.Cut(word, "="); {
		case strings.HasPrefix(word, "-"):
			parts = append(parts, name)
		case plainWord.MatchString(word) && len(parts) == 1: // what is acted on, as in "make lint" and "make build"
			parts[0] += " " + word
		case strings.TrimSpace(word) != "":
			others++
		}
	}
	return strings.Join(append(parts, strconv.Itoa(others)), " ")
}

// routine makes the proposal of the n runs at each of the positions.
func (s *scene) routine(runs, at []int, n int) ProposalDraft {
	draft := procedure.Draft{Category: "workflow", Description: fmt.Sprintf("%d commands that were run one after the other %d times in a session", n, len(at))}
	params := &routineParameters{names: map[string]string{}}
	var names []string
	for k := range n {
		texts := make([]string, len(at))
		for o, a := range at {
			texts[o] = s.steps[runs[a+k]].Command
		}
		name := incident.ProgramOf(texts[0])
		draft.Steps = append(draft.Steps, procedure.Step{Name: fmt.Sprintf("%d_%s", k+1, slug(name, "_")), Description: "Run " + name, Run: params.template(texts)})
		if short := slug(name, "-"); len(names) == 0 || names[len(names)-1] != short {
			names = append(names, short)
		}
	}
	draft.Params = params.list
	name := strings.Join(names, "-")
	draft.Name = strings.Trim(name[:min(len(name), 60)], "-")
	d := ProposalDraft{Kind: ProposalProcedure, Procedure: &draft, Confidence: routineBase + routineAgain*float64(min(len(at)-2, 2))}
	if n >= 3 {
		d.Confidence += routineLong
	}
	if len(params.list) > manyParams {
		d.Confidence += routineParams
	}
	for _, a := range at[:2] {
		for k := range n {
			d.Evidence, d.Turns = append(d.Evidence, s.quotes[runs[a+k]]), append(d.Turns, s.turns[runs[a+k]])
		}
	}
	return d
}

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
	plainWord = lazyregexp.New(`^[a-z][a-z_:-]*$`)
	versioned = lazyregexp.New(`^v?\d+\.\d+(?:\.\d+)?[\w.-]*$`)
)

// template is a command with a parameter wherever the times differ. Where their words do not stand beside each other it is the last time's.
func (p *routineParameters) template(texts []string) string {
	tokens := make([][]string, len(texts))
	for i, text := range texts {
		if tokens[i] = shellWord.FindAllString(text, -1); len(tokens[i]) != len(tokens[0]) {
			return texts[len(texts)-1]
		}
	}
	var b strings.Builder
	before := ""
	for k, token := range tokens[0] {
		values := make([]string, len(tokens))
		for i := range tokens {
			values[i] = tokens[i][k]
		}
		switch {
		case strings.TrimSpace(token) == "":
			b.WriteByte(' ')
			continue
		case distinct(values) == 1:
			b.WriteString(token)
		default:
			prefix := commonPart(values)
			for i := range values { // a step's parameter is quoted where it is put in
				values[i] = strings.Trim(values[i][len(prefix):], `"'`)
			}
			b.WriteString(prefix + "${" + p.name(values, prefix, before) + "}")
		}
		before = token
	}
	return b.String()
}

// commonPart is what all words begin with, up to a mark between parts of a word.
func commonPart(values []string) string {
	prefix := values[0]
	for _, v := range values[1:] {
		for !strings.HasPrefix(v, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix[:strings.LastIndexAny(prefix, "=:/")+1]
}

// name is the parameter that stands for the values.
func (p *routineParameters) name(values []string, prefix, before string) string {
	key := strings.Join(values, "\x00")
	if name, known := p.names[key]; known {
		return name
	}
	base := "value"
	switch {
	case slug(strings.TrimSuffix(prefix, "="), "_") != "" && strings.HasSuffix(prefix, "="):
		base = slug(strings.TrimSuffix(prefix, "="), "_")
	case strings.HasPrefix(before, "--") && slug(before, "_") != "":
		base = slug(before, "_")
	case before == "-m":
		base = "message"
	case !slices.ContainsFunc(values, func(v string) bool { return !versioned.MatchString(v) }):
		base = "version"
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

package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// Bounds of a repeated sequence.
const (
	maxRoutine     = 8   // commands of a sequence
	minRoutine     = 3   // two commands that follow each other are a habit
	maxRoutineRuns = 400 // runs that are compared; a transcript with more has its last ones compared
)

// routines proposes sequences of commands that went through more than once, one after the other. What differs from one
// time to the next becomes a parameter.
func (s *scene) routines() (drafts []ProposalDraft) {
	var runs []int
	for i, step := range s.steps {
		if (step.Outcome == Worked || step.Outcome == Failed) && !Looks(step.Command) && !strings.Contains(step.Command, "${") {
			runs = append(runs, i)
		}
	}
	runs = runs[max(0, len(runs)-maxRoutineRuns):]
	shapes := make([]string, len(runs))
	for k, i := range runs {
		if shapes[k] = shape(s.steps[i].Command); s.steps[i].Outcome == Failed {
			shapes[k] = fmt.Sprint("failed ", k) // no part of a sequence that worked
		}
	}
	for n := min(maxRoutine, len(runs)/2); n >= minRoutine; n-- {
		for from := 0; from+n <= len(runs); from++ {
			at := occurrences(shapes, from, n)
			if len(at) < 2 || distinct(shapes[from:from+n]) <= n/2 {
				continue
			}
			drafts = append(drafts, s.routine(runs, at, n))
			for _, a := range at {
				for k := range n {
					shapes[a+k] = fmt.Sprint("taken ", a+k) // no part of a shorter one
				}
			}
		}
	}
	return drafts
}

func distinct(texts []string) int { return len(slices.Compact(slices.Sorted(slices.Values(texts)))) }

// occurrences are where the n shapes from a position stand, without overlap.
func occurrences(shapes []string, from, n int) (at []int) {
	for i := from; i+n <= len(shapes); i++ {
		if slices.Equal(shapes[from:from+n], shapes[i:i+n]) {
			at = append(at, i)
			i += n - 1
		}
	}
	return at
}

var (
	shellWord   = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+|\s+`)
	plainWord   = lazyregexp.New(`^[a-z][a-z_:-]*$`)
	versionWord = lazyregexp.New(`^v?\d+\.\d+(?:\.\d+)?[\w.-]*$`)
)

// shape is what runs of one step have in common: the program, what it is told to do, its options, and how many other words there are.
func shape(command string) string {
	parts, others := []string{ProgramOf(command)}, 0
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
	known := map[string]string{}
	var names []string
	for k := range n {
		texts := make([]string, len(at))
		for o, a := range at {
			texts[o] = s.steps[runs[a+k]].Command
		}
		name := ProgramOf(texts[0])
		draft.Steps = append(draft.Steps, procedure.Step{Name: fmt.Sprintf("%d_%s", k+1, slug(name, "_")), Description: "Run " + name, Run: template(texts, known, &draft.Params)})
		if short := slug(name, "-"); len(names) == 0 || names[len(names)-1] != short {
			names = append(names, short)
		}
	}
	name := strings.Join(names, "-")
	draft.Name = strings.Trim(name[:min(len(name), 60)], "-")
	d := ProposalDraft{Kind: ProposalProcedure, Procedure: &draft, Confidence: routineBase + routineAgain*float64(min(len(at)-2, 2))}
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

// template is a command with a parameter wherever the times differ: known are the parameters of the steps before, by the values
// that they had. Where the words of the times do not stand beside each other it is the last time's.
func template(texts []string, known map[string]string, params *[]procedure.Param) string {
	tokens := make([][]string, len(texts))
	for i, text := range texts {
		if tokens[i] = shellWord.FindAllString(text, -1); len(tokens[i]) != len(tokens[0]) {
			return texts[len(texts)-1]
		}
	}
	var b strings.Builder
	for k, token := range tokens[0] {
		values := make([]string, len(tokens))
		for i := range tokens {
			values[i] = strings.Trim(tokens[i][k], `"'`) // a step's parameter is quoted where it is put in
		}
		if strings.TrimSpace(token) == "" || distinct(values) == 1 {
			b.WriteString(token)
			continue
		}
		key := strings.Join(values, "\x00")
		if known[key] == "" {
			name := "value"
			if !slices.ContainsFunc(values, func(v string) bool { return !versionWord.MatchString(v) }) {
				name = "version"
			}
			if len(*params) > 0 {
				name += strconv.Itoa(len(*params) + 1)
			}
			known[key] = name
			*params = append(*params, procedure.Param{Name: name, Description: "Such as " + check.Clip(values[len(values)-1], 80)})
		}
		b.WriteString("${" + known[key] + "}")
	}
	return b.String()
}

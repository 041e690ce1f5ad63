package history

import (
	"slices"
	"strings"
)

// teaches is the fix that it would teach to accept the incident: one that worked by more than chance, in an incident of several sessions,
// of which something can be told. nil: there is none.
func (inc *Incident) teaches(asker asker) *Fix {
	fix := inc.offered(asker, nil)
	if !inc.Accepted || inc.Sessions < warnSessions || fix == nil || !inc.proven(fix) || fix.lasts() == "" {
		return nil
	}
	return fix
}

// proven tells whether a fix is more than chance: it worked twice, or the failure was seen in more sessions than one needs to accept it and
// the steps before name what the error names. Where edits mended it far oftener, it teaches nothing,
// and what went through in whatever folder after a cd failed is none. Nor is a fix that makes an empty file for what follows: the
// next session writes something else, under another name.
func (inc *Incident) proven(fix *Fix) bool {
	if slices.ContainsFunc(append(slices.Clone(fix.Steps), fix.Command), makesFile) {
		return false
	}
	if 2*fix.Worked < inc.Edits || inc.Program == "cd" && !strings.Contains(fix.Command, "cd ") {
		return false
	}
	if fix.Worked > 1 {
		return true
	}
	return inc.Sessions > warnSessions && (len(fix.Steps) == 0 || slices.ContainsFunc(fix.Steps, func(step string) bool {
		return slices.ContainsFunc(tokens(step), func(word string) bool { return names(inc.Example, word) })
	}))
}

// makesFile tells whether a command makes an empty file.
func makesFile(command string) bool {
	return slices.ContainsFunc(simples(command), func(c simple) bool {
		words := programWords(c.words)
		return len(words) > 0 && words[0] == "touch"
	})
}

// lasts is the whole fix: all its steps that do something, and what went through then. It is empty where nothing
// of it can be told, as of a script that was typed in.
func (f *Fix) lasts() string {
	steps := slices.DeleteFunc(slices.Clone(f.Steps), func(step string) bool {
		return !slices.ContainsFunc(simples(step), func(c simple) bool {
			words := programWords(c.words)
			return len(words) > 0 && !looksOnly()[words[0]] && !silent()[words[0]]
		})
	})
	if !strings.Contains(f.Command, "<<") || len(steps) == 0 && strings.Contains(f.Command, "&&") {
		steps = append(steps, f.Command)
	}
	for i := range steps {
		steps[i] = code(steps[i], maxShownFix/len(steps))
	}
	return strings.Join(steps, ", then ")
}

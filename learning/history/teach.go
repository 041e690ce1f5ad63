package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter/internal/principal"
)

// LessonCategory is the category of lessons that accepted incidents are.
const LessonCategory = "incident"

// Lesson is what an accepted incident teaches the team.
type Lesson struct {
	ID       string // empty: there is none yet
	By       string // who accepted it
	Project  string
	Title    string
	Context  string
	Action   string
	Outcome  string
	Solution string // what worked
}

// Team keeps the team's lessons.
type Team interface {
	// Teach keeps a lesson, or what it says now, and returns its id.
	Teach(ctx context.Context, lesson Lesson) (id string, err error)
	// Withdraw takes a lesson out of use.
	Withdraw(ctx context.Context, id string) error
}

// TeachTo has accepted incidents become lessons of the team. It is called before the service is used.
func (n *Incidents) TeachTo(team Team) { n.team = team }

// lesson is what the incident teaches, if it is accepted, was seen in several sessions, and it is known what worked.
func (inc *Incident) lesson(asker asker) (l Lesson, ok bool) {
	if !inc.Accepted || inc.Sessions < warnSessions {
		return l, false
	}
	fix := inc.offered(asker, nil)
	if fix == nil || !inc.proven(fix) || fix.lasts() == "" {
		return l, false
	}
	return Lesson{
		ID: inc.Lesson, By: inc.By, Project: inc.Project, Action: told(inc.Command), Outcome: told(inc.said()),
		Title: told(fmt.Sprintf("%s fails here: %s", inc.Program, inc.said())), Context: told(learnedOf(fix)), Solution: told(fix.lasts()),
	}, true
}

// learnedOf says where a lesson comes from.
func learnedOf(fix *Fix) string {
	if len(fix.By) == 0 {
		return "Learned from the commands of earlier sessions."
	}
	return "Learned from the commands of earlier sessions of " + fix.teachers() + "."
}

// proven tells whether a fix is more than chance: it worked twice, or the failure was seen in more sessions than one needs to accept it and
// the steps before name what the error names. Where edits mended it far oftener, it is not the lesson,
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

// lasts is the whole fix, as a lesson tells it: all its steps that do something, and what went through then. It is empty where nothing
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

// teach brings the team's lessons in step with incidents: those that are accepted and have something to tell are lessons, and no others.
func (n *Incidents) teach(ctx context.Context, ids []int64) error {
	if n.team == nil || len(ids) == 0 {
		return nil
	}
	n.teaching.Lock()
	defer n.teaching.Unlock()
	found, err := n.store.Incidents(ctx, ids)
	if err != nil {
		return err
	}
	ctx = principal.With(ctx, principal.System())
	for _, number := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		inc := found[number]
		id := ""
		switch l, ok := inc.lesson(n.everybody()); {
		case ok:
			id, err = n.team.Teach(ctx, l)
		case inc.Lesson != "":
			err = n.team.Withdraw(ctx, inc.Lesson)
		}
		if err != nil {
			return err
		}
		if id == inc.Lesson {
			continue
		}
		err = n.store.ChangeIncidents(ctx, func(tx Tx) error {
			now, err := tx.Incidents([]int64{number})
			if inc, there := now[number]; err == nil && there {
				inc.Lesson = id
				err = tx.PutIncidents([]Incident{inc})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

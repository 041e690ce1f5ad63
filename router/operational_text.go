package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/classify"
)

// holders answers who has what the question names.
func (a *asking) holders(ctx context.Context) (found, error) {
	matches, err := a.matches(ctx)
	if err != nil {
		return found{}, err
	}
	if len(matches) == 0 && len(a.TaskStatuses) > 0 && !a.fallback {
		return a.taskList(ctx)
	}
	f := found{note: "looked for who has tasks, or does work, with the words " + strings.Join(a.Said, ", ")}
	var said []string
	for _, m := range matches {
		f.items = append(f.items, m.item)
		switch {
		case m.task == nil && classify.Overlap(a.Stems, m.item.Content) < classify.LeastOverlap:
			said = append(said, m.role)
		case m.task == nil:
			said = append(said, m.item.ID+" says that it does: "+shorten(m.item.Content))
		case m.task.AgentID != "" && m.task.Status.Open():
			said = append(said, m.task.AgentID+" holds "+taskPhrase(*m.task))
		case m.task.Status.Open():
			said = append(said, "nobody holds "+taskPhrase(*m.task))
		case m.task.AgentID != "":
			said = append(said, m.task.AgentID+" had "+taskPhrase(*m.task))
		}
	}
	f.summary = a.say(said)
	return f, nil
}

// match is a task, or an agent by what it says that it does, that fits the words.
type match struct {
	item Item
	task *operational.Task
	role string // how an agent is, if it was found by its role
}

// matches finds what fits the question's words: open tasks before finished ones, the better before the worse.
func (a *asking) matches(ctx context.Context) ([]match, error) {
	if len(a.Stems) == 0 {
		return nil, nil
	}
	yes, no := true, false
	var all []match
	words := classify.Needles(a.Said, operational.MaxAnyOf)
	if len(words) == 0 {
		return nil, nil
	}
	for _, look := range []operational.TaskFilter{
		{Open: &yes, Project: a.project, AnyOf: words, Limit: readFitting},
		{Open: &no, Project: a.project, AnyOf: words, Limit: readFitting},
	} {
		tasks, err := a.tasks.List(ctx, look)
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			score := max(classify.Overlap(a.Stems, t.Title), 0.8*classify.Overlap(a.Stems, t.Title+" "+t.Description))
			if score < classify.LeastOverlap || (len(a.TaskStatuses) > 0 && !slices.Contains(a.TaskStatuses, t.Status) && !a.Asked && !a.Who && !a.YesNo) {
				continue
			}
			if !t.Status.Open() {
				score /= 2
			}
			item := taskItem(t)
			item.Score = score
			all = append(all, match{item: item, task: &t})
		}
	}
	agents, err := a.everyAgent(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range agents {
		score := classify.Overlap(a.Stems, one.CurrentTask)
		if a.Who {
			score = max(score, classify.Overlap(a.Stems, one.Role))
		}
		if score >= classify.LeastOverlap {
			item := agentItem(one, nil)
			item.Score = score
			all = append(all, match{item: item, role: fmt.Sprintf("%s (%s) is %s", one.ID, one.Role, one.State)})
		}
	}
	skillrouter.SortStable(all, func(x, y match) int { return compareDown(x.item.Score, y.item.Score) })
	return all, nil
}

// byText answers a question that names a thing and not a state.
func (a *asking) byText(ctx context.Context) (found, error) {
	if len(a.Stems) == 0 && a.fallback {
		return found{}, nil
	}
	if len(a.Stems) == 0 {
		if a.OfTasks || a.Asked || a.stateful() {
			return a.taskList(ctx)
		}
		return found{}, nil
	}
	matches, err := a.matches(ctx)
	if err != nil {
		return found{}, err
	}
	f := found{note: "looked for tasks and agents with the words " + strings.Join(a.Said, ", ")}
	var said []string
	for _, m := range matches {
		f.items = append(f.items, m.item)
		if m.task != nil {
			said = append(said, a.verdict(*m.task))
		} else {
			said = append(said, m.item.ID+" is at it: "+shorten(m.item.Content))
		}
	}
	f.summary = a.say(said)
	return f, nil
}

// say makes a summary of what is said of the matches.
func (a *asking) say(said []string) string {
	if len(said) == 0 {
		return fmt.Sprintf("No task and no agent names %s.", strings.Join(a.Said, ", "))
	}
	return sentence(strings.Join(said[:min(len(said), namedInSummary)], "; "))
}

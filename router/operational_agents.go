package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/classify"
)

// idle tells whether an agent that is there has nothing to do.
func idle(agent operational.Agent, held []operational.Task) bool {
	blocked := func(t operational.Task) bool { return t.Status == operational.TaskBlocked }
	if agent.State != operational.AgentOnline || !all(held, blocked) {
		return false
	}
	switch strings.ToLower(agent.Status) {
	case "idle", "available", "ready", "waiting", "free":
		return true
	case "busy", "working":
		return false
	}
	return agent.CurrentTask == "" && len(held) == 0
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}

// agentList answers by state: online, stale, idle, told to stop.
func (a *asking) agentList(ctx context.Context) (found, error) {
	agents, err := a.everyAgent(ctx)
	if err != nil {
		return found{}, err
	}
	held, err := a.heldTasks(ctx)
	if err != nil {
		return found{}, err
	}
	states := a.AgentStates
	if slices.Contains(states, operational.AgentStale) && !a.Span.From.IsZero() { // "not seen in the last hour"
		a.Older = a.now.Sub(a.Span.From)
	}
	if slices.Contains(states, operational.AgentStale) && a.Older > 0 {
		states = nil // how long is said, and needs no state
	} else if slices.Equal(states, []operational.AgentState{operational.AgentOffline}) && !slices.Contains(classify.Phrase(a.text), "offline") {
		states = []operational.AgentState{operational.AgentOffline, operational.AgentStale} // "down" is both to who asks
	}
	what := skillrouter.Texts(states)
	for _, cue := range []struct {
		on   bool
		word string
	}{{a.Idle, "idle"}, {a.Busy, "busy"}, {a.Stopping, "told to stop"}} {
		if cue.on {
			what = append(what, cue.word)
		}
	}
	if a.Older > 0 {
		what = append(what, "silent for "+lasting(a.Older))
	}
	fitting := slices.DeleteFunc(slices.Clone(agents), func(one operational.Agent) bool {
		switch {
		case len(states) > 0 && !slices.Contains(states, one.State),
			a.Idle && !idle(one, held[one.ID]),
			a.Busy && (one.State != operational.AgentOnline || idle(one, held[one.ID])),
			a.Stopping && !one.ShouldStop,
			a.Older > 0 && a.now.Sub(one.LastSeen) < a.Older:
			return true
		}
		return false
	})
	if len(a.Stems) > 0 { // a role or a model may be named: "which sergeant can take this"
		named := slices.DeleteFunc(slices.Clone(fitting), func(one operational.Agent) bool {
			return classify.Overlap(a.Stems, one.Role+" "+one.Model+" "+one.ConfigName) == 0
		})
		if len(named) > 0 {
			fitting = named
		}
	}
	f := found{settled: true, note: "looked for agents"}
	if len(what) > 0 {
		f.note += " that are " + strings.Join(what, " or ")
	} else {
		what = []string{"known"}
		if a.Busy || classify.HasAny(classify.Phrase(a.text), "doing", "working", "work") {
			fitting = slices.DeleteFunc(fitting, func(one operational.Agent) bool { return one.CurrentTask == "" && len(held[one.ID]) == 0 })
			what = []string{"at work"}
		}
	}
	var names []string
	for _, one := range fitting {
		f.items = append(f.items, agentItem(one, held[one.ID]))
		name := one.ID
		switch doing := doing(one, held[one.ID]); {
		case what[0] == "at work" && doing != "":
			name += " (" + doing + ")"
		case slices.Contains(states, operational.AgentStale) || a.Older > 0:
			name += " (" + lasting(a.now.Sub(one.LastSeen)) + " ago)"
		}
		names = append(names, name)
	}
	f.summary = fmt.Sprintf("%s%s %s %s%s.", capital(Amount(len(fitting), "agent", "agents")), a.inProject(), verb(len(fitting)), strings.Join(what, " or "), enumerate(names, len(names)))
	return f, nil
}

func (a *asking) inProject() string {
	if a.project == "" {
		return ""
	}
	return " in project " + a.project
}

// namedAgents answers what the agents that the question names are doing.
func (a *asking) namedAgents(ctx context.Context) (found, error) {
	whole := *a
	whole.project = "" // who is named is meant, whatever project they are in
	agents, err := whole.everyAgent(ctx)
	if err != nil {
		return found{}, err
	}
	var f found
	var said []string
	for _, id := range a.Agents {
		tasks, err := a.tasks.List(ctx, operational.TaskFilter{AgentID: id, Limit: readFinished})
		if err != nil {
			return found{}, err
		}
		var open, matching []operational.Task
		for _, t := range tasks {
			if t.Status.Open() {
				open = append(open, t)
			}
			if len(a.Stems) > 0 && classify.Overlap(a.Stems, t.Title+" "+t.Description) >= classify.LeastOverlap {
				matching = append(matching, t)
			}
		}
		at := slices.IndexFunc(agents, func(one operational.Agent) bool { return one.ID == id })
		if at >= 0 {
			f.items = append(f.items, agentItem(agents[at], open))
			said = append(said, describe(agents[at], open, a.now))
		} else if len(open) > 0 {
			said = append(said, fmt.Sprintf("%s has never checked in and holds %s", id, Amount(len(open), "task", "tasks")))
		}
		shown := open
		if len(matching) > 0 {
			shown = matching
			said = append(said, taskState(matching[0]))
		}
		for _, t := range shown {
			f.items = append(f.items, taskItem(t))
		}
	}
	f.note = "looked for " + strings.Join(a.Agents, ", ") + " and what they hold"
	f.settled = len(f.items) > 0
	if len(said) > 0 {
		f.summary = sentence(strings.Join(said, "; "))
	} else if a.Mine {
		f.settled, f.summary = true, fmt.Sprintf("%s holds no task.", a.Agents[0])
	}
	return f, nil
}

// describe says in a few words how an agent is.
func describe(agent operational.Agent, open []operational.Task, now time.Time) string {
	s := fmt.Sprintf("%s is %s", agent.ID, agent.State)
	if agent.State == operational.AgentStale || agent.State == operational.AgentOffline {
		s += ", last seen " + lasting(now.Sub(agent.LastSeen)) + " ago"
	}
	if agent.ShouldStop {
		s += ", told to stop"
	}
	if d := doing(agent, nil); d != "" {
		s += ", doing: " + d
	}
	switch len(open) {
	case 0:
		return s + ", and holds no task"
	case 1:
		return s + ", and holds " + taskPhrase(open[0])
	}
	return fmt.Sprintf("%s, and holds %d tasks", s, len(open))
}

// doing is what an agent says that it does, or else the task that it holds.
func doing(agent operational.Agent, held []operational.Task) string {
	if agent.CurrentTask != "" {
		return shorten(agent.CurrentTask)
	}
	if len(held) > 0 {
		return taskPhrase(held[0])
	}
	return ""
}

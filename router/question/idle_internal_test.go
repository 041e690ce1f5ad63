package question

import (
	"testing"

	"github.com/skillrouter/skillrouter/operational"
)

func TestIdle(t *testing.T) {
	blocked := []operational.Task{{Status: operational.TaskBlocked}}
	working := []operational.Task{{Status: operational.TaskBlocked}, {Status: operational.TaskInProgress}}
	for name, c := range map[string]struct {
		agent operational.Agent
		held  []operational.Task
		want  bool
	}{
		"nothing to do":                  {operational.Agent{State: operational.AgentOnline}, nil, true},
		"says that it is idle":           {operational.Agent{State: operational.AgentOnline, Status: "Idle", CurrentTask: "the last one"}, nil, true},
		"says idle, its task is blocked": {operational.Agent{State: operational.AgentOnline, Status: "idle"}, blocked, true},
		"says nothing, task is blocked":  {operational.Agent{State: operational.AgentOnline}, blocked, false},
		"says idle, and has a task":      {operational.Agent{State: operational.AgentOnline, Status: "idle"}, working, false},
		"says that it works":             {operational.Agent{State: operational.AgentOnline, Status: "working"}, nil, false},
		"says what it does":              {operational.Agent{State: operational.AgentOnline, CurrentTask: "docs"}, nil, false},
		"is not there":                   {operational.Agent{State: operational.AgentStale, Status: "idle"}, nil, false},
	} {
		if got := idle(c.agent, c.held); got != c.want {
			t.Errorf("%s: idle is %v, want %v", name, got, c.want)
		}
	}
}

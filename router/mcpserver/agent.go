package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/comms"
	"skillrouter/operational"
)

type agents struct {
	Agents []operational.Agent `json:"agents"`
	Count  int                 `json:"count"`
	Notice string              `json:"notice,omitempty"`
}

type oneAgent struct {
	Agent  operational.Agent `json:"agent"`
	Notice string            `json:"notice"`
}

// addAgentTools offers who is there and what they do, in the toolset of the team's work.
func (s *Server) addAgentTools() {
	add(s, tool{
		name: "list_agents", title: "List agents", set: ToolsetOperations, effect: reads, holds: "agents count",
		description: "Who is on the team, who is there now, and what each works on.",
	}, described[operational.AgentFilter]("state", "status", "project", "role", "task", "limit"), then(s.services.Presence.Agents, func(found []operational.Agent) (agents, string) {
		out := agents{Agents: owned(found), Count: len(found)}
		return out, listing(out.Agents, &out.Notice, agentEntry, "No agent fits.", "%s, the latest seen first.", count(len(found), "agent", "agents")).String()
	}))
	add(s, tool{
		name: "get_agent", title: "One agent", set: ToolsetOperations, effect: reads, holds: "agent",
		description: "How an agent stands.",
		resource: &resource{
			template: "agents://{id}", name: "agent", description: "How an agent stands", arguments: []string{"agent_id"},
			latest: func(ctx context.Context, offer func(name string, values ...string)) error {
				agents, err := s.services.Presence.Agents(ctx, operational.AgentFilter{Limit: listedPerKind})
				for _, a := range agents {
					offer(" "+a.ID, a.ID)
				}
				return err
			},
		},
	}, func(p *params, id *string) { p.must("agent_id", id, "") }, then(s.services.Presence.Agent, func(found operational.Agent) (oneAgent, string) {
		text := alone(&found, agentEntry, "1 agent.")
		return oneAgent{found, notice}, text
	}))
	add(s, tool{
		name: "check_in", title: "Check in", set: ToolsetOperations, effect: ensure, holds: "should_stop has_messages",
		description: "Say that you are there (a heartbeat), and learn whether you should stop and have messages.",
	}, described[comms.Heartbeat]("agent_id", "status", "current_task", "role", "model", "project_path"), then(s.services.Presence.Heartbeat, func(said comms.HeartbeatAnswer) (comms.HeartbeatAnswer, string) {
		f := newFence("You are checked in.")
		if said.HasMessages {
			f.say("%s not acknowledged: check_messages.", count(said.MessageCount, "message is", "messages are"))
		}
		f.stop(said.ShouldStop, said.StopReason)
		return said, f.String()
	}))
	add(s, tool{
		name: "report_status", title: "Report status", set: ToolsetOperations, effect: ensure, holds: "ok",
		description: "Say what you are doing and how far you are.",
	}, described[comms.StatusReport]("status!", "current_task", "progress", "agent_id"), then(s.services.Presence.Status, func(said comms.StatusAnswer) (comms.StatusAnswer, string) {
		return said, "Your status is noted."
	}))
}

// stop tells a model that it should end its work, and why.
func (f *fence) stop(should bool, reason string) {
	if !should {
		return
	}
	f.say("YOU SHOULD STOP: bring what you are doing to a safe end, record it with record_episode, and end.")
	if reason != "" {
		f.add("Reason given:", reason)
	}
}

func agentEntry(a *operational.Agent) entry {
	return entry{[]*string{&a.CurrentTask, &a.Status, &a.StopReason, &a.ProjectPath}, func(cut int) (string, []string) {
		label := fmt.Sprintf("%s, %s, last seen %s", author(a.ID), a.State, a.LastSeen.UTC().Format(time.RFC3339))
		if a.ShouldStop {
			label += ", was told to stop"
		}
		return label, []string{
			attributes("role", a.Role, "project", a.Project, "model", a.Model, "status", a.Status),
			part("Task", a.CurrentTask), part("Stop", a.StopReason), cutNote(cut),
		}
	}}
}

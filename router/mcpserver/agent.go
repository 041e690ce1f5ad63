package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/comms"
	"skillrouter/operational"
)

type listAgents struct {
	State   operational.AgentState `json:"state"`
	Status  string                 `json:"status"`
	Project string                 `json:"project"`
	Role    string                 `json:"role"`
	Task    string                 `json:"task"`
	Limit   int                    `json:"limit"`
}

type agentRef struct {
	AgentID string `json:"agent_id"`
}

type checkIn struct {
	AgentID     string `json:"agent_id"`
	Status      string `json:"status"`
	CurrentTask string `json:"current_task"`
	Role        string `json:"role"`
	Model       string `json:"model"`
	ProjectPath string `json:"project_path"`
}

type reportStatus struct {
	AgentID     string   `json:"agent_id"`
	Status      string   `json:"status"`
	CurrentTask *string  `json:"current_task"`
	Progress    *float64 `json:"progress"`
}

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
		name: "list_agents", title: "List agents", set: ToolsetOperations, effect: reads,
		description: "Who is on the team, who is there now, and what each works on.",
		input: arguments(
			oneOf("state", "", operational.AgentStates()...),
			text("status", "As the agent says of itself"),
			text("project", ""),
			text("role", ""),
			text("task", "Part of the current task"),
			integer("limit", "Default 100", 1, operational.MaxLimit),
		),
		output: holds("agents", "count"),
	}, s.listAgents)
	add(s, tool{
		name: "get_agent", title: "One agent", set: ToolsetOperations, effect: reads,
		description: "How an agent stands.",
		input:       arguments(required(text("agent_id", ""))), output: holds("agent"),
	}, s.getAgent)
	add(s, tool{
		name: "check_in", title: "Check in", set: ToolsetOperations, effect: ensure,
		description: "Say that you are there (a heartbeat), and learn whether you should stop and have messages.",
		input: arguments(
			text("agent_id", "Default: you"),
			text("status", "working, idle, blocked, …"),
			text("current_task", ""),
			text("role", ""),
			text("model", ""),
			text("project_path", ""),
		),
		output: holds("should_stop", "has_messages"),
	}, s.checkIn)
	add(s, tool{
		name: "report_status", title: "Report status", set: ToolsetOperations, effect: ensure,
		description: "Say what you are doing and how far you are.",
		input: arguments(
			required(text("status", "working, idle, blocked, …")),
			text("current_task", "Empty: none"),
			number("progress", "", 0, 100),
			text("agent_id", "Default: you"),
		),
		output: holds("ok"),
	}, s.reportStatus)
}

func (s *Server) listAgents(ctx context.Context, in listAgents) (reply[agents], error) {
	found, err := s.services.Presence.Agents(ctx, operational.AgentFilter{
		State: in.State, Status: in.Status, Project: in.Project, Role: in.Role, Task: in.Task, Limit: in.Limit,
	})
	if err != nil {
		return reply[agents]{}, err
	}
	out := agents{Agents: append([]operational.Agent{}, found...), Count: len(found)}
	if len(found) == 0 {
		return reply[agents]{out, "No agent fits."}, nil
	}
	out.Notice = notice
	f := newFence("%s, the latest seen first.", count(len(found), "agent", "agents"))
	f.addAgents(out.Agents)
	return reply[agents]{out, f.String()}, nil
}

func (s *Server) getAgent(ctx context.Context, in agentRef) (reply[oneAgent], error) {
	found, err := s.services.Presence.Agent(ctx, in.AgentID)
	if err != nil {
		return reply[oneAgent]{}, err
	}
	f := newFence("%s.", count(1, "agent", "agents"))
	shown := []operational.Agent{found}
	f.addAgents(shown)
	return reply[oneAgent]{oneAgent{shown[0], notice}, f.String()}, nil
}

func (s *Server) checkIn(ctx context.Context, in checkIn) (reply[comms.HeartbeatAnswer], error) {
	said, err := s.services.Presence.Heartbeat(ctx, comms.Heartbeat{
		AgentID: s.actor(ctx, in.AgentID), Status: in.Status, CurrentTask: in.CurrentTask, Role: in.Role, Model: in.Model, ProjectPath: in.ProjectPath,
	})
	if err != nil {
		return reply[comms.HeartbeatAnswer]{}, err
	}
	f := newFence("You are checked in.")
	if said.HasMessages {
		f.say("%s not acknowledged: check_messages.", count(said.MessageCount, "message is", "messages are"))
	}
	f.stop(said.ShouldStop, said.StopReason)
	return reply[comms.HeartbeatAnswer]{said, f.String()}, nil
}

func (s *Server) reportStatus(ctx context.Context, in reportStatus) (reply[comms.StatusAnswer], error) {
	said, err := s.services.Presence.Status(ctx, comms.StatusReport{
		AgentID: s.actor(ctx, in.AgentID), Status: in.Status, CurrentTask: in.CurrentTask, Progress: in.Progress,
	})
	return reply[comms.StatusAnswer]{said, "Your status is noted."}, err
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

// addAgents shortens what agents say of themselves to what an answer may hold and appends it.
func (f *fence) addAgents(list []operational.Agent) {
	items := make([][]*string, len(list))
	for i := range list {
		items[i] = []*string{&list[i].CurrentTask, &list[i].Status, &list[i].StopReason, &list[i].ProjectPath}
	}
	left := fitTexts(items)
	f.explain()
	for i, a := range list {
		label := fmt.Sprintf("%d. %s, %s, last seen %s", i+1, author(a.ID), a.State, a.LastSeen.UTC().Format(time.RFC3339))
		if a.ShouldStop {
			label += ", was told to stop"
		}
		f.add(label, attributes("role", a.Role, "project", a.Project, "model", a.Model, "status", a.Status),
			part("Task", a.CurrentTask), part("Stop", a.StopReason), cutNote(left[i]))
	}
}

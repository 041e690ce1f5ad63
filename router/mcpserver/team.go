package mcpserver

import (
	"context"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/operational"
)

const itsNumber = "Its number or id"

type teamTasks struct {
	Tasks   []operational.Task      `json:"tasks"`
	Summary operational.TaskSummary `json:"summary"` // of all that fit, whatever the limit
}

// teamTaskTools are the team's queue of tasks. Those of the reminders are one's own.
func teamTaskTools() []tool {
	list := []tool{
		{name: "create_team_task", title: "Create a team task", effect: adds, does: operational.TaskService.Create, takes: "title! description project priority agent_id after"},
		{
			name: "list_team_tasks", title: "List team tasks", effect: reads, holds: "tasks summary",
			description: "What the team has to do and has done: open tasks by priority, then finished ones, the latest first; with a count by status.",
			does:        (*Server).teamTasks, takes: "status agent_id project open unheld ready text after limit", none: "No task fits",
		},
		{
			name: "get_team_task", title: "One team task", effect: reads,
			does: operational.TaskService.Task, takes: "task!",
			resource: &resource{
				template: "tasks://{id}", name: "task", description: "A task of the team, by its id or number", arguments: []string{"task"},
				lists: operational.TaskService.List, asks: operational.TaskFilter{Open: new(true), Limit: listedPerKind}, members: "number", title: "title",
			},
		},
		{
			name: "claim_team_task", title: "Claim a team task", effect: adds,
			description: "Take a task that waits; without task, the next by priority.",
			does:        (*Server).claimTask, takes: "task project agent_id",
		},
		{name: "report_task_progress", title: "Report a task's progress", effect: ensure, does: operational.TaskService.Progress, takes: "task! progress note agent_id"},
		{name: "block_team_task", title: "A task is blocked", effect: adds, does: operational.TaskService.Block, takes: "task! reason! agent_id"},
		{name: "unblock_team_task", title: "A task can go on", effect: adds, does: operational.TaskService.Unblock, takes: "task! note agent_id"},
		{name: "complete_team_task", title: "Complete a team task", effect: adds, does: operational.TaskService.Complete, takes: "task! result agent_id"},
		{name: "fail_team_task", title: "A task has failed", effect: adds, does: operational.TaskService.Fail, takes: "task! error! agent_id"},
		{name: "release_team_task", title: "Release a team task", effect: adds, does: operational.TaskService.Release, takes: "task! note agent_id"},
		{name: "cancel_team_task", title: "Cancel a team task", effect: adds, does: operational.TaskService.Cancel, takes: "task! note agent_id"},
		{name: "order_team_task", title: "A task waits for others", effect: ensure, does: operational.TaskService.Wait, takes: "task! after agent_id"},
		{name: "reassign_team_task", title: "Reassign a team task", effect: adds, does: operational.TaskService.Reassign, takes: "task! agent_id! note"},
	}
	for i := range list {
		t := &list[i]
		t.about = words{"task": itsNumber}
		if t.holds == "" {
			t.as = "task"
		}
	}
	return list
}

func (s *Server) teamTasks(ctx context.Context, filter operational.TaskFilter) (out teamTasks, err error) {
	if out.Tasks, err = s.services.Tasks.List(ctx, filter); err == nil {
		out.Summary, err = s.services.Tasks.Summary(ctx, filter)
	}
	return out, err
}

func (s *Server) claimTask(ctx context.Context, id string, claim operational.TaskClaim) (operational.Task, error) {
	if id == "" {
		return s.services.Tasks.ClaimNext(ctx, claim)
	}
	return s.services.Tasks.Claim(ctx, id, claim)
}

// leaseTools are what agents say of the files that they work on.
func leaseTools() []tool {
	return []tool{
		{name: "take_lease", title: "Take a lease of files", effect: ensure, as: "lease", does: lease.Service.Take, takes: "patterns! glob why shared ttl_seconds folder project agent_id"},
		{name: "list_leases", title: "List leases", effect: reads, as: "leases", does: lease.Service.Leases, takes: "path agent_id project limit", none: "No lease is held"},
		{name: "release_lease", title: "Give leases back", effect: ensure, as: "leases", does: lease.Service.Release, takes: "lease_ids agent_id"},
		{name: "ask_lease_holder", title: "Ask the holder of a lease", effect: adds, holds: "message_id", does: lease.Service.Ask, takes: "lease_id! text! agent_id"},
	}
}

// agentTools are who is there and what they do.
func agentTools() []tool {
	return []tool{
		{
			name: "list_agents", title: "List agents", effect: reads, walled: true, holds: "agents count",
			description: "Who is on the team, who is there now, and what each works on.",
			does:        (*Server).agents, takes: "state status project role task limit", none: "No agent fits",
		},
		{
			name: "get_agent", title: "One agent", effect: reads, as: "agent",
			does: comms.PresenceService.Agent, takes: "agent_id!",
			resource: &resource{
				template: "agents://{id}", name: "agent", description: "How an agent stands", arguments: []string{"agent_id"},
				lists: comms.PresenceService.Agents, asks: operational.AgentFilter{Limit: listedPerKind}, members: "agent_id",
			},
		},
		{
			name: "check_in", title: "Check in", effect: ensure, walled: true, holds: "should_stop has_messages",
			description: "Say that you are there (a heartbeat), and learn whether you should stop and have messages.",
			does:        (*Server).checkIn, takes: "agent_id status current_task role model project_path",
		},
		{name: "report_status", title: "Report status", effect: ensure, holds: "ok", does: comms.PresenceService.Status, takes: "status! current_task progress agent_id"},
	}
}

type agents struct {
	Agents []operational.Agent `json:"agents"`
	Count  int                 `json:"count"`
}

func (s *Server) agents(ctx context.Context, filter operational.AgentFilter) (agents, error) {
	found, err := s.services.Presence.Agents(ctx, filter)
	return agents{found, len(found)}, err
}

func (s *Server) checkIn(ctx context.Context, beat comms.Heartbeat) (said comms.HeartbeatAnswer, text string, err error) {
	f := newFence("You are checked in.")
	if said, err = s.services.Presence.Heartbeat(ctx, beat); err != nil {
		return said, "", err
	}
	if said.HasMessages {
		f.say("%s not acknowledged: check_messages.", count(said.MessageCount, "message is", "messages are"))
	}
	f.stop(said.ShouldStop, said.StopReason)
	return said, f.String(), nil
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

// reminderTools are the persona's prospective memory, in a toolset of its own.
func reminderTools() []tool {
	list := []tool{
		{
			name: "schedule_task", title: "Schedule a task", effect: adds, as: "task",
			description: "Remember to do something later: it comes into the mailbox as the signal reminder, and is in get_pending_tasks until it is completed.",
			does:        operational.ReminderService.Schedule, takes: "task! trigger! context recurring timezone persona agent_id conversation_id project",
		},
		{
			name: "get_pending_tasks", title: "Pending tasks", effect: reads, as: "tasks",
			description: "What is due now, for you and for the persona. Say complete_task when one is done.",
			does:        operational.ReminderService.Pending, takes: "persona agent_id include_scheduled limit", none: "Nothing is due",
		},
		{name: "complete_task", title: "Complete a task", effect: ensure, as: "task", does: operational.ReminderService.Complete, takes: "task_id! note"},
		{name: "cancel_task", title: "Cancel a task", effect: ensure, as: "task", does: operational.ReminderService.Cancel, takes: "task_id! note"},
		{name: "snooze_task", title: "Snooze a task", effect: adds, as: "task", does: operational.ReminderService.Snooze, takes: "task_id! for!"},
		{name: "report_event", title: "Report an event", effect: adds, as: "fired", does: operational.ReminderService.Happened, takes: "name! data project"},
	}
	for i := range list {
		list[i].without = "conversation_id message_id created_at updated_at"
	}
	return list
}

package commstest

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

func heartbeatMakesKnown(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	answer := c.beat(t, comms.Heartbeat{
		AgentID: "a1", ConfigName: "go", ProjectPath: "/srv/work/mss", Status: "working", CurrentTask: "fix login",
		PID: 41, Model: "m-1", Role: "builder",
	})
	if !answer.OK || answer.ShouldStop || answer.HasMessages || answer.MessageCount != 0 || answer.Timestamp.IsZero() {
		t.Errorf("the answer is %+v", answer)
	}
	a := must(c.Presence.Agent(c.ctx, "a1"))(t)
	if a.LastSeen.IsZero() || a.StartedAt.IsZero() || a.CreatedAt.IsZero() {
		t.Errorf("a time is missing in %+v", a)
	}
	want := operational.Agent{
		ID: "a1", Role: "builder", ConfigName: "go", Project: "mss", ProjectPath: "/srv/work/mss", Model: "m-1", PID: 41,
		State: operational.AgentOnline, Status: "working", CurrentTask: "fix login",
		StartedAt: a.StartedAt, LastSeen: a.LastSeen, CreatedAt: a.CreatedAt, JoinedSeq: a.JoinedSeq,
	}
	if a != want {
		t.Errorf("the agent is\n%+v, want\n%+v", a, want)
	}
	refuses(t, errs.NotFound, "")(c.Presence.Agent(c.ctx, "nobody"))
}

func heartbeatKeeps(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1", Status: "working", CurrentTask: "one", PID: 7, Role: "r"})
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	a := must(c.Presence.Agent(c.ctx, "a1"))(t)
	if a.Status != "working" || a.CurrentTask != "one" || a.PID != 7 || a.Role != "r" {
		t.Errorf("a bare heartbeat changed the agent: %+v", a)
	}
	c.beat(t, comms.Heartbeat{AgentID: "a1", Status: "starting"})
	if a := must(c.Presence.Agent(c.ctx, "a1"))(t); a.State != operational.AgentStarting {
		t.Errorf("an agent that says it is starting is %s", a.State)
	}
	c.beat(t, comms.Heartbeat{AgentID: "a1", Status: "stopped"})
	if a := must(c.Presence.Agent(c.ctx, "a1"))(t); a.State != operational.AgentOffline {
		t.Errorf("an agent that says goodbye is %s", a.State)
	}
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	a = must(c.Presence.Agent(c.ctx, "a1"))(t)
	if a.State != operational.AgentOnline || a.Status != "" || a.CurrentTask != "" || a.PID != 0 || a.Role != "r" {
		t.Errorf("a new run begins as %+v", a)
	}
}

func statusReports(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	task, none, half := "build", "", 49.5 // is rounded: clients read a whole number
	if a := must(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "working", CurrentTask: &task, Progress: &half}))(t); !a.OK || a.Timestamp.IsZero() {
		t.Errorf("the answer is %+v", a)
	}
	check := func(status, task string, progress int) {
		t.Helper()
		if a := must(c.Presence.Agent(c.ctx, "a1"))(t); a.Status != status || a.CurrentTask != task || a.Progress != progress {
			t.Errorf("status %q, task %q, progress %v; want %q, %q, %v", a.Status, a.CurrentTask, a.Progress, status, task, progress)
		}
	}
	check("working", "build", 50)
	must(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "blocked"}))(t)
	check("blocked", "build", 50)
	must(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "idle", CurrentTask: &none}))(t)
	check("idle", "", 0)
	for _, p := range []float64{-1, 100.5} {
		refuses(t, errs.Invalid, "progress")(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "x", Progress: &p}))
	}
	refuses(t, errs.Invalid, "status")(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1"}))
}

func agentsAreFiltered(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1", ProjectPath: "/x/mss", Status: "working", CurrentTask: "Fix Login"})
	c.beat(t, comms.Heartbeat{AgentID: "a2", ProjectPath: `C:\x\nova`, Status: "blocked", Role: "scout"})
	c.beat(t, comms.Heartbeat{AgentID: "a3", Status: "offline"})
	for _, one := range []struct {
		name   string
		filter operational.AgentFilter
		want   int
	}{
		{"all", operational.AgentFilter{}, 3},
		{"state", operational.AgentFilter{State: operational.AgentOffline}, 1},
		{"project", operational.AgentFilter{Project: "nova"}, 1},
		{"status", operational.AgentFilter{Status: "Working"}, 1},
		{"role", operational.AgentFilter{Role: "scout"}, 1},
		{"task", operational.AgentFilter{Task: "login"}, 1},
		{"limit", operational.AgentFilter{Limit: 2}, 2},
		{"skip", operational.AgentFilter{Skip: 1}, 2},
		{"skip all", operational.AgentFilter{Skip: 9}, 0},
		{"none", operational.AgentFilter{Role: "nobody"}, 0},
	} {
		if got := must(c.Presence.Agents(c.ctx, one.filter))(t); len(got) != one.want {
			t.Errorf("%s: %d agents, want %d: %+v", one.name, len(got), one.want, got)
		}
	}
	refuses(t, errs.Invalid, "state")(c.Presence.Agents(c.ctx, operational.AgentFilter{State: "asleep"}))
	refuses(t, errs.Invalid, "limit")(c.Presence.Agents(c.ctx, operational.AgentFilter{Limit: -1}))
}

func badInput(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, one := range []struct {
		name, field string
		beat        comms.Heartbeat
	}{
		{"no id", "agent_id", comms.Heartbeat{}},
		{"a space in the id", "agent_id", comms.Heartbeat{AgentID: "a b"}},
		{"a line break in the id", "agent_id", comms.Heartbeat{AgentID: "a\nb"}},
		{"another script in the id", "agent_id", comms.Heartbeat{AgentID: "агент"}},
		{"a long id", "agent_id", comms.Heartbeat{AgentID: long(65)}},
		{"a line break in the status", "status", comms.Heartbeat{AgentID: "a", Status: "x\ny"}},
		{"a negative process id", "pid", comms.Heartbeat{AgentID: "a", PID: -1}},
	} {
		_, err := c.Presence.Heartbeat(c.ctx, one.beat)
		t.Run(one.name, func(t *testing.T) { wantCode(t, err, errs.Invalid, one.field) })
	}
	for _, one := range []struct {
		name, field string
		code        errs.Code
		change      func(*operational.MessageDraft)
	}{
		{"no signal", "signal", errs.Invalid, func(d *operational.MessageDraft) { d.Signal = "" }},
		{"blank signal", "signal", errs.Invalid, func(d *operational.MessageDraft) { d.Signal = "  " }},
		{"signal with a line break", "signal", errs.Invalid, func(d *operational.MessageDraft) { d.Signal = "x\ndata: y" }},
		{"signal with a carriage return", "signal", errs.Invalid, func(d *operational.MessageDraft) { d.Signal = "x\ry" }},
		{"bad recipient", "to_agent_id", errs.Invalid, func(d *operational.MessageDraft) { d.To = "b b" }},
		{"context that is no object", "context", errs.Invalid, func(d *operational.MessageDraft) { d.Context = raw("[1]") }},
		{"large context", "context", errs.TooLarge, func(d *operational.MessageDraft) { d.Context = raw(`{"a":%q}`, long(comms.MaxContext)) }},
		{"priority", "priority", errs.Invalid, func(d *operational.MessageDraft) { d.Priority = 11 }},
		{"time to live", "ttl_seconds", errs.Invalid, func(d *operational.MessageDraft) { d.TTLSeconds = -1 }},
		{"endless time to live", "ttl_seconds", errs.Invalid, func(d *operational.MessageDraft) { d.TTLSeconds = math.MaxInt64 }},
	} {
		d := draft("a", "b", "message")
		one.change(&d)
		_, err := c.Mailbox.Send(c.ctx, d)
		t.Run(one.name, func(t *testing.T) { wantCode(t, err, one.code, one.field) })
	}
	refuses(t, errs.Invalid, "seq")(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a"}))
	refuses(t, errs.Invalid, "limit")(c.Mailbox.Inbox(c.ctx, comms.InboxQuery{AgentID: "a", Limit: comms.MaxLimit + 1}))
	refuses(t, errs.Invalid, "agent_id")(c.Mailbox.Inbox(c.ctx, comms.InboxQuery{}))
	refuses(t, errs.Invalid, "agent_id")(c.Presence.ShutdownCheck(c.ctx, ""))
}

func stopOutlivesAck(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 5})
	d := draft("captain", "a1", operational.SignalStop)
	d.Context = raw(`{"reason":"the work is done"}`)
	stop := c.send(t, d)
	for range 2 {
		if answer := c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 5}); !answer.ShouldStop || answer.StopReason != "the work is done" || answer.MessageCount != 1 {
			t.Errorf("the heartbeat is answered %+v", answer)
		}
	}
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", MessageIDs: []string{stop.MessageID}}))(t)
	if answer := c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 5}); !answer.ShouldStop || answer.StopReason != "the work is done" || answer.HasMessages {
		t.Errorf("after the acknowledgement by id the heartbeat is answered %+v", answer)
	}
	again := c.send(t, draft("captain", "a1", operational.SignalStop))
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: again.Seq}))(t)
	if !c.stopped(t, "a1") {
		t.Error("acknowledging by seq ended the stop")
	}
	if c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 6}).ShouldStop {
		t.Error("the next run is told to stop")
	}
}

// stopBesideReader is an agent of two halves: one acknowledges what its stream brings, the other asks whether to stop.
func stopBesideReader(t *testing.T, as func(principal.Principal) caller) {
	c, agent := as(Captain()), as(Agent("a1"))
	agent.beat(t, comms.Heartbeat{AgentID: "a1"})
	c.send(t, draft("captain", "a1", operational.SignalStop))
	inbox := agent.inbox(t, comms.InboxQuery{AgentID: "a1"})
	must(agent.Mailbox.Ack(agent.ctx, comms.Ack{AgentID: "a1", Seq: inbox.LastSeq}))(t)
	for range 2 {
		if !agent.stopped(t, "a1") || !agent.beat(t, comms.Heartbeat{AgentID: "a1"}).ShouldStop {
			t.Error("the loop is not told to stop")
		}
	}
	must(agent.Presence.Status(agent.ctx, comms.StatusReport{AgentID: "a1", Status: "stopped"}))(t)
	if agent.beat(t, comms.Heartbeat{AgentID: "a1"}).ShouldStop {
		t.Error("the run after the goodbye is told to stop")
	}
}

func stopTakenBack(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, id := range []string{"a1", "a2"} {
		c.beat(t, comms.Heartbeat{AgentID: id, PID: 5})
	}
	for _, to := range []string{"a1", "a2", "unseen"} {
		c.send(t, draft("captain", to, operational.SignalStop))
	}
	for _, to := range []string{"a1", "unseen"} {
		c.send(t, draft("captain", to, operational.SignalResume))
	}
	c.beat(t, comms.Heartbeat{AgentID: "unseen"})
	for id, want := range map[string]bool{"a1": false, "a2": true, "unseen": false} {
		if got := c.stopped(t, id); got != want {
			t.Errorf("%s: should stop %v, want %v", id, got, want)
		}
	}
	c.send(t, draft("captain", "", operational.SignalResume))
	if c.stopped(t, "a2") {
		t.Error("a resume to all did not take the stop back")
	}
}

func stopUntilNewRun(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 5})
	c.send(t, draft("captain", "a1", operational.SignalStop))
	for _, one := range []struct {
		name string
		pid  int
		want bool
	}{{"the same process", 5, true}, {"no process id", 0, true}, {"another process", 6, false}, {"the other process again", 6, false}} {
		if got := c.beat(t, comms.Heartbeat{AgentID: "a1", PID: one.pid}).ShouldStop; got != one.want {
			t.Errorf("%s: should stop %v, want %v", one.name, got, one.want)
		}
	}
}

func stopUntilGoodbye(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	c.send(t, draft("captain", "a1", operational.SignalStop))
	if !c.beat(t, comms.Heartbeat{AgentID: "a1"}).ShouldStop {
		t.Error("the stop has no effect")
	}
	must(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "stopped"}))(t)
	if c.beat(t, comms.Heartbeat{AgentID: "a1"}).ShouldStop {
		t.Error("the next run is told to stop")
	}
}

func stopWaits(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.send(t, draft("captain", "a1", operational.SignalStop))
	if !c.stopped(t, "a1") {
		t.Error("an agent that was never heard of is not told to stop")
	}
	for range 2 {
		if !c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 5}).ShouldStop {
			t.Error("the first run is not told to stop")
		}
	}
	if c.beat(t, comms.Heartbeat{AgentID: "a1", PID: 6}).ShouldStop {
		t.Error("the second run is told to stop")
	}
}

func stopBroadcast(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, id := range []string{"captain", "a1", "a2"} {
		c.beat(t, comms.Heartbeat{AgentID: id, PID: 3})
	}
	for range 2 { // "gone" is known, and has said goodbye
		c.beat(t, comms.Heartbeat{AgentID: "gone", PID: 2, Status: "stopped"})
	}
	stop := c.send(t, draft("captain", "", operational.SignalStop))
	for _, id := range []string{"late", "gone"} {
		c.beat(t, comms.Heartbeat{AgentID: id, PID: 3})
	}
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a2", Seq: stop.Seq}))(t)
	for id, want := range map[string]bool{"captain": false, "a1": true, "a2": true, "late": false, "gone": false} {
		if got := c.beat(t, comms.Heartbeat{AgentID: id, PID: 3}).ShouldStop; got != want {
			t.Errorf("%s: should stop %v, want %v", id, got, want)
		}
	}
}

func handover(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	first := c.send(t, draft("captain", "a1", "message"))
	second := c.send(t, draft("captain", "", "message"))
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: first.Seq}))(t)
	check := must(c.Presence.ShutdownCheck(c.ctx, "a1"))(t)
	if check.ShouldStop || len(check.Unacknowledged) != 1 || check.Unacknowledged[0].ID != second.MessageID {
		t.Errorf("the shutdown check is answered %+v", check)
	}
	if check.UnfinishedTasks == nil {
		t.Error("the list of tasks is missing")
	}
	for range comms.HandoverLimit + 5 {
		c.send(t, draft("captain", "a1", "message"))
	}
	if check := must(c.Presence.ShutdownCheck(c.ctx, "a1"))(t); len(check.Unacknowledged) != comms.HandoverLimit {
		t.Errorf("%d messages are handed over, want %d", len(check.Unacknowledged), comms.HandoverLimit)
	}
	if check := must(c.Presence.ShutdownCheck(c.ctx, "stranger"))(t); check.ShouldStop || len(check.Unacknowledged) != 0 {
		t.Errorf("a stranger is answered %+v", check)
	}
}

// redactsAgents says secrets in each field of a heartbeat and of a report (S4).
func redactsAgents(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	key := "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	beat := comms.Heartbeat{AgentID: "a1", CurrentTask: "push with " + key, Status: "with " + key, Role: key, Model: key, ProjectPath: "/src/" + key, ConfigName: key}
	for range 2 { // the second one brings nothing new
		if answer := c.beat(t, beat); len(answer.Redacted) != 1 || answer.Redacted[0] != "github_token" {
			t.Errorf("the heartbeat is answered %+v", answer)
		}
	}
	task := "log in with password=kT9rWq27LmZp"
	answer := must(c.Presence.Status(c.ctx, comms.StatusReport{AgentID: "a1", Status: "working", CurrentTask: &task}))(t)
	if len(answer.Redacted) != 1 {
		t.Errorf("the report is answered %+v", answer)
	}
	if clean := c.beat(t, comms.Heartbeat{AgentID: "a1", CurrentTask: "the parser"}); clean.Redacted != nil {
		t.Errorf("a task without a secret is answered %+v", clean)
	}
	agent, err := json.Marshal(must(c.Presence.Agent(c.ctx, "a1"))(t))
	if err != nil || strings.Contains(string(agent), key) || strings.Contains(string(agent), "kT9rWq27LmZp") || !strings.Contains(string(agent), "[redacted: github_token]") {
		t.Errorf("the agent is %s, %v", agent, err)
	}
	refuses(t, errs.Invalid, "agent_id")(c.Presence.Heartbeat(c.ctx, comms.Heartbeat{AgentID: key}))
}

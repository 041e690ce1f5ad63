package comms_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

func captain(t *testing.T) context.Context {
	return principal.With(t.Context(), commstest.Captain())
}

// states lists the changes of state of an agent that the event log holds.
func (h house) states(t *testing.T, id string) string {
	t.Helper()
	events, err := h.Store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range events {
		if e.Type != "agent.state" || e.Subject != id {
			continue
		}
		var data struct{ From, To string }
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		list = append(list, data.From+">"+data.To)
	}
	return fmt.Sprint(list)
}

// stored returns an agent as the database has it.
func (h house) stored(t *testing.T, id string) operational.AgentRecord {
	t.Helper()
	records, err := h.Store.AgentRecords(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no agent %s is stored", id)
	return operational.AgentRecord{}
}

func pass(d time.Duration) { <-time.After(d) }

func TestSilenceChangesState(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer h.Close()
		ctx := captain(t)
		beat := func() {
			if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1", PID: 1}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(want operational.AgentState) {
			t.Helper()
			synctest.Wait()
			a, err := h.Presence.Agent(ctx, "a1")
			if err != nil || a.State != want {
				t.Errorf("the agent is %s (%v), want %s", a.State, err, want)
			}
			if stored := h.stored(t, "a1"); stored.State != want {
				t.Errorf("the agent is stored as %s, want %s", stored.State, want)
			}
		}
		beat()
		check(operational.AgentOnline)
		pass(29 * time.Second)
		check(operational.AgentOnline)
		pass(4 * time.Second)
		check(operational.AgentStale)
		beat()
		check(operational.AgentOnline)
		pass(35 * time.Second)
		check(operational.AgentStale)
		pass(90 * time.Second)
		check(operational.AgentOffline)
		beat()
		check(operational.AgentOnline)
		if got, want := h.states(t, "a1"), "[>online online>stale stale>online online>stale stale>offline offline>online]"; got != want {
			t.Errorf("the events tell %s, want %s", got, want)
		}
	})
}

// TestReadersDoNotGoStale has somebody read mail who never checks in, as a person at the command line.
func TestReadersDoNotGoStale(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer h.Close()
		ctx := captain(t)
		if _, err := h.Mailbox.Inbox(ctx, comms.InboxQuery{AgentID: "captain"}); err != nil {
			t.Fatal(err)
		}
		pass(60 * time.Second)
		synctest.Wait()
		if got := h.states(t, "captain"); got != "[>starting]" {
			t.Errorf("the events tell %s", got)
		}
		pass(10 * time.Minute)
		synctest.Wait()
		if a := h.stored(t, "captain"); a.State != operational.AgentOffline {
			t.Errorf("it is %s", a.State)
		}
	})
}

// countingStore counts what is written.
type countingStore struct {
	comms.AgentStore
	writes int
}

func (s *countingStore) SaveAgents(ctx context.Context, changes []operational.AgentChange, saved func()) error {
	s.writes++
	return s.AgentStore.SaveAgents(ctx, changes, saved)
}

func (s *countingStore) SaveSeen(ctx context.Context, seen []operational.Seen) error {
	s.writes += len(seen)
	return s.AgentStore.SaveSeen(ctx, seen)
}

func TestPlainHeartbeatWritesNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer h.Close()
		counting := &countingStore{AgentStore: h.Store}
		presence, err := comms.NewPresence(t.Context(), counting, nil, time.Now, nil, comms.PresenceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx := captain(t)
		say := func(b comms.Heartbeat) {
			b.AgentID = "a1"
			if _, err := presence.Heartbeat(ctx, b); err != nil {
				t.Fatal(err)
			}
		}
		same := comms.Heartbeat{Status: "working", CurrentTask: "t", PID: 3, Model: "m", Role: "r", ConfigName: "c", ProjectPath: "/p"}
		say(same)
		before := counting.writes
		for range 100 {
			pass(time.Second)
			say(same)
			say(comms.Heartbeat{})
		}
		if counting.writes != before {
			t.Errorf("%d writes for heartbeats that bring nothing new", counting.writes-before)
		}
		for i, b := range []comms.Heartbeat{{Status: "idle"}, {CurrentTask: "u"}, {Role: "s"}, {ProjectPath: "/q"}, {PID: 4}} {
			say(b)
			if counting.writes != before+i+1 {
				t.Errorf("the change %+v is not stored", b)
			}
		}
		a, err := presence.Agent(ctx, "a1")
		if err != nil || time.Since(a.LastSeen) > time.Millisecond {
			t.Errorf("last seen %v ago (%v), want now", time.Since(a.LastSeen), err)
		}
	})
}

func TestLastSeenIsWrittenInBatchesAndAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		ctx := captain(t)
		const agents = 250
		beat := func() {
			for i := range agents {
				if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: fmt.Sprint("a", i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		beat()
		pass(5 * time.Second)
		beat()
		pass(6 * time.Second)
		synctest.Wait()
		for i := range agents {
			if ago := time.Since(h.stored(t, fmt.Sprint("a", i)).LastSeen); ago > 7*time.Second {
				t.Fatalf("agent %d is stored as seen %v ago, want 6 s", i, ago)
			}
		}
		beat()
		h.Close()
		again := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer again.Close()
		if ago := time.Since(again.stored(t, "a7").LastSeen); ago > time.Second {
			t.Errorf("after the end the agent is stored as seen %v ago", ago)
		}
		// While the router was away nobody could check in: nobody is stale at once.
		pass(20 * time.Second)
		synctest.Wait()
		if got := again.states(t, "a7"); got != "[>online]" {
			t.Errorf("after a restart the events tell %s", got)
		}
	})
}

func TestStopSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	ctx := captain(t)
	shouldStop := func(h house, pid int) bool {
		t.Helper()
		answer, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1", PID: pid})
		if err != nil {
			t.Fatal(err)
		}
		check, err := h.Presence.ShutdownCheck(ctx, "a1")
		if err != nil || check.ShouldStop != answer.ShouldStop {
			t.Errorf("the heartbeat says %v, the shutdown check %v (%v)", answer.ShouldStop, check.ShouldStop, err)
		}
		if answer.ShouldStop && answer.StopReason != "enough" {
			t.Errorf("the reason is %q", answer.StopReason)
		}
		return answer.ShouldStop
	}
	reopen := func(old *house) house {
		if old != nil {
			old.Close()
		}
		return open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	}
	h := reopen(nil)
	shouldStop(h, 5)
	stop := operational.MessageDraft{From: "captain", To: "a1", Signal: "stop", Context: json.RawMessage(`{"reason":"enough"}`)}
	if _, err := h.Mailbox.Send(ctx, stop); err != nil {
		t.Fatal(err)
	}
	h = reopen(&h)
	if !shouldStop(h, 5) {
		t.Error("the stop did not survive the restart")
	}
	if shouldStop(h, 6) {
		t.Error("a new run is told to stop")
	}
	h = reopen(&h)
	if shouldStop(h, 6) {
		t.Error("a new run is told to stop after a restart")
	}
	sent, err := h.Mailbox.Send(ctx, stop)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Mailbox.Ack(ctx, comms.Ack{AgentID: "a1", Seq: sent.Seq}); err != nil {
		t.Fatal(err)
	}
	h = reopen(&h)
	if !shouldStop(h, 6) {
		t.Error("acknowledging a stop ended it, with a restart")
	}
	if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{From: "captain", To: "a1", Signal: "resume"}); err != nil {
		t.Fatal(err)
	}
	h = reopen(&h)
	if shouldStop(h, 6) {
		t.Error("a stop that was taken back is there after a restart")
	}
}

// TestStopEndsAfterSilence: an agent without a process id that was told to stop, went offline and comes again is another run. A stop
// that was sent while it was offline is for the run that comes.
func TestStopEndsAfterSilence(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{StaleAfter: time.Minute, OfflineAfter: 2 * time.Minute}, comms.MailboxOptions{})
		defer h.Close()
		ctx := captain(t)
		beat := func(id string, pid int) bool {
			t.Helper()
			answer, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: id, PID: pid})
			if err != nil {
				t.Fatal(err)
			}
			return answer.ShouldStop
		}
		stop := func() {
			t.Helper()
			for _, id := range []string{"bare", "numbered"} {
				if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{From: "captain", To: id, Signal: "stop"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		beat("bare", 0)
		beat("numbered", 5)
		stop()
		pass(time.Second)
		if !beat("bare", 0) || !beat("numbered", 5) {
			t.Error("the stop has no effect")
		}
		pass(5 * time.Minute)
		if beat("bare", 0) {
			t.Error("without a process id, the run after the silence is told to stop")
		}
		if !beat("numbered", 5) {
			t.Error("silence ended the stop of a process that is still there")
		}
		pass(5 * time.Minute)
		stop() // both are offline
		for range 2 {
			if !beat("bare", 0) {
				t.Error("the first run after a stop that was sent while it was offline is not told to stop")
			}
		}
	})
}

func TestStopExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer h.Close()
		ctx := captain(t)
		for i, wait := range []time.Duration{0, 61 * time.Second} {
			if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1"}); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{From: "c", To: "a1", Signal: "stop", TTLSeconds: 60}); err != nil {
					t.Fatal(err)
				}
			}
			pass(wait)
			answer, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1"})
			if err != nil || answer.ShouldStop != (i == 0) || answer.HasMessages != (i == 0) {
				t.Errorf("after %v the heartbeat is answered %+v (%v)", wait, answer, err)
			}
		}
	})
}

func TestRetention(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{Retention: time.Hour})
		defer h.Close()
		ctx := captain(t)
		beat := func(id string) {
			if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: id}); err != nil {
				t.Fatal(err)
			}
		}
		send := func(d operational.MessageDraft) string {
			d.From, d.Signal = "captain", "message"
			sent, err := h.Mailbox.Send(ctx, d)
			if err != nil {
				t.Fatal(err)
			}
			return sent.MessageID
		}
		ack := func(agent string, id string) {
			if _, err := h.Mailbox.Ack(ctx, comms.Ack{AgentID: agent, MessageIDs: []string{id}}); err != nil {
				t.Fatal(err)
			}
		}
		beat("a1")
		beat("a2")
		ids := map[string]string{
			"waiting":          send(operational.MessageDraft{To: "a1"}),
			"for a stranger":   send(operational.MessageDraft{To: "stranger"}),
			"acknowledged":     send(operational.MessageDraft{To: "a1"}),
			"expired":          send(operational.MessageDraft{To: "a1", TTLSeconds: 10}),
			"half of them did": send(operational.MessageDraft{}),
			"all of them did":  send(operational.MessageDraft{}),
			"wanted of all":    send(operational.MessageDraft{AckRequired: true}),
		}
		ack("a1", ids["acknowledged"])
		ack("a1", ids["half of them did"])
		ack("a1", ids["all of them did"])
		ack("a2", ids["all of them did"])
		there := func() map[string]bool {
			found := map[string]bool{}
			for name, id := range ids {
				_, err := h.Store.Message(t.Context(), id)
				if err != nil && errs.CodeOf(err) != errs.NotFound {
					t.Fatal(err)
				}
				found[name] = err == nil
			}
			return found
		}
		live := func(d time.Duration) { // both agents keep checking in meanwhile
			for range d / (10 * time.Minute) {
				pass(10 * time.Minute)
				beat("a1")
				beat("a2")
			}
			synctest.Wait()
		}
		live(50 * time.Minute)
		for name, is := range there() {
			if !is {
				t.Errorf("%q is gone too early", name)
			}
		}
		live(30 * time.Minute)
		for name, is := range there() {
			if is {
				t.Errorf("%q is still there", name)
			}
		}
		// What nobody had acknowledged is told of, once, to whom it was for, or to who sent it to all and waited for it.
		for agent, want := range map[string][]string{"a1": {"waiting"}, "stranger": {"for a stranger"}, "captain": {"wanted of all"}, "a2": nil} {
			letters, _, err := h.Store.Mail(ctx, operational.MailQuery{AgentID: agent, JoinedSeq: math.MaxInt64, Now: time.Now(), Limit: 10})
			if err != nil || len(letters) != min(len(want), 1) {
				t.Fatalf("%s has %d letters (%v)", agent, len(letters), err)
			}
			for _, l := range letters {
				if l.Signal != comms.SignalDeadLetter || !strings.Contains(string(l.Context), ids[want[0]]) || !strings.Contains(string(l.Context), `"count":1`) {
					t.Errorf("%s: %s %s", agent, l.Signal, l.Context)
				}
			}
		}
		live(3 * time.Hour)
		if last, err := h.Store.LastSeq(ctx); err != nil || last != int64(len(ids)+3) {
			t.Errorf("a dead letter that was not acknowledged was told of: %d messages (%v)", last, err)
		}
	})
}

// TestSaysSeldom: what an agent says that it does is stored at once, and told of at most once a minute, the last of it always; that it does something else is
// told at once.
func TestSaysSeldom(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		defer h.Close()
		says := func(status, task string) {
			t.Helper()
			if _, err := h.Presence.Heartbeat(captain(t), comms.Heartbeat{AgentID: "a1", Status: status, CurrentTask: task}); err != nil {
				t.Fatal(err)
			}
			if a := h.stored(t, "a1"); a.Status != status || a.CurrentTask != task {
				t.Errorf("stored is %s %s, said was %s %s", a.Status, a.CurrentTask, status, task)
			}
		}
		told := func(want ...string) {
			t.Helper()
			events, err := h.Store.Events(t.Context(), 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				var data struct {
					Status string
					Task   string `json:"current_task"`
				}
				if e.Type == "agent.status" && json.Unmarshal(e.Data, &data) == nil {
					got = append(got, data.Status+" "+data.Task)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("told is %q, want %q", got, want)
			}
		}
		says("working", "t")
		for n := range 50 {
			pass(time.Second)
			says("working", fmt.Sprint("t", n))
		}
		told("working t0")
		says("blocked: disk", "t49")
		told("working t0", "blocked: disk t49")
		pass(time.Second)
		says("blocked: disk", "t50")
		pass(2 * time.Minute)
		synctest.Wait()
		told("working t0", "blocked: disk t49", "blocked: disk t50")
		for n := range 3600 {
			pass(time.Second)
			says("blocked: disk", fmt.Sprint("u", n))
		}
		events, err := h.Store.Events(t.Context(), 0, 1000)
		if err != nil || len(events) > 80 {
			t.Errorf("an hour of tasks left %d events (%v)", len(events), err)
		}
	})
}

// fullStore is a store whose disk is full.
type fullStore struct{ comms.MessageStore }

func (fullStore) AppendMessages(_ context.Context, _ func() []*operational.MessageAppend, _ func()) error {
	return errs.Wrap(errs.StorageFull, errors.New("disk"), "the disk is full")
}

func TestSendTellsThatNothingWasStored(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	mailbox, err := comms.NewMailbox(t.Context(), h.Presence, fullStore{h.Store}, nil, comms.MailboxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := mailbox.Send(captain(t), operational.MessageDraft{From: "c", To: "a1", Signal: "x"})
		if errs.CodeOf(err) != errs.StorageFull {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestOwnPauseIsNobodysSilence (finding B13): after a pause of the router's own
// (SIGSTOP, a suspended machine) it told of agents going offline that had beaten all the time.
func TestOwnPauseIsNobodysSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Virtual time cannot stop a goroutine: the clock jumps instead, as it does for one that was stopped.
		var jumped atomic.Int64 // nanoseconds
		now := func() time.Time { return time.Now().Add(time.Duration(jumped.Load())) }
		h := open(t, t.TempDir(), now, comms.PresenceOptions{HeartbeatEvery: time.Second}, comms.MailboxOptions{})
		defer h.Close()
		if _, err := h.Presence.Heartbeat(captain(t), comms.Heartbeat{AgentID: "a", Status: "working"}); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		synctest.Wait()
		jumped.Store(int64(20 * time.Second))
		pass(time.Second)
		synctest.Wait()
		if got := h.states(t, "a"); got != "[>online]" {
			t.Errorf("after the pause the agent's states are %s", got)
		}
		pass(20 * time.Second) // and then it is silent indeed
		synctest.Wait()
		if got := h.states(t, "a"); !strings.Contains(got, "stale>offline") && !strings.Contains(got, "online>offline") {
			t.Errorf("an agent that is silent: %s", got)
		}
	})
}

// TestSeenInTheFuture (finding B11): after the clock was set back, an agent that
// never came again stayed online until the clock caught up.
func TestSeenInTheFuture(t *testing.T) {
	dir := t.TempDir()
	ahead := func() time.Time { return time.Now().Add(10 * 365 * 24 * time.Hour) }
	h := open(t, dir, ahead, comms.PresenceOptions{HeartbeatEvery: time.Second}, comms.MailboxOptions{})
	if _, err := h.Presence.Heartbeat(captain(t), comms.Heartbeat{AgentID: "a", Status: "working"}); err != nil {
		t.Fatal(err)
	}
	h.Close()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir, func() time.Time { return time.Now().AddDate(30, 0, 0) }, comms.PresenceOptions{HeartbeatEvery: time.Second}, comms.MailboxOptions{})
		defer h.Close()
		pass(20 * time.Second)
		synctest.Wait()
		agent, err := h.Presence.Agent(captain(t), "a")
		if err != nil || agent.State != operational.AgentOffline || agent.LastSeen.After(time.Now().AddDate(31, 0, 0)) {
			t.Errorf("%+v %v", agent, err)
		}
	})
}

// TestStopWaitsBehindMail: an agent that never checked in is told of the latest stop, however much waits before it.
func TestStopWaitsBehindMail(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	send := func(d operational.MessageDraft) {
		if _, err := h.Mailbox.Send(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	for range comms.HandoverLimit + 1 {
		send(operational.MessageDraft{From: "b", To: "new", Signal: "message"})
	}
	if check, err := h.Presence.ShutdownCheck(ctx, "new"); err != nil || check.ShouldStop {
		t.Errorf("without a stop: %v, %v", check.ShouldStop, err)
	}
	for _, reason := range []string{"first", "enough"} {
		send(operational.MessageDraft{From: "captain", To: "new", Signal: "stop", Context: json.RawMessage(`{"reason":"` + reason + `"}`)})
	}
	if check, err := h.Presence.ShutdownCheck(ctx, "new"); err != nil || !check.ShouldStop || check.Reason != "enough" {
		t.Errorf("it should stop: %v for %q, %v", check.ShouldStop, check.Reason, err)
	}
}

package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/routertest"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
	"github.com/skillrouter/skillrouter/router/session"
)

func TestSessionsContract(t *testing.T) {
	routertest.RunSessions(t, func(t *testing.T) func(principal.Principal) routertest.World {
		b := fixture.Open(t)
		s := b.Sessions(t, b.SessionPorts())
		return func(principal.Principal) routertest.World {
			return routertest.World{Sessions: s, Tasks: b.Tasks, Episodes: b.Episodes}
		}
	})
}

// openThings has one thing of each kind open.
type openThings struct{ procedure.Service }

func (openThings) Runs(_ context.Context, f procedure.RunFilter) ([]procedure.Run, error) {
	if f.AgentID != "a" || f.Status != procedure.RunRunning {
		return nil, errors.New("asked for other runs")
	}
	return []procedure.Run{{ID: "r1", Procedure: "deploy", Steps: []procedure.RunStep{
		{Index: 0, Step: procedure.Step{Name: "build"}, Status: procedure.StepSucceeded},
		{Index: 1, Step: procedure.Step{Name: "push"}, Status: procedure.StepHandedOut},
		{Index: 2, Step: procedure.Step{Name: "verify"}, Status: procedure.StepPending},
	}}}, nil
}

type openReminders struct{ operational.ReminderService }

func (openReminders) List(context.Context, operational.ReminderFilter) ([]operational.Reminder, error) {
	return []operational.Reminder{{Number: 7, Task: "look again", AgentID: "a"}, {Number: 8, Task: "anybody's"}, {Number: 9, Task: "its own", CreatedBy: "a"}}, nil
}

// scripted consolidates, or does not.
type scripted struct {
	history.ConsolidationService
	err  error
	seen *history.TranscriptDraft
}

func (s scripted) Consolidate(_ context.Context, draft history.TranscriptDraft) (history.Consolidated, error) {
	*s.seen = draft
	return history.Consolidated{TranscriptID: "t", Accepted: 2}, s.err
}

func TestLeavesEverythingOpen(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.AsRouter(t)
	ports := b.SessionPorts()
	ports.Procedures, ports.Reminders = openThings{}, openReminders{}
	var seen history.TranscriptDraft
	ports.Consolidation = scripted{seen: &seen}
	s := b.Sessions(t, ports)
	if _, err := b.Mailbox.Send(ctx, operational.MessageDraft{From: "captain", To: "a", Signal: "message", Context: json.RawMessage(`{"text":"hello"}`)}); err != nil {
		t.Fatal(err)
	}
	for range operational.MaxOpenItems + 3 {
		if _, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: "job", AgentID: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	began, err := s.Start(ctx, session.Draft{AgentID: "a", Persona: "coder", Project: "web"})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := s.End(ctx, began.ID, session.End{Transcript: &history.TranscriptDraft{Text: "user: hello", AgentID: "somebody", SessionID: "else"}})
	if err != nil {
		t.Fatal(err)
	}
	h := ended.Handover
	if h.TaskCount != operational.MaxOpenItems+3 || len(h.Tasks) != operational.MaxOpenItems || h.MessageCount != 1 || len(h.Messages) != 1 ||
		h.StepCount != 2 || h.Steps[0].ID != "r1#1" || h.Steps[0].Title != "deploy: push" || h.ReminderCount != 2 || h.Reminders[1].ID != "9" {
		t.Errorf("it leaves %+v", h)
	}
	if !strings.Contains(h.Messages[0].Title, "hello") {
		t.Errorf("the message is %+v", h.Messages[0])
	}
	if mail := b.Mail(t, "a"); len(mail) != 1 || mail[0].Delivered {
		t.Errorf("looking at the message delivered it: %+v", mail)
	}
	if seen.SessionID != began.ID || seen.AgentID != "a" || seen.Persona != "coder" || seen.Project != "web" || ended.Consolidated == nil || ended.Consolidated.Accepted != 2 {
		t.Errorf("consolidated %+v as %+v", seen, ended.Consolidated)
	}
	ports.Consolidation = scripted{seen: &seen, err: errs.Errorf(errs.Unavailable, "the model sleeps")}
	if again, err := b.Sessions(t, ports).End(ctx, began.ID, session.End{Transcript: &history.TranscriptDraft{Text: "x"}}); err != nil || len(again.Notices) != 1 || !strings.Contains(again.Notices[0], "the model sleeps") {
		t.Errorf("without the model: %+v, %v", again.Notices, err)
	}
	ports.Consolidation = nil
	if again, err := b.Sessions(t, ports).End(ctx, began.ID, session.End{Transcript: &history.TranscriptDraft{Text: "x"}}); err != nil || len(again.Notices) != 1 || !strings.Contains(again.Notices[0], "transcript") {
		t.Errorf("without consolidation: %+v, %v", again.Notices, err)
	}
}

// TestSessionsAfterARestart takes up open and just ended sessions anew.
func TestSessionsAfterARestart(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.AsRouter(t)
	s := b.Sessions(t, b.SessionPorts())
	record := func(agent string) string {
		t.Helper()
		e, err := b.Episodes.Record(ctx, episode.Draft{AgentID: agent, EventType: "action", Title: "t", Content: "c"})
		if err != nil {
			t.Fatal(err)
		}
		return e.SessionID
	}
	for _, agent := range []string{"open", "ended"} {
		if _, err := s.Start(ctx, session.Draft{ID: "s-" + agent, AgentID: agent}); err != nil {
			t.Fatal(err)
		}
		if in := record(agent); in != "s-"+agent {
			t.Errorf("%s is in %q", agent, in)
		}
	}
	if _, err := s.End(ctx, "s-ended", session.End{}); err != nil {
		t.Fatal(err)
	}
	b.Episodes = episode.NewEpisodes(b.Learning, learning.Options{}) // as after a start
	b.Sessions(t, b.SessionPorts())
	if current, err := b.Episodes.CurrentSession(ctx, "open"); err != nil || current != "s-open" {
		t.Errorf("the open session: %q, %v", current, err)
	}
	if in := record("open"); in != "s-open" {
		t.Errorf("after a restart an episode is in %q", in)
	}
	if current, err := b.Episodes.CurrentSession(ctx, "ended"); err != nil || current != "" {
		t.Errorf("after the end the agent is in %q, %v", current, err)
	}
	if in := record("ended"); in == "s-ended" {
		t.Error("after a restart an episode is in the session that has ended")
	}
}

// TestCrossingHandsOverOnce cuts the sender off at each of its calls, before
// and after it did its work, with and without a restart.
func TestCrossingHandsOverOnce(t *testing.T) {
	for name, cut := range map[string]struct {
		failAt         int64
		after, restart bool
	}{
		"before":              {1, false, false},
		"after":               {1, true, false},
		"before, and restart": {1, false, true},
		"after, and restart":  {1, true, true},
		"the second":          {2, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fixture.Open(t)
			ctx := fixture.AsRouter(t)
			ports := b.Ports(t)
			broken := &fixture.Faulty{Escalations: b.Escalations, Sender: ports.Send, FailAt: cut.failAt, After: cut.after}
			ports.Send = broken.Send
			_, stop := fixture.RunCrossing(t, ports)
			s := b.Sessions(t, b.SessionPorts())
			if _, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: "job", AgentID: "a"}); err != nil {
				t.Fatal(err)
			}
			for _, successor := range []string{"b", "", "b"} {
				if _, err := s.Start(ctx, session.Draft{AgentID: "a"}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.End(ctx, "", session.End{AgentID: "a", Summary: "go on", Successor: successor}); err != nil {
					t.Fatal(err)
				}
			}
			b.Eventually(t, func() bool { return broken.Calls.Load() >= cut.failAt })
			if cut.restart {
				stop()
				fixture.RunCrossing(t, b.Ports(t))
			}
			b.Eventually(t, func() bool { return len(b.Mail(t, "b")) >= 2 })
			marker, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: "marker", AgentID: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Tasks.Complete(ctx, marker.ID, operational.TaskResult{AgentID: "m"}); err != nil {
				t.Fatal(err)
			}
			b.Eventually(t, func() bool { // the log was followed to its end
				done, err := b.Episodes.Recent(ctx, episode.Filter{AgentID: "m", Since: time.Now().Add(-time.Hour)})
				return err == nil && len(done) == 1
			})
			mail := b.Mail(t, "b")
			if len(mail) != 2 {
				t.Fatalf("%d messages", len(mail))
			}
			var said map[string]any
			if err := json.Unmarshal(mail[0].Context, &said); err != nil || mail[0].Signal != operational.SignalHandover || mail[0].From != router.MailAgent ||
				said["summary"] != "go on" || said["from"] != "a" || said["task_count"] != 1.0 || !strings.Contains(said["text"].(string), "1 task") {
				t.Errorf("the message says %v, %v", said, err)
			}
		})
	}
}

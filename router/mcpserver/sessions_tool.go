package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router"
)

type startSession struct {
	Goal      string `json:"goal"`
	Project   string `json:"project"`
	Persona   string `json:"persona"`
	SessionID string `json:"session_id"`
}

type endSession struct {
	Summary   string `json:"summary"`
	Successor string `json:"successor"`
	Reassign  bool   `json:"reassign"`
	SessionID string `json:"session_id"`
}

type getHandover struct {
	SessionID string `json:"session_id"`
}

type startedSession struct {
	SessionID     string               `json:"session_id"`
	Resumed       bool                 `json:"resumed,omitempty"`
	Inherited     *operational.Session `json:"inherited,omitempty"`
	AlsoInherited []string             `json:"also_inherited,omitempty"`
	Ended         string               `json:"ended,omitempty"` // the session that was still open
	Notice        string               `json:"notice,omitempty"`
}

type endedSession struct {
	SessionID  string                `json:"session_id"`
	Successor  string                `json:"successor,omitempty"`
	Handover   *operational.Handover `json:"handover,omitempty"`
	Reassigned []int64               `json:"reassigned,omitempty"`
	Released   []int64               `json:"released,omitempty"`
	Notices    []string              `json:"notices,omitempty"`
}

type shownHandover struct {
	Found   bool                 `json:"found"`
	Session *operational.Session `json:"session,omitempty"`
	Notice  string               `json:"notice,omitempty"`
}

// addSessionTools offers the hand-over from one session to the next.
func (s *Server) addSessionTools() {
	add(s, tool{
		name: "start_session", title: "Start a session", set: ToolsetOperations, former: formerContext, effect: ensure,
		description: "Begin your work: what the last session left to you comes back, and your episodes belong to this one until it ends.",
		input: arguments(
			text("goal", "What you are about to do"),
			text("project", ""),
			text("persona", "Default \"default\""),
			text("session_id", "Your own id; the same again goes on with it"),
		),
		output: holds("session_id"),
	}, s.startSession)
	add(s, tool{
		name: "end_session", title: "End a session", set: ToolsetOperations, former: formerContext, effect: ensure,
		description: "End your work with a summary. Your unfinished tasks, unread messages, undone steps and reminders are handed to the successor.",
		input: arguments(
			text("summary", "What was done, how it stands, what comes next"),
			text("successor", "The agent that goes on; default: whoever does"),
			boolean("reassign", "Give up your tasks too"),
			text("session_id", "Default: your current one"),
		),
		output: holds("session_id"),
	}, s.endSession)
	add(s, tool{
		name: "get_handover", title: "Get a hand-over", set: ToolsetOperations, former: formerContext, effect: reads,
		description: "What the session before yours said and left undone.",
		input:       arguments(text("session_id", "Default: the one that was handed to you")),
		output:      holds("found"),
	}, s.getHandover)
}

func (s *Server) startSession(ctx context.Context, in startSession) (reply[startedSession], error) {
	started, err := s.services.Sessions.Start(ctx, router.SessionDraft{
		ID: in.SessionID, AgentID: s.actor(ctx, ""), Goal: in.Goal, Project: in.Project, Persona: in.Persona,
	})
	if err != nil {
		return reply[startedSession]{}, err
	}
	out := startedSession{SessionID: started.ID, Resumed: started.Resumed, AlsoInherited: started.AlsoInherited}
	verb := "began"
	if started.Resumed {
		verb = "goes on"
	}
	f := newFence("Session %s %s.", visible(started.ID), verb)
	if started.Ended != nil {
		out.Ended = started.Ended.ID
		f.WriteString(" Your session " + visible(out.Ended) + " was still open and was ended.")
	}
	if started.Inherited != nil {
		shown := fitSession(*started.Inherited)
		out.Inherited, out.Notice = &shown, notice
		f.addSession(shown)
		if n := len(out.AlsoInherited); n > 0 {
			f.say("%s more handed something to you: ask get_handover for their ids.", count(n, "session", "sessions"))
		}
	}
	return reply[startedSession]{out, f.String()}, nil
}

func (s *Server) endSession(ctx context.Context, in endSession) (reply[endedSession], error) {
	ended, err := s.services.Sessions.End(ctx, in.SessionID, router.SessionEnd{
		AgentID: s.actor(ctx, ""), Summary: in.Summary, Successor: in.Successor, Reassign: in.Reassign,
	})
	if err != nil {
		return reply[endedSession]{}, err
	}
	shown := fitSession(ended.Session)
	out := endedSession{
		SessionID: ended.ID, Successor: ended.Successor, Handover: shown.Handover, Reassigned: ended.Reassigned, Released: ended.Released, Notices: ended.Notices,
	}
	said := fmt.Sprintf("Session %s has ended and leaves %s to %s.", visible(ended.ID), count(ended.Handover.Count(), "thing", "things"),
		visible(cmp.Or(ended.Successor, "whoever goes on")))
	for _, notice := range ended.Notices {
		said += "\n" + visible(notice)
	}
	return reply[endedSession]{out, said}, nil
}

func (s *Server) getHandover(ctx context.Context, in getHandover) (reply[shownHandover], error) {
	var session operational.Session
	var err error
	if in.SessionID != "" {
		session, err = s.services.Sessions.Session(ctx, in.SessionID)
	} else {
		session, err = s.services.Sessions.Handover(ctx, s.actor(ctx, ""))
	}
	if skillrouter.CodeOf(err) == skillrouter.NotFound {
		return reply[shownHandover]{shownHandover{}, "Nothing was handed over."}, nil
	}
	if err != nil {
		return reply[shownHandover]{}, err
	}
	session = fitSession(session)
	f := newFence("Found.")
	f.addSession(session)
	return reply[shownHandover]{shownHandover{Found: true, Session: &session, Notice: notice}, f.String()}, nil
}

// fitSession shortens what a session says to what an answer may hold. Its
// items are bounded already, and are shown once: not for the data of clients.
func fitSession(session operational.Session) operational.Session {
	session.Data = json.RawMessage(nil)
	fitTexts([][]*string{{&session.Goal, &session.Summary}})
	return session
}

// addSession appends what a session said and left undone.
func (f *fence) addSession(session operational.Session) {
	f.explain()
	label := fmt.Sprintf("Session by %s, begun %s", author(session.AgentID), session.StartedAt.Format(time.RFC3339))
	if session.EndedAt != nil {
		label += ", ended " + session.EndedAt.Format(time.RFC3339)
	}
	lines := []string{
		attributes("id", session.ID, "persona", session.Persona, "project", session.Project, "successor", session.Successor),
		part("Goal", session.Goal), part("Summary", session.Summary),
	}
	if h := session.Handover; h != nil {
		for _, list := range []struct {
			name  string
			items []operational.OpenItem
			count int
		}{{"tasks", h.Tasks, h.TaskCount}, {"messages", h.Messages, h.MessageCount}, {"steps", h.Steps, h.StepCount}, {"reminders", h.Reminders, h.ReminderCount}} {
			if list.count == 0 {
				continue
			}
			lines = append(lines, fmt.Sprintf("Open %s: %d", list.name, list.count))
			for _, item := range list.items {
				lines = append(lines, fmt.Sprintf("- %s %s (%s): %s", item.Kind, item.ID, item.Status, item.Title))
			}
		}
	}
	f.add(label, lines...)
}

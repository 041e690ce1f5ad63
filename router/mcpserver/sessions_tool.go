package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/operational"
	"skillrouter/router/session"
)

// defaultSessions is how many sessions list_sessions answers with: each comes with its hand-over.
const defaultSessions = 20

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

type sessionList struct {
	Sessions []operational.Session `json:"sessions"`
	Notice   string                `json:"notice,omitempty"`
}

// addSessionTools offers the hand-over from one session to the next, and who worked when.
func (s *Server) addSessionTools() {
	add(s, tool{
		name: "start_session", title: "Start a session", set: ToolsetOperations, former: formerContext, effect: ensure, holds: "session_id",
		description: "Begin your work: what the last session left to you comes back, and your episodes belong to this one until it ends.",
	}, func(p *params, d *session.Draft) {
		p.may("goal", &d.Goal, "What you are about to do")
		p.belongsHere(&d.Project)
		p.may("persona", &d.Persona, "Default \"default\"")
		p.may("session_id", &d.ID, "Your own id; the same again goes on with it")
		p.actor(&d.AgentID)
	}, then(s.services.Sessions.Start, shownStart))
	add(s, tool{
		name: "end_session", title: "End a session", set: ToolsetOperations, former: formerContext, effect: ensure, holds: "session_id",
		description: "End your work with a summary. Your unfinished tasks, unread messages, undone steps and reminders are handed to the successor.",
	}, describedOne[string, session.End]("session_id", "Default: your current one", "summary", "successor", "reassign"), then(changing(s.services.Sessions.End), shownEnd))
	add(s, tool{
		name: "get_handover", title: "Get a hand-over", set: ToolsetOperations, former: formerContext, effect: reads, holds: "found",
		description: "What the session before yours said and left undone.",
	}, func(p *params, id *string) { p.may("session_id", id, "Default: the one that was handed to you") }, s.getHandover)
	add(s, tool{
		name: "list_sessions", title: "List sessions", set: ToolsetOperations, effect: reads, holds: "sessions",
		description: "Sessions of work, the latest first, with what each said and left undone.",
	}, described[operational.SessionFilter]("agent_id", "persona", "project", "status", "waiting", "limit"), then(func(ctx context.Context, f operational.SessionFilter) ([]operational.Session, error) {
		f.Limit = cmp.Or(f.Limit, defaultSessions)
		return s.services.Sessions.List(ctx, f)
	}, shownSessions))
}

func shownStart(started session.Started) (startedSession, string) {
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
	return out, f.String()
}

func shownEnd(ended session.Ended) (endedSession, string) {
	out := endedSession{
		SessionID: ended.ID, Successor: ended.Successor, Handover: ended.Handover, Reassigned: ended.Reassigned, Released: ended.Released, Notices: ended.Notices,
	}
	said := fmt.Sprintf("Session %s has ended and leaves %s to %s.", visible(ended.ID), count(ended.Handover.Count(), "thing", "things"),
		visible(cmp.Or(ended.Successor, "whoever goes on")))
	for _, notice := range ended.Notices {
		said += "\n" + visible(notice)
	}
	return out, said
}

func (s *Server) getHandover(ctx context.Context, id string) (out shownHandover, text string, err error) {
	var session operational.Session
	if id != "" {
		session, err = s.services.Sessions.Session(ctx, id)
	} else {
		session, err = s.services.Sessions.Handover(ctx, s.actor(ctx, ""))
	}
	if errs.CodeOf(err) == errs.NotFound {
		return out, "Nothing was handed over.", nil
	}
	if err != nil {
		return out, "", err
	}
	session = fitSession(session)
	f := newFence("Found.")
	f.addSession(session)
	return shownHandover{Found: true, Session: &session, Notice: notice}, f.String(), nil
}

func shownSessions(found []operational.Session) (sessionList, string) {
	out := sessionList{Sessions: owned(found)}
	if len(found) == 0 {
		return out, "No session fits."
	}
	items := make([][]*string, len(found))
	for i := range out.Sessions {
		out.Sessions[i].Data = nil // its client's own
		items[i] = []*string{&out.Sessions[i].Goal, &out.Sessions[i].Summary}
	}
	fitTexts(items)
	out.Notice = notice
	f := newFence("%s, the latest first.", count(len(found), "session", "sessions"))
	for _, session := range out.Sessions {
		f.addSession(session)
	}
	return out, f.String()
}

// fitSession shortens what a session says to what an answer may hold. Its
// items are bounded already, and are shown once: not for the data of clients.
func fitSession(session operational.Session) operational.Session {
	session.Data = nil
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

package mcpserver

import (
	"context"

	"skillrouter/operational"
)

type listSessions struct {
	AgentID string                    `json:"agent_id"`
	Persona string                    `json:"persona"`
	Project string                    `json:"project"`
	Status  operational.SessionStatus `json:"status"`
	Waiting bool                      `json:"waiting"`
	Limit   int                       `json:"limit"`
}

type sessionList struct {
	Sessions []operational.Session `json:"sessions"`
	Notice   string                `json:"notice,omitempty"`
}

// addSessionList offers who worked when.
func (s *Server) addSessionList() {
	add(s, tool{
		name: "list_sessions", title: "List sessions", set: ToolsetOperations, effect: reads,
		description: "Sessions of work, the latest first, with what each said and left undone.",
		input: arguments(
			text("agent_id", ""),
			text("persona", ""),
			text("project", ""),
			text("status", "open or ended"),
			boolean("waiting", "Only those whose hand-over nobody has begun with"),
			integer("limit", "Default 20", 1, operational.MaxLimit),
		),
		output: holds("sessions"),
	}, s.listSessions)
}

func (s *Server) listSessions(ctx context.Context, in listSessions) (reply[sessionList], error) {
	if in.Limit == 0 {
		in.Limit = 20 // each comes with its hand-over
	}
	found, err := s.services.Sessions.List(ctx, operational.SessionFilter{
		AgentID: in.AgentID, Persona: in.Persona, Project: in.Project, Status: in.Status, Waiting: in.Waiting, Limit: in.Limit,
	})
	if err != nil {
		return reply[sessionList]{}, err
	}
	out := sessionList{Sessions: []operational.Session{}}
	items := make([][]*string, len(found))
	for _, session := range found {
		session.Data = nil // its client's own
		out.Sessions = append(out.Sessions, session)
	}
	for i := range out.Sessions {
		items[i] = []*string{&out.Sessions[i].Goal, &out.Sessions[i].Summary}
	}
	fitTexts(items)
	if len(out.Sessions) == 0 {
		return reply[sessionList]{out, "No session fits."}, nil
	}
	out.Notice = notice
	f := newFence("%s, the latest first.", count(len(out.Sessions), "session", "sessions"))
	for _, session := range out.Sessions {
		f.addSession(session)
	}
	return reply[sessionList]{out, f.String()}, nil
}
